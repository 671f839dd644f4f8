"""Room for the sentences of the problems list: two lines, and fewer columns, where it is narrow."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QTreeView

from app.problems.delegate import MessageDelegate
from app.problems.model import Column
from app.qt import guard
from app.theme import GRID

__all__ = ["RowFitting"]

_LOOKED_AT = 200  # rows: of a list of thousands the first say enough
_ICON = 8 * GRID  # what stands beside a sentence
_LETTERS = 44  # of a sentence that are to be seen in a line before a column goes


class RowFitting(QObject):
    """Gives all rows two lines where some sentence needs them.

    The code, and then the name of the layer, which the sentence says too, go where there is hardly room for a sentence.

    Parameters
    ----------
    view : QTreeView
        The list, which owns this.
    """

    def __init__(self, view: QTreeView) -> None:
        super().__init__(view)
        self._view = view
        self._messages = MessageDelegate(view)
        view.setWordWrap(True)
        view.setItemDelegateForColumn(Column.MESSAGE, self._messages)
        view.viewport().installEventFilter(self)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the rows to a new width."""
        if event.type() == QEvent.Type.Resize:
            self.fit()
        return False

    def fit(self) -> None:
        """Choose the columns and the height of the rows anew."""
        view = self._view
        wanted = _LETTERS * view.fontMetrics().averageCharWidth() + _ICON
        room = view.viewport().width() - sum(view.sizeHintForColumn(each) for each in (Column.FIX, Column.LINE))
        for column in (Column.LAYER, Column.CODE):
            room -= view.sizeHintForColumn(column)
            view.setColumnHidden(column, room < wanted)
        self._messages.lines = 2 if self._longest() + _ICON > view.columnWidth(Column.MESSAGE) else 1
        view.scheduleDelayedItemsLayout()

    def _longest(self) -> int:
        model, metrics = self._view.model(), self._view.fontMetrics()
        rows = range(min(model.rowCount(), _LOOKED_AT))
        texts = (str(model.index(row, Column.MESSAGE).data()) for row in rows)
        return max((metrics.horizontalAdvance(text) for text in texts), default=0)
