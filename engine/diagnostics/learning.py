"""Rules about what a training run would learn, and whether its gradients are right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from engine.diagnostics.records import Diagnostic, QuickFix
from engine.graph import PHASES, UNWIRED, Node, NodeId, OpGraph, Path
from engine.in_place import Step, find_spoiled
from engine.prototxt import Scalar

__all__ = ["check_in_place", "check_loss_weight", "check_sharing", "destroying", "loss_weights", "shares"]

_KNOWN = ("known", "stale")
# Where the formats keep what belongs to a parameter: today's `param` blocks, and parallel lists before.
_TODAY = {"lr_mult": ("param", "lr_mult"), "decay_mult": ("param", "decay_mult")}
_BEFORE = {"lr_mult": ("blobs_lr",), "decay_mult": ("weight_decay",)}


# Losses


def loss_weights(graph: OpGraph, node: NodeId) -> list[float]:
    """Return the loss weights that a layer writes; what is no number counts as 0."""
    count = graph.count(node, ("loss_weight",))
    return [_number(graph.value(node, ("loss_weight", place))) or 0.0 for place in range(count)]


def check_loss_weight(graph: OpGraph, node: Node, fed: frozenset[str]) -> Iterator[Diagnostic]:
    """Find Python layers that look like a loss and weigh nothing; ``fed`` are the phases that the net is meant for."""
    if node.type != "Python" or not node.bottoms or not node.tops or "TRAIN" not in node.phases & fed:
        return
    if graph.count(node.id, ("loss_weight",)) or any("TRAIN" in edge.phases for edge in graph.edges_out(node.id)):
        return

    def weigh(target: OpGraph) -> None:
        target.set_field(node.id, ("loss_weight",), "1")

    yield Diagnostic(
        "loss-weight-missing",
        "warning",
        f"{node.heading} (Python) trains nothing: no layer reads its tops, and it has no loss_weight.",
        node.line,
        1,
        node.id,
        ("loss_weight",),
        "Write loss_weight: 1 if it is a loss.",
        QuickFix("Make it a loss of weight 1", weigh),
    )


# Parameters that layers share


def shares(graph: OpGraph, node: Node) -> bool:
    """Whether a layer names a parameter, as those do that share it."""
    return node.version > 0 and any(_param_names(graph, node))


def check_sharing(graph: OpGraph, nodes: Sequence[NodeId], shapes: Mapping[NodeId, Any]) -> Iterator[Diagnostic]:
    """Find layers that share a parameter, but disagree on ``lr_mult``, ``decay_mult`` or its shape.

    What only one of them writes counts for all, as in Caffe's ``Net::AppendParam``.
    """
    told: set[tuple[NodeId, Path]] = set()
    for phase in PHASES:
        written: dict[tuple[str, str], tuple[Node, str]] = {}
        sizes: dict[str, tuple[Node, tuple[int, ...]]] = {}
        for node in map(graph.node, nodes):
            if phase not in node.phases:
                continue
            for index, name in enumerate(_param_names(graph, node)):
                found = [*_disagreeing(graph, node, index, name, written)] if name else []
                found += _misfit(graph, node, index, name, sizes, shapes) if name else ()
                for each in found:
                    if (node.id, each.field) not in told:
                        told.add((node.id, each.field))
                        yield each


def _disagreeing(
    graph: OpGraph, node: Node, index: int, name: str, written: dict[tuple[str, str], tuple[Node, str]]
) -> Iterator[Diagnostic]:
    for field, (outer, *inner) in (_TODAY if node.version == 2 else _BEFORE).items():
        path: Path = (outer, index, *inner)
        text = graph.value(node.id, path)
        if text is None:
            continue
        owner, owned = written.setdefault((name, field), (node, text))
        if owner.id == node.id or _number(owned) == _number(text):
            continue

        def agree(target: OpGraph, path: Path = path, owned: str = owned) -> None:
            target.set_field(node.id, path, owned)

        yield Diagnostic(
            "param-conflict",
            "error",
            f"{node.heading}: shared parameter '{name}' has {field} {text} here, but {owned} in {owner.title} "
            f"(line {owner.line}).",
            *graph.place(node.id, path),
            node.id,
            path,
            "Write it in one of the two, or the same in both.",
            QuickFix(f"Make it {owned} here too", agree),
        )


def _misfit(
    graph: OpGraph,
    node: Node,
    index: int,
    name: str,
    sizes: dict[str, tuple[Node, tuple[int, ...]]],
    shapes: Mapping[NodeId, Any],
) -> Iterator[Diagnostic]:
    params = getattr(shapes.get(node.id), "params", ())
    if index >= len(params):
        return
    owner, expected = sizes.setdefault(name, (node, params[index]))
    shape = params[index]
    permissive = graph.value(node.id, _share_mode(node, index)) in ("PERMISSIVE", "1")
    same_count = math.prod(shape) == math.prod(expected)
    if shape == expected or (permissive and same_count):
        return
    path: Path = _share_mode(node, index)[:2]

    def permit(target: OpGraph) -> None:
        target.set_field(node.id, _share_mode(node, index), "PERMISSIVE")

    yield Diagnostic(
        "param-shape",
        "error",
        f"{node.heading}: shared parameter '{name}' has shape {shape} here, but {expected} in {owner.title} "
        f"(line {owner.line}).",
        *graph.place(node.id, path),
        node.id,
        path,
        "Give it a name of its own" + (", or set share_mode: PERMISSIVE." if same_count else "."),
        QuickFix("Share the values, whatever their shape", permit) if same_count else None,
    )


def _share_mode(node: Node, index: int) -> Path:
    return ("param", index, "share_mode") if node.version == 2 else ("blob_share_mode", index)


def _param_names(graph: OpGraph, node: Node) -> list[str]:
    """Return the name of each parameter that the layer says something of; empty for those without one."""
    steps: Path = ("name",) if node.version == 2 else ()
    values = [graph.field(node.id, ("param", index, *steps)) for index in range(graph.count(node.id, ("param",)))]
    return [value.as_str() if isinstance(value, Scalar) else "" for value in values]


# Layers in place


def destroying(nodes: Set[NodeId], shapes: Mapping[NodeId, Any]) -> set[NodeId]:
    """Return those of the nodes in place that leave less than they found."""
    if not shapes:
        return set()
    return {node for node in nodes if _fact(shapes, node, "in_place_leaves", "values") != "values"}


def check_in_place(
    graph: OpGraph, nodes: Sequence[NodeId], shapes: Mapping[NodeId, Any], losses: Set[NodeId]
) -> Iterator[Diagnostic]:
    """Find layers in place that destroy what a backward pass needs: their own, or that of a layer before them.

    ``nodes`` are those that are :func:`destroying`, in document order; ``losses`` those with a loss. What layers read
    and leave is told by themselves, through ``shapes``; the rule is that of nets that run.
    """
    gradients = _Gradients(graph, shapes, losses)
    for node_id in nodes:
        node = graph.node(node_id)
        if _fact(shapes, node_id, "spoils_itself", False) and gradients.passes(node_id):
            message = (
                f"{node.heading} ({node.type}) overwrites what it needs for its own gradient, as it does in Caffe."
            )
            yield _spoiled(graph, node, node.in_place.index(True), message)
    for blob in dict.fromkeys(blob for node_id in nodes for blob in _blobs_in_place(graph.node(node_id))):
        steps = [_step(graph, node, shapes, gradients) for node in graph.writers(blob)]
        wanted = (step for step in steps if "TRAIN" in graph.node(step.key).phases)
        for reader, writer, spoiled in find_spoiled(wanted):
            if spoiled == blob:
                before, node = graph.node(reader), graph.node(writer)
                message = (
                    f"{node.heading} ({node.type}) works in place on '{blob}', from which {before.title} "
                    f"({before.type}, line {before.line}) computes its gradient: it may come out wrong, as in Caffe."
                )
                yield _spoiled(graph, node, node.tops.index(blob), message)


def _step(graph: OpGraph, node_id: NodeId, shapes: Mapping[NodeId, Any], gradients: _Gradients) -> Step[NodeId]:
    node = graph.node(node_id)
    reads = _fact(shapes, node_id, "backward_reads", "")
    reads = reads if reads and gradients.passes(node_id) else ""
    # What is not known yet is not blamed.
    return Step(node_id, node.bottoms, node.tops, reads, _fact(shapes, node_id, "in_place_leaves", "values"))


def _spoiled(graph: OpGraph, node: Node, top: int, message: str) -> Diagnostic:
    def detach(target: OpGraph) -> None:
        target.detach(node.id, top)

    path: Path = ("top", top)
    step = "Give the top a name of its own."
    fix = QuickFix("Give the top a name of its own", detach)
    return Diagnostic("in-place-spoils", "warning", message, *graph.place(node.id, path), node.id, path, step, fix)


def _blobs_in_place(node: Node) -> list[str]:
    return [blob for blob, in_place in zip(node.tops, node.in_place, strict=True) if in_place and blob != UNWIRED]


def _fact(shapes: Mapping[NodeId, Any], node: NodeId, name: str, unknown: Any) -> Any:
    outcome = shapes.get(node)
    return getattr(outcome, name, unknown) if getattr(outcome, "state", "") in _KNOWN else unknown


class _Gradients:
    """Which layers a gradient passes through when training: from a loss, to a parameter that learns."""

    def __init__(self, graph: OpGraph, shapes: Mapping[NodeId, Any], losses: Set[NodeId]) -> None:
        self._graph = graph
        self._shapes = shapes
        self._losses = losses
        self._forced = graph.value(None, ("force_backward",)) in ("true", "True", "t", "1")

    def passes(self, node: NodeId) -> bool:
        """Whether a layer hands a gradient down."""
        return node in self._trained and (self._forced or node in self._learning)

    @cached_property
    def _trained(self) -> Set[NodeId]:
        """The layers that a loss depends on."""
        return self._spread(self._losses, down=False) | self._losses

    @cached_property
    def _learning(self) -> Set[NodeId]:
        """The layers below one that learns."""
        return self._spread({node for node in self._shapes if node in self._graph and self._learns(node)}, down=True)

    def _spread(self, starts: Set[NodeId], *, down: bool) -> set[NodeId]:
        """Return what is reached from some layers along the edges of training, down the net or up."""
        work, seen = list(starts), set[NodeId]()
        while work:
            node = work.pop()
            for edge in self._graph.edges_out(node) if down else self._graph.edges_in(node):
                beyond = edge.target if down else edge.source
                if "TRAIN" in edge.phases and beyond not in seen:
                    seen.add(beyond)
                    work.append(beyond)
        return seen

    def _learns(self, node: NodeId) -> bool:
        params = getattr(self._shapes.get(node), "params", ())
        outer, *inner = _TODAY["lr_mult"] if self._graph.node(node).version == 2 else _BEFORE["lr_mult"]
        rates = (_number(self._graph.value(node, (outer, index, *inner))) for index in range(len(params)))
        return any(rate is None or rate != 0 for rate in rates)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text.rstrip("fF"))
    except ValueError:
        return None
