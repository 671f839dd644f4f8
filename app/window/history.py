"""What was done to the net, as a list of names; a click goes back or forward to that state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QUndoView, QVBoxLayout, QWidget

from app.icons import icon
from app.qt import guard
from app.theme import GRID, Theme

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["HistoryPanel"]


class _Rows(QStyledItemDelegate):
    """Rows of one height, with the mark of the saved state or without."""

    @guard(default=QSize())
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(super().sizeHint(option, index).width(), max(6 * GRID, option.fontMetrics.height() + GRID))


class HistoryPanel(QWidget):
    """Lists the commands of a document.

    Parameters
    ----------
    document : Document, optional
        See :meth:`set_document`.
    """

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("history.panel")
        self.view = QUndoView(self)
        self.view.setObjectName("history.list")
        self.view.setAccessibleName("History")
        self.view.setFrameShape(QUndoView.Shape.NoFrame)
        self.view.setProperty("flat", True)
        self.view.setIconSize(QSize(16, 16))
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.view.setUniformItemSizes(True)
        self.view.setItemDelegate(_Rows(self.view))
        self.setFocusProxy(self.view)
        box = QVBoxLayout(self)
        box.setContentsMargins(4, 4, 4, 4)
        box.addWidget(self.view)
        Theme.notifier().changed.connect(self._dress)
        self._dress()
        self.set_document(document)

    def set_document(self, document: Document | None) -> None:
        """Show the history of another document, or none."""
        self.view.setEmptyLabel("Opened" if document is not None and document.path is not None else "New net")
        # Qt takes None too, which its types do not say.
        self.view.setStack(document.undo_stack if document is not None else None)  # type: ignore[arg-type]

    @guard
    def _dress(self, _theme: object = None) -> None:
        self.view.setCleanIcon(icon("floppy-disk", "text_muted"))
