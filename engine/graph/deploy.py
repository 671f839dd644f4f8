"""What is left of a test net when it only predicts: how people make a deploy net by hand.

Losses and accuracies go, what only makes labels for them goes, and what remains of the sources of data is the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from engine.graph.binding import Binding
from engine.graph.records import Edge, NodeId

__all__ = ["DEPLOY_STAGE", "Cut", "cut_for_deploy"]

#: The stage that nets for training, testing and deploying in one file use for the last.
DEPLOY_STAGE = "deploy"

_RESULTS = ("Loss", "Accuracy", "Evaluate")
# From which bottom on a loss takes what it compares with; all others from the second.
_LABELS_FROM = {"ContrastiveLoss": 2, "TripletLoss": 3}
_NO_DATA = frozenset({"Parameter"})

# A top of a layer.
Slot = tuple[NodeId, int]


@dataclass(frozen=True, slots=True)
class Cut:
    """What deploying leaves out.

    Attributes
    ----------
    out : frozenset of NodeId
        Layers that only compare with labels, or only make them.
    labels : frozenset of (NodeId, int)
        Tops that remain, but that nothing reads any more: the labels of sources of data.
    inputs : mapping of NodeId to tuple of int
        Layers that stand for the input, with the tops that do.
    """

    out: frozenset[NodeId] = frozenset()
    labels: frozenset[Slot] = frozenset()
    inputs: Mapping[NodeId, tuple[int, ...]] = field(default_factory=dict)


def cut_for_deploy(nodes: Sequence[Binding], outs: Mapping[NodeId, Mapping[Edge, None]]) -> Cut:
    """Find what a test net does not need to predict.

    Parameters
    ----------
    nodes : sequence of Binding
        The layers of the test net, in document order.
    outs : mapping of NodeId to Edges
        Its wires, by the layer at which they begin.
    """
    out = {node.id for node in nodes if node.type.endswith(_RESULTS)}
    targets = _targets(nodes, outs, out)
    out |= {node.id for node in nodes if node.tops and all((node.id, top) in targets for top in range(len(node.tops)))}
    fed: dict[NodeId, int] = {}
    for node in nodes:
        # What all comes from layers that are out, or from labels, has nothing left to read.
        if node.bottoms and fed.get(node.id) == len(node.bottoms):
            out.add(node.id)
        for edge in outs.get(node.id, ()):
            if node.id in out or (edge.source, edge.top) in targets:
                fed[edge.target] = fed.get(edge.target, 0) + 1
    inputs = {}
    for node in nodes:
        if not node.bottoms and node.id not in out and node.type not in _NO_DATA:
            inputs[node.id] = tuple(top for top in range(len(node.tops)) if (node.id, top) not in targets)
    labels = frozenset(slot for slot in targets if slot[0] not in out)
    return Cut(frozenset(out), labels, inputs)


def _targets(nodes: Sequence[Binding], outs: Mapping[NodeId, Mapping[Edge, None]], results: Set[NodeId]) -> set[Slot]:
    """Find the tops that are only compared with: readers stand below, so one way up the document is enough."""
    types = {node.id: node.type for node in nodes}
    targets: set[Slot] = set()
    onward: dict[NodeId, bool] = {}  # whether a layer makes nothing but targets
    for node in reversed(nodes):
        uses: dict[int, bool] = {}
        for edge in outs.get(node.id, ()):
            if edge.target in results:
                only = edge.bottom >= _LABELS_FROM.get(types[edge.target], 1)
            else:
                only = types[edge.target] == "Silence" or onward[edge.target]
            uses[edge.top] = uses.get(edge.top, True) and only
        for top, name in enumerate(node.tops):
            # A label that nothing reads is no input either; the first top of a source is never its label by place.
            by_name = not node.bottoms and top > 0 and "label" in name.lower()
            if uses.get(top, by_name) and not _only_silenced(node, top, outs, types):
                targets.add((node.id, top))
        onward[node.id] = bool(node.tops) and all((node.id, top) in targets for top in range(len(node.tops)))
    return targets


def _only_silenced(
    node: Binding, top: int, outs: Mapping[NodeId, Mapping[Edge, None]], types: Mapping[NodeId, str]
) -> bool:
    """Whether Silence alone reads a top that is no label: it is a result that nobody wanted printed."""
    readers = [types[edge.target] for edge in outs.get(node.id, ()) if edge.top == top]
    return bool(readers) and all(reader == "Silence" for reader in readers) and bool(node.bottoms or top == 0)
