"""Where the nodes stand, and the file beside the net that remembers it.

Positions are no part of prototxt. They go to ``NAME.prototxt.canvas.json``, keyed by what a layer is and not only by
its number, so that they survive edits made with other tools.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from PySide6.QtCore import QObject, Signal

from app.document.annotations import Annotation, Annotations
from app.document.blocks import Blocks
from engine.assumed import Assumed, assumed_json
from engine.errors import NetcanvasError
from engine.graph import ALL, View

if TYPE_CHECKING:
    from engine.graph import Edge, Node, NodeId, OpGraph

__all__ = ["EdgeKey", "Placement", "Point", "Route", "edge_key", "named_nodes", "read_view"]

_VERSION = 1
_log = logging.getLogger(__name__)


class Point(NamedTuple):
    """A place on the canvas, in pixels at 100 %."""

    x: float
    y: float


class Route(NamedTuple):
    """The course of a wire that the layout found.

    Attributes
    ----------
    points : tuple of Point
        What the wire passes between its ports.
    source, target : Point
        Where its two nodes stood; the course holds while they stand so, or are moved together.
    """

    points: tuple[Point, ...]
    source: Point
    target: Point


EdgeKey = tuple["NodeId", int, "NodeId", int]


def edge_key(edge: Edge) -> EdgeKey:
    """Return what identifies a wire whatever blob it carries."""
    return edge.source, edge.top, edge.target, edge.bottom


class Named(Protocol):
    """What the sidecar knows a layer by: a node of the graph, or a copy of what is in it."""

    @property
    def id(self) -> NodeId: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def phases(self) -> frozenset[str]: ...


class _Copy(NamedTuple):
    """What the sidecar knows a layer by, apart from the graph."""

    id: NodeId
    name: str
    type: str
    phases: frozenset[str]


def named_nodes(graph: OpGraph) -> list[Named]:
    """Copy what the sidecar knows layers by, in document order; of 5,000 in a few milliseconds."""
    readings, phases = graph.readings(), {}
    copies: list[Named] = []
    for node_id in graph.node_ids():
        reading = readings[node_id]
        if reading.mask not in phases:
            phases[reading.mask] = graph.node(node_id).phases
        copies.append(_Copy(node_id, reading.name, reading.type, phases[reading.mask]))
    return copies


class Placement(QObject):
    """Positions of nodes by id.

    Positions of deleted nodes stay until the document closes, so that undo puts the node back where it was.

    Attributes
    ----------
    moved : Signal(frozenset of node ids)
        Sent after :meth:`move`, not after :meth:`place`.
    routes : dict of Route
        Courses of wires that do not run straight.
    bends : dict of tuple of Point
        Points through which the user leads wires; they stay where they are when nodes are moved.
    bent : Signal(frozenset of EdgeKey)
        Sent after :meth:`bend` and :meth:`lead`.
    blocks : Blocks
        What is folded; the places of cards are kept here too, under the ids of their blocks.
    annotations : Annotations
        Frames and notes.
    touched : bool
        Whether the user arranged anything; only then a sidecar is written.
    """

    moved = Signal(object)
    bent = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._points: dict[NodeId, Point] = {}
        self.routes: dict[EdgeKey, Route] = {}
        self.bends: dict[EdgeKey, tuple[Point, ...]] = {}
        self.blocks = Blocks(self)
        self.annotations = Annotations(self)
        self.touched = False

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._points

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self._points)

    def __getitem__(self, node_id: NodeId) -> Point:
        return self._points[node_id]

    def get(self, node_id: NodeId) -> Point | None:
        """Place of a node, or None when it has none yet."""
        return self._points.get(node_id)

    def of(self, ids: Iterable[NodeId]) -> dict[NodeId, Point]:
        """Places of those of ``ids`` that have one."""
        return {node_id: self._points[node_id] for node_id in ids if node_id in self._points}

    def place(self, node_id: NodeId, x: float, y: float) -> None:
        """Give a node that is not shown yet its place, without a signal."""
        self._points[node_id] = Point(x, y)

    def place_all(self, points: Mapping[NodeId, Point]) -> dict[NodeId, Point]:
        """Give nodes their places without a signal; return those for which it is another one, to be moved after."""
        known = self._points
        moved = {node_id: point for node_id, point in points.items() if known.get(node_id) != point}
        known.update(points)
        return moved

    def move(self, points: Mapping[NodeId, Point], *, by_user: bool = True) -> None:
        """Give nodes new places and tell the canvas."""
        self._points.update(points)
        self.touched = self.touched or by_user
        self.moved.emit(frozenset(points))

    def bend(self, bends: Mapping[EdgeKey, tuple[Point, ...]]) -> None:
        """Lead wires through other points, or straight again through none, and tell the canvas."""
        self.bends.update(bends)
        for key, points in bends.items():
            if not points:
                del self.bends[key]
        self.touched = True
        self.bent.emit(frozenset(bends))

    def lead(self, routes: Mapping[EdgeKey, Route | None]) -> None:
        """Give wires other courses, or None for none, and tell the canvas."""
        for key, route in routes.items():
            if route is None:
                self.routes.pop(key, None)
            else:
                self.routes[key] = route
        self.bent.emit(frozenset(routes))

    def annotate(self, annotations: Mapping[int, Annotation | None]) -> None:
        """Put frames and notes in the place of those of the same ids; None takes one away."""
        self.touched = True
        self.annotations.set(annotations)

    def to_json(self, nodes: Sequence[Named], text: bytes, dialect: str | None = None, view: View | None = None) -> str:
        """Write the sidecar of a net, with the dialect if the user chose one, and the view if it is not of all."""
        return self.capture(nodes, dialect, view)(text)

    def capture(
        self,
        nodes: Sequence[Named],
        dialect: str | None = None,
        view: View | None = None,
        assumed: Assumed | None = None,
    ) -> Callable[[bytes], str]:
        """Copy what the sidecar is to hold; the function that is returned writes it for a text, in any thread."""
        ordinals = {node.id: ordinal for ordinal, node in enumerate(nodes)}
        points, routes, bends = dict(self._points), dict(self.routes), dict(self.bends)
        more: dict[str, Any] = {}
        if len(self.blocks):
            more["blocks"] = self.blocks.to_json(ordinals, self.get)
        if len(self.annotations):
            more["annotations"] = self.annotations.to_json(self.blocks)
        if dialect is not None:
            more["dialect"] = dialect
        more |= assumed_json(assumed or {})
        if view is not None and view != View():
            more["view"] = {"show": view.show, "level": view.level, "stages": sorted(view.stages)}

        def write(text: bytes) -> str:
            data = {"version": _VERSION, "text_sha256": _digest(text), "nodes": _entries(nodes, points)}
            data["routes"] = _route_entries(routes, ordinals)
            bent = _bend_entries(bends, ordinals)
            if bent:
                data["bends"] = bent
            return json.dumps(data | more, indent=1, ensure_ascii=False) + "\n"

        return write

    def load_json(self, nodes: Sequence[Node], text: str, net: bytes = b"") -> int:
        """Read a sidecar; return how many nodes found their place.

        ``net`` is the text of the net. Entries whose number, name, type and phases all fit come first; the rest are
        matched by name, type and phases in the order of the file. A damaged sidecar is ignored: it holds nothing but
        the arrangement.
        """
        try:
            data = json.loads(text)
            entries = [entry for entry in data["nodes"] if _finite(entry)]
            if data.get("text_sha256") == _digest(net):
                self._load_routes(nodes, data.get("routes", []))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            _log.warning("The layout file is damaged and is ignored: %s", error)
            return 0
        waiting: dict[str, list[dict[str, Any]]] = defaultdict(list)
        exact: dict[tuple[int, str], dict[str, Any]] = {}
        for entry in entries:
            key = _key(entry)
            exact[int(entry.get("ordinal", -1)), key] = entry
            waiting[key].append(entry)
        found: dict[int, NodeId] = {}
        left: list[Node] = []
        for ordinal, node in enumerate(nodes):
            entry = exact.get((ordinal, _key(_identity(node))))
            if entry is None:
                left.append(node)
                continue
            waiting[_key(entry)].remove(entry)
            self._points[node.id] = Point(float(entry["x"]), float(entry["y"]))
            found[ordinal] = node.id
        for node in left:
            queue = waiting[_key(_identity(node))]
            if queue:
                entry = queue.pop(0)
                self._points[node.id] = Point(float(entry["x"]), float(entry["y"]))
                found[int(entry.get("ordinal", -1))] = node.id
        self._load_bends(found, data.get("bends", []))
        self._load_view(data, found)
        self.touched = bool(found)
        return len(found)

    def _load_view(self, data: Mapping[str, Any], nodes: Mapping[int, NodeId]) -> None:
        """Read blocks, frames and notes."""
        try:
            for block, (x, y) in self.blocks.load_json(data.get("blocks", []), nodes).items():
                self.place(block, x, y)
            levels = [block.id for block in self.blocks]
            self.annotations.load_json(data.get("annotations", []), levels)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            _log.warning("Blocks or frames in the layout file are damaged and are ignored: %s", error)

    def _load_routes(self, nodes: Sequence[Node], entries: Sequence[Mapping[str, Any]]) -> None:
        """Courses of wires are worth something only for the very text they were found for."""
        for entry in entries:
            (source, top), (target, bottom) = entry["from"], entry["to"]
            key = nodes[source].id, int(top), nodes[target].id, int(bottom)
            points = tuple(Point(float(x), float(y)) for x, y in entry["points"])
            self.routes[key] = Route(points, Point(*entry["source"]), Point(*entry["target"]))

    def _load_bends(self, nodes: Mapping[int, NodeId], entries: Any) -> None:
        """Bends go with their two layers, whose numbers in the file ``nodes`` tells; what is damaged is left out."""
        for entry in entries if isinstance(entries, list) else []:
            try:
                (source, top), (target, bottom) = entry["from"], entry["to"]
                points = tuple(Point(float(x), float(y)) for x, y in entry["points"])
                key = nodes[source], int(top), nodes[target], int(bottom)
            except (ValueError, KeyError, TypeError):
                continue
            if points and all(abs(value) < 1e7 for point in points for value in point):
                self.bends[key] = points


def _entries(nodes: Sequence[Named], points: Mapping[NodeId, Point]) -> list[dict[str, Any]]:
    return [
        {**_identity(node), "ordinal": ordinal, "x": round(point.x, 1), "y": round(point.y, 1)}
        for ordinal, node in enumerate(nodes)
        if (point := points.get(node.id)) is not None
    ]


def _route_entries(routes: Mapping[EdgeKey, Route], ordinals: Mapping[NodeId, int]) -> list[dict[str, Any]]:
    return [
        {
            "from": [ordinals[key[0]], key[1]],
            "to": [ordinals[key[2]], key[3]],
            "points": [list(point) for point in route.points],
            "source": list(route.source),
            "target": list(route.target),
        }
        for key, route in routes.items()
        if key[0] in ordinals and key[2] in ordinals
    ]


def _bend_entries(bends: Mapping[EdgeKey, Sequence[Point]], ordinals: Mapping[NodeId, int]) -> list[dict[str, Any]]:
    return [
        {
            "from": [ordinals[key[0]], key[1]],
            "to": [ordinals[key[2]], key[3]],
            "points": [[round(point.x, 1), round(point.y, 1)] for point in points],
        }
        for key, points in bends.items()
        if key[0] in ordinals and key[2] in ordinals
    ]


def read_view(text: str) -> View:
    """Return the view that a sidecar remembers; of all where there is none, or a damaged one."""
    try:
        stored = json.loads(text)["view"]
        return View(str(stored["show"]), int(stored["level"]), frozenset(map(str, stored["stages"])))
    except (ValueError, KeyError, TypeError, AttributeError, NetcanvasError):
        return View(ALL)


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _identity(node: Named) -> dict[str, Any]:
    return {"name": node.name, "type": node.type, "phases": sorted(str(phase) for phase in node.phases)}


def _key(entry: Mapping[str, Any]) -> str:
    return json.dumps([entry.get("name"), entry.get("type"), entry.get("phases")])


def _finite(entry: Mapping[str, Any]) -> bool:
    return abs(float(entry["x"])) < 1e7 and abs(float(entry["y"])) < 1e7
