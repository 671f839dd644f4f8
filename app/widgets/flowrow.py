"""Buttons in a row that goes on below where there is no room for all, as with large letters."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from app.qt import guard

__all__ = ["FlowRow"]


class FlowRow(QLayout):
    """Lays widgets out from left to right, each in the size it asks for, in as many lines as they need.

    Parameters
    ----------
    gap : int
        Between them, in pixels, to the right and below.
    """

    def __init__(self, gap: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._gap = gap
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    @guard(default=0)
    def heightForWidth(self, width: int) -> int:
        return self._lines(QRect(0, 0, width, 0), moving=False)

    @guard
    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._lines(rect, moving=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        return QSize(
            max((size.width() for size in sizes), default=0), max((size.height() for size in sizes), default=0)
        )

    def _lines(self, rect: QRect, *, moving: bool) -> int:
        """Put the widgets into lines, or only say how high these are."""
        x, y, height = rect.x(), rect.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if x > rect.x() and x + size.width() > rect.x() + rect.width():
                x, y, height = rect.x(), y + height + self._gap, 0
            if moving:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self._gap
            height = max(height, size.height())
        return y + height - rect.y()
