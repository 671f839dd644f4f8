"""Folding in nets of all kinds: very deep ones, ones without repeats, and ones that are edited at random."""

from __future__ import annotations

import random
import shutil

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolButton

from app.document import Document
from app.document.blocks import Block
from engine.graph import OpGraph
from tests.app.canvas.hands import Hands
from tests.app.canvas.looks import cards, picture
from tests.app.canvas.typist import random_edit
from tests.benchmarks.nets import residual_net
from tests.support import shared

RESNET = "corpus/prototxt/resnet/ResNet-152-deploy.prototxt"


def test_a_long_net_opens_folded_and_readable(make_canvas, tmp_path, qtbot):
    path = tmp_path / "resnet.prototxt"
    shutil.copy(shared(RESNET), path)
    document = Document.open(path)
    try:
        view = make_canvas(document)
        kinds = [card.face.type for card in cards(view)]
        assert kinds == [f"{count} \u00d7 residual block" for count in (3, 8, 36, 3)]
        assert len(view.canvas.items_shown()) < 20
        assert not document.modified
        view.frame_start()
        assert view.scale_factor >= 0.5, "the first picture can be read"
        document.save()
        assert list(tmp_path.iterdir()) == [path], "what nobody arranged is not written down"
        unfold = view.breadcrumb.findChild(QToolButton, "canvas.unfold")
        unfold.click()
        assert len(view.canvas.items_shown()) == len(document.graph)
    finally:
        document.close()


def test_a_net_without_repeats_says_so(document, canvas):
    said: list[str] = []
    canvas.key_of = {"block": "Alt+X"}.get
    canvas.refused.connect(said.append)
    later = [node.id for node in document.graph.nodes() if node.name in ("conv2", "pool2")]
    document.apply("Delete", lambda graph: graph.remove_nodes(later))
    canvas.fold_repeats()
    assert said
    assert "press Alt+X" in said[0]


@pytest.mark.parametrize("seed", range(2))
def test_random_edits_of_a_folded_net_undo_and_redo_to_the_same(make_canvas, seed):
    document = Document(OpGraph.parse(residual_net(60)))
    try:
        view = make_canvas(document)
        start, flat = bytes(document.graph), picture(view)
        rng = random.Random(seed)
        for step in range(40):
            if step % 10 == 3:
                view.fold_repeats()
            elif step % 10 == 7:
                ids = document.graph.node_ids()
                document.selection.set(rng.sample(ids, min(3, len(ids))))
                view.fold_selection()
            else:
                random_edit(document, rng)
        end = bytes(document.graph)
        while document.undo_stack.canUndo():
            document.undo_stack.undo()
        assert bytes(document.graph) == start
        assert [entry[3:] for entry in picture(view)[0]] == [entry[3:] for entry in flat[0]]
        while document.undo_stack.canRedo():
            document.undo_stack.redo()
        assert bytes(document.graph) == end
    finally:
        document.close()


def test_a_wire_that_is_lifted_and_let_be_shows_none_from_another_level(make_canvas):
    text = """layer { name: "a" type: "Input" top: "data" include { phase: TRAIN } }
    layer { name: "b" type: "Input" top: "data" include { phase: TEST } }
    layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" }"""
    document = Document(OpGraph.parse(text.encode()))
    view = make_canvas(document)
    a, _b, conv = document.graph.node_ids()
    blocks = document.positions.blocks
    blocks.replace((), [Block(blocks.fresh_id(), "block", (a, conv))])
    view.canvas.folding.look_into(next(iter(blocks)).id)
    wires = {wire.edge.source == a: wire for wire in view.canvas.edges.values()}
    hands = Hands(view)
    at = hands.input("conv")
    hands.carry(at, at + QPoint(-30, 60))
    assert all(wire.lifted for wire in wires.values())
    view.cancel_gesture()
    assert (wires[True].isVisible(), wires[False].isVisible()) == (True, False)
    assert not any(wire.lifted for wire in wires.values())
    document.close()


def test_nothing_hangs_under_a_layer_that_is_folded_away(make_canvas):
    text = """layer { name: "a" type: "Input" top: "a" }
    layer { name: "conv" type: "Convolution" bottom: "a" top: "conv" }
    layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }"""
    document = Document(OpGraph.parse(text.encode()))
    view = make_canvas(document)
    a, conv, relu = document.graph.node_ids()
    assert view.canvas.nodes[relu].docked
    blocks = document.positions.blocks
    blocks.replace((), [Block(blocks.fresh_id(), "block", (a, conv))])
    (card,) = cards(view)
    (wire,) = (wire for wire in view.canvas.folding.edges() if wire.head is view.canvas.nodes[relu])
    assert wire.tail is card
    assert not wire.docked
    assert not view.canvas.nodes[relu].docked
    document.close()
