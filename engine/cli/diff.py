"""``netcanvas diff``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.blob import Shape
from engine.cli.dialect import choose_schema
from engine.cli.measuring import Measured, measure, memory_words, shape_words
from engine.cli.output import Output, error_text
from engine.errors import NetcanvasError, PrototxtError
from engine.graph import Node
from engine.graph.comparing import Difference, FieldChange, compare
from engine.paths import search_folders
from engine.registry import default_registry
from engine.schema import SchemaFragment

__all__ = ["run"]

_DIFFERENT, _TROUBLE = 1, 2


def run(options: argparse.Namespace) -> int:
    """Print what two nets differ in; return 0 if they are the same, 1 if they differ, 2 if that cannot be told."""
    try:
        first, second = (_measured(path, options) for path in (options.first, options.second))
    except (NetcanvasError, OSError) as error:
        Output.error(error_text(error))
        return _TROUBLE
    schemas = tuple(
        choose_schema(net.graph.tree, "NetParameter", options.dialect, _fragments(path), path)[0]
        for net, path in ((first, options.first), (second, options.second))
    )
    difference = compare(first.graph, second.graph, (schemas[0], schemas[1]))
    reshaped = list(_reshaped(first, second, difference))
    lines = [*_layer_lines(difference), *map(_shape_line, reshaped)]
    if difference:
        lines += _totals(first, second)
    else:
        lines.append("The nets are the same.")
    result = {
        "first": str(options.first),
        "second": str(options.second),
        "same": not difference,
        "phase": str(first.phase),
        "view": first.view.words,
        **_as_json(difference),
        "shapes": [
            {"layer": node.name, "top": node.tops[top], "old": _list(old), "new": _list(new)}
            for node, top, old, new in reshaped
        ],
        "total": {"old": asdict(first.total), "new": asdict(second.total)},
    }
    Output(quiet=options.quiet, as_json=options.json).result(lines, result)
    return _DIFFERENT if difference else 0


def _fragments(path: Path) -> tuple[SchemaFragment, ...]:
    """Return the messages that plugins of a net's project add, so that their fields are compared by meaning, too."""
    return default_registry(search_folders(path.parent), trusted=False).fragments


def _measured(path: Path, options: argparse.Namespace) -> Measured:
    net = measure(path, options)
    for problem in net.graph.problems:
        raise PrototxtError(
            problem.message, line=problem.line, column=problem.column, source=str(path), next_step=problem.hint
        )
    return net


Reshaped = tuple[Node, int, Shape | None, Shape | None]


def _reshaped(first: Measured, second: Measured, difference: Difference) -> Iterator[Reshaped]:
    """Find the blobs that have another shape than before, where they are made."""
    for old, new in difference.pairs:
        if old.id in first.shapes and new.id in second.shapes:
            before, after = first.shapes[old.id].tops, second.shapes[new.id].tops
            for top, (was, now) in enumerate(zip(before, after, strict=False)):
                if was != now and top < len(new.tops) and not new.in_place[top]:
                    yield new, top, was, now


def _layer_lines(difference: Difference) -> Iterator[str]:
    for change in difference.net_fields:
        yield f"~ net: {_change(change)}"
    for node in difference.removed:
        yield f"- {_named(node)}"
    for node in difference.added:
        yield f"+ {_named(node)}"
    for old, new in difference.renamed:
        yield f"> {old.title} -> {new.title} ({new.type}, line {new.line})"
    for node in difference.moved:
        yield f"^ {node.title} stands at another place (line {node.line})"
    for _, node, changes in difference.changed:
        for change in changes:
            yield f"~ {node.title}: {_change(change)}"


def _named(node: Node) -> str:
    return f"{node.title} ({node.type}, line {node.line})" if node.name else node.title


def _change(change: FieldChange) -> str:
    return f"{change.field}: {change.old or 'not set'} -> {change.new or 'not set'}"


def _shape_line(reshaped: Reshaped) -> str:
    node, top, old, new = reshaped
    return f"shape of '{node.tops[top]}' of {node.title}: {shape_words(old)} -> {shape_words(new)}"


def _totals(first: Measured, second: Measured) -> Iterator[str]:
    old, new = first.total, second.total
    for words, before, after in (
        ("parameters", old.parameters, new.parameters),
        ("multiply-adds of a forward pass", old.multiply_adds, new.multiply_adds),
    ):
        change = f" ({after - before:+,})" if after != before else ""
        yield f"{words}: {before:,} -> {after:,}{change}"
    yield f"memory for inference: {memory_words(old.inference)} -> {memory_words(new.inference)}"
    yield f"memory for training: {memory_words(old.training)} -> {memory_words(new.training)}"
    for place, net in (("first", first), ("second", second)):
        if net.unknown:
            reason = net.shapes[net.unknown[0].id].reason
            count = f"{len(net.unknown)} of {len(net.nodes)} layers"
            yield f"not counted in the {place} net, because shapes are not known: {count}: {reason}"


def _list(shape: Shape | None) -> list[int] | None:
    return None if shape is None else list(shape)


def _as_json(difference: Difference) -> dict[str, Any]:
    return {
        "net_fields": [asdict(change) for change in difference.net_fields],
        "removed": [_node(node) for node in difference.removed],
        "added": [_node(node) for node in difference.added],
        "renamed": [{"old": old.name, "new": new.name, "type": new.type} for old, new in difference.renamed],
        "moved": [_node(node) for node in difference.moved],
        "changed": [
            {**_node(node), "fields": [asdict(change) for change in changes]} for _, node, changes in difference.changed
        ],
    }


def _node(node: Node) -> dict[str, Any]:
    return {"name": node.name, "type": node.type, "line": node.line}
