"""Solver states in HDF5 (``.solverstate.h5``), in the layout of Caffe's ``SGDSolver``.

``iter`` and ``current_step`` are data sets of one integer, ``learned_net`` is a text, and ``history/<index>`` holds the
memory of the update rule.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.errors import FileFormatError
from engine.files.hdf5 import hdf5_image, is_group, open_hdf5, put_text, read_floats, read_integer, read_text
from engine.files.stored import StoredState

__all__ = ["encode_hdf5_state", "read_hdf5_state"]


def read_hdf5_state(path: Path) -> StoredState:
    """Read an HDF5 solver state, Caffe's own or ours.

    Raises
    ------
    FileFormatError
        If the file is damaged, or is no solver state.
    """
    with open_hdf5(path) as file:
        history = file.get("history")
        if "iter" not in file or not is_group(history):
            raise _no_state(path, is_group(file.get("data")))
        arrays = []
        for index in range(len(history)):
            if str(index) not in history:
                raise FileFormatError(
                    f"'{path}': expected histories 0 to {len(history) - 1}, got none numbered {index}.",
                    next_step="Download or copy it again.",
                )
            arrays.append(read_floats(history[str(index)]))
        iteration, step = read_integer(file, "iter"), read_integer(file, "current_step")
        return StoredState(iteration, read_text(file, "learned_net"), tuple(arrays), step)


def _no_state(path: Path, weights: bool) -> FileFormatError:
    if weights:
        return FileFormatError(
            f"Expected a solver state (.solverstate.h5), but '{path}' looks like a weights file (.caffemodel.h5).",
            next_step="Give the .solverstate.h5 file that was written with it, or begin anew from these weights: "
            "netcanvas train --weights FILE.",
        )
    return FileFormatError(
        f"Expected a solver state with 'iter' and 'history' in '{path}', got another HDF5 file.",
        next_step="A state is in a .solverstate.h5 file, which training writes with 'snapshot_format: HDF5'.",
    )


def encode_hdf5_state(
    iteration: int, learned_net: str, history: Iterable[npt.NDArray[np.floating]], current_step: int
) -> bytes:
    """Return the content of an HDF5 solver state; parameters as for :func:`engine.files.write_solver_state`."""
    with hdf5_image() as (file, image):
        for name, value in (("iter", iteration), ("current_step", current_step)):
            file.create_dataset(name, data=np.array([value], dtype=np.int32), track_times=False)
        put_text(file, "learned_net", os.fsencode(learned_net))
        group = file.create_group("history")
        for index, array in enumerate(history):
            group.create_dataset(str(index), data=array, track_times=False)
    return image[0]
