"""A change of theme, widget by widget: what is seen at once, what is hidden when the window has nothing else to do.

The application's stylesheet names no colour, only roles of the palette (:mod:`app.stylesheet`), so it is read once. Qt
looks those up when it polishes a widget and keeps what it found, so each widget is polished again, at some 70 µs; a new
sheet would match every rule against every widget, lay all of them out anew, and hold the window up for 0.3 s.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.qt import Debounce
from app.slices import Slices

__all__ = ["Dressing"]

#: By then what is seen is painted.
_LATER_MS = 40


class Dressing(QObject):
    """Has the widgets look up their colours again after the application's palette has changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hidden: dict[int, QWidget] = {}
        self._held: list[QWidget] = []
        self._slices = Slices(self)
        self._paint = Debounce(self._let_paint, 0, self)
        self._due = Debounce(lambda: self._slices.start(self._dress_hidden()), _LATER_MS, self)

    @property
    def busy(self) -> bool:
        """Whether hidden widgets still wait for their colours."""
        return bool(self._hidden)

    def hold(self) -> None:
        """Have windows painted only in the next event: to change the palette and to paint all is no one wait."""
        windows = (each for each in QApplication.topLevelWidgets() if each.isVisible() and each.updatesEnabled())
        for window in windows:
            window.setUpdatesEnabled(False)
            self._held.append(window)
        self._paint.trigger()

    def _let_paint(self) -> None:
        held, self._held = self._held, []
        for window in held:
            if isValid(window):
                window.setUpdatesEnabled(True)

    def start(self) -> None:
        """Dress what is seen now, and begin with what is not."""
        polished = Qt.WidgetAttribute.WA_WState_Polished
        self._hidden = {id(each): each for each in QApplication.allWidgets() if each.testAttribute(polished)}
        for key, each in list(self._hidden.items()):
            if not each.visibleRegion().isEmpty():  # behind another tab, it counts as visible
                self._dress(self._hidden.pop(key))
        self._due.trigger()

    def finish(self, inside: QWidget | None = None) -> None:
        """Dress what still waits for it, of all widgets or of those in one of them, before it is seen."""
        if self._hidden:
            widgets = [*self._hidden.values()] if inside is None else [inside, *inside.findChildren(QWidget)]
            for each in widgets:
                self._dress(self._hidden.pop(id(each), None))
        if not self._hidden:
            self._paint.flush()
            self._due.cancel()
            self._slices.cancel()

    def _dress_hidden(self) -> Iterator[None]:
        while self._hidden:
            self._dress(self._hidden.popitem()[1])
            yield

    def _dress(self, widget: QWidget | None) -> None:
        if widget is not None and isValid(widget):
            widget.style().polish(widget)
