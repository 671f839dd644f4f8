"""Whether shapes would fit before a wire is let go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.blob import Shape
from engine.errors import LayerError, NetcanvasError
from engine.layer import Phase
from engine.shapes import LayerSpec, ShapeService

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["fit_problem"]


def fit_problem(document: Document, source: NodeId, top: int, target: NodeId, bottom: int) -> str:
    """Why the shape at an output does not suit an input, in one sentence; empty when it does or cannot be told.

    Only built-in layers are asked, by their own ``reshape`` on blobs without memory.
    """
    graph = document.graph
    node = graph.node(target)
    info = document.registry.info(node.type)
    offered = document.shapes.get(source)
    if info is None or not info.builtin or offered is None or top >= len(offered.tops):
        return ""
    known = document.shapes.get(target)
    shapes: list[Shape | None] = list(known.bottoms) if known is not None else [None] * len(node.bottoms)
    shapes += [None] * (bottom + 1 - len(shapes))
    shapes[bottom] = offered.tops[top]
    try:
        message = graph.layer_message(target)
    except NetcanvasError:
        return ""
    names = [*message.bottom, *["?"] * (bottom + 1 - len(message.bottom))]
    names[bottom] = graph.node(source).tops[top]
    if bottom < len(node.in_place) and node.in_place[bottom]:
        message.top[bottom] = names[bottom]
    del message.bottom[:]
    message.bottom.extend(names)
    inputs = {name: shape for name, shape in zip(names, shapes, strict=False) if shape is not None}
    if any(name not in inputs for name in names):
        return ""
    service = ShapeService(registry=document.registry)
    phase = Phase.TRAIN if "TRAIN" in node.phases else Phase.TEST
    found = service.infer([LayerSpec.of_message(target, message)], phase, inputs=inputs).get(target)
    error = found.error if found is not None else None
    if isinstance(error, LayerError):
        return f"{error.detail} {error.next_step}".strip()
    return error.message if error is not None else ""
