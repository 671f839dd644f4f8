"""Renaming a node where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit

from app.canvas.edits.foldedits import rename_block
from app.canvas.scene.face import HEADER, NODE_WIDTH
from app.qt import guard, keeps_key
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.scene.blockitem import BlockItem
    from app.canvas.view import CanvasView
    from engine.graph import NodeId

__all__ = ["TitleEdit"]


class TitleEdit(QLineEdit):
    """A line over the title of a node: Enter renames, Escape does not."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view.viewport())
        self.setObjectName("canvas.title_edit")
        self.setAccessibleName("Layer name")
        self._view = view
        self._node: NodeId | None = None
        self._block: NodeId | None = None
        self.hide()
        self.returnPressed.connect(self._commit)

    def open(self, node_id: NodeId) -> None:
        """Ask for a new name of a node."""
        view = self._view
        item = view.canvas.nodes.get(node_id)
        if item is None:
            return
        view.reveal(node_id)
        height = item.face.height if item.face.chip else HEADER
        corner = item.scene_body().topLeft()
        box = view.mapFromScene(QRectF(corner.x(), corner.y(), NODE_WIDTH, height)).boundingRect()
        self._node = node_id
        self.setText(view.document.graph.node(node_id).name)
        self.setGeometry(box.x(), box.y(), max(160, box.width()), max(28, box.height()))
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def open_block(self, card: BlockItem) -> None:
        """Ask for a new title of a block."""
        view = self._view
        view.reveal_card(card)
        corner = card.scene_body().topLeft()
        box = view.mapFromScene(QRectF(corner.x(), corner.y(), NODE_WIDTH, HEADER)).boundingRect()
        self._node, self._block = None, card.node_id
        self.setText(card.face.title)
        self.setGeometry(box.x(), box.y(), max(160, box.width()), max(28, box.height()))
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_edit(self, _scale: float = 0.0) -> None:
        """Leave without a change."""
        self._node = self._block = None
        if self.isVisible():
            self.hide()
            self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _commit(self) -> None:
        node_id, block, name = self._node, self._block, self.text().strip()
        self.close_edit()
        if block is not None and block in self._view.document.positions.blocks:
            rename_block(self._view, block, name)
        document = self._view.document
        if node_id is None or not name or node_id not in document.graph:  # undone while its name was being typed
            return
        old = document.graph.node(node_id).name
        if name == old:
            return
        try:
            document.apply(f"Rename {old} to {name}", lambda graph: graph.rename_node(node_id, name))
        except GraphError as error:
            self._view.refused.emit(str(error))
            return
        from engine.diagnostics.layers import (
            weights_note,  # with much behind it that the first picture need not wait for
        )

        note = weights_note(document.graph.node(node_id), old)
        if note:
            self._view.refused.emit(note)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_edit()
        else:
            super().keyPressEvent(event)
            event.accept()  # Return is none of the canvas's, where it goes into a block

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        return keeps_key(event) or super().event(event)

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.close_edit()
