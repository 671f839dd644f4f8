"""Snapshots: weights and solver state, and beside them what Caffe's state has no field for.

``<prefix>_iter_<N>.caffemodel`` and ``.solverstate``, or the same with ``.h5`` behind, are Caffe's own files and stay
readable by Caffe; see :mod:`engine.solvers.companion` for the third one.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import SolverError, WeightsError
from engine.files import (
    check_hdf5_names,
    load_weights,
    read_solver_state,
    write_hdf5_solver_state,
    write_hdf5_weights,
    write_solver_state,
    write_weights,
)
from engine.paths import resolve, search_folders
from engine.solvers import companion
from engine.solvers.reports import SnapshotPaths

if TYPE_CHECKING:
    from engine.net import Net
    from engine.solvers.update import UpdateRule

__all__ = ["Restored", "SnapshotPlace", "load"]

_log = logging.getLogger("engine.solvers")


@dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """Where the snapshots of a training go, and in which form.

    Attributes
    ----------
    prefix : str
        ``snapshot_prefix``.
    folder : Path or None
        What a relative prefix is relative to; the working directory if None, as in Caffe.
    hdf5 : bool
        ``snapshot_format: HDF5``.
    diffs : bool
        ``snapshot_diff``: gradients are stored with the weights.
    """

    prefix: str
    folder: Path | None = None
    hdf5: bool = False
    diffs: bool = False

    def files(self, iteration: int) -> SnapshotPaths:
        """Return the files of the snapshot after so many updates."""
        stem = (self.folder or Path()) / f"{self.prefix}_iter_{iteration}"
        ending = ".h5" if self.hdf5 else ""
        return SnapshotPaths(Path(f"{stem}.caffemodel{ending}"), Path(f"{stem}.solverstate{ending}"), iteration)

    def check(self, net: Net) -> None:
        """Make sure that snapshots can be written, before hours are spent on what they shall hold.

        Raises
        ------
        SolverError
            If the folder is missing or nothing can be written in it.
        WeightsError
            If the net's layers have names that HDF5 cannot hold side by side.
        """
        folder = self.files(0).state.parent
        if self.folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        _check_writable(folder)
        if self.hdf5:
            check_hdf5_names(net)

    def write(
        self,
        nets: Sequence[Net],
        rule: UpdateRule,
        iteration: int,
        current_step: int,
        captured: Mapping[str, Any] | None,
    ) -> SnapshotPaths:
        """Write a snapshot; the state comes last, so that a state that exists is complete.

        Parameters
        ----------
        nets : sequence of Net
            The training net and the test nets.
        rule : UpdateRule
        iteration, current_step : int
            Updates and drops of the learning rate done.
        captured : mapping
            From :func:`engine.solvers.companion.capture`.

        Raises
        ------
        OSError
            If a file cannot be written; older files are left as they were.
        """
        paths = self.files(iteration)
        kind = "HDF5" if self.hdf5 else "binary proto"
        _log.info("Snapshotting to %s file %s", kind, paths.model)
        (write_hdf5_weights if self.hdf5 else write_weights)(nets[0], paths.model, diffs=self.diffs)
        companion.write(paths.state, iteration, captured, nets)
        _log.info("Snapshotting solver state to %s file %s", kind, paths.state)
        write_state = write_hdf5_solver_state if self.hdf5 else write_solver_state
        write_state(paths.state, iteration, str(paths.model), rule.get_history(), current_step)
        return paths

    @staticmethod
    def delete(paths: SnapshotPaths) -> None:
        """Delete a snapshot, its state first; what cannot be deleted is told and stays."""
        for path in (paths.state, companion.companion_path(paths.state), paths.model):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                _log.warning("Snapshot '%s' cannot be deleted: %s.", path, error.strerror or error)


def _check_writable(folder: Path) -> None:
    if not folder.is_dir():
        raise SolverError(
            f"Solver: expected a folder for snapshots at '{folder.absolute()}', got none.",
            next_step="Make the folder or change snapshot_prefix.",
        )
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SolverError(
            f"Solver: expected to be allowed to write snapshots in '{folder.absolute()}', got: {error.strerror}.",
            next_step="Change the folder's permissions or snapshot_prefix.",
        ) from error


@dataclass(frozen=True, slots=True)
class Restored:
    """What a solver state held beyond weights and histories.

    Attributes
    ----------
    iteration, current_step : int
    captured : mapping or None
        What lay beside the state; None where random streams and data positions start anew.
    """

    iteration: int
    current_step: int
    captured: Mapping[str, Any] | None


def load(path: Path, net: Net, test_nets: Sequence[Net], rule: UpdateRule) -> Restored:
    """Go back to a snapshot, Caffe's own or ours.

    Raises
    ------
    FileFormatError
        If the file is no solver state; the message says what it looks like.
    SolverError
        If its histories do not fit the solver.
    WeightsError
        If its weights are missing or fit no layer of the net.
    """
    state = read_solver_state(path)
    history = [np.asarray(array) for array in state.history]
    rule.check_history(history, str(path))
    if state.learned_net:
        _load_weights(_find_weights(state.learned_net, path), net)
    rule.set_history(history)
    captured = companion.restore(path, state.iter, net, test_nets)
    return Restored(state.iter, state.current_step, captured)


def _find_weights(written: str, state: Path) -> Path:
    """Find the weights of a state: by the state's own name, for both may have been renamed, then by the name in it."""
    found = resolve(written, search_folders(state.parent))
    own = state.with_name(state.name.replace(".solverstate", ".caffemodel"))
    for candidate in (own, state.parent / os.path.basename(written), found.path):
        if candidate.is_file() and candidate != state:
            return candidate
    raise WeightsError(
        f"Solver state '{state}' names the weights '{written}', which were found neither beside it nor at "
        f"'{found.path}'.",
        next_step=f"Put the weights beside the solver state, as '{own.name}'.",
    )


def _load_weights(path: Path, net: Net) -> None:
    """Load weights on resuming, where a layer without weights is a fault, unlike in fine-tuning."""
    report = load_weights(net, path)
    if report.missing:
        _log.warning(
            "Resuming from '%s': no weights for %s, which keep their initial values; unused in the file: %s. "
            "Rename the layers as they were, or start a new training from these weights.",
            path,
            _names(report.missing),
            _names(report.unused),
        )


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "nothing"
