"""A pair of hands: real mouse events at places of the net."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from app.canvas.scene.edgeitem import EdgeItem
from app.canvas.scene.nodeitem import NodeItem
from app.canvas.view import CanvasView
from app.document.placement import edge_key

LEFT, RIGHT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton
NONE, SHIFT, CTRL, ALT = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)


class Hands:
    """Presses, moves and releases on a canvas."""

    def __init__(self, view: CanvasView) -> None:
        self.view = view

    def node(self, name: str) -> NodeItem:
        """The item of the first node of a name."""
        return self.view.canvas.nodes[self.view.document.graph.named(name)[0].id]

    def title(self, name: str) -> QPoint:
        """A place on the title of a node."""
        body = self.node(name).scene_body()
        return self.view.mapFromScene(QPointF(body.left() + 60, body.top() + 12))

    def input(self, name: str, index: int = 0) -> QPoint:
        return self.view.mapFromScene(self.node(name).input_point(index))

    def output(self, name: str, index: int = 0) -> QPoint:
        return self.view.mapFromScene(self.node(name).output_point(index))

    def wire(self, source: str, target: str) -> EdgeItem:
        """The item of the first wire between two nodes."""
        graph = self.view.document.graph
        a, b = graph.named(source)[0].id, graph.named(target)[0].id
        return next(item for edge, item in self.view.canvas.edges.items() if (edge.source, edge.target) == (a, b))

    def on_wire(self, source: str, target: str, percent: float = 0.5) -> QPoint:
        """A place on the wire between two nodes."""
        return self.view.mapFromScene(self.wire(source, target).path.pointAtPercent(percent))

    def state(self) -> tuple[object, ...]:
        """Text, places and bends of the document."""
        document = self.view.document
        positions = document.positions
        return bytes(document.graph), positions.of(document.graph.node_ids()), dict(positions.bends)

    def check_one_step(self, before: tuple[object, ...]) -> None:
        """That what was done is one step, and that undo and redo are exact, on the canvas too."""
        document, after = self.view.document, self.state()
        count = document.undo_stack.count()
        assert after != before
        assert count == 1, "one gesture is one step"
        for _round in range(2):
            document.undo_stack.undo()
            assert self.state() == before
            self.check_shown()
            document.undo_stack.redo()
            assert self.state() == after
            self.check_shown()

    def check_shown(self) -> None:
        """That every node stands where the document says, and wires are led as it says."""
        positions = self.view.document.positions
        for node_id, item in self.view.canvas.nodes.items():
            assert (item.x(), item.y()) == tuple(positions[node_id])
        for edge, item in self.view.canvas.edges.items():
            assert item.bends == positions.bends.get(edge_key(edge), ())

    def empty(self) -> QPoint:
        """A place below the net where nothing is."""
        content = self.view.canvas.content_rect()
        middle = content.center().x()  # in view, however broad the net is
        self.view.centerOn(middle, content.bottom())
        return self.view.mapFromScene(QPointF(middle, content.bottom() + 120))

    def press(self, at: QPoint, button=LEFT, modifiers=NONE) -> None:
        self._send(QEvent.Type.MouseButtonPress, at, button, button, modifiers)

    def move(self, at: QPoint, button=LEFT, modifiers=NONE) -> None:
        self._send(QEvent.Type.MouseMove, at, Qt.MouseButton.NoButton, button, modifiers)

    def release(self, at: QPoint, button=LEFT, modifiers=NONE) -> None:
        self._send(QEvent.Type.MouseButtonRelease, at, button, Qt.MouseButton.NoButton, modifiers)

    def click(self, at: QPoint, button=LEFT, modifiers=NONE) -> None:
        self.press(at, button, modifiers)
        self.release(at, button, modifiers)

    def double_click(self, at: QPoint) -> None:
        self.click(at)
        self._send(QEvent.Type.MouseButtonDblClick, at, LEFT, LEFT, NONE)
        self.release(at)

    def drag(self, start: QPoint, end: QPoint, button=LEFT, modifiers=NONE) -> None:
        self.carry(start, end, button, modifiers)
        self.release(end, button, modifiers)

    def carry(self, start: QPoint, end: QPoint, button=LEFT, modifiers=NONE) -> None:
        """Drag without letting go."""
        self.press(start, button, modifiers)
        for step in range(1, 6):
            self.move(start + (end - start) * step / 5, button, modifiers)

    def wheel(self, at: QPoint, turns: int) -> None:
        position = QPointF(at)
        event = QWheelEvent(
            position,
            QPointF(self.view.viewport().mapToGlobal(at)),
            QPoint(),
            QPoint(0, 120 * turns),
            Qt.MouseButton.NoButton,
            NONE,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(self.view.viewport(), event)

    def _send(self, kind, at: QPoint, button, buttons, modifiers) -> None:
        viewport = self.view.viewport()
        event = QMouseEvent(kind, QPointF(at), QPointF(viewport.mapToGlobal(at)), button, buttons, modifiers)
        QApplication.sendEvent(viewport, event)
