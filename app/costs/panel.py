"""The panel with the cost table: filter, copying, and a selection that is that of the canvas."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.costs.formats import csv_text, markdown_text
from app.costs.measuring import MeasureBar
from app.costs.model import FIRST_NUMBER, FIRST_TIME, CostModel
from app.costs.painting import ShareDelegate, TotalsLine
from app.live.layercosts import CostCount
from app.qt import guard
from app.theme import GRID, Theme
from app.widgets.columns import SqueezedColumns
from app.widgets.elidedlabel import ElidedLabel
from app.widgets.rowselection import RowSelection
from app.widgets.searchline import search_line
from app.wording import counted

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["CostPanel"]

_WIDTHS = (150, 110, 130, 92, 100, 92, 92, 92, 92, 84, 84)
_LEAST = (80, 80, 116, 88, 100, 72, 88, 80, 72, 72, 72)
#: Weights, inference, type, activations, output: what a layer computes and needs in training always stays.
_SHED = (5, 7, 1, 6, 2)
_LEAST_HEIGHT = 120


class CostPanel(QWidget):
    """Lists what the layers of the net in view cost; a selected row selects its layer, and the other way round.

    Costs are those of :class:`app.live.counting.LiveCosts`; times are measured when somebody asks for them, and have
    columns from then on.

    Parameters
    ----------
    document : Document, optional
        Whose layers; see :meth:`set_document`.

    Attributes
    ----------
    revealed : Signal(NodeId)
        A layer was chosen here and shall come into view on the canvas.
    told : Signal(str, str)
        Something to say of measuring, and whether it is a ``warning`` or an ``error``.
    """

    revealed = Signal(object)
    told = Signal(str, str)

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("costs.panel")
        self.document: Document | None = None
        self._stale = True
        self.filter = search_line("costs.filter", "Filter layers by name or type", self, spoken="Filter layers")
        self.note = ElidedLabel("", self)
        self.note.setProperty("muted", True)
        self.model = CostModel(self)
        self.view = QTreeView(self)
        self._dress_view()
        self.totals = TotalsLine(self.view.header(), self)
        self.measuring = MeasureBar(self)
        self._arrange()
        self.setMinimumSize(240, _LEAST_HEIGHT)
        self.setFocusProxy(self.view)
        self.measuring.told.connect(self.told)
        self.measuring.changed.connect(self._timed)
        self.filter.textChanged.connect(self._filter)
        self._selection = RowSelection(self.view, self.model)
        self._selection.revealed.connect(self.revealed)
        self.model.modelReset.connect(self._selection.follow)
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
        for column in range(FIRST_NUMBER, self.model.columnCount()):
            view.setItemDelegateForColumn(column, ShareDelegate(view))
        header = view.header()
        header.setSectionsMovable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for place, column in enumerate(range(FIRST_TIME, self.model.columnCount())):
            header.moveSection(header.visualIndex(column), FIRST_NUMBER + place)  # what was asked for comes first
        self._columns = SqueezedColumns(view, _WIDTHS, _LEAST, shed=_SHED)
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
        self.view.addAction(self._sorting())
        keys = QAction("Copy", self.view)
        keys.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        keys.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        keys.triggered.connect(lambda: self.copy("csv"))
        self.addAction(keys)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        line = QHBoxLayout()
        line.setContentsMargins(GRID, GRID, GRID, GRID)
        line.setSpacing(2 * GRID)
        self.filter.setMinimumWidth(96)
        self.filter.setMaximumWidth(320)
        line.addWidget(self.filter, 2)
        line.addWidget(self.note, 3)
        line.addWidget(self.measuring)
        line.addWidget(copy)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(line)
        box.addWidget(self.view, 1)
        box.addWidget(self.totals)

    def _sorting(self) -> QAction:
        """Return what sorts by a column from the menu of the table, as a click on its header does."""
        menu = QMenu("Sort by", self.view)
        action = menu.menuAction()
        action.setObjectName("costs.sort")
        menu.aboutToShow.connect(lambda: self._fill_sorting(menu))
        return action

    @guard
    def _fill_sorting(self, menu: QMenu) -> None:
        menu.clear()
        header = self.view.header()
        for column in sorted(range(self.model.columnCount()), key=header.visualIndex):
            if not self.view.isColumnHidden(column):
                title = str(self.model.headerData(column, Qt.Orientation.Horizontal) or "").replace("\n", " ")
                menu.addAction(title).triggered.connect(partial(self._sort, column))
        menu.addAction("Order of the file").triggered.connect(partial(self._sort, -1))

    @guard
    def _sort(self, column: int, _checked: bool = False) -> None:
        """Sort with the largest first, or turned about where it is sorted so."""
        header = self.view.header()
        down = Qt.SortOrder.DescendingOrder
        turned = header.sortIndicatorSection() == column and header.sortIndicatorOrder() == down
        header.setSortIndicator(column, Qt.SortOrder.AscendingOrder if turned else down)

    # The document

    def set_document(self, document: Document | None) -> None:
        """Show another document, or none."""
        old = self.document
        if old is not None:
            old.live.costs.changed.disconnect(self._counted)
        self.document = document
        self.model.show(CostCount())
        self.measuring.set_timings(None if document is None else document.live.timings)
        self._selection.set_document(document)
        self._tell()
        if document is not None:
            document.live.costs.changed.connect(self._counted)
            if document.live.costs.count is None:
                document.live.costs.refresh()
            self._counted()

    def shutdown(self) -> None:
        """Let go of the document."""
        self.set_document(None)

    @guard
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._take()

    @guard
    def _counted(self) -> None:
        """Show what was counted now, or when somebody looks."""
        self._stale = True
        if self.isVisible():
            self._take()

    def _take(self) -> None:
        count = None if self.document is None else self.document.live.costs.count
        if count is not None:
            self._stale = False
            self.model.show(count)
            self._tell()

    @guard
    def _timed(self) -> None:
        """Show what was measured; without anything, its columns are not there."""
        timings = self.measuring.timings
        stale = timings is not None and timings.is_stale
        self.model.show_times({} if timings is None else timings.times, is_stale=stale)
        self.totals.show_times(None if timings is None else timings.whole, is_stale=stale)
        for column in range(FIRST_TIME, self.model.columnCount()):
            self.view.setColumnHidden(column, not self.model.times)
        self._columns.fit()

    def _tell(self) -> None:
        count, document = self.model.count, self.document
        self.totals.show_count(count)
        if document is None or not len(document.graph):
            self.note.setText("No layers yet.")
            return
        words = "all nets of the file together" if document.seen is None else document.view.words
        shown, every = len(self.model.rows), len(count.rows)
        number = f"{shown:,} of {counted(every, 'layer')}" if shown < every else counted(every, "layer")
        unknown = f", {count.unknown:,} of unknown shape" if count.unknown else ""
        names = " and ".join(f"'{name}'" for name in count.assumed)
        assumed = f" \u00b7 {names} assumed" if names else ""
        self.note.setText(f"{number}{unknown}{assumed} \u00b7 {words}")
        self.note.setToolTip(self.note.text())

    # What the user does

    @guard
    def _filter(self, pattern: str) -> None:
        self.model.set_pattern(pattern)
        self._tell()

    def copy(self, kind: str) -> None:
        """Put the rows that are shown on the clipboard, as ``csv`` or ``markdown``."""
        write = csv_text if kind == "csv" else markdown_text
        QGuiApplication.clipboard().setText(write(self.model.rows, self.model.count, self.model.times))

    @guard
    def _dress(self, _theme: Theme) -> None:
        self.view.viewport().update()
        self.totals.update()
