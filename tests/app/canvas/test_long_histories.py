"""Five hundred steps of any kind on public nets: undone and made again to the same bytes, and to the same picture."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QPointF

from app.canvas.edits import aligning, clipboard, edits
from app.canvas.edits.steps import bend_wire
from app.canvas.gestures import annotating
from app.canvas.scene.scene import CanvasScene
from app.document import Document
from app.document.placement import Point
from app.window.canvas_area import CanvasArea
from engine.errors import GraphError, NetcanvasError
from tests.support import shared

STEPS = 500
FEWEST, MOST = 4, 60
#: Nets of all kinds: old and new formats, phases, in-place chains, branches, recurrent ones, plugins' layers.
NETS = (
    "bvlc/examples__mnist__lenet_train_test",
    "bvlc/examples__siamese__mnist_siamese_train_test",
    "bvlc/examples__cifar10__cifar10_full_sigmoid_train_test_bn",
    "bvlc/models__bvlc_alexnet__train_val",
    "legacy/v0.999__imagenet__alexnet_train",
    "legacy/v0.9__lenet__lenet_train",
    "intel/examples__LRCN_activity_recognition__deploy_lstm",
    "mycaffe/gpt-mini",
    "py-faster-rcnn/VGG16__faster_rcnn_end2end__train",
    "squeezenet/SqueezeNet_v1.1__deploy",
)
TYPES = ("Convolution", "Pooling", "ReLU", "InnerProduct", "Concat", "Softmax", "Eltwise", "Slice", "Dropout", "LRN")
FIELDS: tuple[tuple[tuple[str | int, ...], tuple[str, ...]], ...] = (
    (("convolution_param", "num_output"), ("7", "64")),
    (("convolution_param", "weight_filler"), ('{ type: "xavier" }', "{ }")),
    (("pooling_param", "pool"), ("MAX", "AVE")),
    (("param", 0, "lr_mult"), ("0", "2.5")),
    (("loss_weight",), ("0.5", "[1, 2]")),
    (("include",), ("{ phase: TRAIN }", '{ phase: TEST stage: "val" }')),
)


class Typist:
    """Does one thing after another with a canvas, by chance, as a user can."""

    def __init__(self, view: CanvasArea, seed: int) -> None:
        self.view, self.scene, self.document = view, view.canvas, view.document
        self.random = random.Random(seed)
        self.acts: tuple[Callable[[], object], ...] = (
            *(self.add, self.delete, self.dissolve, self.connect, self.disconnect, self.detach, self.rename),
            *(self.rename_blob, self.set_field, self.clear_field, self.paste, self.duplicate, self.bypass, self.freeze),
            *(self.move, self.align, self.lay_out, self.bend, self.fold, self.fold_repeats, self.look, self.annotate),
            *(self.reorder, self.type_text),
        )
        self.failed: list[str] = []
        self.document.edit_failed.connect(self.failed.append)

    def go(self, steps: int) -> None:
        """Act until so many steps of the history are made."""
        stack = self.document.undo_stack
        for _attempt in range(20 * steps):
            if stack.count() >= steps:
                return
            self.act()
        raise AssertionError(f"only {stack.count()} steps were made")

    def act(self) -> None:
        """Do one thing, or nothing where a rule refuses it."""
        try:
            count = len(self.document.graph)
            act = self.add if count < FEWEST else self.delete if count > MOST else self.random.choice(self.acts)
            act()
        except NetcanvasError:
            return

    def some(self, most: int = 3):
        """Select some layers and return their ids."""
        ids = self.document.graph.node_ids()
        if not ids:
            raise GraphError("nothing is there")
        chosen = self.random.sample(ids, min(len(ids), self.random.randint(1, most)))
        self.document.selection.set(chosen)
        return chosen

    def one(self, **needs: bool):
        found = [
            n for n in self.document.graph.nodes() if all(bool(getattr(n, key)) is has for key, has in needs.items())
        ]
        if not found:
            raise GraphError("nothing is there")
        return self.random.choice(found)

    def wire(self):
        if not self.scene.edges:
            raise GraphError("no wire is there")
        return self.random.choice(list(self.scene.edges.values()))

    # What a user does

    def add(self) -> None:
        if self.random.random() < 0.5 and len(self.document.graph):
            self.some(1)
        else:
            self.document.selection.clear()
        self.view.add_layer(self.random.choice(TYPES))

    def delete(self) -> None:
        if self.random.random() < 0.2:
            edits.disconnect(self.document, [self.wire().edge])
        self.some(2)
        edits.delete_selected(self.scene)

    def dissolve(self) -> None:
        self.some(1)
        edits.dissolve_selected(self.scene)

    def connect(self) -> None:
        source, target = self.one(tops=True), self.one(virtual=False)
        bottom = self.random.randrange(len(target.bottoms) + 1)
        edits.connect(self.document, source.id, self.random.randrange(len(source.tops)), target.id, bottom)

    def disconnect(self) -> None:
        edits.disconnect(self.document, [self.wire().edge])

    def detach(self) -> None:
        node = self.one(tops=True)
        self.document.apply("Detach", lambda graph: graph.detach(node.id, 0))

    def rename(self) -> None:
        node, name = self.one(virtual=False), f"layer{self.random.randrange(40)}"
        self.document.apply("Rename", lambda graph: graph.rename_node(node.id, name))

    def rename_blob(self) -> None:
        node, name = self.one(tops=True), f"blob{self.random.randrange(40)}"
        everywhere = self.random.random() < 0.5
        self.document.apply("Rename", lambda graph: graph.rename_blob(node.id, 0, name, everywhere=everywhere))

    def set_field(self) -> None:
        node, (path, values) = self.one(virtual=False), self.random.choice(FIELDS)
        value = self.random.choice(values)
        self.document.apply("Set", lambda graph: graph.set_field(node.id, path, value))

    def clear_field(self) -> None:
        node, (path, _values) = self.one(virtual=False), self.random.choice(FIELDS)
        self.document.apply("Clear", lambda graph: graph.clear_field(node.id, path))

    def paste(self) -> None:
        self.some()
        text = clipboard.copy_text(self.scene)
        at = QPointF(self.random.randrange(3000), self.random.randrange(1500))
        clipboard.paste(self.scene, text, at, keep_inputs=self.random.random() < 0.5)

    def duplicate(self) -> None:
        self.some()
        clipboard.duplicate(self.scene)

    def bypass(self) -> None:
        self.some(1)
        self.view.do("bypass")

    def freeze(self) -> None:
        self.some(1)
        self.view.do("freeze")

    def move(self) -> None:
        x, y = (self.random.randrange(-300, 300, 10) for _axis in range(2))
        places = self.document.positions.of(self.some())
        self.document.move_nodes({node: Point(at.x + x, at.y + y) for node, at in places.items()})

    def align(self) -> None:
        self.some(5)
        aligning.align(self.scene, self.random.choice(("top", "left", "bottom", "right")))

    def lay_out(self) -> None:
        if self.random.random() < 0.2:
            self.view.arrange_all()

    def bend(self) -> None:
        points = (Point(self.random.randrange(0, 2000, 10), self.random.randrange(0, 900, 10)),)
        bend_wire(self.document, self.wire(), points, "Bend")

    def fold(self) -> None:
        self.some(6)
        self.view.fold_selection()

    def fold_repeats(self) -> None:
        if self.random.random() < 0.3:
            self.view.fold_repeats()

    def look(self) -> None:
        """Go into a block, or out; no step of the history."""
        cards = list(self.scene.folding.cards)
        self.scene.folding.look_into(self.random.choice([None, None, *cards]))

    def annotate(self) -> None:
        self.some(4)
        (annotating.add_frame if self.random.random() < 0.7 else annotating.add_note)(self.view)
        self.view.words.commit()

    def reorder(self) -> None:
        node, after = self.one(virtual=False), self.one(virtual=False)
        if node.id != after.id:
            self.document.apply("Move", lambda graph: graph.move_node(node.id, after=after.id))

    def type_text(self) -> None:
        """Type a line between two others, which breaks nothing."""
        lines = self.document.graph.text.splitlines(keepends=True)
        at = self.random.randrange(len(lines) + 1)
        text = "".join([*lines[:at], f"# {self.random.randrange(99)}\n", *lines[at:]])
        self.document.apply("Type", lambda graph: graph.replace_text(text))


@dataclass(frozen=True, slots=True)
class Look:
    """What a scene shows, apart from ids and from what is only remembered."""

    nodes: list[object]
    wires: list[object]
    blocks: list[object]
    notes: list[object]


def look(scene: CanvasScene) -> Look:
    """Nodes with their texts and places, wires with their labels and courses, cards, frames and notes."""
    graph, folding = scene.document.graph, scene.folding
    nodes = [
        (item.face, dict(item.wired_inputs), (item.x(), item.y()), item.docked, item.isVisible())
        for item in (scene.nodes[node] for node in graph.node_ids())
    ]
    wires = sorted(
        (
            (graph.ordinal(e.source), e.top, graph.ordinal(e.target), e.bottom, e.blob, sorted(e.phases)),
            (item.phase, item.bends, item.isVisible() and item.docked, item.isVisible(), item.label),
            (item.line.p1().toTuple(), item.line.p2().toTuple()) if item.isVisible() else (),
        )
        for e, item in scene.edges.items()
    )
    blocks = sorted(
        ((card.face.title, card.x(), card.y(), [graph.ordinal(node) for node in card.layers]))
        for card in folding.cards.values()
    )
    notes = sorted((item.value.kind, item.value.rect, item.value.text) for item in scene.annotated.items.values())
    return Look(nodes, wires, blocks, notes)


def assert_same(shown: Look, expected: Look) -> None:
    for part in ("nodes", "wires", "blocks", "notes"):
        assert getattr(shown, part) == getattr(expected, part), part


def look_as_fresh(view: CanvasArea) -> Look:
    """Look at the outermost level, which must show what a canvas shows that is made now."""
    view.canvas.folding.look_into(None)
    shown = look(view.canvas)
    fresh = CanvasScene(view.document)
    try:
        assert_same(shown, look(fresh))
    finally:
        fresh.close()
    return shown


@pytest.fixture
def public(name: str) -> Iterator[Document]:
    document = Document.open(shared(f"corpus/prototxt/{name}.prototxt"))
    yield document
    document.close()


@pytest.mark.parametrize("name", NETS)
def test_five_hundred_steps_are_undone_and_made_again(name, public, make_canvas):
    document, view = public, make_canvas(public)
    stack, typist = document.undo_stack, Typist(view, seed=len(name))
    first, at_first = bytes(document.graph), look_as_fresh(view)
    typist.go(STEPS)
    last, at_last = bytes(document.graph), look_as_fresh(view)
    assert last != first
    while stack.canUndo():
        stack.undo()
    assert bytes(document.graph) == first == document.path.read_bytes()
    assert_same(look_as_fresh(view), at_first)
    while stack.canRedo():
        stack.redo()
    assert bytes(document.graph) == last
    assert_same(look_as_fresh(view), at_last)
    assert not typist.failed
