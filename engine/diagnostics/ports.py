"""Rules about how many bottoms and tops a type of layer takes, and whether it works in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from engine.diagnostics.reading_fixes import blobs_above
from engine.diagnostics.records import Diagnostic, QuickFix
from engine.graph import Node, OpGraph
from engine.prototxt import quote

__all__ = ["check_entries", "check_ports", "surplus"]


def check_ports(graph: OpGraph, node: Node, info: Any) -> Iterator[Diagnostic]:
    """Hold a layer against what the registry knows of its type: ``info`` is its ``LayerInfo``, or None."""
    if info is None:
        return
    bottoms = len(node.bottoms)
    for each in _check_count(graph, node, "bottoms", info.min_bottoms, info.max_bottoms):
        missing = info.min_bottoms - bottoms
        fix = _reading(graph, node, tuple(getattr(info, "bottoms", ())[bottoms:]), missing) if missing > 0 else each.fix
        yield replace(each, fix=fix)
    if getattr(info, "paired", False):
        yield from _check_count(graph, node, "tops", bottoms, bottoms)
    else:
        # A loss whose top is not named gets one without a name.
        least = 0 if node.type.endswith("Loss") else info.min_tops
        yield from _check_count(graph, node, "tops", least, info.max_tops)
    if getattr(info, "builtin", False) and not info.in_place_ok:
        yield from _check_in_place(graph, node)


def _check_count(graph: OpGraph, node: Node, what: str, least: int, most: int | None) -> Iterator[Diagnostic]:
    have = len(node.bottoms if what == "bottoms" else node.tops)
    missing, surplus = max(least - have, 0), 0 if most is None else max(have - most, 0)
    if not missing and not surplus:
        return
    noun = what[:-1] if (least if most is None else most) == 1 else what
    wanted = f"{least}" if least == most else f"{least} to {most}" if most is not None else f"at least {least}"
    yield Diagnostic(
        f"{what}-count",
        "error",
        f"{node.heading} ({node.type}) takes {wanted} {noun}, has {have}.",
        node.line,
        1,
        node.id,
        next_step="Add what is missing." if missing else "Remove what is too many.",
        fix=_removal(graph, node, what, surplus) if surplus else _addition(node, missing) if what == "tops" else None,
    )


def _removal(graph: OpGraph, node: Node, what: str, surplus: int) -> QuickFix | None:
    """Return a fix that removes the last ports; None where that would cut what other layers read."""
    name = what[:-1]
    have = len(node.bottoms if what == "bottoms" else node.tops)
    if what == "tops" and any(edge.top >= have - surplus for edge in graph.edges_out(node.id)):
        return None

    def remove(target: OpGraph) -> None:
        for place in range(have - 1, have - surplus - 1, -1):
            target.clear_field(node.id, (name, place))

    return QuickFix(f"Remove the last {name if surplus == 1 else f'{surplus} {what}'}", remove)


def _reading(graph: OpGraph, node: Node, ports: tuple[str, ...], missing: int) -> QuickFix | None:
    """Return a fix that reads what is missing: a blob called as the port, else the nearest above that nobody reads."""
    offered = blobs_above(graph, node)
    chosen: list[str] = []
    for place in range(missing):
        port = ports[place].removesuffix("s") if place < len(ports) else ""
        unread = (blob for blob in reversed(offered) if not offered[blob])
        found = next((blob for blob in (port, f"{port}s") if blob in offered), "") or next(unread, "")
        if not found:
            return None
        del offered[found]
        chosen.append(found)

    def read_them(target: OpGraph) -> None:
        for blob in chosen:
            target.append_field(node.id, ("bottom",), quote(blob))

    return QuickFix(f"Read {' and '.join(repr(blob) for blob in chosen)}", read_them)


def _addition(node: Node, missing: int) -> QuickFix:
    def add(target: OpGraph) -> None:
        for _ in range(missing):
            target.append_field(node.id, ("top",), quote(target.fresh_blob_name(node.name or "top")))

    return QuickFix("Add a top" if missing == 1 else f"Add {missing} tops", add)


def check_entries(graph: OpGraph, node: Node) -> Iterator[Diagnostic]:
    """Find more values of a field than the layer has ports that they are for.

    Caffe's ``Layer::SetLossWeights`` and ``Net::Init`` refuse them.
    """
    for name, ports, what in (("loss_weight", node.tops, "top"), ("propagate_down", node.bottoms, "bottom")):
        have = graph.count(node.id, (name,))
        most = len(ports)
        if name == "loss_weight" and node.type.endswith("Loss"):
            most = max(most, 1)  # a loss whose top is not named gets one without a name
        short = name == "propagate_down" and 0 < have < most
        if have <= most and not short:
            continue
        expected = f"expected {name} once for each {what} ({most})"
        yield surplus(graph, node, name, most, f"{node.heading}: {expected}, got {have} values.")


def surplus(graph: OpGraph, node: Node, name: str, most: int, message: str) -> Diagnostic:
    """Tell that a layer has another number of values of a field than it takes; those too many can be removed."""
    have = graph.count(node.id, (name,))

    def remove(target: OpGraph) -> None:
        for place in range(have - 1, most - 1, -1):
            target.clear_field(node.id, (name, place))

    def add(target: OpGraph) -> None:
        last = target.value(node.id, (name, have - 1)) or ""
        for _ in range(most - have):
            target.append_field(node.id, (name,), last)

    path = (name, min(most, have - 1)) if have > 1 else (name,)
    step = "Remove those that are too many." if have > most else "Add those that are missing."
    fix = QuickFix(f"Remove the last {name}" if have == most + 1 else f"Remove the last {have - most} {name}", remove)
    if have < most:
        fix = QuickFix(f"Repeat the last {name} for the others", add)
    return Diagnostic(
        "entries-count",
        "error",
        message,
        *graph.place(node.id, path),
        node.id,
        path,
        step,
        fix,
    )


def _check_in_place(graph: OpGraph, node: Node) -> Iterator[Diagnostic]:
    for top, blob in enumerate(node.tops):
        if blob not in node.bottoms:
            continue

        def detach(target: OpGraph, top: int = top) -> None:
            target.detach(node.id, top)

        yield Diagnostic(
            "in-place-refused",
            "error",
            f"{node.heading} ({node.type}) cannot work in place on '{blob}'.",
            *graph.place(node.id, ("top", top)),
            node.id,
            ("top", top),
            "Give the top a name of its own.",
            QuickFix("Give the top a name of its own", detach),
        )
