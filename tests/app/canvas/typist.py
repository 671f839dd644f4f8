"""One who does all that a user can do with a canvas, by chance."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable

from PySide6.QtCore import QPointF

from app.canvas.edits import aligning, clipboard, edits
from app.canvas.edits.steps import bend_wire
from app.canvas.gestures import annotating
from app.document import Document
from app.document.placement import Point
from app.window.canvas_area import CanvasArea
from engine.errors import GraphError, NetcanvasError
from engine.graph import OpGraph

FEWEST, MOST = 4, 60
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


def random_edit(document: Document, rng: random.Random) -> None:
    graph = document.graph
    ids = graph.node_ids()
    kind = rng.choice(["add", "remove", "connect", "disconnect", "field", "rename", "move", "bypass", "freeze"])
    if kind == "move" and ids:
        chosen = rng.choice(ids)
        document.move_nodes({chosen: Point(rng.randrange(0, 3000, 10), rng.randrange(0, 3000, 10))})
        return

    def edit(graph: OpGraph) -> None:
        if kind == "add" or not ids:
            graph.add_node(rng.choice(TYPES), bottoms=["?"])
            return
        node = graph.node(rng.choice(ids))
        if kind == "remove":
            graph.remove_nodes([node.id])
        elif kind == "connect" and node.tops:
            graph.connect(node.id, 0, rng.choice(ids), 0)
        elif kind == "disconnect" and node.bottoms:
            graph.disconnect(node.id, 0)
        elif kind == "field":
            graph.set_field(node.id, ("convolution_param", "num_output"), str(rng.randrange(1, 99)))
        elif kind == "rename":
            graph.rename_node(node.id, f"{node.name or 'layer'}_{rng.randrange(100)}")
        elif kind == "bypass":
            (graph.restore if graph.is_bypassed(node.id) else graph.bypass)(node.id)
        elif kind == "freeze":
            graph.unfreeze(node.id) if graph.is_frozen(node.id) else graph.freeze(node.id, 2)

    with contextlib.suppress(GraphError):
        document.apply(kind, edit)
