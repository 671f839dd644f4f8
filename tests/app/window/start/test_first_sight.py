"""The first thing that a user sees: the bundled LeNet, whole, to be read, with calm wires."""

from __future__ import annotations

from itertools import pairwise

import pytest

from app.canvas.layout.cuts import READABLE
from app.canvas.scene.style import SMALL_PRINT

#: Windows as they open on screens of 1280x800, 1440x900, 1600x1000 and 1920x1080.
WINDOWS = [(1216, 760), (1368, 855), (1520, 950), (1600, 1026)]


@pytest.fixture(params=WINDOWS, ids=lambda size: f"{size[0]}x{size[1]}")
def canvas(window, resized, lenet, qtbot, still, request):
    resized(request.param)
    assert window.files.open(lenet)
    canvas = window.canvas
    qtbot.waitUntil(
        lambda: canvas.is_placed and window.document.live.is_started and not window.document.live.busy, timeout=10_000
    )
    still(window)
    return canvas


def test_lenet_is_seen_whole_and_can_be_read(canvas):
    assert canvas.shows_all
    assert canvas.scale_factor >= READABLE
    assert canvas.scale_factor * SMALL_PRINT >= 7.8
    assert canvas.minimap.isHidden(), "there is nothing of which a map would tell"
    below_messages = canvas.mapFromScene(canvas.canvas.content_rect().topLeft()).y()
    assert below_messages >= canvas.top_room


def test_lenet_has_calm_wires(canvas):
    wires = [wire for wire in canvas.canvas.folding.edges() if not wire.docked]
    area = canvas.canvas.content_rect().adjusted(-30.0, -30.0, 30.0, 30.0)
    for wire in wires:
        length = sum((a - b).manhattanLength() for a, b in pairwise(wire.course()))
        direct = (wire.line.p1() - wire.line.p2()).manhattanLength()
        assert length <= direct + 320.0, "no loops: a detour is at most to the space between two rows and back"
        assert all(area.contains(point) for point in wire.course())


def test_laying_it_out_gives_the_same_picture(canvas):
    def picture():
        items = canvas.canvas.nodes.values()
        return {item.node_id: item.pos().toTuple() for item in items}, canvas.visible_rect()

    first = picture()
    canvas.arrange_all()
    assert picture() == first
