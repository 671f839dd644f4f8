"""Questions to the graph about the nets that one document holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from engine.graph.lens import Lens
from engine.graph.queries import GraphQueries
from engine.graph.records import NodeId
from engine.graph.rules import PHASES, NetState
from engine.graph.views import GraphView, View

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["ViewQueries"]

_MOST_LENSES = 4


class ViewQueries(GraphQueries):
    """Phases, levels and stages of a document, and what takes part in them."""

    # As networkx has it

    @property
    def view(self) -> nx.MultiDiGraph[NodeId]:
        """The graph as networkx has it, read-only; edge keys are :class:`Edge` values."""
        return _read_only(self._network)

    @property
    def views(self) -> Mapping[str, nx.MultiDiGraph[NodeId]]:
        """The same, reduced to what takes part in a phase: ``graph.views["TRAIN"]``."""

        def phase_view(phase: str) -> nx.MultiDiGraph[NodeId]:
            def has_node(node: NodeId) -> bool:
                return phase in self._phases(self._bindings[node].mask)

            def has_edge(_source: NodeId, _target: NodeId, edge: Any) -> bool:
                return phase in edge.phases

            return _read_only(self._network, filter_node=has_node, filter_edge=has_edge)

        return MappingProxyType({phase: phase_view(phase) for phase in PHASES})

    # Nets of the document

    def look(self, view: View) -> GraphView:
        """Return one net of the document: which layers and wires it has, as the text stands whenever that is asked.

        Raises
        ------
        GraphError
            For a view of everything, which is the graph itself.
        """
        return GraphView(self, view)

    def taking_part(self, state: NetState) -> frozenset[NodeId]:
        """Return the nodes that take part in a state."""
        bindings = self._bindings.items()
        if state in self._states:
            bit = 1 << self._states.index(state)
            return frozenset([node for node, binding in bindings if binding.mask & bit])
        return frozenset([node for node, binding in bindings if binding.rules.active(state)])

    @property
    def stages(self) -> frozenset[str]:
        """All stages that rules of the document speak of."""
        return frozenset().union(*(rules.stages for rules in +self._rules))

    @property
    def levels(self) -> tuple[int, ...]:
        """A level for each that rules tell apart, 0 among them; only 0 where no rule speaks of levels."""
        return tuple(sorted(frozenset({0}).union(*(rules.levels for rules in +self._rules))))

    @property
    def own_state(self) -> tuple[int, frozenset[str]]:
        """Level and stages that the net's own ``state`` sets."""
        return self._own_state

    @property
    def serial(self) -> int:
        """A number that grows whenever the graph has taken in edits."""
        return self._serial

    def ordinal(self, node: NodeId) -> int:
        """Return the place of a node in :meth:`nodes`."""
        return self._ordinals[self._binding(node).id]

    def lens(self, state: NetState) -> Lens:
        """Return what takes part in a state, kept in step with the document; what :class:`GraphView` looks through."""
        lens = self._lenses.pop(state, None)
        if lens is None:
            lens = Lens(state)
            lens.touched.update(self._bindings)
            lens.rewired.update(self._users)
        self._lenses[state] = lens  # as the one that was used last
        while len(self._lenses) > _MOST_LENSES:
            del self._lenses[next(iter(self._lenses))]
        bit = 1 << self._states.index(state) if state in self._states else 0
        lens.follow(self._bindings, self._users, self._ordinals, self._edges, bit)
        return lens


def _read_only(network: nx.MultiDiGraph[NodeId], **filters: Callable[..., bool]) -> nx.MultiDiGraph[NodeId]:
    import networkx as nx

    view: nx.MultiDiGraph[NodeId] = nx.subgraph_view(network, **filters)
    return view
