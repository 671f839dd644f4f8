"""The rows of the cost table as a view asks for them: filtered, sorted, with their shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.costs.formats import TIME_TITLES, TITLES, number_text, time_text
from app.live.layercosts import CostCount, CostRow
from app.theme import Theme
from app.wording import row_words

if TYPE_CHECKING:
    from engine.graph import NodeId
    from engine.timing import LayerTimes

__all__ = ["FIRST_NUMBER", "FIRST_TIME", "SHARE", "CostModel"]

#: The first column that holds a number.
FIRST_NUMBER = 3
#: The first column that holds a measured time.
FIRST_TIME = len(TITLES)
_ALL_TITLES = (*TITLES, *TIME_TITLES)
#: Role of the share of a number in the largest of its column, 0 to 1.
SHARE = Qt.ItemDataRole.UserRole + 1

_TIPS = (
    "Name of the layer",
    "Type of the layer",
    "Shape of its first output",
    "Values in all its parameters",
    "Multiplications with weights, each with its addition, in one forward pass over the batch",
    "Memory of its parameters, at 4 bytes a value",
    "Memory of its outputs, where they have memory of their own",
    "Weights and activations: what running the net needs",
    "The same with all gradients and one history value for each weight, as SGD with momentum keeps",
    "Measured time of a forward pass over the batch, with the layer's reshape; the median over all passes",
    "Measured time of a backward pass; next to nothing where the layer needs none",
)
_STALE = "Measured before the net was changed."
_TEXTS = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
Index = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()


class CostModel(QAbstractTableModel):
    """The table.

    Attributes
    ----------
    count : CostCount
        All rows, and the totals.
    rows : list of CostRow
        Those that are shown, as they are sorted.
    times : mapping of NodeId to LayerTimes
        What was measured; empty where nothing was.
    is_stale : bool
        Whether the net was changed since.
    changing : bool
        Never: rows are shown anew all at once, which changes no selection.
    """

    changing = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.count = CostCount()
        self.rows: list[CostRow] = []
        self._places: dict[NodeId, int] = {}
        self.times: Mapping[NodeId, LayerTimes] = {}
        self.is_stale = False
        self._largest: list[float] = []
        self._pattern = ""
        self._column, self._falls = -1, False

    def show(self, count: CostCount) -> None:
        """Show another count; rows that stay where they are are only told to have changed."""
        self.count = count
        largest = self._maxima()
        rows = self._wanted()
        if [row.node for row in rows] != [row.node for row in self.rows]:
            self.beginResetModel()
            self._take(rows, largest)
            self.endResetModel()
            return
        changed = [index for index, (new, old) in enumerate(zip(rows, self.rows, strict=True)) if new != old]
        if largest != self._largest and rows:
            changed = [0, len(rows) - 1]
        self._take(rows, largest)
        if changed:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(_ALL_TITLES) - 1))

    def show_times(self, times: Mapping[NodeId, LayerTimes], *, is_stale: bool) -> None:
        """Show measured times, as what they are: of the net as it is, or as it was."""
        if times is self.times and is_stale == self.is_stale:
            return
        self.times, self.is_stale = times, is_stale
        self.show(self.count)
        if self.rows:
            self.dataChanged.emit(self.index(0, FIRST_TIME), self.index(len(self.rows) - 1, len(_ALL_TITLES) - 1))

    def set_pattern(self, pattern: str) -> None:
        """Show layers only whose name or type holds all words of a text."""
        self._pattern = pattern
        self._refill()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; by none, -1, as the document has the layers."""
        self._column, self._falls = column, order == Qt.SortOrder.DescendingOrder
        self._refill()

    def node_of(self, index: Index) -> NodeId | None:
        """The layer that a row is about; None for no row."""
        return self.rows[index.row()].node if index.isValid() else None

    def row_of(self, node_id: NodeId) -> int | None:
        """The number of a layer's row; None where it is not shown."""
        return self._places.get(node_id)

    def _refill(self) -> None:
        self.beginResetModel()
        self._take(self._wanted(), self._largest)
        self.endResetModel()

    def _take(self, rows: list[CostRow], largest: list[float]) -> None:
        self.rows, self._largest = rows, largest
        self._places = {row.node: place for place, row in enumerate(rows)}

    def _wanted(self) -> list[CostRow]:
        words = self._pattern.lower().split()
        rows = [row for row in self.count.rows if all(word in f"{row.name} {row.type}".lower() for word in words)]
        column = self._column
        if column >= FIRST_NUMBER:
            # What is not known stays below, whichever way it is sorted.
            pairs = [(value, row) for row in rows if (value := self._value(row, column)) is not None]
            pairs.sort(key=lambda pair: pair[0], reverse=self._falls)
            return [row for _value, row in pairs] + [row for row in rows if self._value(row, column) is None]
        if column >= 0:
            rows.sort(key=lambda row: (row.name, row.type, row.output)[column].lower(), reverse=self._falls)
        return rows

    def _value(self, row: CostRow, column: int) -> float | None:
        """Return the number in a column; None where it is not known."""
        if column < FIRST_TIME:
            return row.numbers[column - FIRST_NUMBER] if row.numbers else None
        timed = self.times.get(row.node)
        if timed is None:
            return None
        return (timed.forward if column == FIRST_TIME else timed.backward).median

    def _maxima(self) -> list[float]:
        """Return the largest value of each column of numbers."""
        numbers = [row.numbers for row in self.count.rows if row.numbers]
        counts = [max(column) for column in zip(*numbers, strict=True)] or [0] * (FIRST_TIME - FIRST_NUMBER)
        timed = [row for row in self.count.rows if row.node in self.times] if self.times else []
        times = (
            max((self._value(row, column) or 0 for row in timed), default=0)
            for column in range(FIRST_TIME, len(_ALL_TITLES))
        )
        return [*counts, *times]

    # What views ask

    def rowCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(_ALL_TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _ALL_TITLES[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{_TIPS[section]}. Click to sort."
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.AccessibleTextRole and not column:
            return self._words(row)
        if role in _TEXTS:
            return self._text(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, column)
        if role == SHARE and column >= FIRST_NUMBER:
            value, largest = self._value(row, column), self._largest[column - FIRST_NUMBER]
            return None if value is None else value / largest if largest else 0.0
        if role == Qt.ItemDataRole.ForegroundRole and column >= FIRST_TIME and self.is_stale:
            return Theme.current().color("text_muted")
        return None

    def _text(self, row: CostRow, column: int) -> str:
        if column < FIRST_NUMBER:
            return (row.name or "(no name)", row.type, row.output)[column]
        if column >= FIRST_TIME:
            value = self._value(row, column)
            return "" if value is None else time_text(value)
        return number_text(column - FIRST_NUMBER, row.numbers[column - FIRST_NUMBER]) if row.numbers else "?"

    def _words(self, row: CostRow) -> str:
        """Say the whole row: who hears it is told of one cell only."""
        columns = range(self.columnCount() if self.times else FIRST_TIME)
        titles = ["" if column < FIRST_NUMBER else _ALL_TITLES[column].lower() for column in columns]
        return row_words([self._text(row, column) for column in columns], titles)

    def _tip(self, row: CostRow, column: int) -> str:
        if column >= FIRST_TIME:
            return self._time_tip(row, column)
        if column < FIRST_NUMBER or not row.numbers:
            whole = " \u00b7 ".join(filter(None, (row.name, row.type, row.output)))
            return "\n".join(filter(None, (whole, row.reason)))
        value = row.numbers[column - FIRST_NUMBER]
        total = self.count.totals[column - FIRST_NUMBER]
        unit = "" if column < FIRST_NUMBER + 2 else " bytes"
        share = f", {value / total:.1%} of all" if total else ""
        return f"{value:,}{unit}{share}"

    def _time_tip(self, row: CostRow, column: int) -> str:
        timed = self.times.get(row.node)
        if timed is None:
            return "Not measured: it was not in the net that was run."
        spread = timed.forward if column == FIRST_TIME else timed.backward
        more = f"{spread.min:.4g} ms at least, {spread.mean:.4g} ms on average"
        said = f"{spread.median:.4g} ms in the median of all passes; {more}"
        return f"{said}\n{_STALE}" if self.is_stale else said


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column >= FIRST_NUMBER else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
