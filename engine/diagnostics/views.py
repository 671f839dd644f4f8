"""What a diagnosis says of one view of a document, and what only that view shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.diagnostics.records import Diagnostic
from engine.graph import GraphView, Node, NodeId, OpGraph

__all__ = ["within"]

# What concerns the text or the file as a whole, whatever net is looked at.
_ALWAYS = frozenset({"syntax", "format-mixed", "format-old", "rule-both"})
# What is told of a bottom without a writer.
_LOOSE = frozenset({"bottom-other-phase", "bottom-unknown", "bottom-unwired", "cycle", "forward-reference"})
_OF_DATA = frozenset({"file-missing", "shape"})
_OF_TRAINING = frozenset({"loss-missing", "loss-weight-missing", "in-place-spoils"})


def within(found: Iterable[Diagnostic], graph: OpGraph, view: GraphView) -> list[Diagnostic]:
    """Keep what concerns a view of a document, and add the bottoms that nothing writes in it.

    Parameters
    ----------
    found : iterable of Diagnostic
        What was found in the document as a whole.
    graph : OpGraph
    view : GraphView
        Of the same graph.
    """
    loose = set(view.loose())
    kept = [here for each in found if (here := _here(each, graph, view, loose)) is not None]
    told = {(each.node, each.field[1]) for each in kept if each.code in _LOOSE and len(each.field) > 1}
    missing = [_missing(graph, view, *slot) for slot in view.loose() if slot not in told]
    # Of the states that it looks at itself, the document as a whole tells all two writers of a blob.
    twice = [] if view.state in graph.states else [*_doubles(graph, view)]
    if twice:
        kept = [each for each in kept if each.code != "top-duplicate"]
    return kept + missing + twice


def _here(each: Diagnostic, graph: OpGraph, view: GraphView, loose: set[tuple[NodeId, int]]) -> Diagnostic | None:
    """Return a finding as the view has it; None where it has it not."""
    if each.code in _ALWAYS:
        return each
    if each.code in _OF_TRAINING and view.view.show != "TRAIN":
        return None
    if each.node is None:
        return each
    members = [node for node in (each.node, *each.others) if node in view]
    if not members:
        return None
    if each.code in _LOOSE and each.code != "bottom-unwired" and (each.node, each.field[1]) not in loose:
        return None
    if each.code == "top-duplicate" and not _made_twice(graph, view, each):
        return None
    if each.code in _OF_DATA and view.derived and not graph.node(each.node).bottoms:
        return None  # it stands for the input
    if members[0] == each.node:
        return replace(each, others=tuple(members[1:]))
    line = graph.node(members[0]).line
    return replace(each, node=members[0], others=tuple(members[1:]), line=line, column=1)


def _made_twice(graph: OpGraph, view: GraphView, each: Diagnostic) -> bool:
    """Whether another layer of the view makes the same top."""
    assert each.node is not None
    node = graph.node(each.node)
    top = each.field[1]
    name = node.tops[top] if isinstance(top, int) and top < len(node.tops) else ""
    if isinstance(top, int) and name in node.tops[:top]:
        return True
    return any(writer in view for writer in graph.writers(name) if graph.ordinal(writer) < node.ordinal)


def _doubles(graph: OpGraph, view: GraphView) -> Iterator[Diagnostic]:
    """Find the tops of a view that two layers make."""
    makers: dict[str, Node] = {}
    for node in view.nodes():
        for top, name in enumerate(node.tops):
            other = makers.setdefault(name, node)
            if other is not node and not node.in_place[top]:
                message = f"{node.heading}: top '{name}' is made by {other.title} (line {other.line}) too"
                yield Diagnostic(
                    "top-duplicate",
                    "error",
                    f"{message}, in the view {view.view.words}.",
                    *graph.place(node.id, ("top", top)),
                    node.id,
                    ("top", top),
                    "Rename one of the two.",
                )


def _missing(graph: OpGraph, view: GraphView, reader: NodeId, bottom: int) -> Diagnostic:
    node = graph.node(reader)
    blob = node.bottoms[bottom]
    makers = [graph.node(writer) for writer in graph.writers(blob) if writer != reader]
    message = f"{node.heading}: bottom '{blob}' does not exist in the view {view.view.words}"
    if makers:
        why = "only further down" if makers[0].id in view else "but takes no part there"
        message += f"; {makers[0].title} (line {makers[0].line}) makes it, {why}"
    return Diagnostic(
        "bottom-view",
        "error",
        f"{message}.",
        *graph.place(reader, ("bottom", bottom)),
        reader,
        ("bottom", bottom),
        "Give the two layers rules that match together, or choose other stages or another level.",
    )
