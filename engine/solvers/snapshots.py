"""Snapshots: weights, solver state, and beside them what Caffe's state has no field for.

``<prefix>_iter_<N>.caffemodel`` and ``.solverstate`` are Caffe's own files and stay readable by Caffe.
``<prefix>_iter_<N>.solverstate.extras.json`` holds random streams and data positions, so that an interrupted run and an
uninterrupted one end in the same bits.
"""

from __future__ import annotations

import json
import logging
import os
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import LayerError, SolverError, WeightsError
from engine.files import atomic_write, load_weights, read_solver_state, write_solver_state, write_weights
from engine.paths import resolve, search_folders
from engine.solvers.reports import SnapshotPaths

if TYPE_CHECKING:
    from engine.net import Net
    from engine.net.nodes import NetNode
    from engine.solvers.update import UpdateRule

__all__ = ["Restored", "check_writable", "extras_path", "load", "save", "snapshot_paths"]

_log = logging.getLogger(__name__)
_EXTRAS_VERSION = 1


def snapshot_paths(prefix: str, iteration: int, output_dir: Path | None = None) -> SnapshotPaths:
    """Return the files of a snapshot.

    Parameters
    ----------
    prefix : str
        ``snapshot_prefix``.
    iteration : int
        Updates done.
    output_dir : Path, optional
        What a relative prefix is relative to; the working directory by default, as in Caffe.
    """
    stem = (output_dir or Path()) / f"{prefix}_iter_{iteration}"
    return SnapshotPaths(Path(f"{stem}.caffemodel"), Path(f"{stem}.solverstate"), iteration)


def extras_path(state: Path) -> Path:
    """Return the file that holds what Caffe's state has no field for."""
    return state.with_name(state.name + ".extras.json")


def check_writable(folder: Path) -> None:
    """Make sure that snapshots can be written, before hours are spent on what they shall hold.

    Raises
    ------
    SolverError
        If the folder is missing or nothing can be written in it.
    """
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


def save(paths: SnapshotPaths, net: Net, test_nets: Sequence[Net], rule: UpdateRule, current_step: int) -> None:
    """Write a snapshot; the state comes last, so that a state that exists is complete.

    Raises
    ------
    SolverError
        If a parameter is not finite: the files of a run gone wrong would only mislead.
    OSError
        If a file cannot be written; older files are left as they were.
    """
    write_weights(net, paths.model)
    extras = extras_path(paths.state)
    try:
        atomic_write(extras, _encode_extras(paths.iteration, net, test_nets))
    except LayerError as error:  # a plugin's own state is not worth the loss of a snapshot
        extras.unlink(missing_ok=True)
        _log.warning("%s Training that goes on from '%s' will not be exactly the same.", error, paths.state)
    write_solver_state(paths.state, paths.iteration, str(paths.model), rule.get_history(), current_step)


def _encode_extras(iteration: int, net: Net, test_nets: Sequence[Net]) -> bytes:
    states = [each.get_state() for each in (net, *test_nets)]
    for each, state in zip((net, *test_nets), states, strict=True):
        for node in each.nodes:
            _check_encodable(node, state.get(node.name))
    extras: dict[str, Any] = {"version": _EXTRAS_VERSION, "iteration": iteration, "net": states[0]}
    extras["test_nets"] = states[1:]
    if any(layer.host_arrays for layer in net.layers):
        extras["global_generators"] = _global_generators()
    return json.dumps(extras, separators=(",", ":")).encode()


def _check_encodable(node: NetNode, state: Any) -> None:
    try:
        json.dumps(state)
    except (TypeError, ValueError) as error:
        raise LayerError(
            node.name,
            node.type,
            f"expected numbers, texts, lists and dicts, got {state['own']!r} ({error}).",
            method="get_state",
            next_step="Return an array as array.tolist().",
        ) from error


class Restored:
    """What a solver state held beyond weights and histories.

    Attributes
    ----------
    iteration, current_step : int
    exact : bool
        Whether random streams and data positions were restored too.
    """

    __slots__ = ("current_step", "exact", "iteration")

    def __init__(self, iteration: int, current_step: int, exact: bool) -> None:
        self.iteration = iteration
        self.current_step = current_step
        self.exact = exact


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
    exact = _load_extras(extras_path(path), int(state.iter), net, test_nets)
    return Restored(int(state.iter), int(state.current_step), exact)


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


def _load_extras(path: Path, iteration: int, net: Net, test_nets: Sequence[Net]) -> bool:
    try:
        extras = json.loads(path.read_bytes())
    except FileNotFoundError:
        _log.info("Data restarts at the first record: '%s' does not exist.", path)
        return False
    except ValueError:
        _log.warning("Data restarts at the first record: '%s' is damaged.", path)
        return False
    if extras.get("version") != _EXTRAS_VERSION or extras.get("iteration") != iteration:
        _log.warning("Data restarts at the first record: '%s' belongs to another snapshot or version.", path)
        return False
    if "global_generators" in extras:
        _set_global_generators(extras["global_generators"])
    net.set_state(extras["net"])
    for test_net, saved in zip(test_nets, extras["test_nets"], strict=False):
        test_net.set_state(saved)
    _log.info("Data positions and random streams restored from '%s'.", path)
    return True


def _global_generators() -> dict[str, Any]:
    """Return the state of the generators that Python layers draw from behind our back, JSON-able."""
    state = np.random.get_state(legacy=False)
    assert isinstance(state, dict)
    inner = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in state["state"].items()}
    return {"numpy": {**state, "state": inner}, "python": random.getstate()}


def _set_global_generators(saved: dict[str, Any]) -> None:
    state = saved["numpy"]
    inner = {**state["state"], "key": np.array(state["state"]["key"], dtype=np.uint32)}
    np.random.set_state({**state, "state": inner})
    version, words, gauss = saved["python"]
    random.setstate((version, tuple(words), gauss))
