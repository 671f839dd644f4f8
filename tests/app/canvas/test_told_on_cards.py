"""What is wrong with a layer reaches its card, whatever was done and undone before: with the signals as they come."""

from __future__ import annotations

import contextlib
import random

import pytest

from app.canvas.scene import faces
from app.canvas.scene.describe import describe
from app.document import Document
from engine.diagnostics import Diagnostic
from engine.graph import OpGraph

NET = """layer { name: "d" type: "Input" top: "x" input_param { shape { dim: 1 dim: 4 } } }
layer { name: "r" type: "ReLU" bottom: "x" top: "y" }
layer { name: "s" bottom: "y" top: "z" }
"""


@pytest.fixture
def told(make_canvas, qtbot):
    document = Document(OpGraph.parse(NET))
    area = make_canvas(document)
    document.live.start()
    qtbot.waitUntil(lambda: not document.live.busy, timeout=20_000)

    def check() -> dict[str, str]:
        def untrue() -> list[str]:
            return [node.name for card, node in cards.items() if card.face != describe(document, node)]

        qtbot.waitUntil(lambda: not document.live.busy, timeout=20_000)
        cards = {area.canvas.nodes[node.id]: node for node in document.graph.nodes()}
        with contextlib.suppress(qtbot.TimeoutError):
            qtbot.waitUntil(lambda: not untrue(), timeout=5000)  # the cards come after
        assert not untrue()
        return {node.name: card.face.severity for card, node in cards.items()}

    yield document, check
    document.close()


def retype(document: Document, name: str, kind: str) -> None:
    node = document.graph.named(name)[0].id
    if kind:
        document.apply("Type", lambda graph: graph.set_string(node, ("type",), kind))
    else:
        document.apply("Type", lambda graph: graph.clear_field(node, ("type",)))


def test_a_type_that_is_undone_is_missing_again(told, qtbot):
    document, check = told
    before = check()
    assert before["s"], "it has no type"
    retype(document, "s", "ReLU")
    assert not check()["s"]
    document.undo_stack.undo()
    assert check() == before
    document.undo_stack.redo()
    qtbot.wait(20)  # in the midst of what is due
    document.undo_stack.undo()
    assert check() == before


@pytest.mark.parametrize("seed", range(3))
def test_steps_and_undo_at_any_moment_leave_cards_that_say_what_is_true(told, qtbot, seed):
    document, check = told
    chance = random.Random(seed)
    for _ in range(25):
        stack = document.undo_stack
        act = chance.choice(["type", "undo", "redo", "mark", "none"])
        if act == "undo":
            stack.undo()
        elif act == "redo":
            stack.redo()
        elif act == "mark":
            document.live.clear_node_errors()
        else:
            retype(document, chance.choice("rs"), chance.choice(["ReLU", "Sigmoid", "Nope"]) if act == "type" else "")
        qtbot.wait(chance.choice([0, 0, 1, 30, 120, 250]))
    check()
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert check()["s"]


def test_facts_that_come_faster_than_cards_are_described_leave_none_out(make_canvas, monkeypatch):
    """A run that is under way says something many times a second."""
    document = Document(OpGraph.parse(NET))
    scene = make_canvas(document).canvas
    try:
        monkeypatch.setattr(faces, "_SLICE", -1.0)  # one card a slice
        for node in document.graph.nodes():
            document.live.set_node_error(node.id, Diagnostic("run", "error", "It failed.", node=node.id))
        for _ in scene.nodes:
            document.status_changed.emit()
            scene.faces._due.flush()
        assert [card.face.severity for card in scene.nodes.values()] == ["error"] * 3
    finally:
        document.close()
