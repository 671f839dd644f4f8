"""Making, moving, writing and deleting frames and notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QIcon, QKeyEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QMenu, QPlainTextEdit

from app.canvas.edits import edits
from app.canvas.gestures.gestures import Gesture
from app.canvas.scene.annotationitems import TITLE
from app.document.annotations import COLORS, Annotation, rect_of
from app.document.commands import SwapCommand
from app.document.placement import Point
from app.icons import icon
from app.qt import Debounce, guard, keeps_key

if TYPE_CHECKING:
    from PySide6.QtGui import QUndoCommand

    from app.canvas.scene.annotationitems import AnnotationItem
    from app.canvas.view import CanvasView
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["AnnotationEdit", "AnnotationGesture", "add_frame", "add_note", "annotation_menu", "delete_chosen"]

_AROUND = 28.0
_NOTE_SIZE = (200.0, 90.0)
_FRAME_SIZE = (360.0, 240.0)
_SNAP = 10.0
_COLOR_NAMES = ("Grey", "Blue", "Teal", "Ochre", "Orange", "Plum")

Modifier = Qt.KeyboardModifier


def _push(document: Document, *commands: QUndoCommand) -> None:
    stack = document.undo_stack
    if len(commands) > 1:
        stack.beginMacro(commands[0].text())
    for command in commands:
        stack.push(command)
    if len(commands) > 1:
        stack.endMacro()


def _failed(document: Document, error: Exception) -> None:
    document.edit_failed.emit(str(error))


def change(document: Document, text: str, after: Mapping[int, Annotation | None]) -> None:
    """Put frames and notes in the place of those of the same ids, in one undoable step; None deletes."""
    placement = document.positions
    before = {number: placement.annotations.get(number) for number in after}
    if before == dict(after):
        return
    placement.annotate(after)
    _push(document, SwapCommand(text, placement.annotate, before, after, partial(_failed, document)))


def add_frame(view: CanvasView) -> None:
    """Put a frame around the selection, or on the middle of the view, and ask for its title."""
    scene, document = view.canvas, view.document
    ids = edits.with_followers(scene, document.selection.node_ids)
    rect = QRectF()
    for node_id in ids:
        item = scene.folding.item(node_id)
        rect = rect.united(item.scene_body()) if item is not None else rect
    if rect.isNull():
        rect = QRectF(0.0, 0.0, *_FRAME_SIZE)
        rect.moveCenter(view.visible_rect().center())
    else:
        rect.adjust(-_AROUND, -_AROUND - TITLE, _AROUND, _AROUND)
    _add(view, "frame", rect, "Frame")


def add_note(view: CanvasView) -> None:
    """Put a note at the pointer and ask for its words."""
    corner = view.mapToScene(view.pointer())
    _add(view, "note", QRectF(corner.x(), corner.y(), *_NOTE_SIZE), "")


def _add(view: CanvasView, kind: str, rect: QRectF, text: str) -> None:
    annotations = view.document.positions.annotations
    number = annotations.fresh_id()
    color = "dense" if kind == "note" else "vision"
    value = Annotation(number, kind, rect_of(rect), text, color, view.canvas.folding.level)
    change(view.document, f"Add {kind}", {number: value})
    view.document.selection.clear()
    view.canvas.annotated.choose({number})
    view.words.open(number)


def delete_chosen(view: CanvasView) -> bool:
    """Delete the frames and notes that are selected, not what is inside; return whether there were any."""
    chosen = view.canvas.annotated.chosen
    if not chosen or view.document.selection.node_ids:
        return False
    kinds = {view.canvas.annotated.items[number].value.kind for number in chosen}
    what = next(iter(kinds)) if len(chosen) == 1 else f"{len(chosen)} frames and notes"
    change(view.document, f"Delete {what}", dict.fromkeys(chosen))
    return True


def annotation_menu(view: CanvasView, item: AnnotationItem) -> QMenu:
    """Return the menu of a frame or a note."""
    menu = QMenu(view)
    menu.setObjectName("canvas.annotation_menu")
    menu.aboutToHide.connect(menu.deleteLater)
    value = item.value
    words = "Rename" if value.kind == "frame" else "Write"
    write = menu.addAction(icon("pencil-simple"), f"{words}\t{view.keys.hint('rename')}")
    write.triggered.connect(lambda: view.words.open(value.id))
    colors = menu.addMenu("Colour")
    for name, color in zip(_COLOR_NAMES, COLORS, strict=True):
        hue, chosen = view.canvas.style_set.categories[color].color(), color == value.color
        action = colors.addAction(_swatch(hue, chosen=chosen, ratio=view.devicePixelRatioF()), name)
        action.setCheckable(True)
        action.setChecked(chosen)
        action.triggered.connect(
            lambda _checked=False, color=color: change(
                view.document, f"Colour {value.kind}", {value.id: replace(value, color=color)}
            )
        )
    menu.addSeparator()
    menu.addAction(icon("trash"), f"Delete\t{view.keys.hint('delete')}").triggered.connect(lambda: delete_chosen(view))
    return menu


def _swatch(color: QColor, *, chosen: bool, ratio: float) -> QIcon:
    """Return a patch of a colour, with a tick in the one that is chosen: a menu shows no other beside an icon."""
    pixmap = QPixmap(QSize(16, 16) * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawRoundedRect(QRectF(0.0, 0.0, 16.0, 16.0), 4.0, 4.0)
    if chosen:
        tick = Qt.GlobalColor.black if color.lightnessF() > 0.5 else Qt.GlobalColor.white
        painter.setPen(QPen(tick, 2.0, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        painter.drawPolyline([QPointF(4.0, 8.5), QPointF(7.0, 11.5), QPointF(12.0, 5.0)])
    painter.end()
    return QIcon(pixmap)


class AnnotationGesture(Gesture):
    """Drag a frame with what is inside of it, or a note; or drag its corner."""

    def __init__(self, view: CanvasView, press: QPoint, item: AnnotationItem, zone: str) -> None:
        super().__init__(view, press)
        self._item = item
        self._zone = zone
        self._before: dict[int, Annotation] = {}
        self._now: dict[int, Annotation] = {}
        self._start: dict[NodeId, Point] = {}
        self._places: dict[NodeId, Point] = {}
        view.document.selection.clear()
        view.canvas.select_edge(None)
        view.canvas.annotated.choose({item.value.id})

    def _begin(self) -> None:
        scene = self.view.canvas
        area, value = self._item.area, self._item.value
        self._before = {value.id: value}
        if self._zone == "resize" or value.kind == "note":
            return
        for other in scene.annotated.shown():
            if other is not self._item and area.contains(other.area):
                self._before[other.value.id] = other.value
        inside = [item for item in scene.items_shown() if area.contains(item.scene_body().center())]
        ids = dict.fromkeys(node for item in inside for node in item.ids)
        self._start = self.view.document.positions.of(edits.with_followers(scene, ids))

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        if not self._before:
            if (position - self.press).manhattanLength() <= 3:
                return
            self._begin()
        step = self.view.mapToScene(position) - self.scene_press
        dx, dy = step.x(), step.y()
        if self.view.snapping != bool(modifiers & Modifier.ShiftModifier):
            dx, dy = round(dx / _SNAP) * _SNAP, round(dy / _SNAP) * _SNAP
        self.shift(dx, dy)

    def shift(self, dx: float, dy: float) -> None:
        """Show it so far from where it was, or by so much larger, in pixels of the scene."""
        if not self._before:
            self._begin()
        resizing = self._zone == "resize"
        self._now = {
            number: replace(
                value,
                rect=rect_of(value.area.adjusted(0.0, 0.0, dx, dy) if resizing else value.area.translated(dx, dy)),
            )
            for number, value in self._before.items()
        }
        self._places = {node: Point(point.x + dx, point.y + dy) for node, point in self._start.items()}
        self._show(self._now, self._places)

    def _show(self, values: Mapping[int, Annotation], places: Mapping[NodeId, Point]) -> None:
        scene = self.view.canvas
        for number, value in values.items():
            scene.annotated.items[number].show_value(value)
        scene.show_at(places)
        scene.told_shown()
        if self.view.is_far:
            self.view.viewport().update()

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        self.end()
        if not self._now or self._now == self._before:
            return
        document = self.view.document
        placement, failed = document.positions, partial(_failed, document)
        text = f"{'Resize' if self._zone == 'resize' else 'Move'} {self._item.value.kind}"
        placement.annotate(self._now)
        commands = [SwapCommand(text, placement.annotate, self._before, self._now, failed)]
        if self._places:
            placement.move(self._places)
            commands.append(SwapCommand(text, placement.move, self._start, self._places, failed))
        _push(document, *commands)

    def cancel(self) -> None:
        self.end()
        if self._before:
            scene, positions = self.view.canvas, self.view.document.positions
            noted = {number: positions.annotations.get(number) for number in self._before}
            values = {number: value for number, value in noted.items() if value is not None}
            shown = [node_id for node_id in self._start if scene.folding.item(node_id) is not None]
            self._show(values, positions.of(shown))


class AnnotationEdit(QPlainTextEdit):
    """Words of a frame or a note, typed where they stand; Escape leaves them as they were."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view.viewport())
        self.setObjectName("canvas.annotation_edit")
        self.setTabChangesFocus(True)
        self._view = view
        self._number: int | None = None
        self._due = Debounce(self.commit, 0, self)
        self.hide()
        view.scale_changed.connect(self.commit)

    def open(self, number: int) -> None:
        """Ask for the words of a frame or a note."""
        item = self._view.canvas.annotated.items.get(number)
        if item is None:
            return
        self.commit()
        frame = item.value.kind == "frame"
        area = QRectF(item.area.topLeft(), item.area.size())
        if frame:
            area.setHeight(TITLE)
        box = self._view.mapFromScene(area).boundingRect()
        self._number = number
        self.setAccessibleName("Title of the frame" if frame else "Words of the note")
        self.setPlainText(item.value.text)
        self.setGeometry(box.x(), box.y(), max(180, box.width()), max(32 if frame else 72, box.height()))
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    @guard
    def commit(self, _scale: float = 0.0) -> None:
        """Take the words over; where a step of the history is being shown, after that."""
        if self._view.document.undo_stack.is_stepping:
            self._due.trigger()
            return
        number, self._number = self._number, None
        item = self._view.canvas.annotated.items.get(number) if number is not None else None
        if self.isVisible():
            self.hide()
            self._view.setFocus(Qt.FocusReason.OtherFocusReason)
        if item is not None and number is not None:
            value = item.value
            text = self.toPlainText().strip()
            if value.kind == "frame":
                text = " ".join(text.split())
            change(self._view.document, f"Write {value.kind}", {number: replace(value, text=text)})

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self._view.canvas.annotated.items.get(self._number) if self._number is not None else None
        one_line = item is not None and item.value.kind == "frame"
        ends = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape:
            self._number = None
            self.commit()
        elif ends and (one_line or event.modifiers() & Modifier.ControlModifier):
            self.commit()
        else:
            super().keyPressEvent(event)

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        return keeps_key(event) or super().event(event)

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.commit()
