"""Rules about layers and the net as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from engine.diagnostics.records import Diagnostic, QuickFix
from engine.graph import Node, NodeId, OpGraph

__all__ = ["TypeRegistry", "check_formats", "check_layers", "check_loss"]


class TypeRegistry(Protocol):
    """What the rules ask a registry of layer types."""

    def types(self) -> tuple[str, ...]:
        """All known types."""
        ...

    def closest(self, layer_type: str) -> str | None:
        """The known type that looks most like ``layer_type``."""
        ...


def check_layers(graph: OpGraph, registry: TypeRegistry | None) -> Iterator[Diagnostic]:
    """Find unknown types, wrong numbers of ports, names used twice, and rules that exclude each other."""
    known = frozenset(registry.types()) if registry is not None else frozenset()
    for node in graph.nodes():
        if node.virtual:
            continue
        if registry is not None and node.type not in known:
            yield _unknown_type(graph, node, registry)
        elif registry is not None:
            yield from _check_ports(node, getattr(registry, "info", lambda _: None)(node.type))
        yield from _check_name(graph, node)
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
        return Diagnostic("type-missing", "error", f"{node.heading} has no type.", line, column, node.id, path)
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


def _check_ports(node: Node, info: Any) -> Iterator[Diagnostic]:
    if info is None:
        return
    for what, have in (("bottoms", len(node.bottoms)), ("tops", len(node.tops))):
        least, most = getattr(info, f"min_{what}", 0), getattr(info, f"max_{what}", None)
        if have < (least or 0) or (most is not None and have > most):
            wanted = f"{least}" if least == most else f"{least} to {most}" if most is not None else f"at least {least}"
            yield Diagnostic(
                f"{what}-count",
                "error",
                f"{node.heading} ({node.type}) takes {wanted} {what}, has {have}.",
                node.line,
                1,
                node.id,
                next_step="Add what is missing." if have < (least or 0) else "Remove what is too many.",
            )


def _check_name(graph: OpGraph, node: Node) -> Iterator[Diagnostic]:
    if not node.name:
        return
    for other in graph.named(node.name):
        if other.id == node.id:
            return
        if graph.together(other.id, node.id):

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


def check_formats(graph: OpGraph) -> Iterator[Diagnostic]:
    """Find layers in an old format, and old and new ones in one file."""
    old = next((node for node in graph.nodes() if node.version < 2), None)
    if old is None:
        return
    new = next((node for node in graph.nodes() if node.version == 2 and not node.virtual), None)
    if new is not None:
        yield Diagnostic(
            "format-mixed",
            "error",
            f"The file mixes old 'layers' (line {old.line}) and new 'layer' (line {new.line}); such a net cannot run.",
            max(old.line, new.line),
            1,
            old.id if old.line > new.line else new.id,
            next_step="Rewrite the old ones as 'layer'.",
        )
        return
    yield Diagnostic(
        "format-old", "info", "The file is in the old 'layers' format; it is saved as it is.", old.line, 1, old.id
    )


def check_loss(graph: OpGraph) -> Iterator[Diagnostic]:
    """Find training nets without a loss: there is data in TRAIN, and nothing to minimise."""
    source: Node | None = None
    for node in graph.nodes():
        if "TRAIN" not in node.phases:
            continue
        if node.type.endswith("Loss") or any(_is_nonzero(text) for text in _weights(graph, node.id)):
            return
        if source is None and not node.bottoms and not node.virtual and node.type not in ("Input", "Parameter"):
            source = node
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


def _weights(graph: OpGraph, node: NodeId) -> list[str]:
    count = graph.count(node, ("loss_weight",))
    return [graph.value(node, ("loss_weight", place)) or "" for place in range(count)]


def _is_nonzero(text: str) -> bool:
    try:
        return float(text.rstrip("fF")) != 0
    except ValueError:
        return False
