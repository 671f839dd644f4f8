"""The rows of the cost table as a view asks for them: filtered, sorted, with their shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.costs.formats import TITLES, number_text
from app.costs.rows import CostCount, CostRow

if TYPE_CHECKING:
    from engine.graph import NodeId

__all__ = ["FIRST_NUMBER", "SHARE", "CostModel"]

#: The first column that holds a number.
FIRST_NUMBER = 3
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
)
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
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.count = CostCount()
        self.rows: list[CostRow] = []
        self._places: dict[NodeId, int] = {}
        self._largest: list[int] = []
        self._pattern = ""
        self._column, self._falls = -1, False

    def show(self, count: CostCount) -> None:
        """Show another count; rows that stay where they are are only told to have changed."""
        self.count = count
        largest = [max(values) for values in zip(*(row.numbers for row in count.rows if row.numbers), strict=True)]
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
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(TITLES) - 1))

    def set_pattern(self, pattern: str) -> None:
        """Show layers only whose name or type holds all words of a text."""
        self._pattern = pattern
        self._refill()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; by none, -1, as the document has the layers."""
        self._column, self._falls = column, order == Qt.SortOrder.DescendingOrder
        self._refill()

    def row_of(self, node: NodeId) -> int:
        """Return the row of a layer; -1 where it is not shown."""
        return self._places.get(node, -1)

    def _refill(self) -> None:
        self.beginResetModel()
        self._take(self._wanted(), self._largest)
        self.endResetModel()

    def _take(self, rows: list[CostRow], largest: list[int]) -> None:
        self.rows, self._largest = rows, largest
        self._places = {row.node: place for place, row in enumerate(rows)}

    def _wanted(self) -> list[CostRow]:
        words = self._pattern.lower().split()
        rows = [row for row in self.count.rows if all(word in f"{row.name} {row.type}".lower() for word in words)]
        column = self._column
        if column >= FIRST_NUMBER:
            # What is not known stays below, whichever way it is sorted.
            place = column - FIRST_NUMBER
            known = [row for row in rows if row.numbers]
            known.sort(key=lambda row: row.numbers[place], reverse=self._falls)
            return known + [row for row in rows if not row.numbers]
        if column >= 0:
            rows.sort(key=lambda row: (row.name, row.type, row.output)[column].lower(), reverse=self._falls)
        return rows

    # What views ask

    def rowCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{_TIPS[section]}. Click to sort."
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], index.column()
        if role in _TEXTS:
            return self._text(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, column)
        if role == SHARE and column >= FIRST_NUMBER and row.numbers:
            largest = self._largest[column - FIRST_NUMBER]
            return row.numbers[column - FIRST_NUMBER] / largest if largest else 0.0
        return None

    def _text(self, row: CostRow, column: int) -> str:
        if column < FIRST_NUMBER:
            return (row.name or "(no name)", row.type, row.output)[column]
        return number_text(column - FIRST_NUMBER, row.numbers[column - FIRST_NUMBER]) if row.numbers else "?"

    def _tip(self, row: CostRow, column: int) -> str:
        if column < FIRST_NUMBER or not row.numbers:
            return row.reason
        value = row.numbers[column - FIRST_NUMBER]
        total = self.count.totals[column - FIRST_NUMBER]
        unit = "" if column < FIRST_NUMBER + 2 else " bytes"
        share = f", {value / total:.1%} of all" if total else ""
        return f"{value:,}{unit}{share}"


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column >= FIRST_NUMBER else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
