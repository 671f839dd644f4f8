"""Moving the selection from node to node."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView
    from app.document import Document

__all__ = ["along_flow", "grow", "step"]

#: How much farther a node seems that lies aside of the direction asked for.
_ASIDE = 2.5


def along_flow(view: CanvasView, *, down: bool) -> None:
    """Select the next node along the flow, or the one before; the first of the net when none is selected.

    From a wire that is the layer at its end, or at its beginning.
    """
    folding, last = view.canvas.folding, view.document.selection.last
    here = folding.shown(last) if last is not None else None
    wire = view.canvas.edges.get(view.canvas.selected_edge) if view.canvas.selected_edge is not None else None
    if wire is not None:
        _select(view, wire.head if down else wire.tail)
        return
    if here is None:
        order = {node: place for place, node in enumerate(view.document.graph.node_ids())}
        _select(view, min(folding.items(), key=lambda item: order[item.ids[0]], default=None))
        return
    order = {node: place for place, node in enumerate(view.document.graph.node_ids())}
    wires = [edge for edge in here.edges if edge.isVisible()]
    if down:
        ahead = [(edge.out_port, order[edge.head.ids[0]], edge.head) for edge in wires if edge.tail is here]
    else:
        ahead = [(edge.in_port, order[edge.tail.ids[0]], edge.tail) for edge in wires if edge.head is here]
    _select(view, min(ahead, key=lambda each: each[:2])[2] if ahead else None)


def step(view: CanvasView, dx: int, dy: int, *, too: bool = False) -> bool:
    """Select the nearest node in a direction, the nearest to the middle when none is selected; tell if there is one.

    Parameters
    ----------
    dx, dy : int
        The direction: one of them 1 or -1, the other 0.
    too : bool
        Whether what is selected stays selected.
    """
    folding, last = view.canvas.folding, view.document.selection.last
    cards = folding.items()
    start = folding.shown(last) if last is not None else None
    if start is None:
        middle = view.visible_rect().center()
        far = {item: (item.scene_body().center() - middle).manhattanLength() for item in cards}
        return _select(view, min(far, key=far.__getitem__, default=None))
    here = start.scene_body().center()
    best: tuple[float, NodeItem] | None = None
    for item in cards:
        way = item.scene_body().center() - here
        ahead, aside = way.x() * dx + way.y() * dy, abs(way.x() * dy) + abs(way.y() * dx)
        if ahead <= 1.0 or item is start:
            continue
        found = ahead + _ASIDE * aside
        if best is None or found < best[0]:
            best = (found, item)
    return _select(view, best[1] if best is not None else None, too=too)


def grow(document: Document) -> None:
    """Select what is linked to the selection too."""
    graph, ids = document.graph, document.selection.node_ids
    near = {edge.target: None for each in ids for edge in graph.edges_out(each)}
    near.update({edge.source: None for each in ids for edge in graph.edges_in(each)})
    document.selection.set({**dict.fromkeys(ids), **near})


def _select(view: CanvasView, item: NodeItem | None, *, too: bool = False) -> bool:
    """Select what a card stands for, and show the card."""
    if item is None:
        return False
    if too:
        view.document.selection.add(item.ids)
    else:
        view.document.selection.set(item.ids)
    view.reveal_card(item)
    return True
