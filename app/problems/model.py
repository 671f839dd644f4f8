"""Diagnostics as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QKeySequence

from app.icons import icon
from app.qt import key_text

if TYPE_CHECKING:
    from engine.diagnostics import Diagnostic

__all__ = ["SEVERITY_ROLE", "Column", "ProblemsModel", "counts"]

SEVERITY_ROLE = int(Qt.ItemDataRole.UserRole)
_SEVERITIES = ("error", "warning", "info")
_ICONS = {"error": ("x-circle", "error"), "warning": ("warning", "warning"), "info": ("info", "text_muted")}
_Index = QModelIndex | QPersistentModelIndex


class Column(IntEnum):
    """The columns of the list."""

    MESSAGE = 0
    FIX = 1
    LAYER = 2
    CODE = 3
    LINE = 4


_TITLES = {Column.MESSAGE: "Problem", Column.FIX: "", Column.LAYER: "Layer", Column.LINE: "Line", Column.CODE: "Code"}


def counts(diagnostics: Sequence[Diagnostic]) -> tuple[int, int]:
    """Return the number of errors and of warnings."""
    found = [each.severity for each in diagnostics]
    return found.count("error"), found.count("warning")


class ProblemsModel(QAbstractTableModel):
    """The diagnostics of a document, worst first, then by line."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Diagnostic] = []
        self._layers: list[str] = []
        self._fix_key: tuple[str, ...] = ()

    def say_fix_key(self, key: QKeySequence) -> None:
        """Say of quick fixes which key applies them."""
        shown = key_text(key)
        self._fix_key = (f"({shown})",) if shown else ()

    @property
    def rows(self) -> Sequence[Diagnostic]:
        """The diagnostics in the order of the rows."""
        return self._rows

    def show(self, diagnostics: Sequence[Diagnostic], layers: Sequence[str]) -> None:
        """Show these, with the name of the layer of each."""
        pairs = sorted(
            zip(diagnostics, layers, strict=True),
            key=lambda pair: (_SEVERITIES.index(pair[0].severity), pair[0].line or 0),
        )
        self.beginResetModel()
        self._rows = [diagnostic for diagnostic, _ in pairs]
        self._layers = [layer for _, layer in pairs]
        self.endResetModel()

    def rowCount(self, parent: _Index | None = None) -> int:
        """Number of diagnostics."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        """Number of columns."""
        return len(Column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Title of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[Column(section)]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section == Column.LINE else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        each, column = self._rows[index.row()], Column(index.column())
        severity = each.severity
        if role == SEVERITY_ROLE:
            return severity
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index.row(), column)
        if role == Qt.ItemDataRole.DecorationRole and column == Column.MESSAGE:
            return icon(*_ICONS[severity])
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(index.row(), column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column == Column.LINE:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.AccessibleTextRole and column == Column.MESSAGE:
            return f"{severity}: {each.message}"
        return None

    def _text(self, row: int, column: Column) -> str:
        each = self._rows[row]
        if column == Column.MESSAGE:
            return each.message
        if column == Column.FIX:
            fixes = each.fixes
            return f"{len(fixes)} fixes\u2026" if len(fixes) > 1 else fixes[0].label if fixes else ""
        if column == Column.LAYER:
            return self._layers[row]
        if column == Column.LINE:
            return str(each.line) if each.line else ""
        return each.code

    def _tooltip(self, row: int, column: Column) -> str | None:
        each = self._rows[row]
        if column == Column.FIX and each.fix is not None:
            return "\n".join([*(fix.label for fix in each.fixes), *self._fix_key])
        if column == Column.LAYER and each.file is not None:
            return str(each.file)
        return f"{each.message}\n{each.next_step}".strip() if column == Column.MESSAGE else None
