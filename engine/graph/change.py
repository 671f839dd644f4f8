"""Changes that can be undone, and the account of what each did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import GraphError
from engine.graph.records import Edge, Events, NodeId
from engine.prototxt import EditLog

if TYPE_CHECKING:
    from engine.graph.core import GraphCore

__all__ = ["Change", "Tracker"]


class Change:
    """What was edited between the two ends of a ``with graph.change(...)`` block.

    Attributes
    ----------
    text : str
        What the change does, as an undo menu shows it.
    events : Events
        What it did when it was made.
    """

    def __init__(self, graph: GraphCore, text: str, log: EditLog, before: object) -> None:
        self.text = text
        self.events = Events()
        self._graph = graph
        self._log = log
        self._before = before
        self._after = before

    @property
    def is_empty(self) -> bool:
        """Whether the change edited nothing."""
        return len(self._log) == 0

    def undo(self) -> Events:
        """Bring back the bytes and node ids from before the change.

        Raises
        ------
        GraphError
            If a later change has not been undone first.
        """
        if self.is_empty:
            return Events()
        return self._graph._replay(self, self._log.undo, self._after, self._before)

    def redo(self) -> Events:
        """Make the change again after it was undone.

        Raises
        ------
        GraphError
            If the document is not as it was before the change.
        """
        if self.is_empty:
            return Events()
        return self._graph._replay(self, self._log.redo, self._before, self._after)

    def extend(self, later: Change) -> None:
        """Take over the edits of the change that was made directly after this one, so that one undo takes back both.

        Raises
        ------
        GraphError
            If ``later`` is not the very next change of the same graph.
        """
        if later._graph is not self._graph or later._before is not self._after:
            raise GraphError(f"'{later.text}' does not follow '{self.text}' directly.")
        self._log.extend(later._log)
        self._after = later._after

    def _seal(self, after: object) -> object:
        self._after = after
        return after


class Tracker:
    """Collects what happens to nodes and edges until it is told."""

    def __init__(self) -> None:
        self.text_changed = False
        self.edited: set[NodeId] = set()
        self.spliced: set[NodeId] = set()
        self._before: dict[NodeId, bool] = {}
        self._now: dict[NodeId, bool] = {}
        self._edges: dict[Edge, int] = {}

    def saw(self, node: NodeId, before: bool, now: bool) -> None:
        """Note that a node was read again: whether it was there before, and whether it is there now."""
        self._before.setdefault(node, before)
        self._now[node] = now

    def edge(self, edge: Edge, step: int) -> None:
        """Note that an edge came (1) or went (-1)."""
        count = self._edges.get(edge, 0) + step
        if count:
            self._edges[edge] = count
        else:
            self._edges.pop(edge, None)

    def events(self) -> Events:
        """Return the account."""
        before, now = self._before, self._now
        stayed = {node for node in now if before[node] and now[node]}
        return Events(
            added=frozenset(node for node in now if now[node] and not before[node]),
            removed=frozenset(node for node in now if before[node] and not now[node]),
            changed=frozenset(stayed & self.edited),
            moved=frozenset(stayed & self.spliced),
            edges_added=frozenset(edge for edge, count in self._edges.items() if count > 0),
            edges_removed=frozenset(edge for edge, count in self._edges.items() if count < 0),
            text_changed=self.text_changed,
        )
