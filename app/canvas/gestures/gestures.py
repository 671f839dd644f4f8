"""Gestures: one object from the press of a button to its release.

A gesture shows what will happen and changes the document only when it is released, in one undoable step. Escape calls
:meth:`Gesture.cancel`, which leaves everything as it was; so does a step of the history that is made, undone or redone
meanwhile, after which everything is shown as the document has it by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.qt import guard
from app.theme import Theme

if TYPE_CHECKING:
    from app.canvas.view import CanvasView

__all__ = ["BandGesture", "Gesture", "PanGesture"]

Modifier = Qt.KeyboardModifier


class Gesture:
    """Base of all gestures.

    Parameters
    ----------
    view : CanvasView
        Where it happens.
    press : QPoint
        Where the button went down, in the viewport.
    """

    cursor: Qt.CursorShape | None = None
    #: Whether it goes on while the document is edited; it knows of nothing in there then.
    outlives_edits = False

    def __init__(self, view: CanvasView, press: QPoint) -> None:
        self.view = view
        self.press = press
        self.scene_press = view.mapToScene(press)
        if self.cursor is not None:
            view.viewport().setCursor(self.cursor)

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        """Follow the pointer."""

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        """Do what was shown."""
        self.end()

    def cancel(self) -> None:
        """Show everything as the document has it."""
        self.end()

    def end(self) -> None:
        """Take away what the gesture showed."""
        if self.cursor is not None:
            self.view.viewport().unsetCursor()


class PanGesture(Gesture):
    """Move the view with the pointer; a press without a move is handed to ``click``."""

    cursor = Qt.CursorShape.ClosedHandCursor
    outlives_edits = True

    def __init__(self, view: CanvasView, press: QPoint, *, threshold: int = 0) -> None:
        super().__init__(view, press)
        self._last = press
        self._threshold = threshold
        self.moved = threshold == 0

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        if not self.moved and (position - self.press).manhattanLength() <= self._threshold:
            return
        self.moved = True
        step = position - self._last
        self._last = position
        self.view.scroll_by(-step.x(), -step.y())

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        self.end()
        if not self.moved:
            self.view.clicked_right(position)


class _Band(QWidget):
    """The box that selects."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        accent = Theme.current().color("accent")
        fill = QColor(accent)
        fill.setAlphaF(0.12)
        painter.setPen(accent)
        painter.setBrush(fill)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


class BandGesture(Gesture):
    """Select with a box; Shift adds, Ctrl toggles. A click without a box clears the selection."""

    def __init__(self, view: CanvasView, press: QPoint) -> None:
        super().__init__(view, press)
        self._before = view.document.selection.node_ids
        self._band = _Band(view.viewport())

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        box = QRect(self.press, position).normalized()
        if box.width() < 4 and box.height() < 4:
            return
        self._band.setGeometry(box)
        self._band.show()
        self._select(box, modifiers)

    def _select(self, box: QRect, modifiers: Modifier) -> None:
        view = self.view
        area = QRectF(view.mapToScene(box.topLeft()), view.mapToScene(box.bottomRight()))
        hit = [node_id for item in view.canvas.nodes_in(area) for node_id in item.ids]
        selection = view.document.selection
        if modifiers & Modifier.ControlModifier:
            selection.set(self._before)
            selection.toggle(hit)
        elif modifiers & Modifier.ShiftModifier:
            selection.set(dict.fromkeys((*self._before, *hit)))
        else:
            selection.set(hit)

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        if not self._band.isVisible() and not modifiers & (Modifier.ShiftModifier | Modifier.ControlModifier):
            self.view.document.selection.clear()
        self.end()

    def cancel(self) -> None:
        document = self.view.document
        document.selection.set(node_id for node_id in self._before if node_id in document.graph)
        self.end()

    def end(self) -> None:
        self._band.hide()
        self._band.setParent(None)
        self._band.deleteLater()
        super().end()
