"""A layer in one sentence, for screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.live.shapes import shape_text

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["spoken"]


def spoken(document: Document, node_id: NodeId) -> str:
    """Return name, type, what a layer reads and writes, and what is wrong with it."""
    graph = document.graph
    node = graph.node(node_id)
    parts = [f"{node.name or 'no name'}, {node.type or 'no type'}"]
    if graph.is_bypassed(node_id):
        parts.append("bypassed")
    if graph.is_frozen(node_id):
        parts.append("frozen")
    if len(node.phases) == 1:
        parts.append(f"{next(iter(node.phases))} only")
    if node.bottoms:
        names = ["not connected" if name == "?" else name for name in node.bottoms]
        parts.append(f"reads {', '.join(names)}")
    if node.tops:
        known = document.shapes.get(node_id)
        shapes = known.tops if known is not None else ()
        written = []
        for top, blob in enumerate(node.tops):
            shape = shapes[top] if top < len(shapes) else None
            written.append(blob if shape is None else f"{blob} {shape_text(shape)}")
        parts.append(f"writes {', '.join(written)}")
    severity, problems = document.problems_of(node_id)
    if problems:
        parts.append(f"{severity}: {problems[0]}")
    return "; ".join(parts)
