"""Solver states."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import FileFormatError
from engine.files import blob_from_proto, read_solver_state, write_solver_state
from engine.schema import load_schema
from tests.support import shared_files

CAFFES = shared_files("golden/solvers/*.solverstate")
SCHEMA = load_schema()


@pytest.mark.parametrize("path", CAFFES, ids=lambda path: path.name)
def test_files_written_by_caffe(path, tmp_path):
    message = SCHEMA.message("SolverState").FromString(path.read_bytes())
    state = read_solver_state(path)
    assert (state.iter, state.learned_net, state.current_step) == (20, message.learned_net, message.current_step)
    assert len(state.history) == len(message.history)
    for array, proto in zip(state.history, message.history, strict=True):
        np.testing.assert_array_equal(array, blob_from_proto(proto))
    again = tmp_path / "again.solverstate"
    write_solver_state(again, state.iter, state.learned_net, state.history, state.current_step)
    assert again.read_bytes() == path.read_bytes()


def test_round_trip(tmp_path):
    path = tmp_path / "s.solverstate"
    history = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(1, np.float32)]
    write_solver_state(path, 123456, "ä.caffemodel", history, 3)
    state = read_solver_state(path)
    assert (state.iter, state.learned_net, state.current_step) == (123456, "ä.caffemodel", 3)
    for array, expected in zip(state.history, history, strict=True):
        np.testing.assert_array_equal(array, expected)
        assert array.flags.writeable


def test_weights_in_place_of_a_state(tmp_path):
    path = tmp_path / "s.solverstate"
    path.write_bytes(SCHEMA.message("NetParameter")(name="n").SerializeToString())
    with pytest.raises(FileFormatError, match=r"looks like a weights file.*--weights"):
        read_solver_state(path)


def test_truncated_state(tmp_path):
    path = tmp_path / "s.solverstate"
    write_solver_state(path, 1, "w", [np.ones(9, np.float32)])
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(FileFormatError, match="too early"):
        read_solver_state(path)
