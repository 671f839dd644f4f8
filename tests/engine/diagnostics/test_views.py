"""What a diagnosis says of one view of a document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.diagnostics import check_solver, check_solver_file, diagnose
from engine.errors import DataError
from engine.graph import DEPLOY, OpGraph, View
from engine.shapes import NodeShapes
from tests.engine.graph.nets import LENET, layer, node

TRAIN, TEST = "include { phase: TRAIN }", "include { phase: TEST }"
STAGED = (
    layer("t", "", "x", "Data", 'include { stage: "train" }')
    + layer("v", "", "x", "Data", 'include { stage: "val" }')
    + layer("ip", "x", "y", "InnerProduct")
)


def told(text: str, view: View | None, code: str = "", **terms) -> list[str]:
    """Code and layer of what is told of a view; of one code only, if one is given."""
    graph = OpGraph.parse(text)
    found = diagnose(graph, view=None if view is None else graph.look(view), **terms)
    names = [(each.code, "" if each.node is None else graph.node(each.node).name) for each in found]
    return [f"{each} {name}".strip() for each, name in names if code in ("", each)]


@pytest.mark.parametrize(
    ("view", "codes"),
    [
        (None, []),  # some stage of each phase feeds it
        (View("TRAIN", 0, frozenset({"train"})), []),
        (View("TEST", 0, frozenset({"val"})), []),
        (View("TEST"), ["bottom-view ip"]),
        (View("TEST", 0, frozenset({"other"})), ["bottom-view ip"]),
        (View("TEST", 0, frozenset({"train", "val"})), ["top-duplicate v"]),
    ],
)
def test_what_only_a_view_shows(view: View | None, codes: list[str]):
    found = [each for each in told(STAGED, view) if not each.startswith(("top-unused", "loss"))]
    assert found == codes


def test_a_bottom_without_writer_in_a_view_says_who_makes_it():
    graph = OpGraph.parse(STAGED)
    (found,) = [each for each in diagnose(graph, view=graph.look(View("TEST"))) if each.code == "bottom-view"]
    assert "'ip'" in found.message and "view TEST" in found.message and "'t' (line 1)" in found.message
    assert (found.severity, found.line, found.node, found.field) == ("error", 3, node(graph, "ip"), ("bottom", 0))
    assert found.next_step
    below = OpGraph.parse(layer("a", "x", "y") + layer("t", "", "x", "Data", 'include { stage: "s" }'))
    state = View("TEST", 0, frozenset("s"))
    assert [each.code for each in diagnose(below, view=below.look(state)) if each.severity == "error"] == [
        "forward-reference"
    ]


@pytest.mark.parametrize(
    ("text", "view", "code", "names"),
    [
        (layer("a", "?", "y", more=TRAIN), View("TRAIN"), "bottom-unwired", ["a"]),
        (layer("a", "?", "y", more=TRAIN), View("TEST"), "bottom-unwired", []),
        (layer("a", "", "x", more=TRAIN) + layer("b", "x", "y"), View("TRAIN"), "bottom-other-phase", []),
        (layer("d", "", "x", "Data") + layer("i", "x", "y"), View("TRAIN"), "loss-missing", [""]),
        (layer("d", "", "x", "Data") + layer("i", "x", "y"), View("TEST"), "loss-missing", []),
        (layer("a", "", "x", more=f"{TRAIN} ex{TRAIN[2:]}"), View("TEST"), "rule-both", ["a"]),
        ("layer { oops", View("TEST"), "syntax", None),
    ],
)
def test_other_findings_are_those_of_the_view(text: str, view: View, code: str, names: list[str] | None):
    found = told(text, view, code)
    assert bool(found) if names is None else found == [f"{code} {name}".strip() for name in names]


def test_the_input_of_a_derived_deploy_net_needs_no_data_file(tmp_path: Path):
    text = LENET.replace("data_param {", 'data_param { source: "nowhere"')
    assert len(told(text, None, "file-missing", folder=tmp_path)) == 2
    assert len(told(text, View("TEST"), "file-missing", folder=tmp_path)) == 1
    assert not told(text, View(DEPLOY), "file-missing", folder=tmp_path)
    lost = NodeShapes((), (None, None), (), "unknown", "no data", DataError("no data"))
    shapes = dict.fromkeys(OpGraph.parse(text).node_ids()[:2], lost)
    assert told(text, View("TEST"), "shape", shapes=shapes) == ["shape mnist"]
    assert not told(text, View(DEPLOY), "shape", shapes=shapes)


# Solvers


def test_a_solver_is_held_against_the_net_as_it_is_edited(tmp_path: Path):
    net, solver = tmp_path / "net.prototxt", tmp_path / "solver.prototxt"
    net.write_text(layer("d", "", "x", "Data"))
    solver.write_text('net: "net.prototxt"\nmax_iter: 1\n')
    assert not check_solver(solver.read_bytes(), solver)
    edited = OpGraph.parse(layer("d", "", "x", "Data", TEST)).nodes()
    (found,) = check_solver(solver.read_bytes(), solver, opened={net: edited})
    assert found.code == "solver-train-phase"
    assert check_solver_file(solver, opened={net: edited}) == [replace(found, file=solver)]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("max_iter = 1\n", "syntax", 1),
        ("max_iter: 1\nbase_lrr: 1\n", "field-unknown", 2),
        ('max_iter: 1\nnet: "gone.prototxt"\n', "solver-net-missing", 2),
        ("max_iter: 0\n", "solver-max-iter", 1),
        (None, "solver-file", 0),
    ],
)
def test_a_solver_file_says_what_is_wrong_with_it(tmp_path: Path, text: str | None, code: str, line: int):
    solver = tmp_path / "solver.prototxt"
    if text is not None:
        solver.write_text(text)
    (found,) = check_solver_file(solver)
    assert (found.code, found.line, found.file) == (code, line, solver)
    assert found.message.startswith("Solver: ") and found.next_step
