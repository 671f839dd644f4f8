"""The line editor for a number, with steps."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF, QWheelEvent
from PySide6.QtWidgets import QWidget

from app.properties.editors.edits import ValueEdit
from app.properties.style import chevron_pen
from app.properties.values import step_number
from app.qt import Debounce, guard
from app.theme import Theme

__all__ = ["NumberEdit"]

_STEP_PAUSE_MS = 200


class _Stepper(QWidget):
    """Two small arrows at the right end of a number; hold to go on."""

    stepped = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._step = 0
        self._hover = 0
        self._repeat: QTimer | None = None
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setMouseTracking(True)

    def _again(self) -> None:
        if self._repeat is not None:
            self._repeat.setInterval(60)
        self.stepped.emit(self._step)

    def _half(self, place: QPoint) -> int:
        return 1 if place.y() < self.height() / 2 else -1

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._step = self._half(event.position().toPoint())
            self.stepped.emit(self._step)
            if self._repeat is None:
                self._repeat = QTimer(self)
                self._repeat.timeout.connect(self._again)
            self._repeat.start(400)

    @guard
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._repeat is not None:
            self._repeat.stop()

    @guard
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover = self._half(event.position().toPoint())
        self.update()

    @guard
    def leaveEvent(self, event: QEvent) -> None:
        self._hover = 0
        self.update()

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = Theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, x = self.height() / 2, self.width() / 2
        parent = self.parentWidget()
        lively = parent is not None and (parent.hasFocus() or parent.underMouse())
        for step in (1, -1):
            color = theme.color("accent" if self._hover == step else "text_muted" if lively else "node_hover")
            painter.setPen(chevron_pen(color))
            y = middle - 5 * step
            tip = QPointF(x, y - 1.5 * step)
            painter.drawPolyline(QPolygonF([QPointF(x - 3, y + 1.5 * step), tip, QPointF(x + 3, y + 1.5 * step)]))
        painter.end()


class NumberEdit(ValueEdit):
    """A number with steps: arrow keys, the small arrows, and the wheel while it has the focus.

    The wheel counts only after the pointer was moved onto the field or pressed in it: a field that comes under a
    resting pointer because the panel is scrolled keeps its number.

    Empty means the default, and the text stays as typed. A burst of steps is committed once, after a short pause.

    Parameters
    ----------
    kind : str
        Kind of the field, which gives the range; ``double`` for any number.
    """

    def __init__(self, kind: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = kind
        self._stepper = _Stepper(self)
        self._stepper.stepped.connect(self._step_with_focus)
        self._pause: Debounce | None = None
        self._entered: QPointF | None = None
        self._pointed = False
        self.setMouseTracking(True)
        self.set_trailing(self._stepper)

    def step(self, steps: int) -> None:
        """Move the number by ``steps`` of its last digit, from the default when it is empty."""
        self.setText(step_number(self._kind, self.text().strip() or self._default, steps))
        self._mark()
        if self._pause is None:
            self._pause = Debounce(self.commit, _STEP_PAUSE_MS, self)
        self._pause.trigger()

    def commit(self) -> None:
        """Hand on what is typed, if it differs from the file."""
        if self._pause is not None:
            self._pause.cancel()
        super().commit()

    def _step_with_focus(self, steps: int) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.step(steps)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}
        if event.key() in steps:
            self.step(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    @guard
    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._entered = event.globalPosition()

    @guard
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._entered, self._pointed = None, False

    @guard
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if self._entered is None:
            self._entered = event.globalPosition()
        elif event.globalPosition() != self._entered:
            self._pointed = True

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pointed = True

    @guard
    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus() and self._pointed and event.angleDelta().y():
            self.step(1 if event.angleDelta().y() > 0 else -1)
        else:
            event.ignore()
