"""Dragging nodes: on the grid, along soft guides, under a host, onto a wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Qt

from app.canvas.edits import edits
from app.canvas.edits.steps import take_step
from app.canvas.gestures import splicing
from app.canvas.gestures.gestures import Gesture
from app.canvas.gestures.guides import GUIDE_REACH, GuideLines, Guides
from app.canvas.gestures.veil import Veil
from app.canvas.scene.docking import dock_point, host_of
from app.document.placement import Point, edge_key
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView
    from app.document.placement import EdgeKey
    from engine.graph import NodeId

__all__ = ["MoveGesture"]

#: Grid of node places, in pixels at 100 %.
SNAP = 10.0
_DOCK_X, _DOCK_Y = 30.0, 20.0
#: So many cards with their wires take longer to move than a step of the hand may.
_VERY_MANY = 400

Modifier = Qt.KeyboardModifier


class MoveGesture(Gesture):
    """Drag the selected nodes, with what hangs under them; of very many only outlines, until they are dropped.

    Parameters
    ----------
    item : NodeItem
        The node under the pointer, which is drawn to the grid and the guides.
    collapse : bool
        Whether a press without a drag selects this node alone.
    """

    def __init__(self, view: CanvasView, press: QPoint, item: NodeItem, *, collapse: bool) -> None:
        super().__init__(view, press)
        self._item = item
        self._collapse = collapse
        self._start: dict[NodeId, Point] = {}
        self._now: dict[NodeId, Point] = {}
        self._bends: dict[EdgeItem, tuple[Point, ...]] = {}
        self._guides: Guides | None = None
        self._lines: GuideLines | None = None
        self._moving: set[NodeItem] = set()
        self._spliced = False
        self._veil: Veil | None = None
        self._step: QPointF | None = None
        self._wire: EdgeItem | None = None
        self._reason = ""

    @property
    def moving(self) -> bool:
        """Whether the pointer went far enough for a drag."""
        return bool(self._start)

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        if not self.moving:
            if (position - self.press).manhattanLength() <= 3:
                return
            self._begin()
            if not self.moving:
                return
        step = self.view.mapToScene(position) - self.scene_press
        snapping = self.view.snapping != bool(modifiers & Modifier.ShiftModifier)
        step, docks = self._drawn(step, snapping=snapping)
        self._show(step)
        if self._lines is not None and self._guides is not None:
            self._lines.show_lines(self._guides.lines() if snapping and not docks else [])
        if self._spliced:
            self._look_for_wire(position)

    def _begin(self) -> None:
        view, scene = self.view, self.view.canvas
        ids = edits.with_followers(scene, view.document.selection.node_ids)
        if self._item.node_id not in ids or self._item.node_id not in view.document.positions:
            return  # it has no place yet, or is no longer selected
        self._start = view.document.positions.of(ids)
        self._moving = {item for node_id in self._start if (item := scene.folding.item(node_id)) is not None}
        near = {edge for item in self._moving for edge in item.edges if edge.bends}
        self._bends = {edge: edge.bends for edge in near if {edge.tail, edge.head} <= self._moving}
        if len(self._moving) >= _VERY_MANY or len(self._moving) < len(self._start):  # or cards are still being made
            self._veil = Veil(view.viewport(), [item.scene_body() for item in self._moving])
        if not view.is_far:
            self._guides = Guides(scene, self._item, self._moving, view.visible_rect())
            self._lines = GuideLines(scene)
        roots = [item for item in self._moving if item.hangs_under not in self._moving]
        is_layer = self._item.node_id in scene.nodes
        self._spliced = is_layer and roots == [self._item] and splicing.can_be_spliced(self._item)

    def _drawn(self, step: QPointF, *, snapping: bool) -> tuple[QPointF, bool]:
        """Return a step drawn to the grid, a guide or the host of an in-place layer, and whether to the host."""
        origin = self._start[self._item.node_id]
        x, y = origin.x + step.x(), origin.y + step.y()
        if snapping:
            column = row = None
            if self._guides is not None:
                column, row = self._guides.near(x, y, GUIDE_REACH / self.view.scale_factor)
            x = column if column is not None else round(x / SNAP) * SNAP
            y = row if row is not None else round(y / SNAP) * SNAP
        host = host_of(self._item) if len(self._start) == 1 else None
        docks = False
        if host is not None:
            dock = dock_point(host)
            docks = abs(dock.x() - x) < _DOCK_X and abs(dock.y() - y) < _DOCK_Y
            x, y = (dock.x(), dock.y()) if docks else (x, y)
        return QPointF(x - origin.x, y - origin.y), docks

    def _show(self, step: QPointF) -> None:
        if self._veil is not None:
            self._step = step
            self._veil.show_step(self.view.viewportTransform(), step)
            return
        self._put(step)
        self.view.canvas.show_at(self._now)
        if self.view.is_far:
            self.view.viewport().update()

    def _put(self, step: QPointF) -> None:
        """Have cards and bends so far from where they were."""
        dx, dy = step.x(), step.y()
        self._now = {key: Point(point.x + dx, point.y + dy) for key, point in self._start.items()}
        for edge, bends in self._bends.items():
            edge.bends = tuple(Point(bend.x + dx, bend.y + dy) for bend in bends)

    def _look_for_wire(self, position: QPoint) -> None:
        """Light the wire under the node, or say why it does not go there."""
        wire = splicing.wire_under(self.view.canvas, self._item, self._moving)
        if wire is not self._wire:
            self._light(wire)
        self.view.show_reason(self._reason, position)

    def _light(self, wire: EdgeItem | None) -> None:
        if self._wire is not None:
            self._wire.mark()
        self._wire, self._reason = wire, ""
        if wire is not None:
            self._reason = splicing.refuses(self.view.canvas, self._item, wire.edge)
            wire.mark(lit=not self._reason, doomed=bool(self._reason))

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        wire, reason = self._wire, self._reason
        self.end()
        document = self.view.document
        if not self.moving:
            if self._collapse:
                document.selection.set(self._item.ids)
            return
        if self._step is not None:
            self._put(self._step)
        if not self._now:
            return
        if wire is not None and not reason:
            try:
                splicing.splice(self.view.canvas, self._item, wire.edge, self._now, self._start)
                return
            except GraphError as error:
                self.view.refused.emit(str(error))
        bends: dict[EdgeKey, tuple[Point, ...]] = {edge_key(edge.edge): edge.bends for edge in self._bends}
        text = "Move node" if len(self._now) == 1 else f"Move {len(self._now)} nodes"
        take_step(document, text, places=self._now, before=self._start, bends=bends or None)

    def cancel(self) -> None:
        self.end()
        if self.moving:
            scene, positions = self.view.canvas, self.view.document.positions
            for edge in self._bends:
                edge.bends = positions.bends.get(edge_key(edge.edge), ())
            if self._step is None:
                shown = [node_id for node_id in self._start if scene.folding.item(node_id) is not None]
                scene.show_at(positions.of(shown))

    def end(self) -> None:
        super().end()
        self._light(None)
        self.view.show_reason("", QPoint())
        if self._veil is not None:
            self._veil.end()
            self._veil = None
        if self._lines is not None:
            self.view.canvas.removeItem(self._lines)
            self._lines = None
