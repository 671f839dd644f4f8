"""Wires, bends, frames and notes by keyboard: what the pointer takes hold of is gone to, moved and cut by keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtWidgets import QMenu

from app.canvas.edits.foldedits import chosen_block
from app.canvas.edits.steps import bend_wire
from app.canvas.gestures.annotating import AnnotationGesture
from app.canvas.gestures.cutting import cut
from app.document.placement import Point
from app.icons import icon
from app.wording import by_key
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.scene.annotationitems import AnnotationItem
    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView
    from engine.graph import NodeId

__all__ = ["Reach", "chosen_annotation", "chosen_wire", "middle_of", "wire_menu"]

#: What one press of a key moves the view by, as a share of it, and changes the size of a frame by, in pixels.
_PAN_SHARE, _SIZE_STEP = 0.2, 10.0
_LEAST_SIZE = 40.0


def chosen_wire(view: CanvasView) -> EdgeItem | None:
    """Return the selected wire."""
    edge = view.canvas.selected_edge
    return view.canvas.edges.get(edge) if edge is not None else None


def chosen_annotation(view: CanvasView) -> AnnotationItem | None:
    """Return the selected frame or note, where no layer is selected."""
    annotated = view.canvas.annotated
    if not annotated.chosen or view.document.selection.node_ids:
        return None
    return annotated.items.get(max(annotated.chosen))


def middle_of(wire: EdgeItem) -> QPointF:
    """Return the place of the scene in the middle of a wire."""
    return wire.path.pointAtPercent(0.5)


class Reach:
    """Goes to what is no layer, and does to it what the pointer would.

    Parameters
    ----------
    view : CanvasView
    """

    def __init__(self, view: CanvasView) -> None:
        self._view = view
        self._about: NodeId | None = None

    def handlers(self) -> dict[str, Callable[[], object]]:
        """Return what the keys do, by names of :data:`app.canvas.keys.CANVAS_KEYS`."""
        return {
            "wire": lambda: self.walk_wires(1),
            "wire_back": lambda: self.walk_wires(-1),
            "bend": self.add_bend,
            "cut_wires": self.cut_wires,
            "written": self.walk_annotations,
            "open": self.open,
            "rename_blob": self.rename_blob,
            "pan_left": lambda: self.pan(-1, 0),
            "pan_right": lambda: self.pan(1, 0),
            "pan_up": lambda: self.pan(0, -1),
            "pan_down": lambda: self.pan(0, 1),
            "narrower": lambda: self.resize(-1, 0),
            "wider": lambda: self.resize(1, 0),
            "lower": lambda: self.resize(0, -1),
            "higher": lambda: self.resize(0, 1),
        }

    # Wires

    def walk_wires(self, by: int) -> None:
        """Select the next wire of a layer, going through the bends of each, inputs first.

        The layer is the one selected last, or the one that is gone around already; without either, the first of the
        net with a wire.
        """
        view = self._view
        scene, chosen = view.canvas, chosen_wire(view)
        last = view.document.selection.last
        if last is not None:
            self._about = last
        stops = self._stops(scene.folding.shown(self._about) if self._about is not None else None)
        if chosen is not None and not any(wire is chosen for wire, _bend in stops):
            stops = self._stops(chosen.tail)
        if not stops and last is None:
            stops = next(filter(None, map(self._stops, scene.folding.items())), [])
        if not stops:
            raise self._refusal(
                "No wire is there to go to.",
                "connect",
                "Press {} at a layer to connect it.",
                "Draw one from an output.",
            )
        here = (chosen, chosen.chosen_bend) if chosen is not None else None
        at = stops.index(here) + by if here in stops else (0 if by > 0 else -1)
        wire, bend = stops[at % len(stops)]
        view.document.selection.clear()
        view.document.selection.flush()
        scene.annotated.choose(set())
        scene.select_edge(wire.edge, bend=bend)
        self._show(QRectF(wire.via[bend], wire.via[bend]) if bend >= 0 else QRectF(middle_of(wire), middle_of(wire)))

    def _stops(self, item: NodeItem | None) -> list[tuple[EdgeItem, int]]:
        """The wires of a card and their bends."""
        wires = [wire for wire in (item.edges if item is not None else ()) if wire.isVisible() and not wire.docked]
        into = sorted((wire for wire in wires if wire.head is item), key=lambda wire: wire.in_port)
        out = sorted(
            (wire for wire in wires if wire.head is not item), key=lambda wire: (wire.out_port, wire.line.p2().y())
        )
        return [(wire, bend) for wire in (*into, *out) for bend in range(-1, len(wire.bends))]

    def _refusal(self, text: str, name: str, words: str, other: str) -> GraphError:
        """Return an error whose next step is a key, put in for ``{}``, or other words where that is none."""
        return GraphError(text, next_step=by_key(self._view.key_of(name), words, other))

    def add_bend(self) -> None:
        """Bend the selected wire in the middle of its longest part, and select the bend."""
        wire = self._wire()
        points = [wire.line.p1(), *(QPointF(*bend) for bend in wire.bends), wire.line.p2()]
        parts = [(b - a).manhattanLength() for a, b in pairwise(points)]
        place = parts.index(max(parts))
        at = (points[place] + points[place + 1]) / 2 if wire.bends else middle_of(wire)
        bends = (*wire.bends[:place], Point(round(at.x()), round(at.y())), *wire.bends[place:])
        bend_wire(self._view.document, wire, bends, "Bend wire")
        self._view.canvas.select_edge(wire.edge, bend=place)

    def _wire(self) -> EdgeItem:
        wire = chosen_wire(self._view)
        if wire is None:
            raise self._refusal(
                "No wire is selected.", "wire", "Press {} at a layer to go through its wires.", "Click one."
            )
        return wire

    def nudge(self, dx: float, dy: float) -> bool:
        """Move the selected bend, frame or note; return whether there was one."""
        wire, written = chosen_wire(self._view), chosen_annotation(self._view)
        if wire is not None and wire.chosen_bend >= 0:
            place, old = wire.chosen_bend, wire.bends[wire.chosen_bend]
            bends = (*wire.bends[:place], Point(old.x + dx, old.y + dy), *wire.bends[place + 1 :])
            bend_wire(self._view.document, wire, bends, "Move bend")
            self._view.canvas.select_edge(wire.edge, bend=place)
            return True
        if written is not None:
            self._drag(written, "move", dx, dy)
        return written is not None

    def cut_wires(self) -> None:
        """Cut the selected wire, or all wires of the selected layers."""
        wire, ids = chosen_wire(self._view), set(self._view.document.selection.node_ids)
        wires = [wire] if wire is not None else []
        wires = wires or [each for key, each in self._view.canvas.edges.items() if {key.source, key.target} & ids]
        if not wires:
            raise self._refusal(
                "No wire is selected.", "wire", "Select a layer, or a wire with {}.", "Select a layer or a wire."
            )
        cut(self._view, wires)

    # Frames and notes

    def walk_annotations(self) -> None:
        """Select the next frame or note of the level that is looked at, in reading order."""
        view = self._view
        annotated = view.canvas.annotated
        shown = sorted(annotated.shown(), key=lambda item: (item.area.top(), item.area.left()))
        if not shown:
            keys = (("put_frame", "{} puts a frame"), ("note", "{} writes a note"))
            told = ", ".join(words.format(key) for name, words in keys if (key := view.key_of(name)))
            raise GraphError("There is no frame and no note.", next_step=f"{told or 'The menu Edit puts them'}.")
        here = next((place for place, item in enumerate(shown) if item.value.id in annotated.chosen), -1)
        item = shown[(here + 1) % len(shown)]
        view.document.selection.clear()
        view.document.selection.flush()
        view.canvas.select_edge(None)
        annotated.choose({item.value.id})
        self._show(item.area)

    def resize(self, dx: int, dy: int) -> None:
        """Move the lower right corner of the selected frame or note."""
        item = chosen_annotation(self._view)
        if item is None:
            raise self._refusal(
                "No frame and no note is selected.", "written", "Press {} to go through them.", "Click one."
            )
        area = item.area
        if area.width() + dx * _SIZE_STEP >= _LEAST_SIZE and area.height() + dy * _SIZE_STEP >= _LEAST_SIZE:
            self._drag(item, "resize", dx * _SIZE_STEP, dy * _SIZE_STEP)

    def _drag(self, item: AnnotationItem, zone: str, dx: float, dy: float) -> None:
        gesture = AnnotationGesture(self._view, QPoint(), item, zone)
        gesture.shift(dx, dy)
        gesture.release(QPoint(), Qt.KeyboardModifier.NoModifier)

    # What is selected, and the view

    def open(self) -> None:
        """Look into the selected block, go to the other end of the selected wire, or to the fields of a layer."""
        view = self._view
        block, wire, written = chosen_block(view.canvas), chosen_wire(view), chosen_annotation(view)
        if block is not None:
            view.document.selection.clear()
            view.canvas.folding.look_into(block.node_id)
        elif wire is not None:
            view.document.selection.set(wire.head.ids)
            view.reveal_card(wire.head)
        elif written is not None:
            view.words.open(written.value.id)
        elif view.document.selection.node_ids:
            view.fields_asked.emit()

    def rename_blob(self) -> None:
        """Ask for the name of the blob on the selected wire, or of the first that the selected layer writes."""
        view = self._view
        wire, last = chosen_wire(view), view.document.selection.last
        if wire is not None:
            view.blob_name_asked.emit(wire.edge.source, wire.edge.top)
        elif last is not None and view.document.graph.node(last).tops:
            view.blob_name_asked.emit(last, 0)
        else:
            raise self._refusal(
                "No blob is selected.",
                "wire",
                "Select a layer that writes one, or a wire with {}.",
                "Select a layer that writes one.",
            )

    def pan(self, dx: int, dy: int) -> None:
        """Move the view."""
        size = self._view.viewport().size()
        self._view.scroll_by(round(dx * _PAN_SHARE * size.width()), round(dy * _PAN_SHARE * size.height()))

    def _show(self, area: QRectF) -> None:
        """Bring a place of the scene into view."""
        if not self._view.visible_rect().contains(area.center()):
            self._view.follows_size = False
            self._view.centerOn(area.center())
            self._view.told_panned()


def wire_menu(view: CanvasView, wire: EdgeItem) -> QMenu:
    """Return the menu of a wire."""
    menu = QMenu(view)
    menu.setObjectName("canvas.wire_menu")
    menu.setToolTipsVisible(True)
    menu.aboutToHide.connect(menu.deleteLater)
    place = view.mapFromScene(middle_of(wire))
    add = menu.addAction(icon("plus"), f"Put a layer on it\u2026\t{view.keys.hint('add')}")
    add.triggered.connect(lambda: view.search_asked.emit(place, None, "key", 0))
    _offer(menu, view, (("connect", "Lead it to another input"), ("bend", "Bend it"), ("trace", "Follow its blob")))
    _offer(menu, view, [("rename_blob", "Rename its blob\u2026")])
    menu.addSeparator()
    for item in (wire.tail, wire.head):
        action = menu.addAction(f"Go to {item.face.title}".replace("&", "&&"))
        action.triggered.connect(partial(_go_to, view, item))
    menu.addSeparator()
    _offer(menu, view, [("delete", "Take the bend out" if wire.chosen_bend >= 0 else "Cut it")])
    return menu


def _offer(menu: QMenu, view: CanvasView, entries: Iterable[tuple[str, str]]) -> None:
    for name, words in entries:
        hint = view.keys.hint(name)
        action = menu.addAction(f"{words}\t{hint}" if hint else words)
        action.triggered.connect(partial(view.do, name))


def _go_to(view: CanvasView, item: NodeItem, _checked: bool = False) -> None:
    view.document.selection.set(item.ids)
    view.reveal_card(item)
