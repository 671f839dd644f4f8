"""Adding a kept block to the net."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from app.canvas.layout.layout import LayoutEdge, LayoutNode, lay_out
from app.canvas.scene.face import NODE_WIDTH
from app.document.placement import Point
from engine.errors import GraphError
from engine.graph import UNWIRED, OpGraph

if TYPE_CHECKING:
    from app.canvas.edits.insert import Origin
    from app.canvas.scene.scene import CanvasScene
    from engine.graph import NodeId

__all__ = ["insert_template"]

_GAP = 106.0


def insert_template(
    scene: CanvasScene, name: str, text: str, at: QPointF | None = None, origin: Origin | None = None
) -> list[NodeId]:
    """Add the layers of a kept block under fresh names in one undoable step, and select them.

    Parameters
    ----------
    at : QPointF, optional
        Place in the scene of the upper left corner; beside what it is wired to, or below the net, by default.
    origin : Origin, optional
        The output that the first open input is wired to, with all that read the same blob as it; that of the layer
        selected last by default.

    Raises
    ------
    GraphError
        When the block holds no layers, or a rule refuses; then nothing is changed.
    """
    document = scene.document
    last = document.selection.last
    source = (last, 0) if last is not None and document.graph.node(last).tops else None
    if origin is not None:
        source = (origin.node, origin.index) if origin.side == "output" else None

    def edit(graph: OpGraph) -> list[NodeId]:
        added = list(graph.paste_fragment(text))
        if not added:
            raise GraphError(f"The block '{name}' holds no layers.", next_step="Save it anew.")
        if source is not None:
            _wire(graph, source, added, text)
        for node in added:
            document.positions.place(node, 0.0, 0.0)
        return added

    corner = _corner(scene, at, source)
    added = document.apply(f"Add {name}", edit)
    scene.growth.finish()
    _arrange(scene, added, corner)
    document.selection.set(added)
    return added


def _wire(graph: OpGraph, source: tuple[NodeId, int], added: list[NodeId], text: str) -> None:
    """Wire an output to the first open input, and to all that read the same blob where the block comes from."""
    written = [node for node in OpGraph.parse(text).nodes() if not node.virtual]
    ends = [
        (node, place, was.bottoms[place])
        for node, was in zip(added, written, strict=True)
        for place, bottom in enumerate(graph.node(node).bottoms)
        if bottom == UNWIRED
    ]
    for number, (node, place, blob) in enumerate(ends):
        if not number or blob == ends[0][2] != UNWIRED:
            graph.connect(*source, node, place)


def _corner(scene: CanvasScene, at: QPointF | None, source: tuple[NodeId, int] | None) -> QPointF:
    if at is not None:
        return at
    card = scene.folding.shown(source[0]) if source is not None else None
    content = scene.content_rect()
    if card is not None and card.scene_body().right() >= content.right() - 1.0:
        return card.pos() + QPointF(NODE_WIDTH + _GAP, 0.0)
    return QPointF(content.left(), content.bottom() + 80.0) if not content.isNull() else QPointF()


def _arrange(scene: CanvasScene, added: list[NodeId], corner: QPointF) -> None:
    inside = set(added)
    items = [scene.nodes[node] for node in added]
    wires = [edge for item in items for edge in item.edges if edge.source is item and edge.target.node_id in inside]
    hosts = {
        edge.target.node_id: edge.source.node_id for edge in wires if edge.target.face.chip and edge.edge.bottom == 0
    }
    nodes = [LayoutNode(item.node_id, NODE_WIDTH, item.face.height, hosts.get(item.node_id), "") for item in items]
    edges = [
        LayoutEdge(
            wire.source.node_id,
            wire.target.node_id,
            wire.edge,
            wire.source.face.output_y(wire.edge.top),
            wire.target.face.input_y(wire.edge.bottom),
        )
        for wire in wires
    ]
    places = lay_out(nodes, edges).places
    left, top = min(x for x, _y in places.values()), min(y for _x, y in places.values())
    dx, dy = round((corner.x() - left) / 10) * 10, round((corner.y() - top) / 10) * 10
    scene.document.positions.move({node: Point(x + dx, y + dy) for node, (x, y) in places.items()}, by_user=False)
