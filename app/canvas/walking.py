"""Moving the selection from node to node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.canvas.view import CanvasView
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["along_flow", "grow", "step"]

#: How much farther a node seems that lies aside of the direction asked for.
_ASIDE = 2.5


def along_flow(view: CanvasView, *, down: bool) -> None:
    """Select the next node along the flow, or the one before; the first of the net when none is selected."""
    graph, last = view.document.graph, view.document.selection.last
    if last is None:
        found = next((node.id for node in graph.nodes()), None)
    elif down:
        found = next((edge.target for edge in graph.edges_out(last)), None)
    else:
        found = next((edge.source for edge in graph.edges_in(last)), None)
    _select(view, found)


def step(view: CanvasView, dx: int, dy: int) -> bool:
    """Select the nearest node in a direction, the nearest to the middle when none is selected; tell if there is one.

    Parameters
    ----------
    dx, dy : int
        The direction: one of them 1 or -1, the other 0.
    """
    last = view.document.selection.last
    nodes = view.canvas.nodes
    if last is None or last not in nodes:
        middle = view.visible_rect().center()
        far = {key: (item.scene_body().center() - middle).manhattanLength() for key, item in nodes.items()}
        return _select(view, min(far, key=far.__getitem__, default=None))
    here = nodes[last].scene_body().center()
    best: tuple[float, NodeId] | None = None
    for key, item in nodes.items():
        way = item.scene_body().center() - here
        ahead, aside = way.x() * dx + way.y() * dy, abs(way.x() * dy) + abs(way.y() * dx)
        if ahead <= 1.0 or key == last:
            continue
        found = (ahead + _ASIDE * aside, key)
        best = found if best is None else min(best, found)
    return _select(view, best[1] if best is not None else None)


def grow(document: Document) -> None:
    """Select what is linked to the selection too."""
    graph, ids = document.graph, document.selection.node_ids
    near = {edge.target: None for each in ids for edge in graph.edges_out(each)}
    near.update({edge.source: None for each in ids for edge in graph.edges_in(each)})
    document.selection.set({**dict.fromkeys(ids), **near})


def _select(view: CanvasView, node_id: NodeId | None) -> bool:
    if node_id is None:
        return False
    view.document.selection.set([node_id])
    view.reveal(node_id)
    return True
