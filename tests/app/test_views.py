"""Looking at one net of a document: what follows, and what is remembered."""

from __future__ import annotations

import json

import pytest

from app.document import Document
from app.document.placement import Point
from engine.graph import OpGraph, View
from engine.sidecar import sidecar_path
from tests.app.canvas.hands import Hands

INPUT = 'type: "Input" top: "x" input_param { shape { dim: %d dim: 3 } }'
STAGED = (
    f'layer {{ name: "t" include {{ stage: "fit" }} {INPUT % 8} }}\n'
    f'layer {{ name: "v" include {{ stage: "val" }} {INPUT % 2} }}\n'
    'layer { name: "drop" type: "Dropout" bottom: "x" top: "x" include { phase: TRAIN } }\n'
    'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 4 } }\n'
)
FIT, VAL = frozenset({"fit"}), frozenset({"val"})


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_text(STAGED)
    return path


def ids(document: Document) -> dict[str, object]:
    return {node.name: node.id for node in document.graph.nodes()}


def settle(document: Document, qtbot) -> None:
    """Wait until shapes and diagnoses stand."""
    qtbot.waitUntil(lambda: not document.jobs.busy and not document.live.diagnosis.busy, timeout=10_000)


def test_shapes_and_diagnoses_are_those_of_the_view(net, qtbot):
    document = Document.open(net)
    ip = ids(document)["ip"]
    document.live.start()
    for view, batch in ((View("TRAIN", 0, FIT), 8), (View("TEST", 0, VAL), 2), (View("TRAIN", 0, VAL), 2)):
        document.set_view(view)
        qtbot.waitUntil(lambda batch=batch: ip in document.shapes and document.shapes[ip].tops[0] == (batch, 4))
        settle(document, qtbot)
        assert not [each for each in document.diagnostics if each.severity == "error"]
    document.set_view(View("TEST"))
    qtbot.waitUntil(lambda: any(each.code == "bottom-view" for each in document.diagnostics), timeout=10_000)
    assert document.problems_of(ip)[0] == "error"
    document.set_view(View())
    qtbot.waitUntil(lambda: not document.problems_of(ip)[0], timeout=10_000)
    assert not document.undo_stack.count() and not document.modified
    document.close()


def test_a_view_follows_edits(net, qtbot):
    document = Document.open(net)
    names = ids(document)
    document.set_view(View("TEST", 0, FIT))
    assert document.in_view(names["t"]) and not document.in_view(names["v"])
    document.apply("Stage", lambda graph: graph.set_field(names["v"], ("include",), '{ stage: "fit" }'))
    assert document.in_view(names["v"])
    document.undo_stack.undo()
    assert not document.in_view(names["v"])
    document.close()


def test_the_canvas_dims_what_is_not_in_view(net, make_canvas, qtbot):
    document = Document.open(net)
    canvas = make_canvas(document)
    hands = Hands(canvas)

    def dim() -> set[str]:
        canvas.canvas.faces.refresh()
        return {name for name in ids(document) if hands.node(name).face.ghost}

    def dim_wires() -> set[str]:
        graph = document.graph
        ghosts = [edge for edge, item in canvas.canvas.edges.items() if item.ghost]
        return {f"{graph.node(edge.source).name}>{graph.node(edge.target).name}" for edge in ghosts}

    assert not dim() and not dim_wires()
    document.set_view(View("TRAIN", 0, FIT))
    assert dim() == {"v"} and dim_wires() == {"v>drop", "v>ip", "t>ip"}
    document.set_view(View("TEST", 0, FIT))
    assert dim() == {"v", "drop"} and dim_wires() == {"v>drop", "v>ip", "t>drop", "drop>ip"}
    canvas.frame()
    canvas.set_scale(0.05)
    assert canvas.is_far
    canvas.viewport().repaint()
    # What is in view depends on rules of other layers too: the scene looks at all when one is edited.
    node = ids(document)["drop"]
    document.apply("Rule", lambda graph: graph.clear_field(node, ("include",)))
    qtbot.waitUntil(lambda: not hands.node("drop").face.ghost)
    assert dim_wires() == {"v>drop"}
    document.close()


def test_wires_that_only_the_view_has_are_shown_with_it(make_canvas):
    document = Document(
        OpGraph.parse(
            'layer { name: "a" type: "Input" top: "x" include { stage: "s" } }\n'
            'layer { name: "b" type: "ReLU" bottom: "x" top: "y" include { stage: "t" } }\n'
        )
    )
    scene = make_canvas(document).canvas
    assert not scene.edges
    document.set_view(View("TEST", 0, frozenset("st")))
    (edge,) = scene.edges
    assert not scene.edges[edge].ghost and (edge.source, edge.target) == document.graph.node_ids()
    target = edge.target
    document.apply("Rules", lambda graph: graph.clear_field(target, ("include",)))
    assert set(scene.edges) == set(document.graph.edges()) and len(scene.edges) == 1
    document.undo_stack.undo()
    assert len(scene.edges) == 1 and not document.graph.edges()
    document.apply("Delete", lambda graph: graph.remove_nodes([target]))
    assert not scene.edges
    document.undo_stack.undo()
    document.set_view(View())
    assert not scene.edges
    scene.close()
    document.close()


@pytest.mark.parametrize("touched", [False, True])
def test_a_view_is_remembered_with_the_layout(net, touched):
    document = Document.open(net)
    view = View("deploy", 3, FIT)
    document.set_view(view)
    if touched:
        document.positions.move({node: Point(1.0, 2.0) for node in document.graph.node_ids()})
    document.save()
    assert net.read_text() == STAGED
    document.close()
    assert sidecar_path(net).exists() == touched
    again = Document.open(net)
    assert again.view == (view if touched else View())
    assert (again.seen is not None) == touched
    again.close()


@pytest.mark.parametrize("stored", [{"show": "most"}, 7, {"show": "TEST", "level": "high", "stages": []}, {}])
def test_a_view_that_is_none_is_ignored(net, stored):
    sidecar_path(net).write_text(json.dumps({"nodes": [], "view": stored}))
    document = Document.open(net)
    assert document.view == View()
    document.close()


# The chooser in the window


def test_views_are_chosen_in_the_window(window, net, qtbot):
    assert window.files.open(net)
    views, document = window.views, window.document
    assert views.choices["all"].isChecked()
    views.choices["TEST"].trigger()
    assert document.view == View("TEST") and views.choices["TEST"].isChecked()
    assert "3" in views.choices["TEST"].shortcut().toString()
    states = views.states
    states.aboutToShow.emit()
    assert list(states.stages) == ["fit", "val"] and not states.levels
    states.stages["fit"].trigger()
    assert document.view == View("TEST", 0, FIT) and states.words == "fit"
    states.stages["val"].trigger()
    assert document.view == View("TEST", 0, FIT | VAL) and states.words == "fit, val"
    qtbot.waitUntil(lambda: window.status.layers.text() == "3 of 4 layers: TEST, stages fit and val")
    states.stages["fit"].trigger()
    assert document.view.stages == VAL
    views.choices["all"].trigger()
    states.stages["fit"].trigger()
    assert document.view == View("TEST", 0, FIT | VAL)  # a stage is one of a net
    window.files.new()
    assert window.document.view == View() and views.choices["all"].isChecked()


def test_levels_are_offered_where_rules_tell_them_apart(window, tmp_path):
    path = tmp_path / "levels.prototxt"
    path.write_text('layer { name: "a" type: "Input" top: "x" include { min_level: 2 max_level: 4 } }\n')
    assert window.files.open(path)
    states = window.views.states
    states.aboutToShow.emit()
    assert list(states.levels) == [0, 2, 4, 5] and not states.stages
    states.levels[4].trigger()
    assert window.document.view == View("TEST", 4)
    assert window.toolbar.findChild(object, "window.states").text() == "level 4"
    states.levels[0].trigger()
    assert window.document.view == View("TEST")


def test_without_rules_there_is_nothing_to_choose(window, lenet):
    assert window.files.open(lenet)
    states = window.views.states
    states.aboutToShow.emit()
    assert not states.has_choice
    (action,) = states.actions()
    assert not action.isEnabled() and "No rule" in action.text()


# Solvers and dialects, live


def test_findings_of_the_solver_follow_both_files(tmp_path, qtbot):
    net, solver = tmp_path / "net.prototxt", tmp_path / "net_solver.prototxt"
    net.write_text('layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 } } }\n')
    solver.write_text('net: "net.prototxt"\nmax_iter: 0\n')
    document = Document.open(net)
    assert document.solver_path == solver

    def told() -> set[str]:
        return {each.code for each in document.diagnostics if each.file == solver}

    document.live.start()
    qtbot.waitUntil(lambda: told() == {"solver-max-iter"}, timeout=10_000)
    solver.write_text('net: "net.prototxt"\nmax_iter: 1\n')
    qtbot.waitUntil(lambda: not told(), timeout=10_000)
    data = document.graph.node_ids()[0]
    document.apply("Test", lambda graph: graph.set_field(data, ("include",), "{ phase: TEST }"))
    qtbot.waitUntil(lambda: told() == {"solver-train-phase"}, timeout=10_000)
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: not told(), timeout=10_000)
    replaced = tmp_path / "aside"
    replaced.write_text('net: "gone.prototxt"\nmax_iter: 1\n')
    replaced.replace(solver)  # as editors write
    qtbot.waitUntil(lambda: told() == {"solver-net-missing"}, timeout=10_000)
    document.set_solver(None)
    qtbot.waitUntil(lambda: not [each for each in document.diagnostics if each.file], timeout=10_000)
    document.close()


def test_a_solver_without_its_net_says_where_that_was_looked_for(window, tmp_path):
    solver = tmp_path / "solver.prototxt"
    solver.write_text('max_iter: 1\nnet: "gone.prototxt"\n')
    assert window.files.open(solver)
    (bar,) = window.bars
    assert "line 2" in bar.text and "gone.prototxt" in bar.text and "tried" in bar.text


def test_the_dialect_is_guessed_anew_while_a_net_is_edited(qtbot):
    document = Document(OpGraph.parse('layer { name: "p" type: "ReLU" bottom: "x" top: "y" }\n'))
    document.live.start()
    settle(document, qtbot)
    assert document.dialect == "bvlc"
    node = document.graph.node_ids()[0]
    document.apply("SSD", lambda graph: graph.set_field(node, ("transform_param", "resize_param"), "{ prob: 1 }"))
    qtbot.waitUntil(lambda: document.dialect == "ssd", timeout=10_000)
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: document.dialect == "bvlc", timeout=10_000)
    document.set_dialect("intel")
    document.apply("SSD", lambda graph: graph.set_field(node, ("transform_param", "resize_param"), "{ prob: 1 }"))
    settle(document, qtbot)
    qtbot.wait(900)
    assert document.dialect == "intel" and document.dialect_choice.guess == "bvlc"
    document.close()
