"""The outline: a filter over the tree of layers, its selection in step with the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.outline.model import OutlineModel
from app.qt import guard
from app.theme import GRID
from app.widgets.columns import Column, ShedColumns
from app.widgets.rowselection import RowSelection
from app.widgets.searchline import search_line
from app.wording import counted

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["OutlinePanel"]

_COLUMNS = (Column(104, 6), Column(56, 2), Column(88, 3))


class _TypeCell(QStyledItemDelegate):
    """Types are told by how they begin, names, which the list shortens in the middle, often by how they end."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight


class OutlinePanel(QWidget):
    """Shows the layers of a document as a tree.

    A selected row selects its layer on the canvas, and the other way round; Enter on a port's row goes to the layer at
    the other end of the wire.

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
        self.setObjectName("outline.panel")
        self.document: Document | None = None
        self.filter = search_line("outline.filter", "Filter layers by name, type or blob", self, spoken="Filter layers")
        self.model = OutlineModel(self)
        self.view = QTreeView(self)
        self._dress_view()
        self._note = QLabel(self)
        self._note.setProperty("muted", True)
        self._note.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self._note.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GRID, GRID, GRID, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.filter)
        layout.addWidget(self.view, 1)
        layout.addWidget(self._note)
        self.setFocusProxy(self.view)
        self.filter.textChanged.connect(self._filter)
        self.filter.installEventFilter(self)
        self.view.activated.connect(self._activated)
        self._selection = RowSelection(self.view, self.model)
        self._selection.revealed.connect(self.revealed)
        self.model.settled.connect(self._rows_changed)
        self.model.facts_changed.connect(self.view.viewport().update)
        self.model.is_watched = self._is_watched
        self.set_document(document)

    def _dress_view(self) -> None:
        view = self.view
        view.setObjectName("outline.view")
        view.setAccessibleName("Layers of the net")
        view.setModel(self.model)
        view.setUniformRowHeights(True)
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        view.setItemDelegateForColumn(1, _TypeCell(view))
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setFrameShape(QTreeView.Shape.NoFrame)
        view.setProperty("flat", True)
        header = view.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        view.setIndentation(16)
        self._columns = ShedColumns(view, _COLUMNS)
        view.expanded.connect(self._span)

    def set_document(self, document: Document | None) -> None:
        """Show another document."""
        self._selection.set_document(None)  # rows that go with the old document deselect nothing
        self.document = document
        self.model.set_document(document)
        self._selection.set_document(document)

    def seen(self) -> None:
        """Follow what was changed behind another panel: this one comes to the front."""
        self.model.catch_up()

    def _is_watched(self) -> bool:
        return not (self.window().isVisible() and self.view.visibleRegion().isEmpty())

    def shutdown(self) -> None:
        """Let go of the document."""
        self.set_document(None)

    @guard
    def _span(self, index: QModelIndex) -> None:
        """Give the rows of ports the whole width."""
        for row in range(self.model.rowCount(index)):
            self.view.setFirstColumnSpanned(row, index, not self.model.index(row, 2, index).data())

    @guard
    def _activated(self, index: QModelIndex) -> None:
        """Go to the other end of a wire, or back to the canvas with a layer."""
        node_id = self.model.linked(index)
        if node_id is None:
            node_id = self.model.node_of(index)
        if node_id is not None and self.document is not None:
            self.document.selection.set([node_id])
            self.document.selection.flush()
            self.revealed.emit(node_id)

    # Filter

    @guard
    def _filter(self, pattern: str) -> None:
        self.model.set_pattern(pattern)

    @guard
    def _rows_changed(self) -> None:
        self._selection.follow()
        shown, document = len(self.model.ids), self.document
        count = len(document.graph) if document is not None else 0
        if not count:
            self._note.setText("No layers yet: add one on the canvas.")
        elif not shown:
            self._note.setText("No layer fits the filter.")
        else:
            layers = counted(document.graph.layer_count() if document is not None else 0, "layer")  # as the status line
            self._note.setText(f"{shown:,} of {layers}" if shown < count else layers)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.filter and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self.view.setFocus(Qt.FocusReason.OtherFocusReason)
                if not self.view.currentIndex().isValid():
                    self.view.setCurrentIndex(self.model.index(0, 0))
                return True
            if event.key() == Qt.Key.Key_Escape and self.filter.text():
                self.filter.clear()
                return True
        return super().eventFilter(watched, event)
