"""The page on which shortcuts are looked up and changed."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, QSortFilterProxyModel, Qt
from PySide6.QtGui import QCloseEvent, QFont, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.qt import blocked, guard
from app.widgets.letters import letter_scale
from app.widgets.searchline import name_clear_button, search_line
from app.window.keys.keyrules import refusal, remark
from app.window.keys.shortcuts import Shortcut, Shortcuts, native

__all__ = ["ShortcutPage"]

Index = QModelIndex | QPersistentModelIndex
_HEADS = ("Action", "Keys", "Where")
_MARGIN = 12
_PARTS = (0.5, 0.32)  # of the width; the last column has what is left


class _Model(QAbstractTableModel):
    def __init__(self, shortcuts: Shortcuts, parent: QWidget) -> None:
        super().__init__(parent)
        self._shortcuts = shortcuts
        self.entries = shortcuts.entries()
        shortcuts.changed.connect(self._changed)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.entries)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return _HEADS[section]
        return None

    @guard
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self.entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return (entry.text, native(entry.keys), entry.group)[index.column()]
        if role == Qt.ItemDataRole.FontRole and entry.is_changed:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ToolTipRole and entry.is_changed:
            return f"Changed; its own: {native(entry.default) or 'none'}"
        if role == Qt.ItemDataRole.UserRole:
            return f"{entry.text} {native(entry.keys)} {entry.group}"
        return None

    @guard
    def _changed(self, name: str) -> None:
        row = next(row for row, entry in enumerate(self.entries) if entry.name == name)
        self.dataChanged.emit(self.index(row, 0), self.index(row, len(_HEADS) - 1))


class ShortcutPage(QDialog):
    """Search, press keys, see what collides, and go back to what was. It is not modal; changes hold at once.

    Parameters
    ----------
    shortcuts : Shortcuts
        Of the window.
    """

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("window.shortcuts")
        self.setWindowTitle("Keyboard shortcuts")
        self.setModal(False)
        size = QSize(640, 560) * letter_scale(self)
        self.resize(size.boundedTo(self.screen().availableSize() * 0.9))
        self._shortcuts = shortcuts
        self.search = search_line("window.shortcuts.search", "Search by name or key", spoken="Search shortcuts")
        self._model = _Model(shortcuts, self)
        self._found = QSortFilterProxyModel(self)
        self._found.setSourceModel(self._model)
        self._found.setFilterRole(Qt.ItemDataRole.UserRole)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.table = self._make_table()
        self._name = QLabel()
        self._name.setProperty("heading", True)
        self.keys = QKeySequenceEdit()
        self.keys.setObjectName("window.shortcuts.keys")
        self.keys.setAccessibleName("New keys")
        self.keys.setClearButtonEnabled(True)
        name_clear_button(self.keys)
        self.keys.setMaximumSequenceLength(1)
        self._clash = QLabel()
        self._clash.setObjectName("window.shortcuts.clash")
        self._clash.setWordWrap(True)
        self.assign = QPushButton("Assign")
        self.reset = QPushButton("Reset")
        self.reset_all = QPushButton("Reset all")
        self._lay_out()
        self.search.textChanged.connect(self._found.setFilterFixedString)
        self.keys.keySequenceChanged.connect(self._keys_pressed)
        self.assign.clicked.connect(self._assign)
        self.reset.clicked.connect(self._reset)
        self.reset_all.clicked.connect(self._reset_all)
        shortcuts.changed.connect(self._show_current)
        self.table.selectRow(0)

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("window.shortcuts.table")
        table.setAccessibleName("Shortcuts")
        table.setModel(self._found)
        table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        head = table.horizontalHeader()
        head.setHighlightSections(False)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        head.setStretchLastSection(True)
        table.selectionModel().currentRowChanged.connect(self._show_current)
        table.doubleClicked.connect(lambda _index: self.keys.setFocus())
        return table

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self._name, 1)
        row.addWidget(self.keys, 1)
        row.addWidget(self.assign)
        row.addWidget(self.reset)
        row.addWidget(self.reset_all)
        box = QVBoxLayout(self)
        box.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        box.setSpacing(8)
        box.addWidget(self.search)
        box.addWidget(self.table, 1)
        box.addLayout(row)
        box.addWidget(self._clash)
        for button in (self.assign, self.reset, self.reset_all):
            button.setAutoDefault(False)

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width among the columns."""
        super().resizeEvent(event)
        # The table gets its new size after this, and its scroll bar last.
        bar = self.table.verticalScrollBar().sizeHint().width()
        beside = 2 * (_MARGIN + self.table.frameWidth()) + bar
        for column, part in enumerate(_PARTS):
            self.table.setColumnWidth(column, round(part * (self.width() - beside)))

    @property
    def current(self) -> Shortcut | None:
        """The shortcut whose row is chosen."""
        index = self._found.mapToSource(self.table.currentIndex())
        return self._model.entries[index.row()] if index.isValid() else None

    @guard
    def _show_current(self, *_args: object) -> None:
        entry = self.current
        self._name.setText(entry.text if entry is not None else "")
        with blocked(self.keys):
            self.keys.setKeySequence(
                QKeySequence(entry.keys[0]) if entry is not None and entry.keys else QKeySequence()
            )
        self._clash.clear()
        self.keys.setEnabled(entry is not None)
        self.assign.setEnabled(False)
        self.reset.setEnabled(entry is not None and entry.is_changed)
        self.reset_all.setEnabled(any(each.is_changed for each in self._model.entries))

    @guard
    def _keys_pressed(self, sequence: QKeySequence) -> None:
        entry = self.current
        if entry is None:
            return
        key = sequence.toString()
        refused = refusal(self._shortcuts, entry, key)
        self.assign.setEnabled(not refused and ((key,) != entry.keys[:1] if key else bool(entry.keys)))
        other = self._shortcuts.conflict(entry.name, key)
        clash = (
            f"{native([key])} is '{other.text}' ({other.group}); it loses the key if you assign it." if other else ""
        )
        self._clash.setText(refused or f"{clash} {remark(self._shortcuts, entry, key)}".strip())
        self.assign.setText("Assign" if key else "Take away")

    @guard
    def _assign(self, _checked: bool = False) -> None:
        entry = self.current
        if entry is not None:
            key = self.keys.keySequence().toString()
            self._shortcuts.set_keys(entry.name, (key, *entry.keys[1:]) if key else ())

    @guard
    def _reset(self, _checked: bool = False) -> None:
        entry = self.current
        if entry is not None:
            self._shortcuts.reset(entry.name)

    @guard
    def _reset_all(self, _checked: bool = False) -> None:
        self._shortcuts.reset_all()
        self._show_current()

    @guard
    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.deleteLater()
