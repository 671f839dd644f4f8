"""The edits that gestures and keys make, each one undoable step."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF

from app.canvas.edits.steps import bend_wire
from app.canvas.layout.rows import GAP_X, GAP_Y
from app.canvas.scene.docking import followers, hosts_of
from app.canvas.scene.face import NODE_WIDTH, Face, Port
from app.wording import breakable
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from app.document import Document
    from engine.graph import Edge, NodeId, OpGraph

__all__ = [
    "connect",
    "delete_selected",
    "disconnect",
    "dissolve_selected",
    "doubt",
    "free_place",
    "refusal",
    "tooltip",
    "with_followers",
]

_MANY = 300


def refusal(document: Document, source: NodeId, top: int, target: NodeId, bottom: int) -> str:
    """Why two ports may not be joined, in one sentence; empty when they may."""
    try:
        document.graph.check_connect(source, top, target, bottom)
    except GraphError as error:
        return error.message
    return ""


def doubt(document: Document, source: NodeId, top: int, target: NodeId, bottom: int) -> str:
    """Why a connection that is allowed would not run as it is: shapes that do not fit. Empty when they do."""
    from app.canvas.edits.fitting import fit_problem  # with numpy behind it, and needed only once a wire is drawn

    return fit_problem(document, source, top, target, bottom)


def connect(
    document: Document, source: NodeId, top: int, target: NodeId, bottom: int, instead_of: Sequence[Edge] = ()
) -> None:
    """Join two ports; ``instead_of`` are wires of which this is the moved end."""
    if any((edge.source, edge.top, edge.target, edge.bottom) == (source, top, target, bottom) for edge in instead_of):
        return
    graph = document.graph
    label = f"Connect {graph.node(source).name} to {graph.node(target).name}"

    def edit(_graph: object) -> None:
        for there, port in dict.fromkeys((edge.target, edge.bottom) for edge in instead_of):
            if (there, port) != (target, bottom):
                graph.disconnect(there, port)
        graph.connect(source, top, target, bottom)

    document.apply(label, edit)


def disconnect(document: Document, edges: Iterable[Edge]) -> None:
    """Take wires off their inputs."""
    ends = dict.fromkeys((edge.target, edge.bottom) for edge in edges)
    names = ", ".join(dict.fromkeys(document.graph.node(target).name for target, _bottom in ends))

    def edit(graph: object) -> None:
        for target, bottom in ends:
            document.graph.disconnect(target, bottom)

    document.apply(f"Disconnect {names}", edit)


def delete_selected(scene: CanvasScene) -> None:
    """Delete the selected nodes, or the selected wire, or of that the selected bend."""
    document = scene.document
    ids = document.selection.node_ids
    if not ids:
        wire = scene.edges.get(scene.selected_edge) if scene.selected_edge is not None else None
        if wire is not None and wire.chosen_bend >= 0:
            at = wire.chosen_bend
            bend_wire(document, wire, wire.bends[:at] + wire.bends[at + 1 :], "Remove bend")
        elif wire is not None:
            disconnect(document, [wire.edge])
        return
    label = f"Delete {document.graph.node(ids[0]).name}" if len(ids) == 1 else f"Delete {len(ids)} nodes"
    document.apply(label, lambda graph: graph.remove_nodes(ids))


def dissolve_selected(scene: CanvasScene) -> None:
    """Delete the selected nodes; what read from one reads from what it read first, where there is such."""
    document = scene.document
    ids = document.selection.node_ids
    if not ids:
        return

    def edit(graph: OpGraph) -> None:
        for node_id in ids:
            above = next((edge for edge in graph.edges_in(node_id) if edge.bottom == 0), None)
            for edge in graph.edges_out(node_id) if above is not None and not any(graph.node(node_id).in_place) else ():
                assert above is not None
                graph.connect(above.source, above.top, edge.target, edge.bottom)
            graph.remove_nodes([node_id])

    names = document.graph.node(ids[0]).name if len(ids) == 1 else f"{len(ids)} nodes"
    document.apply(f"Dissolve {names}", edit)


def with_followers(scene: CanvasScene, ids: Iterable[NodeId]) -> list[NodeId]:
    """Return whose places change with ``ids``: theirs, those of what hangs under them, and those of blocks' cards."""
    found = dict.fromkeys(scene.folding.movers(ids))
    if len(found) >= _MANY:  # it takes less to look at all that hangs anywhere
        hung = [item for item in scene.nodes.values() if item.docked and item.node_id not in found and item.isVisible()]
        found.update((item.node_id, None) for item in hung if any(host.node_id in found for host in hosts_of(item)))
        return list(found)
    for node_id in list(found):
        item = scene.nodes.get(node_id)
        found.update((each.node_id, None) for each in followers(item) if each.isVisible()) if item is not None else None
    return list(found)


def free_place(scene: CanvasScene, wanted: QPointF, height: float) -> QPointF:
    """Return the first place from ``wanted`` downwards where a node covers no other."""
    x = round(wanted.x() / 10.0) * 10.0
    y = round(wanted.y() / 10.0) * 10.0
    for _attempt in range(1000):
        body = QRectF(x, y, NODE_WIDTH, height)
        hit = [item for item in scene.items_shown() if item.scene_body().adjusted(-10, -10, 10, 10).intersects(body)]
        if not hit:
            break
        y = round((max(item.scene_body().bottom() for item in hit) + GAP_Y) / 10.0) * 10.0
    return QPointF(x, y)


def place_after(item: NodeItem) -> QPointF:
    """Where a node that reads from another one goes."""
    return item.pos() + QPointF(NODE_WIDTH + GAP_X, 0.0)


def tooltip(scene: CanvasScene, point: QPointF, reach: float) -> str:
    """What to say about what is under the pointer, as rich text; empty for nothing."""
    port = scene.port_at(point, reach)
    if port is not None:
        item, side, index = port
        ends = item.face.inputs if side == "input" else item.face.outputs
        return _port_tip(ends[index], side)
    item_here = scene.node_at(point)
    if item_here is not None:
        return "<br>".join(filter(None, (_node_tip(item_here.face), _escape(scene.heat.words(item_here)))))
    edge = scene.edge_at(point, reach)
    if edge is None:
        return ""
    outputs = edge.source.face.outputs
    shape = outputs[edge.edge.top].shape if edge.edge.top < len(outputs) else ""
    phases = f"<br>only when {_escape(edge.phase)}" if edge.phase else ""
    return f"<b>{_escape(edge.edge.blob)}</b> {_escape(shape or 'shape unknown')}{phases}"


def _port_tip(port: Port, side: str) -> str:
    if side == "input":
        state = (
            f"reads <b>{_escape(port.blob)}</b>" if port.blob not in ("", "?") else "not connected: drag a wire here"
        )
        return f"{_escape(port.name or 'input')}: {state}"
    return f"<b>{_escape(port.blob)}</b> {_escape(port.shape or 'shape unknown')}<br>Drag to connect it."


def _node_tip(face: Face) -> str:
    lines = [f"<b>{_escape(face.title)}</b> &nbsp;{_escape(face.type)}"]
    if face.summary:
        lines.append(_escape(face.summary))
    mark = {"error": "Error", "warning": "Warning"}.get(face.severity, "")
    lines += [f"<b>{mark}:</b> {_escape(problem)}" for problem in face.problems[:4]]
    if face.reason and not face.problems:
        lines.append(f"<i>Shape unknown:</i> {_escape(face.reason)}")
    return "<br>".join(lines)


def _escape(text: str) -> str:
    return html.escape(breakable(text))
