"""Five hundred steps of any kind on public nets: undone and made again to the same bytes, and to the same picture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.canvas.scene.scene import CanvasScene
from app.document import Document
from app.window.canvas_area import CanvasArea
from tests.app.canvas.looks import Look, assert_same, look
from tests.app.canvas.typist import Typist
from tests.support import shared

STEPS = 500
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
