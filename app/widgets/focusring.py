"""A ring around what has the keyboard, alike for all kinds of widgets and in both themes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from app.qt import guard
from app.theme import Theme

__all__ = ["OWN_RING", "FocusRing", "FocusRings"]

_AWAY, _WIDTH, _ROUND = 3, 2.0, 5.0
#: Property of a widget that shows where the keyboard is in a way of its own, as the canvas does.
OWN_RING = "own_ring"
#: These show it themselves, by a border in the colour of the ring.
_BORDERED = (QLineEdit, QAbstractSpinBox, QComboBox)
_MOVES = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.LayoutRequest)


class FocusRing(QWidget):
    """The ring in one window; it takes no events."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("focus.ring")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_around(self, widget: QWidget) -> None:
        """Go around a widget, as much of it as is in view."""
        rect = _seen(widget)
        self.setVisible(not rect.isEmpty())
        if not rect.isEmpty():
            self.setGeometry(rect)
            self.raise_()

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(Theme.current().color("accent"), _WIDTH))
        half = _WIDTH / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), _ROUND, _ROUND)
        painter.end()


def _seen(widget: QWidget) -> QRect:
    """Where a widget is seen in its window, with room around it for the ring as far as there is some."""
    window = widget.window()
    rect = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).adjusted(-_AWAY, -_AWAY, _AWAY, _AWAY)
    outer = widget.parentWidget()
    while outer is not None:
        rect &= QRect(outer.mapTo(window, QPoint(0, 0)), outer.size())
        outer = outer.parentWidget() if outer is not window else None
    return rect


def _is_ringed(widget: QWidget | None) -> bool:
    """Whether a ring says more than the widget itself does."""
    if widget is None or widget.window().windowType() == Qt.WindowType.Popup:
        return False
    if isinstance(widget, QPlainTextEdit | QTextEdit):
        return widget.isReadOnly()
    return not isinstance(widget, _BORDERED) and not widget.property(OWN_RING)


class FocusRings(QObject):
    """Shows the ring where the keyboard goes by keys; the mouse takes it away.

    Parameters
    ----------
    parent : QObject
        The owner; the rings go with their windows.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._widget: QWidget | None = None
        self._watched: list[QWidget] = []
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._changed)

    @guard
    def _changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        by_mouse = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        self._leave()
        if new is not None and _is_ringed(new) and not by_mouse:
            self._widget = new
            outer: QWidget | None = new
            while outer is not None:
                outer.installEventFilter(self)
                self._watched.append(outer)
                outer = outer.parentWidget() if not outer.isWindow() else None
            self._ring(new).show_around(new)

    def _ring(self, widget: QWidget) -> FocusRing:
        window = widget.window()
        return window.findChild(FocusRing, options=Qt.FindChildOption.FindDirectChildrenOnly) or FocusRing(window)

    def _leave(self) -> None:
        old, self._widget = self._widget, None
        for each in self._watched:
            if isValid(each):
                each.removeEventFilter(self)
        self._watched.clear()
        if old is not None and isValid(old):
            self._ring(old).hide()

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the widget; a click on it needs no ring."""
        widget = self._widget
        if widget is None or not isValid(widget):
            return False
        if event.type() in _MOVES:
            self._ring(widget).show_around(widget)
        elif event.type() == QEvent.Type.MouseButtonPress and watched is widget:
            self._leave()
        return False
