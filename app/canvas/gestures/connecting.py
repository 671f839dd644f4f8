"""Drawing a wire from a port to a port, and moving the end of one that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QGraphicsPathItem

from app.canvas.edits import edits
from app.canvas.gestures.gestures import Gesture
from app.canvas.layout.routes import wire_path
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView
    from engine.graph import Edge, NodeId

__all__ = ["ConnectGesture"]

#: A wire takes hold of a port from this many pixels on the screen.
PORT_REACH = 20.0

Modifier = Qt.KeyboardModifier


class ConnectGesture(Gesture):
    """Draw a wire from a port to a port, or move the end of one that is there.

    Parameters
    ----------
    item, side, index
        The port that stays.
    loose : tuple of Edge
        Wires that were lifted off their input and are dropped when the wire ends nowhere.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(
        self, view: CanvasView, press: QPoint, item: NodeItem, side: str, index: int, loose: tuple[Edge, ...] = ()
    ) -> None:
        super().__init__(view, press)
        self._item = item
        self._side = side
        self._index = index
        self._loose = loose
        self._target: tuple[NodeItem, str, int] | None = None
        self._reason = ""
        self._doubt = ""
        self._moved = False
        self._wire = QGraphicsPathItem()
        self._wire.setPen(view.canvas.style_set.accent)
        self._wire.setZValue(5.0)
        view.canvas.addItem(self._wire)
        for edge in loose:
            view.canvas.edges[edge].lift(lifted=True)
        item.hot_port = (side, index)
        item.update()

    def move(self, position: QPoint, modifiers: Modifier) -> None:
        if not self._moved and (position - self.press).manhattanLength() <= 3:
            return
        scene = self.view.canvas
        point = self.view.mapToScene(position)
        target = scene.port_at(point, PORT_REACH / self.view.scale_factor)
        if target is None:
            body = scene.node_at(point)
            target = self._open_port(body) if body is not None and body is not self._item else None
        if target is not None and (target[0] is self._item and target[1] == self._side):
            target = None
        self.aim(target, position)

    @property
    def refused(self) -> str:
        """Why the wire may not end where it points, in one sentence; empty when it may."""
        return self._reason

    def aim(self, target: tuple[NodeItem, str, int] | None, position: QPoint) -> None:
        """Show the wire to a port, or to a place in the viewport where there is none."""
        self._moved = True
        scene = self.view.canvas
        self._point_at(target)
        end = self.view.mapToScene(position)
        if target is not None:
            node, side, index = target
            end = node.input_point(index) if side == "input" else node.output_point(index)
        here = self._item.output_point(self._index) if self._side == "output" else self._item.input_point(self._index)
        self._wire.setPath(wire_path(here, end) if self._side == "output" else wire_path(end, here))
        style = scene.style_set
        self._wire.setPen(style.wire_bad if self._reason else style.wire_doubtful if self._doubt else style.accent)
        self.view.show_reason(self._reason or self._doubt, position, refused=bool(self._reason))

    def _open_port(self, item: NodeItem) -> tuple[NodeItem, str, int] | None:
        """The port meant by dropping on a node: its first free input, or its first output."""
        if self._side == "input":
            return (item, "output", 0) if item.face.outputs else None
        free = [i for i in range(len(item.face.inputs)) if i not in item.wired_inputs]
        return (item, "input", free[0]) if free else None

    def _point_at(self, target: tuple[NodeItem, str, int] | None) -> None:
        if target == self._target:
            return
        if self._target is not None:
            self._target[0].hot_port = None
            self._target[0].update()
        self._target = target
        self._reason = self._doubt = ""
        if target is not None:
            item, side, index = target
            item.hot_port = (side, index)
            item.update()
            if side == self._side:
                self._reason = f"Connect an output to an input, not an {side} to an {side}."
            else:
                self._reason = edits.refusal(self.view.document, *self._ends(target))
                if not self._reason:
                    self._doubt = edits.doubt(self.view.document, *self._ends(target))

    def _ends(self, target: tuple[NodeItem, str, int]) -> tuple[NodeId, int, NodeId, int]:
        item, side, index = target
        here, there = self._item.end(self._side, self._index), item.end(side, index)
        return (*here, *there) if self._side == "output" else (*there, *here)

    def release(self, position: QPoint, modifiers: Modifier) -> None:
        target, reason, loose = self._target, self._reason, self._loose
        self.end()
        document = self.view.document
        try:
            if target is not None and not reason:
                edits.connect(document, *self._ends(target), instead_of=loose)
            elif target is not None:
                self.view.show_reason(reason, position, stays=True)
            elif loose and self._moved:
                edits.disconnect(document, loose)
            elif self._moved:
                node, port = self._item.end(self._side, self._index)
                self.view.search_asked.emit(position, node, self._side, port)
        except GraphError as error:
            self.view.refused.emit(str(error))

    def cancel(self) -> None:
        self.end()

    def end(self) -> None:
        super().end()
        scene = self.view.canvas
        self.view.show_reason("", QPoint())
        scene.removeItem(self._wire)
        for edge in self._loose:
            if edge in scene.edges:
                scene.edges[edge].lift(lifted=False)
        for item in (self._item, self._target[0] if self._target else None):
            if item is not None:
                item.hot_port = None
                item.update()
