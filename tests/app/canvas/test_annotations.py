"""Frames and notes, with real events; each change is one step of the history and none is part of the text."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QMenu

from app.canvas.gestures.annotating import annotation_menu, change
from app.document import Document
from app.document.annotations import Annotation
from app.document.commands import SwapCommand
from tests.app.canvas.hands import RIGHT


def values(canvas) -> list[tuple]:
    return [(each.kind, each.rect, each.text, each.color) for each in canvas.document.positions.annotations]


def frame_one(canvas):
    """Put a frame around a layer, with a title; return its item."""
    graph = canvas.document.graph
    canvas.document.selection.set([graph.named("conv2")[0].id])
    canvas.add_frame()
    canvas.words.setPlainText("Second stage")
    canvas.words.commit()
    return next(iter(canvas.canvas.annotated.items.values()))


def on_title(canvas, item) -> QPoint:
    return canvas.mapFromScene(item.area.topLeft() + QPointF(60.0, 12.0))


def test_a_frame_goes_around_the_selection_and_takes_a_title(canvas, qtbot):
    text = bytes(canvas.document.graph)
    item = frame_one(canvas)
    assert item.area.contains(canvas.canvas.nodes[canvas.document.graph.named("conv2")[0].id].scene_body())
    assert item.value.text == "Second stage"
    stack = canvas.document.undo_stack
    assert [stack.text(index) for index in range(stack.count())] == ["Add frame", "Write frame"]
    after = values(canvas)
    while stack.canUndo():
        stack.undo()
    assert values(canvas) == []
    assert not canvas.canvas.annotated.items
    while stack.canRedo():
        stack.redo()
    assert values(canvas) == after
    assert bytes(canvas.document.graph) == text


def test_a_title_has_spaces_and_nothing_else_opens_by_them(canvas, qtbot):
    asked: list[object] = []
    canvas.search_asked.connect(lambda *what: asked.append(what))
    item = frame_one(canvas)
    canvas.words.open(item.value.id)
    qtbot.keyClicks(canvas.words, "two words")
    qtbot.keyClick(canvas.words, Qt.Key.Key_Return)
    assert canvas.canvas.annotated.items[item.value.id].value.text == "two words"
    assert not asked


def test_the_whole_is_framed_with_its_notes(canvas):
    annotations = canvas.document.positions.annotations
    content = canvas.canvas.content_rect()
    rect = (content.left(), content.top() - 400.0, 200.0, 80.0)
    change(canvas.document, "Add note", {1: Annotation(1, "note", rect, "far above", "dense", None)})
    assert annotations.get(1) is not None
    canvas.frame()
    assert canvas.visible_rect().contains(canvas.canvas.annotated.items[1].area)
    assert canvas.visible_rect().contains(content)


def test_a_frame_takes_along_what_is_inside_in_one_step(canvas, hands):
    item = frame_one(canvas)
    conv, outside = hands.node("conv2"), hands.node("conv1")
    before, still, area = conv.pos(), outside.pos(), item.area
    start = on_title(canvas, item)
    hands.drag(start, start + QPoint(80, 60))
    assert conv.pos() - before == QPointF(80, 60)
    assert item.area.topLeft() - area.topLeft() == QPointF(80, 60)
    assert outside.pos() == still
    canvas.document.undo_stack.undo()
    assert (conv.pos(), item.area) == (before, area)
    canvas.document.undo_stack.redo()
    assert conv.pos() - before == QPointF(80, 60)


def test_escape_leaves_a_dragged_frame_as_it_was(canvas, hands, qtbot):
    item = frame_one(canvas)
    conv = hands.node("conv2")
    before, area, count = conv.pos(), item.area, canvas.document.undo_stack.count()
    start = on_title(canvas, item)
    hands.carry(start, start + QPoint(80, 60))
    assert item.area != area
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert (conv.pos(), item.area) == (before, area)
    assert canvas.document.undo_stack.count() == count


def test_the_corner_resizes_and_the_inside_still_selects_with_a_box(canvas, hands):
    item = frame_one(canvas)
    area = item.area
    conv = hands.node("conv2").pos()
    corner = canvas.mapFromScene(area.bottomRight() - QPointF(4.0, 4.0))
    hands.drag(corner, corner + QPoint(50, 40))
    assert (item.area.width() - area.width(), item.area.height() - area.height()) == (50, 40)
    assert hands.node("conv2").pos() == conv
    inside = canvas.mapFromScene(area.topLeft() + QPointF(10.0, 60.0))
    hands.drag(inside, canvas.mapFromScene(area.bottomRight() - QPointF(20.0, 20.0)))
    assert len(canvas.document.selection) >= 1


def test_a_note_is_written_at_the_pointer_moved_and_deleted(canvas, hands, qtbot):
    qtbot.keyClick(canvas, Qt.Key.Key_P, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.words.isVisible()
    canvas.words.setPlainText("try a wider kernel")
    qtbot.keyClick(canvas.words, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    item = next(iter(canvas.canvas.annotated.items.values()))
    assert item.value.text == "try a wider kernel"
    hands.empty()
    area = item.area
    canvas.centerOn(area.center())
    at = canvas.mapFromScene(area.center())
    if canvas.canvas.node_at(area.center()) is None:
        hands.drag(at, at + QPoint(30, 20))
        assert item.area.topLeft() - area.topLeft() == QPointF(30, 20)
    canvas.document.selection.clear()
    canvas.canvas.annotated.choose({item.value.id})
    qtbot.keyClick(canvas, Qt.Key.Key_Delete)
    assert values(canvas) == []
    canvas.document.undo_stack.undo()
    assert [each[2] for each in values(canvas)] == ["try a wider kernel"]


def test_double_click_renames_and_escape_does_not(canvas, hands, qtbot):
    item = frame_one(canvas)
    hands.double_click(on_title(canvas, item))
    assert canvas.words.isVisible()
    canvas.words.setPlainText("Other")
    qtbot.keyClick(canvas.words, Qt.Key.Key_Escape)
    assert item.value.text == "Second stage"
    canvas.document.selection.clear()
    qtbot.keyClick(canvas, Qt.Key.Key_F2)
    canvas.words.setPlainText("Other")
    qtbot.keyClick(canvas.words, Qt.Key.Key_Return)
    assert item.value.text == "Other"


def test_the_menu_colours_and_deletes_a_frame_and_leaves_its_layers(canvas, hands):
    item = frame_one(canvas)
    count = len(canvas.document.graph)
    hands.click(on_title(canvas, item), RIGHT)
    menus = [menu for menu in canvas.findChildren(QMenu) if menu.objectName() == "canvas.annotation_menu"]
    assert menus
    menus[0].close()
    menu = annotation_menu(canvas, item)
    colors = next(action.menu() for action in menu.actions() if action.text() == "Colour")
    next(action for action in colors.actions() if action.text() == "Plum").trigger()
    assert item.value.color == "loss"
    canvas.canvas.annotated.choose({item.value.id})
    next(action for action in menu.actions() if action.text().startswith("Delete")).trigger()
    assert values(canvas) == []
    assert len(canvas.document.graph) == count
    menu.deleteLater()


def test_frames_and_notes_are_remembered_beside_the_net(canvas):
    frame_one(canvas)
    document = canvas.document
    text = bytes(document.graph)
    document.save()
    assert bytes(document.graph) == text == document.path.read_bytes()
    again = Document.open(document.path)
    assert [each.rect for each in again.positions.annotations] == [each.rect for each in document.positions.annotations]
    assert next(iter(again.positions.annotations)).text == "Second stage"
    again.close()


def test_words_that_a_step_of_the_history_ends_are_a_step_of_their_own_after_it(canvas, qtbot):
    """The scale changes while the step is made again; pushing then would free the commands that are at work."""
    frame_one(canvas)
    stack = canvas.document.undo_stack
    zoom = SwapCommand("Zoom", lambda after: canvas.set_scale(after["scale"]), {"scale": 1.0}, {"scale": 2.0}, print)
    stack.push(zoom)
    number = next(iter(canvas.canvas.annotated.items))
    canvas.words.open(number)
    canvas.words.setPlainText("Other words")
    stack.undo()
    qtbot.waitUntil(canvas.words.isHidden)
    assert [each[2] for each in values(canvas)] == ["Other words"]
    assert [stack.text(index) for index in range(stack.count())] == ["Add frame", "Write frame", "Write frame"]
    stack.undo()
    assert [each[2] for each in values(canvas)] == ["Second stage"]
