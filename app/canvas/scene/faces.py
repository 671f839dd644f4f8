"""What the nodes show, kept in step with what is known of their layers."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.canvas.scene.describe import describe
from app.canvas.scene.docking import followers, update_docked
from app.qt import Debounce, guard

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from engine.graph import NodeId
    from engine.graph.binding import Binding

__all__ = ["Faces"]

_SLICE = 0.006


class Faces(QObject):
    """Describes nodes anew when something else is known of them; those of a big net in slices."""

    def __init__(self, scene: CanvasScene) -> None:
        super().__init__(scene)
        self._scene = scene
        self._stale: list[NodeId] = []
        self._resized = False
        self._due = Debounce(self._refresh_slice, 0, self)

    @property
    def busy(self) -> bool:
        """Whether there are nodes to describe anew."""
        return self._due.pending

    def cancel(self) -> None:
        """Describe none any more."""
        self._due.cancel()

    def refresh(self) -> None:
        """Describe anew, now, all nodes about which something else is known than what they show."""
        self._due.cancel()
        self._stale = list(self._scene.nodes)
        self._refresh_some(float("inf"))

    @guard
    def facts_changed(self) -> None:
        """Describe anew, soon, what the facts have made stale; those that wait already come first."""
        waiting = set(self._stale)
        self._stale = [each for each in self._scene.nodes if each not in waiting] + self._stale
        self._due.trigger()

    def edited(self, ids: Collection[NodeId], *, slowly: bool) -> None:
        """Describe anew nodes whose layers were edited; ``slowly`` in slices those whose ports stay as they are."""
        nodes, readings = self._scene.nodes, self._scene.document.graph.readings()
        for node_id in ids:
            item, reading = nodes[node_id], readings[node_id]
            outputs = len(item.face.outputs), item.face.chip
            if slowly and len(reading.bottoms) <= len(item.face.inputs) and outputs == _outputs_of(reading):
                item.facts = ()  # other ones than are known
                self._stale.append(node_id)
            else:
                self.describe(item)
        if self._stale:
            self._due.trigger()

    def _refresh_slice(self) -> None:
        self._refresh_some(time.perf_counter() + _SLICE)

    def _refresh_some(self, until: float) -> None:
        """Work through the stale nodes for a while, so that a big net never holds the window up."""
        scene = self._scene
        while self._stale:
            node_id = self._stale.pop()
            item = scene.nodes.get(node_id)
            if item is None:
                continue
            fresh = item.facts != self.facts_of(node_id)
            if fresh:
                self.describe(item)
                update_docked([item])
            for edge_item in item.edges:
                if edge_item.source is item:
                    edge_item.set_ghost(not scene.document.in_view(edge_item.edge))
                    if fresh:
                        edge_item.set_label(scene.label_of(edge_item.edge))
            if time.perf_counter() > until:
                self._due.trigger()
                break
        if not self._stale:
            scene.folding.refresh_faces()
            scene.heat.refresh()
            if self._resized:
                self._resized = False
                scene.lead_anew()
        scene.overview.forget()

    def facts_of(self, node_id: NodeId) -> tuple[object, ...]:
        """Return what a face depends on beside the text of its layer."""
        document = self._scene.document
        shapes, problems = document.shapes.get(node_id), document.problems_of(node_id)
        return shapes, problems, document.in_view(node_id), document.live.plugins.serial

    def describe(self, item: NodeItem) -> None:
        """Describe a node anew; what hangs under it stays there."""
        document = self._scene.document
        item.facts = self.facts_of(item.node_id)
        old_height = item.face.height
        hanging = followers(item)
        if not item.set_face(describe(document, document.graph.node(item.node_id))):
            return
        self._resized = True
        shift = item.face.height - old_height
        # What hangs under the node follows its lower edge; undo changes the height back, and this too.
        for follower in hanging:
            point = document.positions[follower.node_id]
            document.positions.place(follower.node_id, point.x, point.y + shift)
            follower.setPos(point.x, point.y + shift)
        for changed in (item, *hanging):
            for edge in changed.edges:
                edge.update_path()


def _outputs_of(reading: Binding) -> tuple[int, bool]:
    """Return how many outputs a layer has, and whether its card hangs under another one."""
    chip = len(reading.bottoms) == len(reading.tops) == 1 and reading.in_place[0]
    return len(reading.tops), chip
