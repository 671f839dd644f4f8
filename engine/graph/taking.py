"""Taking one layer of a document over from another."""

from __future__ import annotations

from collections.abc import Iterable

from engine.errors import GraphError
from engine.graph.merging import Part, join_parts, split_parts
from engine.graph.opgraph import OpGraph
from engine.graph.records import Node

__all__ = ["take_over"]


def take_over(
    mine: OpGraph, theirs: OpGraph, pairs: Iterable[tuple[Node, Node]], their_node: Node | None, my_node: Node | None
) -> bytes:
    """Return the text of a document in which one layer is what it is in another.

    Parameters
    ----------
    mine, theirs : OpGraph
        The document, and the other.
    pairs : iterable of (Node, Node)
        The layers that both have, those of ``theirs`` first; see :class:`engine.graph.comparing.Difference`.
    their_node, my_node : Node or None
        The layer. None for ``their_node`` removes it here, None for ``my_node`` adds it here, behind what it stands
        behind there.

    Raises
    ------
    GraphError
        When the layer stands for the net's own inputs, or is written in another of Caffe's formats.
    """
    head, parts, tail = split_parts(mine)
    _their_head, their_parts, _their_tail = split_parts(theirs)
    text = next((part.text for part in their_parts if part.node == their_node), "") if their_node is not None else ""
    versions = {part.node.version for part in parts if part.node is not None}
    if their_node is not None and (not text or (versions and their_node.version not in versions)):
        raise GraphError(
            f"{their_node.heading} of the other net cannot be taken over as it is written there.",
            next_step="Upgrade both nets to today's format first ('netcanvas upgrade').",
        )
    if my_node is not None:
        place = next((index for index, part in enumerate(parts) if part.node == my_node), None)
        if place is None:
            raise GraphError(f"{my_node.heading} stands for the net's own inputs.", next_step="Edit them in the text.")
        if their_node is None:
            del parts[place]
        else:
            parts[place] = Part(my_node, text)
    elif their_node is not None:
        parts.insert(_place(parts, their_parts, dict(pairs), their_node), Part(None, text))
    return join_parts(head, [part.text for part in parts], tail).encode("utf-8", "surrogateescape")


def _place(parts: list[Part], theirs: list[Part], pairs: dict[Node, Node], node: Node) -> int:
    """Return where a layer belongs: behind the nearest layer above it there that is here too."""
    places = {part.node: index for index, part in enumerate(parts)}
    place = 0
    for part in theirs:
        if part.node == node:
            break
        mine = pairs.get(part.node) if part.node is not None else None
        if mine in places:
            place = places[mine] + 1
    return place
