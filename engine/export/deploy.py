"""A net for training and testing as a net that predicts, made as Caffe's users make one by hand.

Sources of data become Input layers, losses that take scores become the probabilities of these scores, and what only
compares with labels goes. Which layers stay is :mod:`engine.graph.deploy`'s to say. All else keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from engine.assumed import Assumed
from engine.errors import NetError
from engine.graph import UNWIRED, GraphView, Node, NodeId, OpGraph, View
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.paths import search_folders
from engine.prototxt import quote
from engine.registry import default_registry
from engine.shapes import ShapeService, graph_layers

__all__ = ["Given", "Shape", "UnknownInputError", "made_outputs", "to_deploy"]

Shape = tuple[int, ...]
Given = tuple[str, Shape]  # the blob, or an empty name for the next of those that are not named

#: Losses that compute probabilities of their scores, with the layer that does so alone.
_PROBABILITIES: Mapping[str, str] = MappingProxyType(
    {"SoftmaxWithLoss": "Softmax", "InfogainLoss": "Softmax", "SigmoidCrossEntropyLoss": "Sigmoid"}
)
_KEPT_OF_LOSSES = frozenset({"name", "type", "bottom", "top", "softmax_param", "sigmoid_param"})
_RULES = ("include", "exclude")
_TRANSFORM = "transform_param"
_STEPS = ("scale", "mean_file", "mean_value", "crop_size")


class UnknownInputError(NetError):
    """The shape of an input of a deploy net is neither given nor known.

    Attributes
    ----------
    layer : str
        Name of the layer that gives it.
    """

    def __init__(self, message: str, next_step: str, layer: str) -> None:
        super().__init__(message, next_step=next_step)
        self.layer = layer


def to_deploy(
    graph: OpGraph, folder: Path, view: View, shapes: Sequence[Given] = (), assumed: Assumed | None = None
) -> list[str]:
    """Turn a net into one that predicts, and say what was changed, a sentence each.

    Parameters
    ----------
    graph : OpGraph
        The net in today's format; it is changed.
    folder : Path
        The net's, from which its sources of data are looked for.
    view : View
        Of the deploy net, with level and stages.
    shapes : sequence of (blob, shape)
        Of the inputs, where they shall not be those of the data; those without a name are for the others, in order.
    assumed : mapping of blob to shape, optional
        What is assumed where the data are not there; see :mod:`engine.assumed`.

    Raises
    ------
    UnknownInputError
        If the shape of an input is neither given nor known.
    NetError
        If something that is left reads what nothing gives.
    """
    look = graph.look(view)
    told: list[str] = []
    with graph.change("deploy"):
        if look.derived:
            inputs = _input_tops(graph, look)
            kept = frozenset({*look.node_ids(), *inputs})
            told += _fill_inputs(graph, inputs, _shapes_of(graph, inputs, folder, shapes, assumed or {}))
            heads, sentences = _give_probabilities(graph, kept)
            told += [*sentences, *_remove(graph, kept | heads)]
        else:
            told += _remove(graph, frozenset(look.node_ids()))
        _clear_rules(graph)
        _check_wired(graph)
    return told


# Inputs


def _input_tops(graph: OpGraph, look: GraphView) -> dict[NodeId, list[int]]:
    """Return what stands for the input: where the net has no data to test with, that to train with."""
    found: dict[NodeId, list[int]] = {}
    for node, top in look.inputs():
        found.setdefault(node, []).append(top)
    for reader, bottom in look.loose():
        blob = graph.node(reader).bottoms[bottom]
        sources = [node for node in map(graph.node, graph.writers(blob)) if not node.bottoms and node.id not in look]
        if sources:
            tops = found.setdefault(sources[-1].id, [])
            tops += [top for top in [sources[-1].tops.index(blob)] if top not in tops]
    return {node: sorted(tops) for node, tops in found.items()}


def _check_wired(graph: OpGraph) -> None:
    for node in graph.nodes():
        for bottom, name in enumerate(node.bottoms):
            if name == UNWIRED or not graph.edges_in(node.id):
                raise NetError(
                    f"{node.heading} ({node.type}), bottom {bottom}: nothing gives it its data in the deploy net.",
                    next_step="Add data for phase TEST to the net, or choose a stage with --stage.",
                )


def _shapes_of(
    graph: OpGraph, inputs: Mapping[NodeId, Sequence[int]], folder: Path, given: Sequence[Given], assumed: Assumed
) -> dict[tuple[NodeId, int], Shape]:
    """Return the shapes of the inputs that are no Input layers yet: those given, then those of the data."""
    wanted = [
        (node, top)
        for node, tops in inputs.items()
        if not graph.node(node).virtual and (given or graph.node(node).type != "Input")
        for top in tops
    ]
    named = {name: shape for name, shape in given if name}
    found = {slot: named.pop(blob) for slot in wanted if (blob := graph.node(slot[0]).tops[slot[1]]) in named}
    others = [slot for slot in wanted if slot not in found]
    unnamed = [shape for name, shape in given if not name]
    if named or len(unnamed) > len(others):
        have = ", ".join(f"'{graph.node(node).tops[top]}'" for node, top in wanted) or "none"
        raise NetError(
            f"The deploy net: expected at most {len(wanted)} input shapes, got {len(given)}; its inputs are {have}."
            if not named
            else f"The deploy net: it has no input {', '.join(map(repr, named))}; its inputs are {have}.",
            next_step="Give --input-shape once for each of them.",
        )
    found |= dict(zip(others, unnamed, strict=False))
    if len(found) < len(wanted):
        found = {**_data_shapes(graph, wanted, folder, assumed), **found}
    for node, top in wanted:
        if (node, top) not in found:
            layer = graph.node(node)
            raise UnknownInputError(
                f"{layer.heading} ({layer.type}): the shape of '{layer.tops[top]}' is not known, since its data cannot "
                "be looked at here.",
                "Give it, as in --input-shape 1,3,224,224, once for each input, or put the data there.",
                layer.name,
            )
    return found


def _data_shapes(
    graph: OpGraph, wanted: Sequence[tuple[NodeId, int]], folder: Path, assumed: Assumed
) -> dict[tuple[NodeId, int], Shape]:
    """Return what the sources of data say of their tops; they are opened in a process of their own."""
    folders = search_folders(folder)
    members = {node for node, _ in wanted}
    with InspectionClient() as client:
        service = ShapeService(registry=default_registry(folders, trusted=False), client=client)
        outcomes = service.infer(
            graph_layers(graph), Phase.TEST, base_dirs=folders, trusted=False, assumed=assumed, members=members
        )
    found = {}
    for node, top in wanted:
        tops = outcomes[node].tops if node in outcomes else ()
        shape = tops[top] if top < len(tops) else None
        if shape is not None:
            found[node, top] = shape
    return found


def _fill_inputs(
    graph: OpGraph, inputs: Mapping[NodeId, Sequence[int]], shapes: Mapping[tuple[NodeId, int], Shape]
) -> list[str]:
    """Make sources of data Input layers of the same tops, without those that are labels."""
    told = []
    for node_id, tops in inputs.items():
        node = graph.node(node_id)
        done = [f"{name} {graph.value(node_id, (_TRANSFORM, name))}" for name in _steps(graph, node_id)]
        for top in reversed(range(len(node.tops))):
            if top not in tops and not node.virtual:
                graph.clear_field(node_id, ("top", top))
        written = [shapes[node_id, top] for top in tops if (node_id, top) in shapes]
        if not written:
            continue
        _keep_fields(graph, node_id, frozenset({"name", "type", "top"}))
        graph.set_string(node_id, ("type",), "Input")
        for index, shape in enumerate(written):
            dims = " ".join(f"dim: {dim}" for dim in shape)
            graph.set_field(node_id, ("input_param", "shape", index), f"{{ {dims} }}")
        gone = [name for top, name in enumerate(node.tops) if top not in tops]
        names = " and ".join(f"'{node.tops[top]}' {_sized(shapes[node_id, top])}" for top in tops)
        without = f", without {' and '.join(map(repr, gone))}" if gone else ""
        told.append(f"{node.heading} ({node.type}) is an Input layer now: {names}{without}.")
        if done:
            told.append(f"What it did to the data is for your program to do: {', '.join(done)}.")
    return told


def _steps(graph: OpGraph, node: NodeId) -> list[str]:
    """Return the names of what a layer does to its data, but for what belongs to training."""
    return [name for name in _STEPS if graph.value(node, (_TRANSFORM, name)) is not None]


def _sized(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "1"


# Outputs


def _give_probabilities(graph: OpGraph, kept: frozenset[NodeId]) -> tuple[frozenset[NodeId], list[str]]:
    """Make each loss that takes scores of the net the probabilities of these scores, once for each blob of scores."""
    made: list[NodeId] = []
    told: list[str] = []
    for node, kind in _heads(graph, kept):
        axis = graph.value(node.id, ("infogain_loss_param", "axis"))
        name = _fresh(graph, "prob")
        _keep_fields(graph, node.id, _KEPT_OF_LOSSES)
        for bottom in reversed(range(1, len(node.bottoms))):
            graph.clear_field(node.id, ("bottom", bottom))
        graph.clear_field(node.id, ("top",))
        graph.set_string(node.id, ("name",), name)
        graph.set_string(node.id, ("type",), kind)
        graph.append_field(node.id, ("top",), quote(name))
        if axis is not None:
            graph.set_field(node.id, ("softmax_param", "axis"), axis)
        made.append(node.id)
        told.append(f"{node.heading} ({node.type}) is {kind} '{name}' of '{node.bottoms[0]}' now.")
    if len(made) > 1:
        told.append(f"The net has {len(made)} outputs of probabilities; remove those of auxiliary losses by hand.")
    return frozenset(made), told


def _heads(graph: OpGraph, kept: frozenset[NodeId]) -> list[tuple[Node, str]]:
    """Return the losses that become probabilities of scores of the net, and what types of layers then."""
    found: list[tuple[Node, str]] = []
    done = {(node.type, node.bottoms[:1]) for node in map(graph.node, kept)}
    for node in graph.nodes():
        kind = _PROBABILITIES.get(node.type)
        if kind is None or node.id in kept or not node.bottoms or (kind, node.bottoms[:1]) in done:
            continue
        if any(edge.bottom == 0 and edge.source in kept for edge in graph.edges_in(node.id)):
            done.add((kind, node.bottoms[:1]))
            found.append((node, kind))
    return found


def made_outputs(graph: OpGraph, view: View) -> list[str]:
    """Say which outputs :func:`to_deploy` would make that a view of the same net, as it is written, does not have."""
    look = graph.look(view)
    if not look.derived:
        return []
    kept = frozenset({*look.node_ids(), *_input_tops(graph, look)})
    return [
        f"{kind} of '{node.bottoms[0]}' in place of '{node.name}' ({node.type})" for node, kind in _heads(graph, kept)
    ]


def _fresh(graph: OpGraph, base: str) -> str:
    """Return a name that no layer and no blob has."""
    taken = {*graph.blobs(), *(node.name for node in graph.nodes())}
    names = (base if number == 1 else f"{base}{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


# All else


def _remove(graph: OpGraph, kept: frozenset[NodeId]) -> list[str]:
    doomed = [node for node in graph.nodes() if node.id not in kept]
    if doomed:
        graph.remove_nodes([node.id for node in doomed])
    return [f"{node.heading} ({node.type}, line {node.line}) is gone." for node in doomed]


def _keep_fields(graph: OpGraph, node: NodeId, names: frozenset[str]) -> None:
    """Clear the fields of a layer but for some."""
    for name in dict.fromkeys(field.name for field in graph.message(node)):
        if name not in names:
            graph.clear_field(node, (name,))


def _clear_rules(graph: OpGraph) -> None:
    """Take away rules, which a net for one use has no need of, and the net's own state."""
    for node in graph.nodes():
        if not node.virtual:
            for rule in _RULES:
                graph.clear_field(node.id, (rule,))
    graph.clear_field(None, ("state",))
