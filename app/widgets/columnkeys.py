"""Columns of a table by keyboard: choosing one, which is marked in the head, and making it wider or narrower."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QTreeView, QWidget

from app.qt import guard
from app.theme import Theme
from app.widgets.columns import ShedColumns

__all__ = ["Table", "choose_column", "resize_column"]

Table = QTreeView | QTableView


def choose_column(table: Table, by: int) -> str:
    """Choose the next column that is shown, or with -1 the one before, around the end; return what to say."""
    head = _head(table)
    shown = _shown(head)
    mark = _mark_of(table)
    at = shown.index(mark.column) + by if mark.column in shown else (0 if by > 0 else len(shown) - 1)
    mark.choose(shown[at % len(shown)])
    return _told(table, mark.column)


def resize_column(table: Table, by: int) -> str:
    """Make the chosen column, or the first one, wider by some pixels; return what to say."""
    head = _head(table)
    mark = _mark_of(table)
    if mark.column not in _shown(head):
        mark.choose(_shown(head)[0])
    column = mark.column
    stretched = head.stretchLastSection() and column == _shown(head)[-1]
    if stretched or head.sectionResizeMode(column) != QHeaderView.ResizeMode.Interactive:
        return f"Column {_title(table, column)} takes what the others leave: size these."
    head.resizeSection(column, max(head.minimumSectionSize(), head.sectionSize(column) + by))
    for keeper in table.findChildren(ShedColumns):
        keeper.fit()
    mark.place()
    return _told(table, column)


def _head(table: Table) -> QHeaderView:
    return table.header() if isinstance(table, QTreeView) else table.horizontalHeader()


def _shown(head: QHeaderView) -> list[int]:
    """Columns that are not hidden, from the left."""
    columns = (head.logicalIndex(place) for place in range(head.count()))
    return [each for each in columns if not head.isSectionHidden(each)]


def _title(table: Table, column: int) -> str:
    title = table.model().headerData(column, Qt.Orientation.Horizontal)
    return f"'{str(title or '').replace(chr(10), ' ')}'"


def _told(table: Table, column: int) -> str:
    return f"Column {_title(table, column)}: {_head(table).sectionSize(column)} pixels wide."


def _mark_of(table: Table) -> _ColumnMark:
    head = _head(table)
    return head.findChild(_ColumnMark) or _ColumnMark(head, table)


class _ColumnMark(QWidget):
    """A frame around the head of the chosen column, while the keyboard is in the table.

    Attributes
    ----------
    column : int
        The chosen one; -1 for none.
    """

    def __init__(self, head: QHeaderView, table: Table) -> None:
        super().__init__(head)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.column = -1
        self._head, self._table = head, table
        head.sectionResized.connect(self.place)
        head.sortIndicatorChanged.connect(self.place)
        table.installEventFilter(self)
        self.hide()

    def choose(self, column: int) -> None:
        """Mark a column, and bring it into view."""
        self.column = column
        row = self._table.currentIndex()
        self._table.scrollTo(self._table.model().index(max(row.row(), 0), column, row.parent()))
        self.show()
        self.place()

    @guard
    def place(self, *_what: object) -> None:
        """Lie around the head of the column."""
        head = self._head
        if self.column >= 0:
            left, width = head.sectionViewportPosition(self.column), head.sectionSize(self.column)
            self.setGeometry(QRect(left, 0, width, head.height()))

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go away with the keyboard."""
        if event.type() == QEvent.Type.FocusOut:
            self.column = -1
            self.hide()
        elif event.type() == QEvent.Type.Resize:
            self.place()
        return False

    @guard
    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(Theme.current().color("accent"))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()
