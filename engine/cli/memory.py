"""What ``check`` says of nets that are too large for the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from engine.cli.measuring import memory_words, shape_words
from engine.cost import LayerCost, layer_cost, net_cost
from engine.diagnostics import Diagnostic
from engine.graph import Node, NodeId, OpGraph, Path
from engine.prototxt import Message
from engine.shapes import NodeShapes

__all__ = ["check_memory", "machine_memory"]

_SIZES = ("num_output", "num_axes", "batch_size", "dim")


def machine_memory() -> int:
    """Return the bytes of memory that this machine has, or 0 where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return 0


def check_memory(graph: OpGraph, shapes: Mapping[NodeId, NodeShapes], memory: int) -> Iterator[Diagnostic]:
    """Find a net that needs more memory than there is; told at the layer that needs most of it.

    Parameters
    ----------
    graph : OpGraph
        The net.
    shapes : mapping of NodeId to NodeShapes
        What is known of its layers; what is not counts as nothing.
    memory : int
        Bytes that there are; 0 where that is not known.
    """
    for phase in ("TRAIN", "TEST"):
        nodes = [node for node in graph.nodes() if node.id in shapes and phase in node.phases]
        costs = {node: layer_cost(node.type, shapes[node.id], node.in_place) for node in nodes}
        total = net_cost(costs.values())
        needed = total.training if phase == "TRAIN" and _learns(graph, nodes) else total.inference
        if memory and needed > memory:
            yield _told(graph, costs, shapes, needed, memory)
            return


def _learns(graph: OpGraph, nodes: list[Node]) -> bool:
    return any(node.type.endswith("Loss") or graph.count(node.id, ("loss_weight",)) for node in nodes)


def _told(
    graph: OpGraph,
    costs: Mapping[Node, LayerCost],
    shapes: Mapping[NodeId, NodeShapes],
    needed: int,
    memory: int,
) -> Diagnostic:
    node = max(costs, key=lambda each: net_cost([costs[each]]).training)
    params, tops = shapes[node.id].params, shapes[node.id].tops
    parts = [f"parameters of shape {shape_words(params[0])}"] if params else []
    parts += [f"a top of shape {shape_words(tops[0])}"] if tops and tops[0] is not None else []
    path = _size_of(graph, node)
    return Diagnostic(
        "memory",
        "warning",
        f"The net needs {memory_words(needed)} of memory, and this machine has {memory_words(memory)}. "
        f"{node.heading} ({node.type}) takes most of it: {' and '.join(parts)}.",
        *graph.place(node.id, path),
        node.id,
        path,
        f"Lower its {path[-1]}, or the batch size." if path else "Lower the batch size.",
    )


def _size_of(graph: OpGraph, node: Node) -> Path:
    """Return the path of the field that makes a layer as large as it is, where there is one."""
    for field in graph.message(node.id) if not node.virtual else ():
        if isinstance(field.value, Message):
            for name in _SIZES:
                if graph.count(node.id, (field.name, name)) == 1:
                    return (field.name, name)
    return ()
