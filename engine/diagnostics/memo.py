"""What a diagnosis remembers of a document, so that the next one looks only at what an edit concerns.

What the rules say of a layer depends on the layer itself, on the layers that share a blob or a name with it, on their
order, and on a few facts of the whole net. Layers that were sound stay so while none of these changes. Those that had
something to tell are looked at again each time: what is told names lines, and other layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine.diagnostics.fields import LayerProblems, names_files
from engine.diagnostics.layers import has_loss, is_data
from engine.diagnostics.learning import shares
from engine.graph import Node, NodeId, OpGraph

__all__ = ["SchemaMemo"]


class SchemaMemo:
    """Memory of :func:`engine.diagnostics.diagnose`; one for each document.

    Attributes
    ----------
    problems : LayerProblems
        What the schema says about layers.
    noted : set of NodeId
        Nodes of which there was something to tell.
    sources, data, losses, files, old, new, sharing, in_place : set of NodeId
        Nodes without bottoms; those of them that give data to train with; nodes with a loss; nodes that name files;
        nodes of an old format, and of today's; nodes that name parameters; nodes that work in place.
    """

    def __init__(self) -> None:
        self._graph: OpGraph | None = None
        self._forget()

    def _forget(self) -> None:
        self.problems = LayerProblems()
        self.noted: set[NodeId] = set()
        self.sources: set[NodeId] = set()
        self.data: set[NodeId] = set()
        self.losses: set[NodeId] = set()
        self.files: set[NodeId] = set()
        self.old: set[NodeId] = set()
        self.new: set[NodeId] = set()
        self.sharing: set[NodeId] = set()
        self.in_place: set[NodeId] = set()
        self._pending: set[NodeId] = set()
        self._terms: tuple[Any, ...] = ()
        self._fed: frozenset[str] = frozenset()
        self._held: dict[NodeId, Any] = {}
        self._order: tuple[NodeId, ...] = ()

    def take_in(self, graph: OpGraph, *terms: object) -> Iterator[None]:
        """Take in what has changed since the last time, a layer at each step; then :meth:`due` tells what to look at.

        Where it is left in the middle, the next time goes on from there.

        Parameters
        ----------
        graph : OpGraph
            The document; another one than the last time is read as a whole. It stays as it is meanwhile.
        *terms : object
            What all rules depend on. If one is another than the last time, all nodes are due.
        """
        if graph is not self._graph or terms != self._terms:
            self._forget()
            self._graph, self._terms = graph, terms
        readings, order = graph.readings(), graph.node_ids()
        edited = {node for node, reading in readings.items() if self._held.get(node) is not reading}
        gone = self._held.keys() - readings.keys()
        moved = self._moved(order)
        self._pending |= self._relatives(graph, edited | moved, edited | moved | gone)
        self._order = order
        for node in gone:
            self._drop(node)
            self._pending.discard(node)
        for node in edited:
            self._drop(node)
            self._held[node] = readings[node]
            self._learn(graph, graph.node(node))
            yield
        fed = frozenset().union(*(graph.node(node).phases for node in self.sources))
        if not self.losses and not self.data:
            fed -= {"TRAIN"}
        if fed != self._fed:
            self._fed = fed
            self._pending.update(order)
        yield

    def due(self, graph: OpGraph) -> list[NodeId]:
        """Return the nodes to look at, in document order: those that an edit concerns, and those that had faults."""
        self._pending |= self.noted
        self._pending &= graph.readings().keys()
        if len(self._pending) == len(self._order):
            return list(self._order)
        return sorted(self._pending, key=graph.ordinal)

    def looked_at(self, node: NodeId, *, sound: bool) -> None:
        """Note that a node that was due has been looked at."""
        self._pending.discard(node)
        (self.noted.discard if sound else self.noted.add)(node)

    @property
    def fed(self) -> frozenset[str]:
        """The phases that the net is meant for: those with a source, and training only with data or a loss."""
        return self._fed

    def _moved(self, order: tuple[NodeId, ...]) -> set[NodeId]:
        """Return the nodes among which the order has changed."""
        if order == self._order:
            return set()
        before, now = set(self._order), set(order)
        common = before & now
        old = [node for node in self._order if node in common] if len(common) < len(before) else list(self._order)
        new = [node for node in order if node in common] if len(common) < len(now) else list(order)
        if old == new:
            return set()
        first = next(place for place in range(len(old)) if old[place] != new[place])
        last = next(place for place in range(len(old) - 1, -1, -1) if old[place] != new[place])
        return set(new[first : last + 1])

    def _relatives(self, graph: OpGraph, nodes: Iterable[NodeId], changed: Iterable[NodeId]) -> set[NodeId]:
        """Return nodes with all that share a blob or a name with what they and the changed ones are, or were."""
        found = set(nodes)
        blobs: set[str] = set()
        names: set[str] = set()
        readings = graph.readings()
        for node in changed:
            for reading in (self._held.get(node), readings.get(node)):
                if reading is not None:
                    blobs |= reading.blobs()
                    names.add(reading.name)
        for blob in blobs:
            found |= graph.users(blob)
        for name in names - {""}:
            found |= graph.ids_named(name)
        return found

    def _drop(self, node: NodeId) -> None:
        self._held.pop(node, None)
        facts = (self.sources, self.data, self.losses, self.files, self.old, self.new, self.sharing, self.in_place)
        for nodes in (self.noted, *facts):
            nodes.discard(node)

    def _learn(self, graph: OpGraph, node: Node) -> None:
        if not node.bottoms:
            self.sources.add(node.id)
        if is_data(node):
            self.data.add(node.id)
        if has_loss(graph, node):
            self.losses.add(node.id)
        if names_files(graph, node):
            self.files.add(node.id)
        if shares(graph, node):
            self.sharing.add(node.id)
        if any(node.in_place):
            self.in_place.add(node.id)
        if node.version < 2:
            self.old.add(node.id)
        elif not node.virtual:
            self.new.add(node.id)
