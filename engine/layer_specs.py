"""Layers of a document as :class:`engine.shapes.ShapeService` takes them: snapshots that another thread may read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from engine import prototxt
from engine.errors import NetError
from engine.net.prepare import inputs_to_layers
from engine.schema import Schema, to_message
from engine.schema.upgrade import upgrade_layer

__all__ = ["LayerSpec", "graph_layers"]

# Characters from which on a layer is looked at for what makes it so long.
_LONG = 10_000
_INPUT_FIELDS = ("input", "input_shape", "input_dim")


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """One layer.

    Attributes
    ----------
    node_id : hashable
        Under which its shapes are returned.
    text : str
        All that the layer's message says; equal texts mean equal messages.
    name, type : str
        As in the message.
    bottoms, tops : tuple of str
        Blob names.
    message : callable
        Returns the LayerParameter; called only for layers that were not seen before, with the schema to read them by
        where plugins add to it.
    phases : frozenset of str or None
        Names of the phases that the layer takes part in; None to read its include rules.
    """

    node_id: Hashable
    text: str
    name: str
    type: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]
    message: Callable[..., Any]
    phases: frozenset[str] | None = None

    @classmethod
    def of_message(cls, node_id: Hashable, message: Any) -> LayerSpec:
        """Describe a LayerParameter."""
        text = message.SerializeToString(deterministic=True).hex()
        bottoms, tops = tuple(message.bottom), tuple(message.top)
        return cls(node_id, text, message.name, message.type, bottoms, tops, lambda schema=None: message)


class _Graph(Protocol):
    """What :func:`graph_layers` needs of :class:`engine.graph.OpGraph`."""

    def nodes(self) -> Sequence[Any]: ...

    def layer_text(self, node: Any, /) -> str: ...

    def layer_message(self, node: Any, /) -> Any: ...

    def message(self, node: Any, /) -> prototxt.Message: ...


def graph_layers(graph: _Graph) -> list[LayerSpec]:
    """Describe the layers of a document, in its order.

    The graph is read now and not later: what is returned may go to another thread.

    Parameters
    ----------
    graph : OpGraph
        The document.
    """
    specs = []
    for node in graph.nodes():
        read: Callable[..., Any]
        if node.virtual:
            text, read = _input_text(graph.message(None)), _read_inputs
        elif node.version == 2:
            text, read = _without_blobs(graph, node.id, "layer"), _read_layer
        elif node.version == 1:
            text, read = _without_blobs(graph, node.id, "layers"), partial(_read_old_layer, node.type)
        else:  # padding layers belong to those that follow them
            spec = LayerSpec.of_message(node.id, graph.layer_message(node.id))
            specs.append(replace(spec, phases=node.phases))
            continue
        specs.append(
            LayerSpec(node.id, text, node.name, node.type, node.bottoms, node.tops, partial(read, text), node.phases)
        )
    return specs


def _without_blobs(graph: _Graph, node: Any, block: str) -> str:
    """Return a layer's text; if it is long, without the values of parameters that are stored in it."""
    text = graph.layer_text(node)
    if len(text) < _LONG:
        return text
    kept = (item.text for item in graph.message(node).items if getattr(item, "name", "") != "blobs")
    return f"{block} {{ {''.join(kept)}\n}}"


def _input_text(root: prototxt.Message) -> str:
    return "".join(field.text for name in _INPUT_FIELDS for field in root.fields(name))


def _read_layer(text: str, schema: Schema | None = None) -> Any:
    return to_message(_block(text, "layer"), "LayerParameter", schema=schema)


def _read_old_layer(layer_type: str, text: str, schema: Schema | None = None) -> Any:
    """Return a layer of the format V1 as one of today, of a type as the document takes it."""
    layer = to_message(prototxt.Message(), "LayerParameter", schema=schema)
    upgrade_layer(to_message(_block(text, "layers"), "V1LayerParameter", schema=schema), layer)
    layer.type = layer_type
    return layer


def _block(text: str, name: str) -> prototxt.Message:
    field = prototxt.parse(text).root.get(name)
    if field is None or field.message is None:
        raise NetError("The layer's text cannot be read.", next_step="See the problems list.")
    return field.message


def _read_inputs(text: str, schema: Schema | None = None) -> Any:
    net = to_message(prototxt.parse(text).root, "NetParameter", schema=schema)
    return inputs_to_layers(net).layer[0]
