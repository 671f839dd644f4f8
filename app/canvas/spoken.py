"""A layer, a wire, a frame or a note in one sentence, for screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.live.shapes import shape_text

if TYPE_CHECKING:
    from app.document import Document
    from app.document.annotations import Annotation
    from engine.graph import Edge, NodeId

__all__ = ["spoken", "spoken_annotation", "spoken_wire"]


def spoken(document: Document, node_id: NodeId) -> str:
    """Return name, type, what a layer reads and writes, and what is wrong with it."""
    graph = document.graph
    node = graph.node(node_id)
    parts = [f"{node.name or 'no name'}, {node.type or 'no type'}"]
    if graph.is_bypassed(node_id):
        parts.append("bypassed")
    if graph.is_frozen(node_id):
        parts.append("frozen")
    if not document.in_view(node_id):
        parts.append(f"takes no part in {document.view.words}")
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


def spoken_wire(document: Document, edge: Edge, bend: int, bends: int) -> str:
    """Return what a wire carries from where to where, and which of its bends is selected.

    Parameters
    ----------
    bend : int
        The selected bend, -1 for none.
    bends : int
        How many there are.
    """
    source, target = document.graph.node(edge.source), document.graph.node(edge.target)
    known = document.shapes.get(edge.source)
    shape = known.tops[edge.top] if known is not None and edge.top < len(known.tops) else None
    blob = source.tops[edge.top] if edge.top < len(source.tops) else ""
    carried = blob if shape is None else f"{blob} {shape_text(shape)}"
    what = f"Bend {bend + 1} of {bends} of the wire" if bend >= 0 else "Wire"
    bent = f"; {bends} bend{'' if bends == 1 else 's'}" if bends and bend < 0 else ""
    return f"{what} from {source.name or 'no name'} to {target.name or 'no name'}; carries {carried}{bent}"


def spoken_annotation(value: Annotation) -> str:
    """Return what a frame or a note says."""
    return f"{value.kind.capitalize()}: {value.text or 'empty'}"
