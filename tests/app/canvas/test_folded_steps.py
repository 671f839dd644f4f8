"""Anything done to a folded net by chance: each step is taken back and made again to the very same picture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPointF

from app.canvas.edits import clipboard, edits, foldedits
from app.canvas.gestures import annotating
from app.canvas.scene.blockitem import BlockItem
from app.canvas.scene.scene import CanvasScene
from app.document import Document
from engine.errors import GraphError
from engine.resources import resource_path
from tests.app.canvas.looks import Look, assert_same, look
from tests.app.canvas.typist import Typist

STEPS = 100


class Folder(Typist):
    """Does to cards of blocks what can be done to layers, and goes into blocks and out."""

    def __init__(self, view, seed: int) -> None:
        super().__init__(view, seed)
        cards = (self.drop, self.dissolve_cards, self.bypass_cards, self.title, self.copy, self.frame, self.nest)
        self.acts = (*self.acts, *2 * cards, *3 * (self.enter, self.undo, self.redo), self.open_card, self.move_cards)

    def act(self) -> None:
        try:
            self.random.choice(self.acts)()
        except GraphError:
            return

    def cards(self, most: int = 2) -> list[BlockItem]:
        """Select some cards with all that is in them."""
        there = list(self.scene.folding.cards.values())
        if not there:
            raise GraphError("nothing is folded")
        chosen = self.random.sample(there, min(len(there), self.random.randint(1, most)))
        self.document.selection.set(node for card in chosen for node in card.ids)
        self.document.selection.flush()
        return chosen

    def drop(self) -> None:
        self.cards()
        edits.delete_selected(self.scene)

    def dissolve_cards(self) -> None:
        self.cards()
        edits.dissolve_selected(self.scene)

    def bypass_cards(self) -> None:
        self.cards()
        self.view.do("bypass")

    def title(self) -> None:
        foldedits.rename_block(self.view, self.cards(1)[0].node_id, f"block {self.random.randrange(30)}")

    def copy(self) -> None:
        self.cards(1)
        clipboard.paste(self.scene, clipboard.copy_text(self.scene), QPointF(900, 900), keep_inputs=True)

    def frame(self) -> None:
        self.cards()
        annotating.add_frame(self.view)
        self.view.words.commit()

    def nest(self) -> None:
        self.cards(3)
        self.view.fold_selection()

    def open_card(self) -> None:
        foldedits.unfold_block(self.view, self.cards(1)[0].node_id)

    def move_cards(self) -> None:
        places = self.document.positions.of(card.node_id for card in self.cards())
        self.document.move_nodes({card: type(at)(at.x + 50, at.y - 30) for card, at in places.items()})

    def enter(self) -> None:
        folding = self.scene.folding
        folding.look_into(self.cards(1)[0].node_id if folding.cards and self.random.random() < 0.6 else None)

    def undo(self) -> None:
        self.document.undo_stack.undo()

    def redo(self) -> None:
        self.document.undo_stack.redo()


def seen(scene: CanvasScene) -> Look:
    """What is to be seen: what is folded away may stand anywhere."""
    whole = look(scene)
    nodes = [node if node[-1] else (*node[:2], False) for node in whole.nodes]
    wires = [wire if wire[1][3] else (wire[0], False) for wire in whole.wires]
    return Look(nodes, wires, whole.blocks, whole.notes)


@pytest.fixture
def folded(make_canvas) -> Iterator[tuple[Document, object]]:
    document = Document.open(resource_path("templates/googlenet.prototxt"))
    view = make_canvas(document)
    if not foldedits.is_folded(document):
        view.fold_repeats()
    yield document, view
    document.close()


@pytest.mark.parametrize("seed", range(3))
def test_each_step_on_a_folded_net_is_exact(folded, seed):
    document, view = folded
    stack, scene, folder = document.undo_stack, view.canvas, Folder(view, seed)
    first = bytes(document.graph)
    for _step in range(STEPS):
        index, level, before = stack.index(), scene.folding.level, seen(scene)
        folder.act()
        if not stack.index() == index + 1 == stack.count():
            continue
        at, after, text = scene.folding.level, seen(scene), bytes(document.graph)
        stack.undo()
        if scene.folding.level == level == at:
            assert_same(seen(scene), before)
        stack.redo()
        assert bytes(document.graph) == text
        if scene.folding.level == at:
            assert_same(seen(scene), after)
    scene.folding.look_into(None)
    fresh = CanvasScene(document)
    try:
        assert_same(seen(scene), seen(fresh))
    finally:
        fresh.close()
    while stack.canUndo():
        stack.undo()
    assert bytes(document.graph) == first
    assert not folder.failed
