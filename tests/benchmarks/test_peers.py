"""The comparison with other node editors measures ours whole, and says what was cut or failed."""

from __future__ import annotations

import json
import sys

import pytest

from tests.benchmarks import against
from tests.benchmarks.peers import FIGURES


@pytest.fixture
def graph(tmp_path, qapp):
    small = against.graph_of(60, tmp_path / "net.prototxt")
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(small | {"small": small}))
    return path


def test_our_editor_goes_through_all_steps(graph):
    found = against.measured("netcanvas", graph, sys.executable)
    assert "failed" not in found
    assert set(found) == {"version", *FIGURES}
    assert all(found[figure] > 0 for figure in FIGURES if figure != "memory, MB")


def test_an_editor_that_is_not_there_is_said_to_have_failed(graph, monkeypatch):
    monkeypatch.setitem(against.EDITORS, "nobody", None)
    found = against.measured("nobody", graph, sys.executable)
    assert found["failed"]


def test_one_that_takes_too_long_is_cut_and_keeps_what_it_found(graph, monkeypatch):
    monkeypatch.setattr(against, "PATIENCE", 0.3)
    found = against.measured("netcanvas", graph, sys.executable)
    assert found["cut"] == 0.3 and "undo of it" not in found


def test_the_table_tells_ratios_what_was_cut_and_who_is_ahead():
    found = {
        "netcanvas": {"version": "1", "open": 10.0, "pan step": 2.0},
        "a": {"version": "2", "open": 25.0, "pan step": 1.0},
        "b": {"version": "3", "open": 20.0, "cut": 120.0},
        "c": {"failed": "no display"},
    }
    lines = list(against.table(1000, found))
    assert lines[0] == "| 1,000 layers | netcanvas 1 | a 2 | b 3 | c  |"
    assert lines[2] == "| open | 10.0 | 25.0 (2.5x) | 20.0 (2.0x) | failed |"
    assert "| pan step | 2.0 | 1.0 (0.5x) | cut after 120 s | failed |" in lines
    assert lines[-1] == "c failed: no display\n"
    assert list(against._ahead(found)) == [("a", "pan step")]
