"""Repeated parts of a net: the residual blocks, inception modules and stages that people see in it.

A net is cut where everything that flows passes through one layer. What lies between two cuts is a segment: one layer of
a chain, or all of a residual block. Segments, or short sequences of them, that follow each other and are built alike
are a repeat. Alike means: the same layers wired in the same way, whatever their names, widths and strides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.graph.records import Edge, Node, NodeId
from engine.graph.tandem import Item, Run, best_runs
from engine.prototxt import Message, Scalar

if TYPE_CHECKING:
    from engine.graph.opgraph import OpGraph

__all__ = ["LayerSketch", "Repeat", "find_repeats", "repeats_of", "sketch"]

# What may differ between layers that are built alike: widths, steps, and how they begin to learn.
_WIDTHS = frozenset(
    {"num_output", "pad", "pad_h", "pad_w", "pad_type", "engine", "weight_filler", "bias_filler", "filler"}
)
_STRIDES = frozenset({"stride", "stride_h", "stride_w"})
# No parameters of what a layer computes.
_OUTSIDE = frozenset({"param", "transform_param", "loss_param", "quantization_param"})
_SUMS = frozenset({"Eltwise"})
# A shortcut that is brought to the width of a sum is at most this many layers long.
_SHORTCUT = 4
# What is not on the main way is folded only where it is a good deal.
_FEWEST_BESIDE = 8
# Inputs from further above than this many groups are from somewhere else.
_NEAR = 24
_WITH_WEIGHTS = frozenset({"Convolution", "Deconvolution", "InnerProduct", "LSTM", "RNN"})


@dataclass(frozen=True, slots=True)
class LayerSketch:
    """What of a layer decides whether another one is built like it.

    Attributes
    ----------
    key : Hashable
        Type and parameters, without widths and strides.
    exact : Hashable
        The same with them.
    stride : int
        By how much the layer makes a picture smaller.
    """

    key: Hashable
    exact: Hashable
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Repeat:
    """Parts of a net that follow each other and are built alike.

    Attributes
    ----------
    units : tuple of tuple of NodeId
        The layers of each part, in document order; at least two parts.
    kind : str
        What such a part is called: ``residual block``, ``inception module``, ``dense layer``, ``stage``.
    alike : int
        How many parts are the same as most of the others to the last parameter.
    """

    units: tuple[tuple[NodeId, ...], ...]
    kind: str
    alike: int

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """All layers of all parts."""
        return tuple(node for unit in self.units for node in unit)


def repeats_of(graph: OpGraph) -> tuple[Repeat, ...]:
    """Return the repeated parts of a document, in document order."""
    nodes = graph.nodes()
    return find_repeats(nodes, graph.edges(), {node.id: sketch(node.type, graph.message(node.id)) for node in nodes})


def sketch(kind: str, message: Message) -> LayerSketch:
    """Read off a layer's text what of it counts.

    Parameters
    ----------
    kind : str
        Type of the layer.
    message : Message
        The layer in the tree.
    """
    rough: list[Hashable] = []
    fine: list[Hashable] = []
    stride = 1
    for field in message:
        if field.name.endswith("_param") and field.name not in _OUTSIDE and isinstance(field.value, Message):
            for inner in field.value:
                entry = (inner.name, _plain(inner.value))
                (fine if inner.name in _WIDTHS or inner.name in _STRIDES else rough).append(entry)
                if inner.name in _STRIDES and isinstance(inner.value, Scalar) and inner.value.text.isdigit():
                    stride = max(stride, int(inner.value.text))
    key = (kind, tuple(rough))
    return LayerSketch(key, (key, tuple(fine)), stride)


def _plain(value: object) -> Hashable:
    if isinstance(value, Scalar):
        return value.text
    if isinstance(value, Message):
        return tuple((field.name, _plain(field.value)) for field in value if field.name not in _WIDTHS)
    return str(value)


def find_repeats(
    nodes: Sequence[Node], edges: Iterable[Edge], sketches: Mapping[NodeId, LayerSketch]
) -> tuple[Repeat, ...]:
    """Return the repeated parts of a net, in document order. No layer is in two of them.

    The time grows with the size of the net, times the number of segments in the longest part that is looked for.

    Parameters
    ----------
    nodes : sequence of Node
        In document order, so that readers come after writers.
    edges : iterable of Edge
        The wires between them.
    sketches : mapping of NodeId to LayerSketch
        What each layer is; see :func:`sketch`.
    """
    groups = _Groups(nodes, edges)
    segments = [_Segment(groups, sketches, start, members) for start, members in groups.segments()]
    pieces = [segment.piece for segment in segments]
    found = [_repeat(run, pieces) for run in best_runs([piece.item for piece in pieces])]
    taken = {groups.place[node] for repeat in found for node in repeat.nodes}
    for stretch in groups.stretches(taken):
        chain = [_alone(groups, sketches, group) for group in stretch]
        found += [_repeat(run, chain) for run in best_runs([piece.item for piece in chain], _FEWEST_BESIDE)]
    return tuple(sorted(found, key=lambda repeat: groups.place[repeat.units[0][0]]))


@dataclass(frozen=True, slots=True)
class _Piece:
    """Layers that are looked at as one."""

    nodes: tuple[NodeId, ...]
    item: Item
    exact: Hashable
    kind: str


def _repeat(run: Run, pieces: Sequence[_Piece]) -> Repeat:
    units = [pieces[start : start + run.period] for start in run.starts]
    exact = [tuple(piece.exact for piece in unit) for unit in units]
    kind = units[0][-1].kind if run.period == 1 else "stage"
    nodes = tuple(tuple(node for piece in unit for node in piece.nodes) for unit in units)
    return Repeat(nodes, kind, max(exact.count(each) for each in exact))


def _alone(groups: _Groups, sketches: Mapping[NodeId, LayerSketch], group: int) -> _Piece:
    """Look at a group by itself: where it does not lie on the main way, what counts is how far above its inputs are."""
    nodes = groups.members[group]
    layers = [sketches[node.id] for node in nodes]
    inputs = tuple(group - above if group - above <= _NEAR else 0 for above in groups.inputs.get(group, ()))
    stride = max(layer.stride for layer in layers)
    item = Item(
        hash((tuple(layer.key for layer in layers), inputs)), len(nodes), 1, stride, nodes[0].type in _WITH_WEIGHTS
    )
    exact = (tuple(layer.exact for layer in layers), inputs)
    return _Piece(tuple(node.id for node in nodes), item, exact, nodes[0].type)


class _Groups:
    """Layers with what works on them in place, and the wires between such groups."""

    def __init__(self, nodes: Sequence[Node], edges: Iterable[Edge]) -> None:
        host: dict[NodeId, NodeId] = {}
        wires = list(edges)
        by_id = {node.id: node for node in nodes}
        for edge in wires:
            target = by_id[edge.target]
            if edge.bottom == 0 and any(target.in_place[:1]) and len(target.bottoms) == 1:
                host.setdefault(edge.target, edge.source)
        self.place: dict[NodeId, int] = {}
        self.members: list[list[Node]] = []
        for node in nodes:  # a host stands above what works on it
            above = self.place.get(host[node.id]) if node.id in host else None
            if above is None:
                above = len(self.members)
                self.members.append([])
            self.place[node.id] = above
            self.members[above].append(node)
        self.inputs: dict[int, dict[int, None]] = defaultdict(dict)
        outputs: dict[int, dict[int, None]] = defaultdict(dict)
        for edge in sorted(wires, key=lambda edge: edge.bottom):
            a, b = self.place[edge.source], self.place[edge.target]
            data_beside = edge.top > 0 and not by_id[edge.source].bottoms  # labels go round everything
            if a < b and not data_beside:
                self.inputs[b][a] = None
                outputs[a][b] = None
        self.outputs = outputs

    def segments(self) -> list[tuple[int, list[int]]]:
        """Return, for each two neighbouring cuts of the main way, the upper one and the groups down to the lower."""
        on_way = self._main_way()
        if not on_way:
            return []
        found: list[tuple[int, list[int]]] = []
        reach, cut = on_way[0], on_way[0]
        between: list[int] = []
        way = set(on_way)
        for group in on_way:
            if group != cut:
                between.append(group)
            if reach <= group:  # nothing goes past it
                if between:
                    found.append((cut, between))
                cut, between = group, []
            reach = max([reach, *(after for after in self.outputs[group] if after in way)])
        return found

    def stretches(self, taken: set[int]) -> list[list[int]]:
        """Return the groups that follow each other and are not taken."""
        found: list[list[int]] = [[]]
        for group in range(len(self.members)):
            if group not in taken:
                found[-1].append(group)
            elif found[-1]:
                found.append([])
        return found

    def _main_way(self) -> list[int]:
        """Return the groups between the source that reaches most and the deepest of what it reaches, in order."""
        count = len(self.members)
        depth = [0] * count
        source = [-1] * count
        for group in range(count):
            above = self.inputs.get(group)
            if not above:
                source[group] = group
                continue
            deepest = max(above, key=lambda each: depth[each])
            depth[group] = depth[deepest] + len(self.members[group])
            source[group] = source[deepest]
        if not count:
            return []
        end = max(range(count), key=lambda group: depth[group])
        start = source[end]
        down = {start}
        for group in range(start + 1, end + 1):
            if any(above in down for above in self.inputs.get(group, ())):
                down.add(group)
        up = {end}
        for group in range(end - 1, start - 1, -1):
            if any(after in up for after in self.outputs.get(group, ())):
                up.add(group)
        return sorted(down & up)


class _Segment:
    """What lies between two cuts, and what it is built like."""

    def __init__(
        self, groups: _Groups, sketches: Mapping[NodeId, LayerSketch], above: int, members: Sequence[int]
    ) -> None:
        inside = set(members)
        rough: dict[int, Hashable] = {above: "in"}
        fine: dict[int, Hashable] = {above: "in"}
        depth = {above: 0}
        stride = {above: 1}
        simple = {above: True}
        for group in members:
            inputs = [each for each in groups.inputs[group] if each in inside or each == above]
            layers = [sketches[node.id] for node in groups.members[group]]
            deepest = max(inputs, key=lambda each: depth[each])
            depth[group] = depth[deepest] + 1
            stride[group] = stride[deepest]
            for layer in layers:
                stride[group] *= layer.stride
            simple[group] = len(inputs) == 1 and simple[deepest]
            counted = [deepest] if self._is_residual(groups, group, inputs, depth, simple) else inputs
            rough[group] = hash((tuple(layer.key for layer in layers), tuple(rough[each] for each in counted)))
            fine[group] = hash((tuple(layer.exact for layer in layers), tuple(fine[each] for each in inputs)))
        last = members[-1]
        nodes = tuple(node.id for group in members for node in groups.members[group])
        heavy = any(groups.members[group][0].type in _WITH_WEIGHTS for group in members)
        self.piece = _Piece(
            nodes,
            Item(rough[last], len(nodes), len(members), stride[last], heavy),
            fine[last],
            self._kind(groups, above, members, depth, simple),
        )

    @staticmethod
    def _is_residual(
        groups: _Groups, group: int, inputs: Sequence[int], depth: Mapping[int, int], simple: Mapping[int, bool]
    ) -> bool:
        """Whether a group adds a way to a shortcut, which may have to be brought to its width."""
        if groups.members[group][0].type not in _SUMS or len(inputs) != 2:
            return False
        short = min(inputs, key=lambda each: depth[each])
        return simple[short] and depth[short] <= _SHORTCUT

    def _kind(
        self,
        groups: _Groups,
        above: int,
        members: Sequence[int],
        depth: Mapping[int, int],
        simple: Mapping[int, bool],
    ) -> str:
        if len(members) == 1:
            return groups.members[members[0]][0].type
        join = next(group for group in reversed(members) if len(groups.inputs[group]) > 1)
        inputs = list(groups.inputs[join])
        kind = groups.members[join][0].type
        if self._is_residual(groups, join, inputs, depth, simple):
            return "residual block"
        if kind == "Concat":
            return "dense layer" if len(inputs) == 2 and above in inputs else "inception module"
        return "block"
