"""What of a net is in view at first: all of it where it can be read then, else its beginning, with the map beside."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF, Qt

from app.canvas.layout.cuts import READABLE
from app.canvas.scene.style import SMALL_PRINT
from app.document import Document
from app.document.placement import Point
from engine.graph import OpGraph


def placed(count: int, dx: float, dy: float, make_canvas) -> object:
    """A chain of layers at places of their own."""
    text = 'layer { name: "n0" type: "Input" top: "b0" input_param { shape { dim: 1 dim: 4 } } }\n' + "".join(
        f'layer {{ name: "n{i}" type: "Power" bottom: "b{i - 1}" top: "b{i}" }}\n' for i in range(1, count)
    )
    document = Document(OpGraph.parse(text.encode()))
    for number, node in enumerate(document.graph.node_ids()):
        document.positions.move({node: Point(number * dx, number * dy)})
    return make_canvas(document)


@pytest.fixture
def chain(make_canvas):
    made = []

    def make(count: int, dx: float, dy: float):
        view = placed(count, dx, dy, make_canvas)
        made.append(view)
        view.frame_start()
        view.minimap.offer()
        return view

    yield make
    for view in made:
        view.document.close()


def first(view) -> QRectF:
    return view.canvas.items_shown()[0].scene_body()


def test_an_empty_net_has_no_map(make_canvas):
    document = Document.new()
    view = make_canvas(document)
    view.minimap.offer()
    assert view.shows_all and view.minimap.isHidden()
    document.close()


def test_a_small_net_is_shown_whole_and_needs_no_map(chain):
    view = chain(4, 240.0, 0.0)
    assert view.scale_factor == 1.0 and view.shows_all
    assert view.minimap.isHidden()


def test_what_is_readable_is_some_eight_pixels_high():
    assert READABLE * SMALL_PRINT >= 7.8


@pytest.mark.parametrize(("dx", "dy"), [(240.0, 0.0), (0.0, 160.0), (40.0, 160.0), (200.0, 150.0)])
def test_a_long_net_is_shown_from_its_beginning_and_can_be_read(chain, dx, dy):
    view = chain(40, dx, dy)
    assert READABLE <= view.scale_factor <= 1.0
    assert view.visible_rect().contains(first(view))
    assert view.minimap.isVisible()
    content = view.canvas.content_rect()
    corner = view.visible_rect().topLeft()
    assert corner.x() >= content.left() - 50.0 - max(0.0, view.visible_rect().width() - content.width())
    assert corner.y() >= content.top() - 42.0 - max(0.0, view.visible_rect().height() - content.height())


def test_a_net_a_little_too_high_is_shown_at_the_width_of_the_view(chain):
    view = chain(8, 210.0, 200.0)  # some 1,650 by 1,480 on a view of 1,600 by 900
    assert view.scale_factor == pytest.approx(1600 / (view.canvas.content_rect().width() + 24.0), rel=0.01)
    assert view.visible_rect().left() <= view.canvas.content_rect().left()
    assert view.visible_rect().right() >= view.canvas.content_rect().right()


def test_messages_do_not_cover_what_is_framed(chain):
    view = chain(4, 240.0, 0.0)
    view.resize(1600, 260)
    view.set_top_room(80)
    top = view.mapFromScene(view.canvas.content_rect().topLeft()).y()
    assert top >= 80
    view.frame()
    assert view.mapFromScene(view.canvas.content_rect().topLeft()).y() >= 80
    view.scroll_by(0, 30)
    at = view.visible_rect()
    view.set_top_room(120)  # the user has been at it: it stays where it is
    assert view.visible_rect() == at


def test_room_that_messages_leave_is_taken_again(chain):
    view = chain(4, 240.0, 0.0)
    view.resize(1600, 160)
    view.set_top_room(0)
    view.frame_start()
    before = view.scale_factor, view.visible_rect()
    view.set_top_room(40)
    assert (view.scale_factor, view.visible_rect()) != before
    view.set_top_room(0)
    assert (view.scale_factor, view.visible_rect()) == before


def test_the_map_stays_as_it_was_chosen(chain, qtbot):
    view = chain(40, 240.0, 0.0)
    qtbot.keyClick(view, Qt.Key.Key_M)
    assert view.minimap.isHidden()
    view.minimap.offer()
    assert view.minimap.isHidden()
