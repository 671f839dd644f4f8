"""Places for very many layers that come at once without any, such as those of a text that is pasted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from app.canvas.edits.arrange import Arrangement, find_places
from app.canvas.layout.layout import LayoutEdge, LayoutNode, Room
from app.canvas.layout.rows import GAP_X
from app.canvas.scene.docking import host_of
from app.canvas.scene.face import NODE_WIDTH
from app.document.placement import Point
from app.slices import Slices

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene
    from engine.graph import NodeId

__all__ = ["place_many"]

_MANY = 200
_COLUMNS, _ROW = 24, 200.0
_BELOW = 120.0


def place_many(scene: CanvasScene, added: Iterable[NodeId]) -> bool:
    """Put very many new layers below the net: at once in rows as they are written, and laid out a little later.

    Parameters
    ----------
    added : iterable of NodeId
        The layers that came; those that have a place keep it.

    Returns
    -------
    bool
        Whether there are so many; if not, nothing is done.
    """
    document = scene.document
    positions, graph = document.positions, document.graph
    new = sorted((node for node in added if node not in positions), key=graph.ordinal)
    if not scene.slowly or len(new) < _MANY:
        return False
    content = scene.content_rect()
    corner = Point(round(content.left(), -1), round(content.bottom() + _BELOW, -1))
    for place, node in enumerate(new):
        row, column = divmod(place, _COLUMNS)
        positions.place(node, corner.x + column * (NODE_WIDTH + GAP_X), corner.y + row * _ROW)
    scene.growth.when_done(lambda: _lay_out(scene, positions.of(new), corner))
    return True


def _lay_out(scene: CanvasScene, before: dict[NodeId, Point], corner: Point) -> None:
    """Lay some layers out in the document's thread, unless one is taken back; what is moved by then stays there."""
    document = scene.document
    nodes: list[LayoutNode[NodeId]] = []
    edges: list[LayoutEdge[NodeId]] = []
    slices = Slices(scene)

    def finish(found: Arrangement) -> None:
        positions, graph = document.positions, document.graph
        left, top = min(place.x for place in found.places.values()), min(place.y for place in found.places.values())
        places = {
            node: Point(corner.x + place.x - left, corner.y + place.y - top)
            for node, place in found.places.items()
            if node in graph and positions.get(node) == before[node]
        }
        positions.move(places, by_user=False)

    def submit() -> None:
        slices.deleteLater()
        if all(node in scene.nodes for node in before):
            document.jobs.submit("layout of what is new", lambda: find_places(nodes, edges, Room()), finish)

    slices.start(_gather(scene, before, nodes, edges), submit)


def _gather(
    scene: CanvasScene,
    ids: dict[NodeId, Point],
    nodes: list[LayoutNode[NodeId]],
    edges: list[LayoutEdge[NodeId]],
) -> Iterator[None]:
    """Fill lists with what the layout must know of some layers and the wires among them, a layer at each step."""
    for node_id in ids:
        item = scene.nodes.get(node_id)
        if item is not None:
            host = host_of(item)
            hung = host.node_id if host is not None and host.node_id in ids else None
            nodes.append(LayoutNode(node_id, NODE_WIDTH, item.face.height, hung, ""))
            for wire in item.edges:
                edge = wire.edge
                if edge.source == node_id and edge.target in ids and edge.target in scene.nodes:
                    levels = item.face.output_y(edge.top), wire.target.face.input_y(edge.bottom)
                    edges.append(LayoutEdge(node_id, edge.target, edge, *levels))
        yield
