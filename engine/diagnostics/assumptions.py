"""Rules about shapes that nobody knows, because data are not here, and about those assumed in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.assumed import item_words
from engine.diagnostics.records import Diagnostic, QuickFix
from engine.graph import Node, NodeId, OpGraph
from engine.shape_guesses import Guess

__all__ = ["check_assumed", "offer_assumptions"]

_SHOWN = 3
#: What is told of a layer whose data, or the code that reads them, are not here.
_ABSENT = frozenset({"file-missing", "module-missing", "shape", "type-unknown", "type-not-offered"})


def check_assumed(graph: OpGraph, shapes: Mapping[NodeId, Any]) -> Iterator[Diagnostic]:
    """Say of what a shape is assumed, and offer to take that back."""
    for node_id, known in shapes.items():
        if node_id not in graph or not getattr(known, "assumed", ""):
            continue
        node = graph.node(node_id)
        in_place = known.assumed in node.bottoms
        if known.assumed not in node.tops or (in_place and not getattr(known, "absent", False)):
            continue  # it only follows from one
        what = "code is" if node.bottoms else "data are"
        sizes = [f"'{top}' {item_words(shape)}" for top, shape in zip(node.tops, known.tops, strict=False) if shape]
        back = QuickFix("Assume nothing of its shapes", _nothing, dict.fromkeys(node.tops))
        yield Diagnostic(
            "shape-assumed",
            "info",
            f"{node.heading}: its {what} not here; assumed is {' and '.join(sizes)}.",
            node.line,
            1,
            node_id,
            (),
            f"It counts for shapes and costs here, never for a run, and no more once the {what} there.",
            back,
            more_fixes=(_question(node_id),),
        )


def offer_assumptions(
    graph: OpGraph,
    found: Iterable[Diagnostic],
    shapes: Mapping[NodeId, Any],
    guesses: Mapping[NodeId, Sequence[Guess]],
) -> Iterator[Diagnostic]:
    """Go through what was found: that data are missing is no more than told once something is assumed for them.

    Before, what may be assumed is offered where they are told to be missing, or else by itself.
    """
    due = {node for node in guesses if node in graph and not shapes[node].assumed}
    for each in found:
        if each.node in due and each.code in _ABSENT:
            assert each.node is not None
            due.discard(each.node)
            fixes = (*each.fixes, *_fixes(graph.node(each.node), guesses[each.node]))
            each = replace(each, fix=fixes[0], more_fixes=fixes[1:])
        elif each.code == "file-missing" and each.node is not None and _is_assumed(shapes.get(each.node)):
            each = replace(each, severity="info")
        yield each
    for node in (graph.node(node_id) for node_id in due):
        fixes = _fixes(node, guesses[node.id])
        what = f"{node.heading}: its shapes are not known, since {shapes[node.id].reason}"
        yield Diagnostic("shape-unknown", "info", what, node.line, 1, node.id, (), "", fixes[0], more_fixes=fixes[1:])


def _is_assumed(known: Any) -> bool:
    return bool(getattr(known, "assumed", ""))


def _fixes(node: Node, guesses: Sequence[Guess]) -> tuple[QuickFix, ...]:
    """Return what may be assumed of a layer that cannot be asked, the likeliest first, and the question for it."""
    fixes = []
    for guess in guesses[:_SHOWN]:
        why = f", {guess.why}" if guess.why else ""
        (first, *others) = guess.shapes.items()
        more = "".join(f", '{blob}' {item_words(shape)}" for blob, shape in others)
        fixes.append(QuickFix(f"Assume {item_words(first[1])}{more}{why}", _nothing, guess.shapes))
    return (*fixes, _question(node.id))


def _question(node: NodeId) -> QuickFix:
    return QuickFix("Assume a shape\u2026", _nothing, asks=node)


def _nothing(_graph: OpGraph) -> None:
    """The text stays as it is."""
