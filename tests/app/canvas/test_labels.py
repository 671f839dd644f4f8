"""Which wire of an output says its shape: the one to the first reader in the file, whatever was edited before."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from app.canvas.scene.scene import CanvasScene
from app.document import Document
from engine.graph import NodeId, OpGraph
from tests.app.canvas.looks import assert_same, look

NET = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
layer { name: "a" type: "Pooling" bottom: "data" top: "a" pooling_param { kernel_size: 2 } }
layer { name: "b" type: "Pooling" bottom: "data" top: "b" pooling_param { kernel_size: 3 } }
layer { name: "c" type: "Pooling" bottom: "data" top: "c" pooling_param { kernel_size: 4 } }
layer { name: "d" type: "Flatten" bottom: "c" top: "d" }
"""
Edit = Callable[[Document], object]


def _id(graph: OpGraph, name: str) -> NodeId:
    return next(iter(graph.ids_named(name)))


def _move(name: str, after: str) -> Edit:
    def edit(document: Document) -> None:
        graph = document.graph
        document.apply("Move", lambda graph: graph.move_node(_id(graph, name), after=_id(graph, after)))
        assert graph.node(_id(graph, name)).ordinal == graph.node(_id(graph, after)).ordinal + 1

    return edit


def _remove(name: str) -> Edit:
    return lambda document: document.apply("Delete", lambda graph: graph.remove_nodes([_id(graph, name)]))


def _add(after: str) -> Edit:
    def edit(graph: OpGraph, document: Document) -> None:
        new = graph.add_node("Flatten", name="new", bottoms=["data"], after=_id(graph, after))
        document.positions.place(new, 800.0, 600.0)

    return lambda document: document.apply("Add", lambda graph: edit(graph, document))


def _type_in_other_order(document: Document) -> None:
    def edit(graph: OpGraph) -> None:
        lines = graph.text.splitlines(keepends=True)
        lines[2], lines[3] = lines[3], lines[2]
        graph.replace_text("".join(lines))

    document.apply("Type", edit)


def _rewire(document: Document) -> None:
    document.apply("Disconnect", lambda graph: graph.disconnect(_id(graph, "a"), 0))
    document.apply("Connect", lambda graph: graph.connect(_id(graph, "data"), 0, _id(graph, "a"), 0))


@pytest.fixture
def shown() -> Iterator[tuple[Document, CanvasScene]]:
    document = Document(OpGraph.parse(NET))
    for place, node in enumerate(document.graph.node_ids()):
        document.positions.place(node, 400.0 * place, 150.0 * (place % 3))
    scene = CanvasScene(document)
    yield document, scene
    scene.close()
    document.close()


def labels(scene: CanvasScene) -> dict[str, str]:
    """What the wires say, or would if they had room, by their readers' names; plain ones left out."""
    graph = scene.document.graph
    return {graph.node(edge.target).name: item.wanted for edge, item in scene.edges.items() if item.wanted}


def check_as_fresh(document: Document, scene: CanvasScene) -> None:
    """Compare with a scene that is made now."""
    scene.faces.refresh()
    fresh = CanvasScene(document)
    try:
        fresh.faces.refresh()
        assert labels(scene) == labels(fresh)
        assert_same(look(scene), look(fresh))
    finally:
        fresh.close()


@pytest.mark.parametrize(
    ("edits", "first"),
    [
        ((), "a"),
        ((_move("a", "b"),), "b"),
        ((_move("b", "data"),), "b"),
        ((_move("c", "data"), _move("a", "b")), "c"),
        ((_remove("a"),), "b"),
        ((_remove("a"), _remove("b")), "c"),
        ((_add("data"),), "new"),
        ((_add("b"), _move("a", "b")), "b"),
        ((_rewire,), "a"),
        ((_type_in_other_order,), "b"),
    ],
    ids=["none", "first back", "second first", "two", "remove", "remove two", "add", "add and move", "rewire", "type"],
)
def test_the_first_reader_in_the_file_has_the_label(shown, qtbot, edits, first):
    document, scene = shown
    document.live.start()
    qtbot.waitUntil(lambda: bool(document.shapes) and not document.live.busy)
    stack = document.undo_stack
    for edit in edits:
        edit(document)
        qtbot.waitUntil(lambda: not document.live.busy)
        check_as_fresh(document, scene)
    of_data = labels(scene).keys() & {"a", "b", "c", "new"}
    assert of_data == {first}
    while stack.canUndo():
        stack.undo()
    qtbot.waitUntil(lambda: not document.live.busy)
    check_as_fresh(document, scene)
    assert labels(scene).keys() & {"a", "b", "c"} == {"a"}
    while stack.canRedo():
        stack.redo()
    qtbot.waitUntil(lambda: not document.live.busy)
    check_as_fresh(document, scene)
    assert labels(scene).keys() & {"a", "b", "c", "new"} == {first}
