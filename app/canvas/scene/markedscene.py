"""What of a net is selected, as it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.canvas.scene.ledscene import FEW, LedScene
from app.qt import guard

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.document import Document
    from engine.graph import Edge, NodeId

__all__ = ["MarkedScene"]


class MarkedScene(LedScene):
    """A scene that marks the selected layers of its document, or one wire.

    Attributes
    ----------
    selected_edge : Edge or None
        The selected wire; a selection of layers takes that mark off.
    """

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(document, parent)
        self.selected_edge: Edge | None = None
        self._marked: set[NodeId] = set()

    @guard
    def _selection_changed(self) -> None:
        selected = set(self.document.selection.node_ids)
        changed = self._marked ^ selected
        for node_id in changed:
            item = self.nodes.get(node_id)
            if item is not None:
                item.marked = node_id in selected
                item.setZValue(1.0 if item.marked else 0.0)
                if len(changed) < FEW:
                    item.update()
                    for edge in item.edges:
                        edge.update()
        self._marked = {node_id for node_id in selected if node_id in self.nodes}
        self.folding.refresh_marks()
        if selected:
            self.select_edge(None)
        if len(changed) < FEW:
            shown = (self.folding.shown(node_id) for node_id in changed)
            self.overview.follow(item for item in shown if item is not None)
        else:
            self.update()  # all at once
            self.overview.forget()

    def select_edge(self, edge: Edge | None, bend: int = -1) -> None:
        """Select one wire, perhaps by one of its bends, or none."""
        for key in {self.selected_edge, edge} - {None}:
            item = self.edges.get(key) if key is not None else None
            if item is not None:
                item.chosen = key == edge
                item.chosen_bend = bend if item.chosen else -1
                item.update()
        self.selected_edge = edge
