"""One state of a document kept in step with it: which layers take part, and what they read there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.graph.binding import UNWIRED, Binding
from engine.graph.records import Edge, NodeId
from engine.graph.wiring import wire
from engine.rules import NetState

__all__ = ["Lens"]


class Lens:
    """The layers and wires of a document in one state.

    The graph notes in ``touched`` and ``rewired`` what an edit concerns; :meth:`follow` looks at that alone.

    Attributes
    ----------
    state : NetState
    touched, rewired : set
        Nodes that were read again, and blobs that were wired again, since the lens was last looked through.
    active : set of NodeId
        The layers that take part.
    ins, outs : dict of NodeId to dict of Edge
        The wires that end and begin at a node.
    revision : int
        Grows with all that the lens takes in.
    """

    def __init__(self, state: NetState) -> None:
        self.state = state
        self.touched: set[NodeId] = set()
        self.rewired: set[str] = set()
        self.active: set[NodeId] = set()
        self.ins: dict[NodeId, dict[Edge, None]] = {}
        self.outs: dict[NodeId, dict[Edge, None]] = {}
        self.revision = 0
        self._held: dict[NodeId, Binding] = {}
        self._edges: dict[str, tuple[Edge, ...]] = {}
        self._loose: dict[str, tuple[tuple[NodeId, int], ...]] = {}

    def follow(
        self,
        bindings: Mapping[NodeId, Binding],
        users: Mapping[str, set[NodeId]],
        ordinals: Mapping[NodeId, int],
        edges: Mapping[str, Mapping[Edge, int]],
        bit: int,
    ) -> None:
        """Take in what the graph has noted.

        Parameters
        ----------
        bindings, users, ordinals, edges : mapping
            The graph's own: what was read of each node, who names each blob, places in the document, and the wires of
            each blob with the states in which they hold.
        bit : int
            The lens's state among those; 0 if the graph does not look at it.
        """
        if not self.touched and not self.rewired:
            return
        changed = False
        for node in self.touched:
            changed |= self._read(node, bindings.get(node))
        self.touched.clear()
        rewired, self.rewired = self.rewired, set()
        for blob in rewired:
            here = [bindings[node] for node in users.get(blob, ()) if node in self.active]
            known = edges.get(blob, {})
            if bit:
                found = tuple([edge for edge, mask in known.items() if mask & bit])
            else:
                here.sort(key=lambda binding: ordinals[binding.id])
                found = self._resolve(blob, here, known)
            changed |= self._wire(blob, here, found)
        self.revision += changed

    def _read(self, node: NodeId, binding: Binding | None) -> bool:
        """Take in one node; return whether anything changed that wiring or a view of it depends on."""
        if binding is not None and binding.has_rules and not binding.rules.active(self.state):
            binding = None
        old = self._held.pop(node, None)
        if binding is None:
            self.active.discard(node)
            return old is not None
        self.active.add(node)
        self._held[node] = binding
        return old is None or (old.type, old.bottoms, old.tops) != (binding.type, binding.bottoms, binding.tops)

    @property
    def loose(self) -> frozenset[tuple[NodeId, int]]:
        """Bottoms of active layers that name a blob which nothing above writes."""
        return frozenset().union(*self._loose.values())

    def edges(self) -> Iterator[Edge]:
        """Go through all wires."""
        for edges in self._edges.values():
            yield from edges

    def _resolve(self, blob: str, users: list[Binding], known: Mapping[Edge, int]) -> tuple[Edge, ...]:
        """Wire a blob in a state that the graph does not look at; what it has too is the same value."""
        whole = {(edge.source, edge.top, edge.target, edge.bottom): edge for edge in known}
        phases = frozenset({self.state.phase})
        found = wire(blob, users, lambda _mask: phases, mask=1)
        return tuple([whole.get((edge.source, edge.top, edge.target, edge.bottom), edge) for edge in found])

    def _wire(self, blob: str, users: list[Binding], found: tuple[Edge, ...]) -> bool:
        """Take in the wires of a blob, and the bottoms without one; return whether they are others than before."""
        before = self._edges.pop(blob, ()), self._loose.pop(blob, ())
        if found:
            self._edges[blob] = found
        loose: tuple[tuple[NodeId, int], ...] = ()
        if blob != UNWIRED:
            named = [(user.id, place) for user in users for place, name in enumerate(user.bottoms) if name == blob]
            if len(named) != len(found):
                fed = {(edge.target, edge.bottom) for edge in found}
                loose = tuple(sorted(each for each in named if each not in fed))
        if loose:
            self._loose[blob] = loose
        if before == (found, loose):
            return False
        for edge in before[0]:
            self.ins[edge.target].pop(edge, None)
            self.outs[edge.source].pop(edge, None)
        for edge in found:
            self.ins.setdefault(edge.target, {})[edge] = None
            self.outs.setdefault(edge.source, {})[edge] = None
        return True
