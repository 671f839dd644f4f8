"""What the names in a text stand for: the layer, its blob, who makes it and who reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.graph import NodeId, OpGraph

__all__ = ["Named", "named_at", "places_of", "producer_of"]

_NAMED = re.compile(r"""(?<![\w])(name|bottom|top)\s*:\s*("[^"]*"|'[^']*')""")


@dataclass(frozen=True, slots=True)
class Named:
    """A name in the text.

    Attributes
    ----------
    kind : str
        ``name``, ``bottom`` or ``top``: the field it stands in.
    text : str
        The name.
    node : NodeId
        The layer whose field it is.
    """

    kind: str
    text: str
    node: NodeId


def named_at(graph: OpGraph, line_text: str, line: int, column: int) -> Named | None:
    """Return the name at a place, or None where no layer or blob is named.

    Parameters
    ----------
    line_text : str
        The text of the line.
    line, column : int
        The place: line from 1, column from 0.
    """
    node = graph.node_at(line)
    found = [match for match in _NAMED.finditer(line_text) if match.start() <= column <= match.end()]
    if node is None or not found:
        return None
    match = found[-1]
    return Named(match[1], match[2][1:-1], node)


def producer_of(graph: OpGraph, named: Named) -> tuple[NodeId, int] | None:
    """Return the layer that makes a blob for its reader, and which of its tops; None where nobody does."""
    if named.kind == "top":
        tops = graph.node(named.node).tops
        return (named.node, tops.index(named.text)) if named.text in tops else None
    bottoms = graph.node(named.node).bottoms
    for edge in graph.edges_in(named.node):
        if edge.blob == named.text and bottoms[edge.bottom] == named.text:
            return edge.source, edge.top
    writers = graph.writers(named.text)
    return (writers[0], graph.node(writers[0]).tops.index(named.text)) if writers else None


def places_of(graph: OpGraph, node: NodeId, top: int) -> list[tuple[int, int]]:
    """Return line and column, from 1, of every place that names the blob of a top, in order."""
    found = []
    for user, kind, index in graph.blob_family(node, top):
        found.append(graph.place(user, (kind, index)))
    return sorted(found)
