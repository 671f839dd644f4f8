"""The names under which layers of a net share parameters."""

from __future__ import annotations

from engine.graph import OpGraph
from engine.prototxt import Scalar

__all__ = ["shared_names"]


def shared_names(graph: OpGraph) -> dict[str, list[str]]:
    """Return the names of parameters in a net, in file order, with the names of the layers that have them."""
    found: dict[str, list[str]] = {}
    for node in graph.nodes():
        if node.virtual or "param" not in graph.layer_text(node.id):
            continue
        steps: tuple[str, ...] = ("name",) if node.version == 2 else ()
        for index in range(graph.count(node.id, ("param",))):
            value = graph.field(node.id, ("param", index, *steps))
            name = value.as_str() if isinstance(value, Scalar) else ""
            if name and node.name not in found.setdefault(name, []):
                found[name].append(node.name)
    return found
