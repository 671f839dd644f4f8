"""Where wires run and how much room there is: what follows from the places of the cards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from app.canvas.scene.docking import find_docked
from app.canvas.scene.face import NODE_WIDTH
from app.canvas.scene.picking import PickingScene
from app.document.placement import edge_key
from app.slices import Slices

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.overview import Overview
    from app.document import Document
    from app.document.placement import Point
    from engine.graph import NodeId

__all__ = ["FEW", "VAST", "LedScene"]

_MARGIN, _TOO_FAR = 4000.0, 12_000.0
_NEAR = 600.0
#: So many wires are led in slices, between which the window answers.
_MANY = 300
#: So many cards are put into the overview of the net one by one; for more it is made anew.
FEW = 150
#: Which of so many cards hang under their hosts is found out in slices too.
VAST = 1000
#: Where more wires than that go around cards, which no hand has moved there, each is led anew only when it is moved.
_ROAMING = 60


class LedScene(PickingScene):
    """A scene whose wires follow its cards.

    Attributes
    ----------
    document : Document
    overview : Overview
        The whole net as lines and boxes.
    leading : Slices
        Leads wires, where very many are to be led; see :meth:`lead_stale`.
    lies_in_heap : bool
        Whether cards have no places yet, which are found soon: wires between them are led then, and not before.
    """

    overview: Overview
    lies_in_heap = False

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.leading = Slices(self)
        self._undocked: dict[NodeItem, None] = {}

    def lead(self, item: EdgeItem) -> None:
        """Give a wire its course, once its ends have their places."""
        positions = self.document.positions
        if item.edge.source in positions and item.edge.target in positions:
            item.update_path()

    def _put(self, items: Sequence[NodeItem]) -> None:
        """Show nodes at their places."""
        if len(items) < _MANY // 2:
            positions = self.document.positions
            self.show_at({item.node_id: positions[item.node_id] for item in items})
        else:
            self._put_all(items)

    def _put_all(self, items: Iterable[NodeItem]) -> None:
        """Show many nodes at their places; their wires are stale then."""
        positions = self.document.positions
        self.update()  # all at once: Qt need not note the old and the new place of each item
        for item in items:
            self.show_soon(item, positions[item.node_id])
        self.overview.forget()

    def show_soon(self, item: NodeItem, point: Point) -> None:
        """Show a node at a place that the document is told next, with many others; its wires are stale then."""
        if (item.x(), item.y()) != point:
            item.setPos(point.x, point.y)
            for edge in item.edges:
                edge.stale = True

    def show_at(self, points: Mapping[NodeId, Point]) -> None:
        """Show nodes at places without telling the document, as while dragging."""
        edges: set[EdgeItem] = set()
        items: list[NodeItem] = []
        for node_id, point in points.items():
            item = self.folding.item(node_id)
            assert item is not None
            item.setPos(point.x, point.y)
            items.append(item)
            edges |= item.edges
        for edge in edges:
            if edge.isVisible():
                edge.update_path()
            else:  # those of folded layers follow when they are shown
                edge.stale = True
        if len(items) < FEW:
            self.overview.follow(items, edges)
        else:
            self.overview.forget()

    def lead_anew(self) -> None:
        """Lead what is stale, and the wires that go around cards, for other cards may be in their way."""
        roaming = [wire for wire in self.edges.values() if wire.roams]
        for wire in roaming if len(roaming) <= _ROAMING else ():
            wire.stale = True
        self.lead_stale()

    def lead_stale(self) -> None:
        """Lead the wires that are shown and were not led while something moved; very many in slices.

        A wire that is still to be led is not painted; :meth:`finish_leading` does not wait.
        """
        self.leading.cancel()
        if not self.folding.is_wired or self.lies_in_heap:
            return  # then it is done once they are, or have their places
        if self._undocked:
            self.leading.start(self._docked_and_led(), self._all_led)
            return
        waiting = self._waiting()
        if len(waiting) < _MANY:
            for wire in waiting:
                wire.update_path()
            self.overview.follow((), waiting)
        else:
            self.leading.start(_led(waiting), self._all_led)

    def _waiting(self) -> list[EdgeItem]:
        return [wire for wire in self.edges.values() if wire.stale and wire.isVisible()]

    def dock_later(self, moved: Iterable[NodeItem]) -> None:
        """Find out which of very many cards hang under their host when :meth:`lead_stale` leads their wires."""
        self._undocked.update(dict.fromkeys(moved))

    def _docked_and_led(self) -> Iterator[None]:
        """Find out what hangs where, and lead what is stale then; a card or a wire a step."""
        while self._undocked:
            item = next(iter(self._undocked))
            del self._undocked[item]
            if find_docked(item):
                for edge in item.edges:
                    edge.stale = True
            yield
        yield from _led(self._waiting())

    def _all_led(self) -> None:
        self.overview.forget()
        self.update()

    def finish_leading(self) -> None:
        """Lead what :meth:`lead_stale` has left for later."""
        self.folding.finish()
        self.leading.finish()

    def show_routes(self, *, moving: bool = False) -> None:
        """Lead the wires through the points that the layout found; ``moving`` if all their nodes are moved next."""
        routes = self.document.positions.routes
        for edge, item in self.edges.items():
            route = routes.get(edge_key(edge))
            if moving:
                item.stale = item.stale or route is not item.route
                item.route = route
            else:
                item.set_route(route)
        self.overview.forget()

    def _make_room(self, items: Sequence[NodeItem]) -> None:
        """Enlarge the scene when nodes come near its end; that rebuilds the index, so it is done rarely."""
        if len(items) >= FEW:
            self.make_room()
            return
        inner = self.sceneRect().adjusted(_NEAR, _NEAR, -_NEAR, -_NEAR)
        if not all(inner.contains(item.scene_body()) for item in items):
            self.fit_scene_rect()

    def make_room(self) -> None:
        """Enlarge the scene where what is shown comes near its end, or make it smaller where it is far too large."""
        content, there = self.content_rect(), self.sceneRect()
        too_large = not content.adjusted(-_TOO_FAR, -_TOO_FAR, _TOO_FAR, _TOO_FAR).contains(there)
        if too_large or not there.adjusted(_NEAR, _NEAR, -_NEAR, -_NEAR).contains(content):
            self.fit_scene_rect()

    def fit_scene_rect(self) -> None:
        """Make room to pan around the net."""
        content = self.content_rect()
        content = content if not content.isNull() else QRectF(0.0, 0.0, NODE_WIDTH, NODE_WIDTH)
        self.setSceneRect(content.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN))


def _led(wires: Iterable[EdgeItem]) -> Iterator[None]:
    """Lead wires, one a step; some may have gone, or been led, since."""
    for wire in wires:
        if wire.stale and wire.scene() is not None:
            wire.update_path()
        yield
