"""Hands on a canvas, and a long net; a module that looks at another net, or holds it otherwise, makes its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.canvas.edits import foldedits
from app.document import Document
from app.window.canvas_area import CanvasArea
from engine.graph import OpGraph
from tests.app.canvas.hands import Hands
from tests.benchmarks.nets import residual_net


@pytest.fixture
def net() -> Iterator[Document]:
    document = Document(OpGraph.parse(residual_net(120)))
    yield document
    document.close()


@pytest.fixture
def view(net: Document, make_canvas) -> CanvasArea:
    """The net, unfolded."""
    shown = make_canvas(net)
    foldedits.fold_repeats(shown)
    return shown


@pytest.fixture
def hands(canvas: CanvasArea) -> Hands:
    return Hands(canvas)
