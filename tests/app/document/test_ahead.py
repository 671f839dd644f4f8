"""Edits that are prepared in a thread: made as a whole, in the order in which they were asked for."""

from __future__ import annotations

import threading

import pytest

from app.document import Document
from engine.errors import GraphError
from engine.graph import OpGraph

NET = 'layer { name: "a" type: "ReLU" bottom: "x" top: "a" }\n'
MORE = 'layer { name: "b" type: "ReLU" bottom: "x" top: "b" }\n'


@pytest.fixture
def net():
    document = Document(OpGraph.parse(NET))
    yield document
    document.close()


class Paste:
    """A paste whose reading waits until it is let go."""

    def __init__(self, net: Document, *, held: bool = False) -> None:
        self.net = net
        self.go = threading.Event()
        if not held:
            self.go.set()
        self.readings: list[object] = []
        self.errors: list[str] = []
        net.ahead.start(self.read, self.make, lambda error: self.errors.append(str(error)))

    def read(self):
        assert self.go.wait(10)
        return self.net.graph.read_fragment(MORE)

    def make(self, reading) -> None:
        self.readings.append(reading)
        self.net.apply("Paste", lambda graph: graph.paste_fragment(MORE, reading=reading))


def names(net: Document) -> list[str]:
    return [node.name for node in net.graph.nodes()]


def test_the_edit_comes_when_it_is_read(net, qtbot):
    paste = Paste(net)
    assert names(net) == ["a"] and net.unsaved and not net.undo_stack.count()
    qtbot.waitUntil(lambda: not net.ahead.busy)
    assert names(net) == ["a", "b"] and paste.readings[0] is not None
    net.undo_stack.undo()
    assert bytes(net.graph) == NET.encode()


def test_another_edit_has_it_made_first(net, qtbot):
    paste = Paste(net, held=True)
    net.apply("Add", lambda graph: graph.add_node("TanH", name="c", bottoms=["x"]))
    assert names(net) == ["a", "b", "c"]
    assert [net.undo_stack.text(place) for place in range(2)] == ["Paste", "Add"]
    paste.go.set()
    qtbot.waitUntil(lambda: not net.ahead.busy)
    assert names(net) == ["a", "b", "c"] and paste.readings == [None], "once is enough"


def test_steps_through_the_history_wait_for_it(net, qtbot):
    net.apply("Add", lambda graph: graph.add_node("TanH", name="c", bottoms=["x"]))
    paste = Paste(net, held=True)
    net.undo_stack.undo()
    net.undo_stack.undo()
    net.undo_stack.redo()
    assert names(net) == ["a", "c"], "nothing is taken back that was not asked for"
    paste.go.set()
    qtbot.waitUntil(lambda: not net.ahead.busy)
    assert names(net) == ["a", "c"]
    assert net.undo_stack.index() == 1 and net.undo_stack.count() == 2
    net.undo_stack.redo()
    assert names(net) == ["a", "c", "b"]


def test_what_edits_behind_its_back_has_it_read_again(net, qtbot):
    net.apply("Add", lambda graph: graph.add_node("TanH", name="b", bottoms=["x"]))
    paste = Paste(net, held=True)
    net.undo_stack.setIndex(0)  # as the list of the history does
    paste.go.set()
    qtbot.waitUntil(lambda: not net.ahead.busy)
    assert names(net) == ["a", "b"] and len(paste.readings) == 1
    assert net.undo_stack.count() == 1, "what was taken back cannot come again after another edit"


@pytest.mark.parametrize("where", ["read", "made"])
def test_a_refusal_is_told_and_changes_nothing(net, qtbot, where):
    net.apply("Add", lambda graph: graph.add_node("TanH", name="c", bottoms=["x"]))
    told: list[str] = []

    def read() -> object:
        if where == "read":
            raise GraphError("not now")
        return where

    def make(_found: object) -> None:
        net.apply("Nothing", lambda graph: graph.paste_fragment("name: 'no layers'"))

    net.ahead.start(read, make, lambda error: told.append(str(error)))
    net.undo_stack.undo()
    qtbot.waitUntil(lambda: bool(told))
    assert ("not now" if where == "read" else "holds no layers") in told[0]
    assert not net.ahead.pending
    assert bytes(net.graph) == NET.encode(), "the step that waited is taken all the same"


def test_a_document_that_is_closed_meanwhile_stays_as_it_is(qtbot):
    document = Document(OpGraph.parse(NET))
    paste = Paste(document, held=True)
    paste.go.set()
    document.close()
    qtbot.wait(1)
    assert not paste.readings and bytes(document.graph) == NET.encode()
