"""The outline: a filter over the tree of layers, its selection in step with the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QLineEdit, QTreeView, QVBoxLayout, QWidget

from app.outline.model import OutlineModel
from app.qt import guard
from app.theme import GRID

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["OutlinePanel"]

_Flag = QItemSelectionModel.SelectionFlag


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
        self._following = False
        self.filter = QLineEdit(self)
        self.filter.setObjectName("outline.filter")
        self.filter.setPlaceholderText("Filter layers by name, type or blob")
        self.filter.setAccessibleName("Filter layers")
        self.filter.setClearButtonEnabled(True)
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
        self.view.selectionModel().selectionChanged.connect(self._rows_selected)
        self.model.settled.connect(self._rows_changed)
        self.model.facts_changed.connect(self.view.viewport().update)
        self.set_document(document)

    def _dress_view(self) -> None:
        view = self.view
        view.setObjectName("outline.view")
        view.setAccessibleName("Layers of the net")
        view.setModel(self.model)
        view.setUniformRowHeights(True)
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setFrameShape(QTreeView.Shape.NoFrame)
        view.setProperty("flat", True)
        header = view.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.resizeSection(0, 120)
        header.resizeSection(1, 92)
        view.setIndentation(16)
        view.expanded.connect(self._span)

    def set_document(self, document: Document | None) -> None:
        """Show another document."""
        if self.document is not None:
            self.document.selection.changed.disconnect(self._follow)
        self.document = document
        self.model.set_document(document)
        if document is not None:
            document.selection.changed.connect(self._follow)
            self._follow()

    def shutdown(self) -> None:
        """Let go of the document."""
        self.set_document(None)

    # Selection in step

    @guard
    def _rows_selected(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        if self._following or self.model.changing or self.document is None:
            return
        rows = self.view.selectionModel().selectedRows()
        nodes = dict.fromkeys(node for index in rows if (node := self.model.node_of(index)) is not None)
        current = self.model.node_of(self.view.currentIndex())
        if current in nodes:  # the one with the keyboard counts as selected last
            del nodes[current]
            nodes[current] = None
        self.document.selection.set(nodes)
        if current is not None and current in nodes:
            self.revealed.emit(current)

    @guard
    def _follow(self) -> None:
        """Select the rows of what is selected on the canvas."""
        document, chosen = self.document, self.view.selectionModel()
        if document is None:
            return
        rows = chosen.selectedRows()
        if {self.model.node_of(index) for index in rows} == set(document.selection.node_ids):
            return
        places = sorted(self.model.index_of(node_id).row() for node_id in document.selection.node_ids)
        picked = QItemSelection()
        for first, last in _runs([place for place in places if place >= 0]):
            picked.select(self.model.index(first, 0), self.model.index(last, 0))
        self._following = True
        chosen.select(picked, _Flag.ClearAndSelect | _Flag.Rows)
        newest = document.selection.last
        index = self.model.index_of(newest) if newest is not None else QModelIndex()
        if index.isValid():
            chosen.setCurrentIndex(index, _Flag.NoUpdate)
            self.view.scrollTo(index)
        self._following = False

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
        self._follow()
        shown, document = len(self.model.ids), self.document
        count = len(document.graph) if document is not None else 0
        if not count:
            self._note.setText("No layers yet: press Tab on the canvas to add one.")
        elif not shown:
            self._note.setText("No layer fits the filter.")
        else:
            self._note.setText(f"{shown:,} of {count:,} layers" if shown < count else f"{count:,} layers")

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


def _runs(places: list[int]) -> list[tuple[int, int]]:
    """Join numbers in a row to pairs of first and last."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], place
        else:
            runs.append((place, place))
    return runs
