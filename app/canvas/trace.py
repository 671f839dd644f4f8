"""Following a blob: what leads to it and what comes of it stands out, all else is dimmed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.canvas.scene.edgeitem import EdgeItem
from app.qt import guard

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView

__all__ = ["Trace"]

_DIM = 0.22


class Trace(QObject):
    """Dims what has nothing to do with the selection."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        self.is_shown = False
        view.document.changed.connect(self._changed)

    def toggle(self) -> bool:
        """Follow what is selected, or stop following; return whether something is followed now."""
        if self.is_shown:
            self.clear()
            return False
        scene = self._view.canvas
        chosen = [scene.nodes[node_id] for node_id in self._view.document.selection.node_ids]
        wire = scene.edges.get(scene.selected_edge) if scene.selected_edge is not None else None
        if wire is not None:
            self._show(_reached([wire.source], _above), _reached([wire.target], _below), wire)
        elif chosen:
            self._show(_reached(chosen, _above), _reached(chosen, _below), None)
        return self.is_shown

    def clear(self) -> None:
        """Show all alike again; return whether anything was dimmed."""
        if not self.is_shown:
            return
        self.is_shown = False
        scene = self._view.canvas
        scene.update()  # all at once: Qt need not note the place of each item
        for item in (*scene.nodes.values(), *scene.folding.cards.values(), *scene.edges.values()):
            item.setOpacity(1.0)
        self._repaint()

    @guard
    def _changed(self, _events: object) -> None:
        self.clear()

    def _show(self, above: set[NodeItem], below: set[NodeItem], wire: EdgeItem | None) -> None:
        self.is_shown = True
        scene, lit = self._view.canvas, above | below
        scene.update()
        for item in scene.nodes.values():
            item.setOpacity(1.0 if item in lit else _DIM)
        for card in scene.folding.cards.values():
            card.setOpacity(1.0 if any(scene.nodes[node] in lit for node in card.layers) else _DIM)
        for edge in scene.edges.values():
            source, target = edge.source, edge.target
            follows = (source in above and target in above) or (source in below and target in below)
            edge.setOpacity(1.0 if follows or edge is wire else _DIM)
        self._repaint()

    def _repaint(self) -> None:
        self._view.canvas.overview.forget()
        self._view.viewport().update()


def _above(item: NodeItem) -> Iterable[NodeItem]:
    return [edge.source for edge in item.edges if edge.target is item]


def _below(item: NodeItem) -> Iterable[NodeItem]:
    return [edge.target for edge in item.edges if edge.source is item]


def _reached(start: Iterable[NodeItem], step: Callable[[NodeItem], Iterable[NodeItem]]) -> set[NodeItem]:
    found = set(start)
    waiting = list(found)
    while waiting:
        fresh = [item for item in step(waiting.pop()) if item not in found]
        found.update(fresh)
        waiting.extend(fresh)
    return found
