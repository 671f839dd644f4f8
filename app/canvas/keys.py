"""Keys of the canvas that are not window shortcuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.canvas import edits
from app.placement import Point
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.view import CanvasView

__all__ = ["CanvasKeys"]

_NUDGE = 10.0
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class CanvasKeys:
    """Turns keys into what the view does."""

    def __init__(self, view: CanvasView) -> None:
        self._view = view
        plain, control = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
        self._table = {
            (Qt.Key.Key_F, plain): view.frame_selection,
            (Qt.Key.Key_Home, plain): view.frame,
            (Qt.Key.Key_1, plain): lambda: view.set_scale(1.0),
            (Qt.Key.Key_Plus, plain): lambda: view.zoom_by(1.25),
            (Qt.Key.Key_Minus, plain): lambda: view.zoom_by(0.8),
            (Qt.Key.Key_Escape, plain): self._escape,
            (Qt.Key.Key_F2, plain): self._rename,
            (Qt.Key.Key_Delete, plain): self._delete,
            (Qt.Key.Key_Backspace, plain): self._delete,
            (Qt.Key.Key_Delete, control): self._dissolve,
            (Qt.Key.Key_F, control): view.find_asked.emit,
            (Qt.Key.Key_PageDown, plain): lambda: self._walk(down=True),
            (Qt.Key.Key_PageUp, plain): lambda: self._walk(down=False),
            (Qt.Key.Key_L, plain): self._grow,
        }

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; return whether it meant anything."""
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = Qt.Key(event.key())
        if key in _ARROWS and not modifiers & ~Qt.KeyboardModifier.ShiftModifier:
            return self._nudge(*_ARROWS[key], fine=bool(modifiers))
        action = self._table.get((key, modifiers))
        if action is None:
            return False
        action()
        return True

    def _escape(self) -> None:
        view = self._view
        if view.cancel_gesture():
            return
        if not view.document.selection.node_ids and view.canvas.selected_edge is None:
            view.escaped.emit()
        view.document.selection.clear()
        view.canvas.select_edge(None)

    def _rename(self) -> None:
        last = self._view.document.selection.last
        if last is not None:
            self._view.title_edit.open(last)

    def _delete(self) -> None:
        edits.delete_selected(self._view.canvas)

    def _dissolve(self) -> None:
        try:
            edits.dissolve_selected(self._view.canvas)
        except GraphError as error:
            self._view.refused.emit(str(error))

    def _walk(self, *, down: bool) -> None:
        """Select the next node along the flow, or the one before; the first of the net when none is selected."""
        document = self._view.document
        graph, last = document.graph, document.selection.last
        if last is None:
            step = next((node.id for node in graph.nodes()), None)
        elif down:
            step = next((edge.target for edge in graph.edges_out(last)), None)
        else:
            step = next((edge.source for edge in graph.edges_in(last)), None)
        if step is not None:
            document.selection.set([step])
            self._view.reveal(step)

    def _grow(self) -> None:
        """Select what is linked to the selection too."""
        document = self._view.document
        graph = document.graph
        ids = document.selection.node_ids
        near = {edge.target: None for each in ids for edge in graph.edges_out(each)}
        near.update({edge.source: None for each in ids for edge in graph.edges_in(each)})
        document.selection.set({**dict.fromkeys(ids), **near})

    def _nudge(self, dx: int, dy: int, *, fine: bool) -> bool:
        document = self._view.document
        ids = edits.with_followers(self._view.canvas, document.selection.node_ids)
        if not ids:
            return False
        step = 1.0 if fine else _NUDGE
        points = document.positions.of(ids)
        document.move_nodes({key: Point(p.x + dx * step, p.y + dy * step) for key, p in points.items()}, "Nudge")
        return True
