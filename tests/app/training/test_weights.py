"""The weights of a layer are seen while its net trains, and while it waits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QTabWidget
from pytestqt.qtbot import QtBot

from app.document import Document
from app.training.filters import filter_picture
from engine.graph import Node
from tests.app.training.conftest import PATIENCE, MakePanel, wait_for_state
from tests.app.training.hands import click, train


def weighted(document: Document) -> list[Node]:
    return [node for node in document.graph.nodes() if getattr(document.shapes.get(node.id), "params", ())]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((20, 1, 5, 5), (3 * 6 - 1, 7 * 6 - 1, 3)),
        ((4, 3, 5, 5), (2 * 6 - 1, 3 * 6 - 1, 3)),
        ((50, 20, 5, 5), (50 * 6 - 1, 20 * 6 - 1, 3)),
        ((500, 800), (500, 800, 3)),
        ((2000, 3000), (1024, 1024, 3)),
        ((10,), (1, 10, 3)),
        ((1, 1, 1, 1), (1, 1, 3)),
    ],
)
def test_a_picture_has_a_tile_for_each_filter_or_channel(shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    picture = filter_picture(np.ones(shape, np.float32))
    assert picture.shape == expected and picture.dtype == np.uint8


def test_zero_is_grey_and_the_signs_are_its_two_sides() -> None:
    weights = np.zeros((2, 1, 1, 3), np.float32)
    weights[0, 0, 0] = [-2.0, 0.0, 1.0]
    weights[1, 0, 0] = [np.nan, np.inf, 2.0]
    picture = filter_picture(weights, gap=7)
    greys = picture[..., 0].ravel().tolist()
    assert greys[:3] == [0, 128, 191]
    assert [value for value in greys if value == 7], "the gap between the two"
    assert (picture[..., 0] == picture[..., 2]).all()


def test_a_filter_of_three_channels_is_in_colour() -> None:
    weights = np.zeros((1, 3, 1, 1), np.float32)
    weights[0, :, 0, 0] = [1.0, 0.0, -1.0]
    assert filter_picture(weights)[0, 0].tolist() == [255, 128, 0]


def test_weights_follow_the_training_and_the_selection(
    endless: Path, document: Document, make_panel: MakePanel, qtbot: QtBot
) -> None:
    panel = make_panel()
    document.live.start()
    qtbot.waitUntil(lambda: bool(weighted(document)), timeout=PATIENCE)
    tabs = panel.findChild(QTabWidget, "training.tabs")
    assert tabs is not None
    tabs.setCurrentWidget(panel.weights)
    caption = panel.weights.caption
    assert caption.text().startswith("Select a layer") and panel.weights.sheet.image.isNull()
    train(qtbot, panel)
    first, last = weighted(document)[0].name, weighted(document)[-1]
    qtbot.waitUntil(lambda: caption.text().startswith(f"{first}: "), timeout=PATIENCE)
    assert not panel.weights.sheet.image.isNull()
    before = caption.text()
    qtbot.waitUntil(lambda: caption.text() != before, timeout=PATIENCE)  # it follows
    click(qtbot, panel, "pause_button")
    wait_for_state(qtbot, panel, "paused")
    document.selection.set([last.id])
    qtbot.waitUntil(lambda: caption.text().startswith(f"{last.name}: "), timeout=PATIENCE)
    click(qtbot, panel, "stop_button")
    wait_for_state(qtbot, panel, "stopped")
    assert caption.text().startswith(f"{last.name}: "), "what was seen last stays"
