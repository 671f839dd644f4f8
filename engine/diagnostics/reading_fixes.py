"""What mends a layer that lacks something to read, or a net without a loss: blobs that are there and wait for it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from engine.diagnostics.records import QuickFix
from engine.diagnostics.rewiring import read_blob
from engine.graph import UNWIRED, Node, OpGraph

__all__ = ["blobs_above", "loss_fix", "misspelt_fixes", "wiring_fixes"]

_MOST = 2
#: So many layers above are looked at for one of their blobs.
_NEAR = 64
#: Beyond this many layers no look-alikes are sought.
_MANY = 2000
_SCORING = frozenset({"Convolution", "InnerProduct"})


def blobs_above(graph: OpGraph, node: Node, most: int | None = None) -> dict[str, bool]:
    """Return the blobs that a layer could read besides those that it reads, nearest last, and whether others do.

    ``most`` is how many layers above it are looked at; all when left out.
    """
    offered: dict[str, bool] = {}
    ids = list(graph.node_ids())
    above = ids[: ids.index(node.id)]
    for each in map(graph.node, above if most is None else above[-most:]):
        if each.phases >= node.phases:
            read = {edge.top for edge in graph.edges_out(each.id)}
            for top, blob in enumerate(each.tops):
                offered.pop(blob, None)
                offered[blob] = top in read
    for blob in node.bottoms:
        offered.pop(blob, None)
    return offered


def wiring_fixes(graph: OpGraph, node: Node, bottom: int) -> tuple[QuickFix, ...]:
    """Return blobs for a bottom that is not connected: those that nobody reads, the nearest first, or else the nearest.

    The second bottom of what compares with labels is offered labels first.
    """
    offered = blobs_above(graph, node, _NEAR)
    nearest = list(reversed(offered))
    likely = [blob for blob in nearest if not offered[blob]] or nearest[:1]
    if bottom and node.type.endswith(("Loss", "Accuracy")):
        likely = [*(blob for blob in nearest if "label" in blob.lower()), *likely]
    return tuple(read_blob(node, bottom, blob) for blob in dict.fromkeys(likely[:_MOST]))


def misspelt_fixes(graph: OpGraph, node: Node, bottom: int, name: str) -> tuple[QuickFix, ...]:
    """Return blobs that a bottom may mean which no layer makes: of a like name, or those of the layer of its name."""
    if len(graph) >= _MANY:
        return ()
    made = [blob for blob in graph.blobs() if blob not in (name, UNWIRED) and graph.writers(blob)]
    found = difflib.get_close_matches(name, made, n=1)
    for layer in graph.named(name):
        if layer.ordinal < node.ordinal and layer.phases >= node.phases:
            found += layer.tops[:1]
    return tuple(read_blob(node, bottom, blob) for blob in list(dict.fromkeys(found))[:_MOST])


def loss_fix(graph: OpGraph, source: Node) -> QuickFix | None:
    """Return a fix that adds the loss that a net for classes lacks, where there are scores and labels for it."""
    labels = next(iter(_labels(source.tops)), None)
    scores = next(iter(_scores(graph)), None)
    if labels is None or scores is None:
        return None
    rules = "" if scores.phases == source.phases else "include { phase: TRAIN }"

    def add(target: OpGraph) -> None:
        target.add_node("SoftmaxWithLoss", bottoms=[scores.tops[0], labels], tops=1, fields=rules or None)

    return QuickFix(f"Add a SoftmaxWithLoss of '{scores.tops[0]}' and '{labels}'", add)


def _labels(tops: Sequence[str]) -> Iterator[str]:
    yield from (blob for blob in tops[1:] if "label" in blob.lower())


def _scores(graph: OpGraph) -> Iterator[Node]:
    """Return layers whose outputs may be scores, the last first: they learn, and nobody reads them in training."""
    for node in reversed(graph.nodes()):
        is_last = not any("TRAIN" in edge.phases for edge in graph.edges_out(node.id))
        if node.type in _SCORING and len(node.tops) == 1 and "TRAIN" in node.phases and is_last:
            yield node
