"""Rules about layers and the net as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import Protocol

from engine.diagnostics.dialects import name_type, origin_of_type
from engine.diagnostics.learning import loss_weights
from engine.diagnostics.old_types import is_no_old_type, old_type_fix
from engine.diagnostics.ports import check_entries, check_ports
from engine.diagnostics.reading_fixes import loss_fix
from engine.diagnostics.records import Diagnostic, QuickFix
from engine.graph import Node, NodeId, OpGraph, upgraded_text, why_not_upgraded
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
    "may_learn",
    "one_of_a_kind",
    "weights_note",
]

#: Code of what is told once of a type, and not of each layer.
NOT_OFFERED = "type-not-offered"

_NAMED = 3
_NOT_OFFERED_YET = " is not offered yet."
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
    if registry is not None and (node.type not in known or is_no_old_type(node)):
        yield _unknown_type(graph, node, registry, known)
    elif registry is not None:
        yield from check_ports(graph, node, getattr(registry, "info", lambda _: None)(node.type))
    yield from check_entries(graph, node)
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
            QuickFix("Remove the exclude rules", lambda target: target.clear_field(node.id, ("exclude",))),
            more_fixes=(
                QuickFix("Remove the include rules", lambda target: target.clear_field(node.id, ("include",))),
            ),
        )


def _told_by_fields(graph: OpGraph, node: Node, known: Set[str]) -> QuickFix | None:
    """Return a fix that gives a layer without a type the only one that its block of settings is for."""
    if node.version != 2:
        return None
    blocks = {field.name for field in graph.message(node.id) if field.name.endswith("_param")}
    names = {f"{kind.lower()}_param": kind for kind in known}
    found = [names[squeezed] for block in blocks if (squeezed := f"{block[:-6].replace('_', '')}_param") in names]
    if len(found) != 1:
        return None
    (kind,) = found

    def give(target: OpGraph) -> None:
        target.set_string(node.id, ("type",), kind)

    return QuickFix(f"Make it '{kind}'", give)


def _unknown_type(graph: OpGraph, node: Node, registry: TypeRegistry, known: Set[str]) -> Diagnostic:
    path = ("layer", "type") if node.version == 0 else ("type",)
    line, column = graph.place(node.id, path)
    if not node.type:
        message, step = f"{node.heading} has no type.", "Give it one."
        fix = _told_by_fields(graph, node, known)
        return Diagnostic("type-missing", "error", message, line, column, node.id, path, step, fix)
    withheld = getattr(registry, "withheld", lambda _: "")(node.type)
    if withheld:
        message = f"{node.heading}: layer type '{node.type}' cannot be had: {withheld}"
        return Diagnostic("type-unknown", "warning", message, line, column, node.id, path)
    if node.type not in known and (is_caffe_type(node.type) or origin_of_type(node.type)):
        message = f"{node.heading}: {name_type(node.type)} is not offered yet."
        step = "Write it as a Python layer."
        return Diagnostic(NOT_OFFERED, "warning", message, line, column, node.id, path, step)
    closest, fix = node.type if node.type in known else registry.closest(node.type), None
    meant = closest or ""
    if node.version < 2:
        meant, fix = old_type_fix(node, closest)
    elif closest:

        def correct(target: OpGraph) -> None:
            target.set_string(node.id, path, closest)

        fix = QuickFix(f"Make it '{closest}'", correct)
    step = f"Did you mean '{meant}'?" if meant else "Add a plugin that provides it."
    message = f"{node.heading}: no layer type '{node.type}' is known."
    if node.version < 2 and closest and not meant:
        step = f"The old format has no '{closest}'. Upgrade the file, and use it then."
    if node.type in known:
        message = f"{node.heading}: the oldest format has no type '{node.written_type}', and a run leaves it out."
    return Diagnostic("type-unknown", "warning", message, line, column, node.id, path, step, fix)


def one_of_a_kind(graph: OpGraph, found: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Say once of each type or field that it is not offered, however many layers have it."""
    by_subject: dict[str, dict[NodeId, tuple[Node, Diagnostic]]] = {}
    for each in found:
        if each.node is not None:
            node = graph.node(each.node)
            subject = each.message.removeprefix(f"{node.heading}: ").removesuffix(_NOT_OFFERED_YET)
            by_subject.setdefault(subject, {}).setdefault(node.id, (node, each))
    for subject, by_node in by_subject.items():
        members = list(by_node.values())
        first = members[0][1]
        if len(members) > 1:
            named = [f"'{node.name}' (line {node.line})" for node, _ in members[:_NAMED]]
            more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
            start = f"{subject[:1].upper()}{subject[1:]}, which {len(members)} layers have"
            message = f"{start}, is not offered yet: {', '.join(named)}{more}."
            first = replace(first, message=message, others=tuple(node.id for node, _ in members[1:]))
        yield first


def _check_name(graph: OpGraph, node: Node) -> Iterator[Diagnostic]:
    if not node.name or not may_learn(node):
        return
    for other in graph.named(node.name):
        if other.id == node.id:
            return
        if may_learn(other) and graph.together(other.id, node.id):

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


def may_learn(node: Node) -> bool:
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


def check_formats(graph: OpGraph, old: Node | None, new: Node | None) -> Iterator[Diagnostic]:
    """Tell that layers are in an old format, or old and new ones in one file; takes the first of each kind.

    Where the upgrade would refuse, it is not offered: why is said in its place.
    """
    if old is None:
        return
    reason = why_not_upgraded(graph)
    if new is not None:
        yield Diagnostic(
            "format-mixed",
            "error",
            f"The file mixes old 'layers' (line {old.line}) and new 'layer' (line {new.line}); such a net cannot run.",
            max(old.line, new.line),
            1,
            old.id if old.line > new.line else new.id,
            next_step=reason or "Rewrite the old ones as 'layer'.",
            fix=None if reason else QuickFix("Rewrite the old ones", _upgrade),
        )
        return
    yield Diagnostic(
        "format-old",
        "info",
        "The file is in Caffe's old format: it is read as Caffe reads it, and saved as it is.",
        old.line,
        1,
        old.id,
        next_step=f"It cannot be upgraded. {reason}" if reason else "Upgrade it if older programs need not read it.",
        fix=None if reason else QuickFix("Upgrade to today's format", _upgrade),
    )


def _upgrade(graph: OpGraph) -> None:
    graph.replace_text(upgraded_text(graph))


def check_loss(graph: OpGraph, source: Node | None) -> Iterator[Diagnostic]:
    """Tell that a training net has no loss; takes its first source of data."""
    if source is not None:
        yield Diagnostic(
            "loss-missing",
            "warning",
            f"No layer of the TRAIN phase has a loss: there is nothing to train on the data of {source.title}.",
            source.line,
            1,
            None,
            next_step="Add a loss layer, or give a top a loss_weight.",
            fix=loss_fix(graph, source),
        )


def is_data(node: Node) -> bool:
    """Whether a layer gives data to train with."""
    is_source = not node.bottoms and not node.virtual and node.type not in ("Input", "Parameter")
    return is_source and "TRAIN" in node.phases


def has_loss(graph: OpGraph, node: Node) -> bool:
    """Whether training minimises something that the layer makes."""
    if "TRAIN" not in node.phases:
        return False
    weights = loss_weights(graph, node.id)
    return any(weights) if weights else node.type.endswith("Loss")


def weights_note(node: Node, old: str) -> str:
    """Say of a layer that was called ``old`` that weights trained before no longer load; empty if it has none."""
    if not old or not may_learn(node):
        return ""
    return f"Weights go by layer name: those trained as '{old}' will not be loaded into '{node.name}'."
