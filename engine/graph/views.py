"""Views of one document: the net that it is for training, for testing, for deploying, and in any stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import GraphError
from engine.graph.deploy import DEPLOY_STAGE, Cut, cut_for_deploy
from engine.graph.records import Edge, Node, NodeId
from engine.rules import PHASES, NetState

if TYPE_CHECKING:
    import networkx as nx

    from engine.graph.lens import Lens
    from engine.graph.looking import ViewQueries

__all__ = ["ALL", "DEPLOY", "GraphView", "View"]

#: Everything that the document holds, whatever its rules say.
ALL = "all"
#: The net that predicts.
DEPLOY = "deploy"


@dataclass(frozen=True, slots=True)
class View:
    """Which net of a document is meant.

    Attributes
    ----------
    show : str
        ``'TRAIN'``, ``'TEST'``, ``'deploy'``, or ``'all'`` for the whole document.
    level : int
        Compared with ``min_level`` and ``max_level`` of rules; 0 leaves it to the net's own ``state``.
    stages : frozenset of str
        In addition to those of the net's own ``state``.
    """

    show: str = ALL
    level: int = 0
    stages: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.show not in (ALL, *PHASES, DEPLOY):
            raise GraphError(f"Expected a view of 'all', 'TRAIN', 'TEST' or 'deploy', got {self.show!r}.")

    @property
    def words(self) -> str:
        """The view as messages call it: ``TEST, stage deploy, level 2``."""
        stages = sorted(self.stages)
        parts = [self.show]
        if stages:
            parts.append(f"stage{'s' if len(stages) > 1 else ''} {' and '.join(stages)}")
        if self.level:
            parts.append(f"level {self.level}")
        return ", ".join(parts)


class GraphView:
    """One net of a document; :meth:`OpGraph.look` makes it.

    It follows the document: what it answers holds for the text as it is when it is asked. Wires are resolved inside
    of the view, so that a bottom reads the latest layer above it that takes part. ``node in view`` and ``edge in
    view`` tell what takes part.

    Attributes
    ----------
    view : View
    """

    def __init__(self, graph: ViewQueries, view: View) -> None:
        if view.show == ALL:
            raise GraphError("A view of everything is the graph itself.", next_step="Ask for a phase, or for deploy.")
        self.view = view
        self._graph = graph
        self._facts: _Facts | None = None
        self._drawn: tuple[_Facts, nx.MultiDiGraph[NodeId]] | None = None

    # What it is

    @property
    def state(self) -> NetState:
        """Phase, level and stages in which rules are matched."""
        return self._now().lens.state

    @property
    def derived(self) -> bool:
        """Whether this is a deploy net that the document does not spell out with a stage of that name."""
        return self._now().derived

    # What takes part

    def __contains__(self, item: object) -> bool:
        now = self._now()
        if isinstance(item, Edge):
            return item in now.lens.ins.get(item.target, ()) and now.holds(item)
        return item in now.lens.active and item not in now.cut.out

    def node_ids(self) -> tuple[NodeId, ...]:
        """Return the nodes that take part, in document order."""
        now = self._now()
        active, out = now.lens.active, now.cut.out
        return tuple([node for node in self._graph.node_ids() if node in active and node not in out])

    def nodes(self) -> tuple[Node, ...]:
        """Return the records of the nodes that take part, in document order."""
        return tuple(map(self._graph.node, self.node_ids()))

    def edges(self) -> tuple[Edge, ...]:
        """Return the wires between them."""
        now = self._now()
        return tuple(filter(now.holds, now.lens.edges()))

    def edges_in(self, node: NodeId) -> tuple[Edge, ...]:
        """Return the wires that end at a node, by bottom; none for a node that takes no part."""
        now = self._now()
        found = filter(now.holds, now.lens.ins.get(node, ()))
        return tuple(sorted(found, key=lambda edge: edge.bottom))

    def edges_out(self, node: NodeId) -> tuple[Edge, ...]:
        """Return the wires that begin at a node, by top, then in document order."""
        now, place = self._now(), self._graph.ordinal
        found = filter(now.holds, now.lens.outs.get(node, ()))
        return tuple(sorted(found, key=lambda edge: (edge.top, place(edge.target), edge.bottom)))

    def loose(self) -> tuple[tuple[NodeId, int], ...]:
        """Return the bottoms of the view that read what nothing in it writes, in document order."""
        now, place = self._now(), self._graph.ordinal
        found = [slot for slot in now.lens.loose if slot[0] not in now.cut.out]
        return tuple(sorted(found, key=lambda slot: (place(slot[0]), slot[1])))

    def inputs(self) -> tuple[tuple[NodeId, int], ...]:
        """Return the tops through which data comes in: those of layers without bottoms, but no labels to deploy."""
        now = self._now()
        if now.derived:
            return tuple((node, top) for node, tops in now.cut.inputs.items() for top in tops)
        sources = (node for node in self.nodes() if not node.bottoms and node.type != "Parameter")
        return tuple((node.id, top) for node in sources for top in range(len(node.tops)))

    @property
    def network(self) -> nx.MultiDiGraph[NodeId]:
        """The view as networkx has it, read-only; edge keys are :class:`Edge` values."""
        now = self._now()
        if self._drawn is None or self._drawn[0] is not now:
            import networkx as nx

            network: nx.MultiDiGraph[NodeId] = nx.MultiDiGraph()
            network.add_nodes_from(self.node_ids())
            for edge in self.edges():
                network.add_edge(edge.source, edge.target, key=edge)
            self._drawn = (now, nx.freeze(network))
        return self._drawn[1]

    # How

    def _now(self) -> _Facts:
        """Return what holds for the document as it is."""
        graph, before = self._graph, self._facts
        if before is not None and before.serial == graph.serial:
            return before
        level, stages = graph.own_state
        derived = self.view.show == DEPLOY and DEPLOY_STAGE not in graph.stages
        phase = self.view.show if self.view.show in PHASES else "TEST"
        more = {DEPLOY_STAGE} if self.view.show == DEPLOY and not derived else frozenset[str]()
        lens = graph.lens(NetState(phase, self.view.level or level, stages | self.view.stages | more))
        if before is not None and (before.lens, before.revision, before.derived) == (lens, lens.revision, derived):
            self._facts = replace(before, serial=graph.serial)
            return self._facts
        cut = _WHOLE
        if derived:
            readings = graph.readings()
            cut = cut_for_deploy([readings[node] for node in graph.node_ids() if node in lens.active], lens.outs)
        self._facts = _Facts(graph.serial, lens, lens.revision, derived, cut)
        return self._facts


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """What a view has found out, and of which state of the graph that tells."""

    serial: int
    lens: Lens
    revision: int
    derived: bool
    cut: Cut

    def holds(self, edge: Edge) -> bool:
        """Whether both ends of a wire of the lens are in the view."""
        return edge.source not in self.cut.out and edge.target not in self.cut.out


_WHOLE = Cut()
