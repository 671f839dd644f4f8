"""What a press of the left button begins, and a click of the right one opens, by what is under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.canvas.gestures.annotating import AnnotationGesture, annotation_menu
from app.canvas.gestures.bending import BendGesture
from app.canvas.gestures.connecting import ConnectGesture
from app.canvas.gestures.cutting import cut
from app.canvas.gestures.gestures import BandGesture
from app.canvas.gestures.moving import MoveGesture
from app.canvas.reaching import wire_menu
from app.canvas.scene.blockitem import BlockItem

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint

    from app.canvas.gestures.gestures import Gesture
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView

__all__ = ["PORT_REACH", "WIRE_REACH", "clicked_right", "pressed"]

#: How far from a port, and from a wire, the pointer may be to mean it, in pixels of the screen.
PORT_REACH, WIRE_REACH = 9.0, 6.0

Modifier = Qt.KeyboardModifier


def pressed(view: CanvasView, position: QPoint, modifiers: Modifier) -> Gesture | None:
    """Take a press of the left button; return what a drag from there does, if anything.

    Parameters
    ----------
    position : QPoint
        In the viewport.
    """
    scene = view.canvas
    point = view.mapToScene(position)
    scale = view.scale_factor
    if modifiers & Modifier.AltModifier and not view.is_far:
        wires = view.cut_preview.wires_at(position, PORT_REACH / min(scale, 1.0))
        view.cut_preview.show([])
        cut(view, wires)
        return None
    badge = scene.badge_at(point) if not view.is_far else None
    if badge is not None and not isinstance(badge, BlockItem):
        view.fixes_asked.emit(badge.node_id)
        return None
    port = scene.port_at(point, PORT_REACH / min(scale, 1.0)) if not view.is_far else None
    if port is not None:
        return _press_port(view, position, *port)
    item = scene.node_at(point)
    if item is not None:
        return _press_node(view, position, item, modifiers)
    written = scene.annotated.at(point, WIRE_REACH / scale)
    if written is not None:
        return AnnotationGesture(view, position, *written)
    scene.annotated.choose(set())
    bend = scene.bend_at(point, PORT_REACH / scale) if not view.is_far else None
    if bend is not None:
        return BendGesture(view, position, *bend)
    edge = scene.edge_at(point, WIRE_REACH / scale) if not view.is_far else None
    scene.select_edge(edge.edge if edge is not None else None)
    if edge is not None:
        view.document.selection.clear()
        return None
    return BandGesture(view, position)


def clicked_right(view: CanvasView, position: QPoint) -> None:
    """Take a click of the right button: the menu of what is under it, or on empty canvas the search for a layer.

    Parameters
    ----------
    position : QPoint
        In the viewport.
    """
    scene, point, reach = view.canvas, view.mapToScene(position), WIRE_REACH / view.scale_factor
    item = scene.node_at(point)
    if item is not None:
        if not all(node_id in view.document.selection for node_id in item.ids):
            view.document.selection.set(item.ids)
        view.menu_asked.emit(position)
        return
    written = scene.annotated.at(point, reach)
    wire = scene.edge_at(point, reach) if written is None and not view.is_far else None
    if written is not None:
        scene.annotated.choose({written[0].value.id})
        menu = annotation_menu(view, written[0])
    elif wire is not None:
        view.document.selection.clear()
        scene.annotated.choose(set())
        scene.select_edge(wire.edge)
        menu = wire_menu(view, wire)
    else:
        view.search_asked.emit(position, None, "", 0)
        return
    menu.popup(view.viewport().mapToGlobal(position))


def _press_port(view: CanvasView, position: QPoint, item: NodeItem, side: str, index: int) -> Gesture:
    if side == "output":
        return ConnectGesture(view, position, item, side, index)
    wires = view.canvas.edges_into(*item.end("input", index))
    if not wires:
        return ConnectGesture(view, position, item, side, index)
    first = wires[0]
    return ConnectGesture(view, position, first.tail, "output", first.out_port, tuple(wire.edge for wire in wires))


def _press_node(view: CanvasView, position: QPoint, item: NodeItem, modifiers: Modifier) -> Gesture | None:
    selection = view.document.selection
    view.canvas.select_edge(None)
    view.canvas.annotated.choose(set())
    if modifiers & Modifier.ControlModifier:
        selection.toggle(item.ids)
        return None
    collapse = False
    if modifiers & Modifier.ShiftModifier:
        selection.add(item.ids)
    elif all(node_id in selection for node_id in item.ids):
        collapse = len(selection) > len(item.ids)
    else:
        selection.set(item.ids)
    return MoveGesture(view, position, item, collapse=collapse)
