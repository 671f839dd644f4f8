"""A column that takes the room which the others leave, and stays wide enough to be read where they leave none."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QTreeView

from app.qt import guard

__all__ = ["RoomyColumn"]


class RoomyColumn(QObject):
    """Keeps the width of one column of a list; all columns can still be dragged.

    Parameters
    ----------
    view : QTreeView
        The list, which owns this.
    column : int
    least : int
        Pixels below which the list scrolls sideways instead.
    """

    def __init__(self, view: QTreeView, column: int, least: int) -> None:
        super().__init__(view)
        self._header = view.header()
        self._column = column
        self._least = least
        self._header.installEventFilter(self)
        self.fit()

    def fit(self) -> None:
        """Give the column its room anew, as when others came or went."""
        header, column = self._header, self._column
        others = header.length() - header.sectionSize(column)
        header.resizeSection(column, max(self._least, header.width() - others))

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.fit()
        return super().eventFilter(watched, event)
