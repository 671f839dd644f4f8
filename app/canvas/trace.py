"""Following a blob: what leads to it and what comes of it stands out, all else is dimmed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.canvas.scene.edgeitem import EdgeItem
from app.qt import announce, guard
from app.wording import counted

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView

__all__ = ["Trace"]

_DIM = 0.22


class Trace(QObject):
    """Dims what has nothing to do with the selection, and marks the wires of the blobs that it writes.

    Attributes
    ----------
    is_shown : bool
        Whether something is followed.
    words : str
        What is followed, and what ends that; empty for nothing.
    changed : Signal(str)
        ``words`` are others.
    """

    changed = Signal(str)

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        self.is_shown = False
        self.words = ""
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
            carrying = [each for each in wire.source.edges if _begins(each) == _begins(wire)]
            self._show(_reached([wire.source], _above), _reached([wire.target], _below), wire, carrying)
            self._tell(f"'{self._blob(wire)}'")
        elif chosen:
            carrying = [edge for item in chosen for edge in item.edges if edge.source is item]
            self._show(_reached(chosen, _above), _reached(chosen, _below), None, carrying)
            self._tell(self._names(chosen))
        return self.is_shown

    def _blob(self, wire: EdgeItem) -> str:
        return self._view.document.graph.node(wire.edge.source).tops[wire.edge.top]

    def _names(self, chosen: Sequence[NodeItem]) -> str:
        if len(chosen) > 1:
            return f"the blobs of {counted(len(chosen), 'layer')}"
        node = self._view.document.graph.node(chosen[0].node_id)
        return f"'{node.tops[0]}'" if len(node.tops) == 1 else f"the blobs of '{node.title}'"

    def _tell(self, what: str) -> None:
        self.words = f"Following {what}: Esc ends it" if what else ""
        if what:
            announce(self._view, self.words)
        self.changed.emit(self.words)

    def clear(self) -> None:
        """Show all alike again; return whether anything was dimmed."""
        if not self.is_shown:
            return
        self.is_shown = False
        scene = self._view.canvas
        scene.update()  # all at once: Qt need not note the place of each item
        for item in (*scene.nodes.values(), *scene.folding.cards.values(), *scene.edges.values()):
            item.setOpacity(1.0)
        for edge in scene.edges.values():
            edge.follow(followed=False)
        self._repaint()
        self._tell("")

    @guard
    def _changed(self, _events: object) -> None:
        self.clear()

    def _show(
        self, above: set[NodeItem], below: set[NodeItem], wire: EdgeItem | None, carrying: Collection[EdgeItem]
    ) -> None:
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
        for edge in carrying:
            edge.follow(followed=True)
        self._repaint()

    def _repaint(self) -> None:
        self._view.canvas.overview.forget()
        self._view.viewport().update()


def _begins(wire: EdgeItem) -> tuple[NodeItem, int]:
    return wire.source, wire.edge.top


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
