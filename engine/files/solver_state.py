"""Solver states: what a solver needs, beside the weights, to go on from a snapshot.

``.solverstate`` files hold a ``SolverState`` message, ``.solverstate.h5`` files the same in HDF5.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.files.atomic import atomic_write, atomic_writer
from engine.files.blobs import FloatArray, decode_blob, encode_blob
from engine.files.hdf5 import is_hdf5
from engine.files.hdf5_state import encode_hdf5_state, read_hdf5_state
from engine.files.opening import damaged, map_file
from engine.files.stored import StoredState
from engine.schema import FileKind, load_schema
from engine.schema.wire import VARINT, WireError, encode_length, encode_varint, iter_fields, signed

__all__ = ["read_solver_state", "write_hdf5_solver_state", "write_solver_state"]

# Field numbers of SolverState.
_ITER, _LEARNED_NET, _HISTORY, _CURRENT_STEP = 1, 2, 3, 4


def read_solver_state(path: str | os.PathLike[str]) -> StoredState:
    """Read a solver state, Caffe's own or ours.

    Parameters
    ----------
    path : path
        A file in Caffe's binary format or in HDF5, told by its content and not by its name.

    Raises
    ------
    FileFormatError
        If the file cannot be read, is damaged or is of another kind; the message says what it looks like.
    """
    file = Path(path)
    if is_hdf5(file):
        return read_hdf5_state(file)
    numbers = {_ITER: 0, _CURRENT_STEP: 0}
    learned_net = ""
    history: list[FloatArray] = []
    try:
        for number, _, value in iter_fields(map_file(file, FileKind.SOLVER_STATE)):
            if isinstance(value, int):
                numbers[number] = signed(value)
            elif number == _LEARNED_NET:
                learned_net = value.tobytes().decode("utf-8", "surrogateescape")
            elif number == _HISTORY:
                history.append(decode_blob(value).data.copy())
    except WireError as error:
        raise damaged(file, FileKind.SOLVER_STATE, error) from error
    return StoredState(numbers[_ITER], learned_net, tuple(history), numbers[_CURRENT_STEP])


def write_solver_state(
    path: str | os.PathLike[str],
    iteration: int,
    learned_net: str,
    history: Iterable[npt.NDArray[np.floating]],
    current_step: int = 0,
) -> None:
    """Write a solver state in Caffe's format.

    Parameters
    ----------
    path : path
        Replaced in one step when all is written.
    iteration : int
        Number of iterations done.
    learned_net : str
        Path of the weights that belong to the state.
    history : iterable of ndarray
        In the order of the net's learnable blobs.
    current_step : int
        Number of learning-rate drops done.

    Raises
    ------
    OSError
        If the file cannot be written; it is as it was then.
    """
    head = load_schema().message("SolverState")(iter=iteration)
    name = os.fsencode(learned_net)
    with atomic_writer(path) as file:
        file.write(head.SerializeToString() + encode_length(_LEARNED_NET, len(name)) + name)
        for array in history:
            pieces = encode_blob(array)
            file.write(encode_length(_HISTORY, sum(map(len, pieces))))
            file.writelines(pieces)
        file.write(encode_varint(_CURRENT_STEP << 3 | VARINT) + encode_varint(current_step))


def write_hdf5_solver_state(
    path: str | os.PathLike[str],
    iteration: int,
    learned_net: str,
    history: Iterable[npt.NDArray[np.floating]],
    current_step: int = 0,
) -> None:
    """Write a solver state in HDF5, in Caffe's layout; parameters and errors as for :func:`write_solver_state`."""
    atomic_write(path, encode_hdf5_state(iteration, learned_net, history, current_step))
