"""The selected rows of a list of layers, in step with what is selected on the canvas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QObject, QPersistentModelIndex, Signal
from PySide6.QtWidgets import QTreeView

from app.qt import guard

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["LayerRows", "RowSelection"]

_Flag = QItemSelectionModel.SelectionFlag


class LayerRows(Protocol):
    """A model whose rows are layers.

    Attributes
    ----------
    changing : bool
        Whether rows come and go just now: a selection that changes with them is nobody's choice.
    """

    changing: bool

    def node_of(self, index: QModelIndex | QPersistentModelIndex, /) -> NodeId | None:
        """The layer that a row is about; None for no row."""

    def row_of(self, node_id: NodeId, /) -> int | None:
        """The number of a layer's row; None where it is not shown."""


class RowSelection(QObject):
    """Selects on the canvas what is selected in a list, and the other way round.

    Parameters
    ----------
    view : QTreeView
        The list, with its model; it owns this object.
    rows : LayerRows
        That model.

    Attributes
    ----------
    revealed : Signal(NodeId)
        A layer was chosen in the list.
    """

    revealed = Signal(object)

    def __init__(self, view: QTreeView, rows: LayerRows) -> None:
        super().__init__(view)
        self._view = view
        self._rows = rows
        self._document: Document | None = None
        self._following = False
        view.selectionModel().selectionChanged.connect(self._rows_selected)

    def set_document(self, document: Document | None) -> None:
        """Keep in step with another document, or with none."""
        if self._document is not None:
            self._document.selection.changed.disconnect(self.follow)
        self._document = document
        if document is not None:
            document.selection.changed.connect(self.follow)
            self.follow()

    @guard
    def _rows_selected(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        document, rows = self._document, self._rows
        if self._following or rows.changing or document is None:
            return
        chosen = self._view.selectionModel().selectedRows()
        nodes = dict.fromkeys(node for index in chosen if (node := rows.node_of(index)) is not None)
        newest = rows.node_of(self._view.currentIndex())
        if newest is None or newest not in nodes:
            document.selection.set(nodes)
            return
        del nodes[newest]  # the one with the keyboard counts as selected last
        document.selection.set([*nodes, newest])
        self.revealed.emit(newest)

    @guard
    def follow(self) -> None:
        """Select the rows of what is selected on the canvas."""
        document, chosen = self._document, self._view.selectionModel()
        if document is None:
            return
        row_of, model = self._rows.row_of, chosen.model()
        wanted = {row for node in document.selection.node_ids if (row := row_of(node)) is not None}
        if _rows_in(chosen.selection()) == wanted:
            return
        picked = QItemSelection()
        for first, last in _runs(wanted):
            picked.select(model.index(first, 0), model.index(last, 0))
        self._following = True
        chosen.select(picked, _Flag.ClearAndSelect | _Flag.Rows)
        newest = document.selection.last
        row = row_of(newest) if newest is not None else None
        if row is not None:
            chosen.setCurrentIndex(model.index(row, 0), _Flag.NoUpdate)
            self._view.scrollTo(model.index(row, 0))
        self._following = False


def _rows_in(selection: QItemSelection) -> set[int]:
    """Return the rows that are selected; of what lies below a row, that row."""
    found: set[int] = set()
    for place in range(selection.count()):
        span = selection.at(place)
        parent = span.parent()
        found.update((parent.row(),) if parent.isValid() else range(span.top(), span.bottom() + 1))
    return found


def _runs(rows: Iterable[int]) -> list[tuple[int, int]]:
    """Join rows one below the other to pairs of first and last."""
    runs: list[tuple[int, int]] = []
    for row in sorted(rows):
        if runs and row == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], row
        else:
            runs.append((row, row))
    return runs
