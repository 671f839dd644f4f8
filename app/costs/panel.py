"""The panel with the cost table: filter, copying, and a selection that is that of the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.costs.formats import csv_text, markdown_text
from app.costs.model import FIRST_NUMBER, CostModel
from app.costs.painting import ShareDelegate, TotalsLine
from app.costs.rows import CostCount, Inputs, count_costs, inputs_of
from app.qt import Debounce, guard
from app.theme import GRID, Theme

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Events, NodeId

__all__ = ["CostPanel"]

_PAUSE = 30
_WIDTHS = (150, 110, 130, 92, 100, 92, 92, 92, 92)
_Flag = QItemSelectionModel.SelectionFlag


class CostPanel(QWidget):
    """Lists what the layers of the net in view cost; a selected row selects its layer, and the other way round.

    Costs are counted in the document's thread, for layers that changed only; a count that is no longer wanted is
    thrown away.

    Parameters
    ----------
    document : Document, optional
        Whose layers; see :meth:`set_document`.

    Attributes
    ----------
    revealed : Signal(NodeId)
        A layer was chosen here and shall come into view on the canvas.
    """

    revealed = Signal(object)

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("costs.panel")
        self.document: Document | None = None
        self._following = False
        self._stale = True
        self._inputs = Inputs((), {}, {})
        self._sharing: set[NodeId] = set()
        self.filter = QLineEdit(self)
        self.filter.setObjectName("costs.filter")
        self.filter.setPlaceholderText("Filter layers by name or type")
        self.filter.setAccessibleName("Filter layers")
        self.filter.setClearButtonEnabled(True)
        self.note = QLabel(self)
        self.note.setProperty("muted", True)
        self.model = CostModel(self)
        self.view = QTreeView(self)
        self._dress_view()
        self.totals = TotalsLine(self.view.header(), self)
        self._arrange()
        self.setFocusProxy(self.view)
        self._due = Debounce(self.refresh, _PAUSE, self)
        self.filter.textChanged.connect(self._filter)
        self.view.selectionModel().selectionChanged.connect(self._rows_selected)
        self.model.modelReset.connect(self._follow)
        Theme.notifier().changed.connect(self._dress)
        self.set_document(document)

    def _dress_view(self) -> None:
        view = self.view
        view.setObjectName("costs.view")
        view.setAccessibleName("Costs of the layers")
        view.setModel(self.model)
        view.setRootIsDecorated(False)
        view.setUniformRowHeights(True)
        view.setAllColumnsShowFocus(True)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setFrameShape(QTreeView.Shape.NoFrame)
        view.setProperty("flat", True)
        view.setSortingEnabled(True)
        view.setStyleSheet("QTreeView::item { padding: 2px 4px; } QHeaderView::section { padding: 4px 4px; }")
        for column in range(FIRST_NUMBER, self.model.columnCount()):
            view.setItemDelegateForColumn(column, ShareDelegate(view))
        header = view.header()
        header.setSectionsMovable(False)
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(48)
        for column, width in enumerate(_WIDTHS):
            header.resizeSection(column, width)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        view.horizontalScrollBar().valueChanged.connect(lambda _value: self.totals.update())

    def _arrange(self) -> None:
        copy = QToolButton(self)
        copy.setObjectName("costs.copy")
        copy.setText("Copy")
        copy.setProperty("toggle", True)
        copy.setToolTip("Copy the rows that are shown, with the totals")
        copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(copy)
        for name, text in (("csv", "Copy as &CSV, exact"), ("markdown", "Copy as &Markdown")):
            action = QAction(text, self)
            action.setObjectName(f"costs.copy_{name}")
            action.triggered.connect(lambda _checked=False, name=name: self.copy(name))
            menu.addAction(action)
            self.view.addAction(action)
        copy.setMenu(menu)
        keys = QAction("Copy", self.view)
        keys.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        keys.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        keys.triggered.connect(lambda: self.copy("csv"))
        self.addAction(keys)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        line = QHBoxLayout()
        line.setContentsMargins(GRID, GRID, GRID, GRID)
        line.setSpacing(2 * GRID)
        self.filter.setMaximumWidth(320)
        line.addWidget(self.filter, 1)
        line.addWidget(self.note, 1)
        line.addWidget(copy)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(line)
        box.addWidget(self.view, 1)
        box.addWidget(self.totals)

    # The document

    def set_document(self, document: Document | None) -> None:
        """Show another document, or none."""
        old = self.document
        if old is not None:
            old.selection.changed.disconnect(self._follow)
            old.changed.disconnect(self._changed)
            old.shapes_changed.disconnect(self._ask)
            old.view_changed.disconnect(self._ask)
            old.jobs.cancel("costs")
        self._due.cancel()
        self._inputs = Inputs((), {}, {})
        self._sharing.clear()
        self.document = document
        self.model.show(CostCount())
        self._tell()
        if document is not None:
            document.selection.changed.connect(self._follow)
            document.changed.connect(self._changed)
            document.shapes_changed.connect(self._ask)
            document.view_changed.connect(self._ask)
            self._ask()

    def shutdown(self) -> None:
        """Let go of the document."""
        self.set_document(None)

    @guard
    def _changed(self, events: Events) -> None:
        for node in events.changed | events.removed:
            self._sharing.discard(node)
            self._inputs.names.pop(node, None)
        self._ask()

    @guard
    def _ask(self, _view: object = None) -> None:
        """Count anew soon, or when somebody looks."""
        self._stale = True
        if self.isVisible():
            self._due.trigger()

    @guard
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._due.trigger()

    def refresh(self) -> None:
        """Count anew in the document's thread."""
        document = self.document
        if document is None:
            return
        self._stale = False
        self._inputs = inputs = inputs_of(document, self._inputs, self._sharing)
        document.jobs.submit("costs", lambda: count_costs(inputs), self._counted)

    @guard
    def _counted(self, count: CostCount) -> None:
        self._inputs.readers = {}
        self.model.show(count)
        self._tell()

    def _tell(self) -> None:
        count, document = self.model.count, self.document
        self.totals.show_count(count)
        if document is None or not len(document.graph):
            self.note.setText("No layers yet.")
            return
        words = "all nets of the file together" if document.seen is None else document.view.words
        shown, every = len(self.model.rows), len(count.rows)
        number = f"{shown:,} of {every:,} layers" if shown < every else f"{every:,} layers"
        unknown = f", {count.unknown:,} of unknown shape" if count.unknown else ""
        self.note.setText(f"{number}{unknown} \u00b7 {words}")

    # Selection in step

    @guard
    def _rows_selected(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        document = self.document
        if self._following or document is None:
            return
        rows = self.view.selectionModel().selectedRows()
        nodes = dict.fromkeys(self.model.rows[index.row()].node for index in rows)
        current = self.view.currentIndex()
        newest = self.model.rows[current.row()].node if current.isValid() else None
        if newest in nodes:  # the one with the keyboard counts as selected last
            del nodes[newest]
            nodes[newest] = None
        document.selection.set(nodes)
        if newest in nodes:
            self.revealed.emit(newest)

    @guard
    def _follow(self) -> None:
        """Select the rows of what is selected on the canvas."""
        document, chosen = self.document, self.view.selectionModel()
        if document is None:
            return
        wanted = sorted(row for node in document.selection.node_ids if (row := self.model.row_of(node)) >= 0)
        if sorted(index.row() for index in chosen.selectedRows()) == wanted:
            return
        picked = QItemSelection()
        for first, last in _runs(wanted):
            picked.select(self.model.index(first, 0), self.model.index(last, 0))
        self._following = True
        chosen.select(picked, _Flag.ClearAndSelect | _Flag.Rows)
        newest = document.selection.last
        row = self.model.row_of(newest) if newest is not None else -1
        if row >= 0:
            chosen.setCurrentIndex(self.model.index(row, 0), _Flag.NoUpdate)
            self.view.scrollTo(self.model.index(row, 0))
        self._following = False

    # What the user does

    @guard
    def _filter(self, pattern: str) -> None:
        self.model.set_pattern(pattern)
        self._tell()

    def copy(self, kind: str) -> None:
        """Put the rows that are shown on the clipboard, as ``csv`` or ``markdown``."""
        write = csv_text if kind == "csv" else markdown_text
        QGuiApplication.clipboard().setText(write(self.model.rows, self.model.count))

    @guard
    def _dress(self, _theme: Theme) -> None:
        self.view.viewport().update()
        self.totals.update()


def _runs(places: list[int]) -> list[tuple[int, int]]:
    """Join numbers in a row to pairs of first and last."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], place
        else:
            runs.append((place, place))
    return runs
