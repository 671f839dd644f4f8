"""What the layers of a net cost: counted from its shapes, in any thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.live.shapes import ABOUT, shape_text
from engine.cost import LayerCost, NetCost, layer_cost, net_cost

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Node, NodeId
    from engine.shapes import NodeShapes

__all__ = ["NUMBERS", "CostCount", "CostRow", "Inputs", "count_costs", "inputs_of"]

#: What is counted for each layer, in the order of the columns; the memory in bytes.
NUMBERS = ("parameters", "multiply_adds", "weights", "activations", "inference", "training")


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one layer costs.

    Attributes
    ----------
    node : NodeId
    place : int
        Its place in the document.
    name, type, output : str
        The output is the shape of the first top; empty where it is not known.
    numbers : tuple of int
        As :data:`NUMBERS` names them; empty where the shapes are not known.
    reason : str
        Why they are not; empty where they are.
    """

    node: NodeId
    place: int
    name: str
    type: str
    output: str
    numbers: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CostCount:
    """A counted net.

    Attributes
    ----------
    rows : tuple of CostRow
        In document order.
    totals : tuple of int
        As :data:`NUMBERS` names them; parameters that layers share count once.
    shared : int
        Values of parameters that are another layer's too.
    unknown : int
        Layers whose shapes are not known; the totals are without them.
    assumed : tuple of str
        Blobs whose shapes are assumed, because their data are not there, and on which costs rest.
    """

    rows: tuple[CostRow, ...] = ()
    totals: tuple[int, ...] = (0,) * len(NUMBERS)
    shared: int = 0
    unknown: int = 0
    assumed: tuple[str, ...] = ()


@dataclass(slots=True)
class _Held:
    node: Node
    shapes: NodeShapes | None
    row: CostRow
    cost: LayerCost | None


@dataclass(slots=True)
class Inputs:
    """What is counted, taken in the window's thread.

    Attributes
    ----------
    nodes : sequence of Node
        The layers that take part, in document order.
    shapes : mapping of NodeId to NodeShapes
    readers : mapping of NodeId to callable
        Return the LayerParameter of a layer that may share parameters; asked once.
    held, names : dict
        What was counted before; only one count at a time may use it.
    places : sequence of int
        Places of the layers in the document, where those that they tell may be out of date.
    """

    nodes: Sequence[Node]
    shapes: Mapping[NodeId, NodeShapes]
    readers: Mapping[NodeId, Callable[[], Any]]
    held: dict[NodeId, _Held] = field(default_factory=dict)
    names: dict[NodeId, tuple[str, ...]] = field(default_factory=dict)
    places: Sequence[int] | None = None


def inputs_of(document: Document, records: dict[NodeId, Node], last: Inputs, looked_at: set[NodeId]) -> Inputs:
    """Take from a document what is counted next.

    Parameters
    ----------
    records : dict
        What is known of the layers already, but for their places; those that are missing are added.
    last : Inputs
        Those of the count before.
    looked_at : set of NodeId
        Layers of which it is known whether they may share parameters; those that are new are added.
    """
    graph, shapes = document.graph, document.shapes
    if not records:
        records.update((node.id, node) for node in graph.nodes())
    nodes: list[Node] = []
    places: list[int] = []
    for place, node_id in enumerate(graph.node_ids()):
        if document.in_view(node_id):
            node = records.get(node_id) or records.setdefault(node_id, graph.node(node_id))
            if node.phases:  # what is bypassed is in no net
                nodes.append(node)
                places.append(place)
    readers = dict(last.readers)
    for node in nodes:
        known = shapes.get(node.id)
        if known is None or not known.params or node.id in looked_at:
            continue
        looked_at.add(node.id)
        text = graph.layer_text(node.id)
        if text.count("name") > 1 or (node.version < 2 and "param" in text):
            readers[node.id] = document.live.shaping.spec(node.id).message
    return Inputs(nodes, shapes, readers, last.held, last.names, places)


def count_costs(inputs: Inputs) -> CostCount:
    """Count what layers cost; those that are as they were the last time are not counted again."""
    rows: list[CostRow] = []
    costs: list[LayerCost] = []
    held = inputs.held
    places = inputs.places if inputs.places is not None else [node.ordinal for node in inputs.nodes]
    for node, place in zip(inputs.nodes, places, strict=True):
        shapes = inputs.shapes.get(node.id)
        known = held.get(node.id)
        if known is None or known.node != node or known.row.place != place or known.shapes != shapes:
            known = held[node.id] = _counted(node, place, shapes)
        rows.append(known.row)
        if known.cost is not None:
            costs.append(known.cost)
    for node_id, read in inputs.readers.items():
        inputs.names[node_id] = tuple(param.name for param in read().param)
    shared = _shared(inputs)
    told = (inputs.shapes.get(node.id) for node in inputs.nodes)
    assumed = tuple(dict.fromkeys(each.assumed for each in told if each is not None and each.assumed))
    return CostCount(tuple(rows), _numbers(net_cost(costs, shared)), shared, len(rows) - len(costs), assumed)


def _counted(node: Node, place: int, shapes: NodeShapes | None) -> _Held:
    if shapes is None or shapes.state == "unknown":
        reason = shapes.reason if shapes is not None else "Its shapes are not known yet."
        return _Held(node, shapes, CostRow(node.id, place, node.name, node.type, "", (), reason), None)
    cost = layer_cost(node.type, shapes, node.in_place)
    top = shapes.tops[0] if shapes.tops else None
    output = "" if top is None else f"{ABOUT if shapes.assumed else ''}{shape_text(top)}"
    row = CostRow(node.id, place, node.name, node.type, output, _numbers(net_cost([cost])), shapes.reason)
    return _Held(node, shapes, row, cost)


def _numbers(cost: NetCost) -> tuple[int, ...]:
    return tuple(getattr(cost, name) for name in NUMBERS)


def _shared(inputs: Inputs) -> int:
    """Count the values of parameters that an earlier layer, or its variant for another phase, has too.

    Layers share by the names of their parameters, and a test net has the weights of the layers of the training net
    that are called as its own (``Net::ShareTrainedLayersWith``).
    """
    seen: set[str] = set()
    phases: dict[str, set[str]] = {}
    shared = 0
    for node in inputs.nodes:
        shapes = inputs.shapes.get(node.id)
        if shapes is None or not shapes.params:
            continue
        before = phases.setdefault(node.name, set())
        is_variant = bool(before) and before.isdisjoint(node.phases)
        before.update(node.phases)
        names = inputs.names.get(node.id, ())
        if is_variant:
            shared += sum(map(math.prod, shapes.params))
            continue
        for name, shape in zip(names, shapes.params, strict=False):
            if name in seen:
                shared += math.prod(shape)
            elif name:
                seen.add(name)
    return shared
