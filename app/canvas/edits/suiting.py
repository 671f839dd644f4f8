"""Which layer types suit a port, and which of them are likely meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from app.canvas.edits.insert import Origin
from app.palette.starters import starter_fields
from engine.graph import OpGraph
from engine.layer import Phase

if TYPE_CHECKING:
    from app.document import Document
    from engine.blob import Shape
    from engine.graph import NodeId
    from engine.registry import LayerInfo, LayerRegistry

__all__ = ["Suiting", "usage"]

I = TypeVar("I", bound="LayerInfo")  # noqa: E741

#: A type that refuses this too lacks a setting, and it is not the shape that it refuses.
_PLAIN: Shape = (4, 8, 32, 32)
#: What layers give whose outputs are rows of numbers, whatever they read.
_ROWS: Shape = (4, 8)
_FLAT = frozenset({"Embed", "Flatten", "InnerProduct"})
#: These take blobs without spatial axes, as Caffe's do, where their window is of no use: nobody means them there.
_WINDOWED = frozenset({"Convolution", "Deconvolution", "Im2col", "LRN", "Pooling", "SPP"})
_WITH_PLACES = 3  # axes
_USED, _FOLLOWED = 1.0, 4.0
#: Some layers comment on fillers, which do not matter here.
_FILLER = re.compile(r"weight_filler \{[^}]*\}")


class Suiting:
    """Asks the layers themselves, by their ``reshape`` on blobs without memory, and remembers what they said.

    Only built-in layers with one input are asked; all others suit where they have a port on the right side.
    """

    def __init__(self, registry: LayerRegistry) -> None:
        self._registry = registry
        self._refusing: dict[Shape, frozenset[str]] = {}

    def prepare(self) -> None:
        """Ask about a common shape, which loads the layers' code; may run in a thread."""
        self._refused(_PLAIN)

    def fitting(self, document: Document, infos: Sequence[I], origin: Origin) -> tuple[I, ...]:
        """Return the types that can be wired to a port: by their ports, and to an output by its shape."""
        if origin.side != "output":
            return tuple(info for info in infos if info.max_tops is None or info.max_tops > 0)
        found = tuple(info for info in infos if info.max_bottoms is None or info.max_bottoms > 0)
        known = document.shapes.get(origin.node)
        shape = known.tops[origin.index] if known is not None and origin.index < len(known.tops) else None
        if shape is None and document.graph.node(origin.node).type in _FLAT:
            shape = _ROWS  # how many numbers an item has does not matter for what takes them
        if shape is None:
            return found
        refused = self._refused(shape) - self._refused(_PLAIN)
        if len(shape) < _WITH_PLACES:
            refused |= _WINDOWED
        return tuple(info for info in found if info.type not in refused)

    def _refused(self, shape: Shape) -> frozenset[str]:
        if shape not in self._refusing:
            asked = (info for info in self._registry.infos() if info.builtin and info.min_bottoms <= 1)
            names = [info.type for info in asked if info.max_bottoms != 0 and not self._takes(info, shape)]
            self._refusing[shape] = frozenset(names)
        return self._refusing[shape]

    def _takes(self, info: LayerInfo, shape: Shape) -> bool:
        from engine.shapes import LayerSpec, ShapeService  # with numpy behind it, and needed only now

        tops = "".join(f' top: "out{index}"' for index in range(max(1, info.min_tops)))
        fields = _FILLER.sub("", starter_fields(info.type) or "")
        graph = OpGraph.parse(f'layer {{ name: "new" type: "{info.type}" bottom: "in"{tops} {fields} }}')
        node = graph.nodes()[0].id
        try:
            spec = LayerSpec.of_message(node, graph.layer_message(node))
        except Exception:  # what cannot even be read is not refused for its shape
            return True
        service = ShapeService(registry=self._registry)
        found = service.infer([spec], Phase.TRAIN, inputs={"in": shape}).get(node)
        return found is None or found.error is None


def usage(document: Document, after: str | None = None) -> dict[str, float]:
    """Weigh types by how often the net has them, and more by how often they follow a type there.

    Parameters
    ----------
    after : str, optional
        Type of the layer that the new one will read.
    """
    graph = document.graph
    types = {node.id: node.type for node in graph.nodes()}
    weights = {kind: _USED * count for kind, count in Counter(types.values()).items()}
    followed = _followers(graph, types, after) if after is not None else ()
    for kind, count in Counter(followed).items():
        weights[kind] += _FOLLOWED * count
    return weights


def _followers(graph: OpGraph, types: Mapping[NodeId, str], after: str) -> Iterable[str]:
    pairs = {(edge.source, edge.target) for edge in graph.edges() if types.get(edge.source) == after}
    return [types[target] for _source, target in pairs]
