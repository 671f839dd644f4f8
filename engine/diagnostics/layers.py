"""Rules about layers and the net as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import Any, Protocol

from engine.diagnostics.dialects import name_type, origin_of_type
from engine.diagnostics.records import Diagnostic, QuickFix
from engine.graph import Node, NodeId, OpGraph, upgraded_text
from engine.schema import is_caffe_type
from engine.schema.upgrade import PADDING

__all__ = [
    "NOT_OFFERED",
    "TypeRegistry",
    "check_formats",
    "check_layer",
    "check_loss",
    "has_loss",
    "is_data",
    "one_of_a_type",
]

#: Code of what is told once of a type, and not of each layer.
NOT_OFFERED = "type-not-offered"

_NAMED = 3
# Caffe's types that have weights, or may have.
_LEARNING = frozenset(
    {"BatchNorm", "Bias", "Convolution", "Deconvolution", "Embed", "InnerProduct", "LSTM", "PReLU", "Parameter"}
    | {"Python", "RNN", "Recurrent", "Scale"}
)


class TypeRegistry(Protocol):
    """What the rules ask a registry of layer types."""

    def types(self) -> tuple[str, ...]:
        """All known types."""
        ...

    def closest(self, layer_type: str) -> str | None:
        """The known type that looks most like ``layer_type``."""
        ...


def check_layer(graph: OpGraph, node: Node, registry: TypeRegistry | None, known: Set[str]) -> Iterator[Diagnostic]:
    """Find an unknown type, a wrong number of ports, a name used twice, and rules that exclude each other."""
    if node.virtual:
        return
    if registry is not None and node.type not in known:
        yield _unknown_type(graph, node, registry)
    elif registry is not None:
        yield from _check_ports(node, getattr(registry, "info", lambda _: None)(node.type))
    yield from _check_name(graph, node)
    yield from _check_padding(graph, node)
    if graph.count(node.id, ("include",)) and graph.count(node.id, ("exclude",)):
        yield Diagnostic(
            "rule-both",
            "error",
            f"{node.heading} has include and exclude rules; a layer may have one kind.",
            *graph.place(node.id, ("exclude",)),
            node.id,
            ("exclude",),
            "Remove one of the two kinds.",
        )


def _unknown_type(graph: OpGraph, node: Node, registry: TypeRegistry) -> Diagnostic:
    path = ("layer", "type") if node.version == 0 else ("type",)
    line, column = graph.place(node.id, path)
    if not node.type:
        message, step = f"{node.heading} has no type.", "Give it one."
        return Diagnostic("type-missing", "error", message, line, column, node.id, path, step)
    if is_caffe_type(node.type) or origin_of_type(node.type):
        message = f"{node.heading}: {name_type(node.type)} is not offered yet."
        step = "Write it as a Python layer."
        return Diagnostic(NOT_OFFERED, "error", message, line, column, node.id, path, step)
    closest = registry.closest(node.type)
    fix = None
    if closest and node.version == 2:

        def correct(target: OpGraph) -> None:
            target.set_string(node.id, path, closest)

        fix = QuickFix(f"Make it '{closest}'", correct)
    return Diagnostic(
        "type-unknown",
        "error",
        f"{node.heading}: no layer type '{node.type}' is known.",
        line,
        column,
        node.id,
        path,
        f"Did you mean '{closest}'?" if closest else "Add a plugin that provides it.",
        fix,
    )


def one_of_a_type(graph: OpGraph, found: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Say once of each type that it is not offered, however many layers are of it."""
    by_type: dict[str, list[tuple[Node, Diagnostic]]] = {}
    for each in found:
        if each.node is not None:
            node = graph.node(each.node)
            by_type.setdefault(node.type, []).append((node, each))
    for layer_type, members in by_type.items():
        first = members[0][1]
        if len(members) > 1:
            named = [f"'{node.name}' (line {node.line})" for node, _ in members[:_NAMED]]
            more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
            named_type = name_type(layer_type, starts=True)
            message = f"{named_type}, which {len(members)} layers have, is not offered yet: "
            others = tuple(node.id for node, _ in members[1:])
            first = replace(first, message=f"{message}{', '.join(named)}{more}.", others=others)
        yield first


def _check_ports(node: Node, info: Any) -> Iterator[Diagnostic]:
    if info is None:
        return
    for what, have in (("bottoms", len(node.bottoms)), ("tops", len(node.tops))):
        least, most = getattr(info, f"min_{what}", 0), getattr(info, f"max_{what}", None)
        if what == "tops" and node.type.endswith("Loss"):
            least = 0  # a loss whose top is not named gets one without a name
        if have < (least or 0) or (most is not None and have > most):
            noun = what[:-1] if (most or least) == 1 else what
            wanted = f"{least}" if least == most else f"{least} to {most}" if most is not None else f"at least {least}"
            yield Diagnostic(
                f"{what}-count",
                "error",
                f"{node.heading} ({node.type}) takes {wanted} {noun}, has {have}.",
                node.line,
                1,
                node.id,
                next_step="Add what is missing." if have < (least or 0) else "Remove what is too many.",
            )


def _check_name(graph: OpGraph, node: Node) -> Iterator[Diagnostic]:
    if not node.name or not _may_learn(node):
        return
    for other in graph.named(node.name):
        if other.id == node.id:
            return
        if _may_learn(other) and graph.together(other.id, node.id):

            def rename(target: OpGraph) -> None:
                target.rename_node(node.id, target.fresh_layer_name(node.type))

            yield Diagnostic(
                "name-duplicate",
                "warning",
                f"{node.heading} has the name of the layer on line {other.line}; weights go by name.",
                *graph.place(node.id, ("name",)),
                node.id,
                ("name",),
                "Rename one of the two.",
                QuickFix("Give it a name of its own", rename),
            )
            return


def _may_learn(node: Node) -> bool:
    """Whether a layer has weights, which go by its name, as far as its type tells."""
    return node.type in _LEARNING or not is_caffe_type(node.type)


def _check_padding(graph: OpGraph, node: Node) -> Iterator[Diagnostic]:
    """Find padding of the oldest format that nothing can take over."""
    if node.version or node.written_type != PADDING:
        return
    for edge in graph.edges_out(node.id):
        reader = graph.node(edge.target)
        if reader.written_type not in ("conv", "pool") or len(reader.bottoms) != 1:
            yield Diagnostic(
                "padding-misplaced",
                "error",
                f"{node.heading} pads for {reader.title} (line {reader.line}), which is no conv or pool of one bottom.",
                node.line,
                1,
                node.id,
                next_step="Pad directly before a conv or pool layer, or set its pad.",
            )


def check_formats(old: Node | None, new: Node | None) -> Iterator[Diagnostic]:
    """Tell that layers are in an old format, or old and new ones in one file; takes the first of each kind."""
    if old is None:
        return
    if new is not None:
        yield Diagnostic(
            "format-mixed",
            "error",
            f"The file mixes old 'layers' (line {old.line}) and new 'layer' (line {new.line}); such a net cannot run.",
            max(old.line, new.line),
            1,
            old.id if old.line > new.line else new.id,
            next_step="Rewrite the old ones as 'layer'.",
            fix=QuickFix("Rewrite the old ones", _upgrade),
        )
        return
    yield Diagnostic(
        "format-old",
        "info",
        "The file is in Caffe's old format: it is read as Caffe reads it, and saved as it is.",
        old.line,
        1,
        old.id,
        fix=QuickFix("Upgrade to today's format", _upgrade),
    )


def _upgrade(graph: OpGraph) -> None:
    graph.replace_text(upgraded_text(graph))


def check_loss(source: Node | None) -> Iterator[Diagnostic]:
    """Tell that a training net has no loss; takes its first source of data."""
    if source is not None:
        yield Diagnostic(
            "loss-missing",
            "warning",
            "No layer of the TRAIN phase has a loss; there is nothing to train.",
            source.line,
            1,
            None,
            next_step="Add a loss layer, or give a top a loss_weight.",
        )


def is_data(node: Node) -> bool:
    """Whether a layer gives data to train with."""
    is_source = not node.bottoms and not node.virtual and node.type not in ("Input", "Parameter")
    return is_source and "TRAIN" in node.phases


def has_loss(graph: OpGraph, node: Node) -> bool:
    """Whether training minimises something that the layer makes."""
    if "TRAIN" not in node.phases:
        return False
    return node.type.endswith("Loss") or any(_is_nonzero(text) for text in _weights(graph, node.id))


def _weights(graph: OpGraph, node: NodeId) -> list[str]:
    count = graph.count(node, ("loss_weight",))
    return [graph.value(node, ("loss_weight", place)) or "" for place in range(count)]


def _is_nonzero(text: str) -> bool:
    try:
        return float(text.rstrip("fF")) != 0
    except ValueError:
        return False
