"""Changes that can be undone, and the account of what each did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.errors import GraphError
from engine.graph.binding import Binding
from engine.graph.records import Edge, Events, NodeId
from engine.prototxt import EditLog

if TYPE_CHECKING:
    from engine.graph.core import GraphCore

__all__ = ["Account", "Change"]

Wires = Mapping[Edge, int]


class Account:
    """What happened to nodes and wires, from before the first edit to after the last.

    Attributes
    ----------
    text_changed : bool
        Whether any character did.
    edited, spliced : set of NodeId
        Layers whose text was edited, and those whose text came, went or moved.
    is_whole : bool
        Whether nodes and wires are all that is known otherwise now; if so, undo and redo need read nothing.
    nodes : dict of NodeId to tuple of Binding or None
        What was read of each node that was read again: before and after; None where it was not there.
    wires : dict of str to tuple of dict
        The wires of each blob that was wired again: before and after.
    """

    def __init__(self) -> None:
        self.text_changed = False
        self.edited: set[NodeId] = set()
        self.spliced: set[NodeId] = set()
        self.is_whole = True
        self.nodes: dict[NodeId, tuple[Binding | None, Binding | None]] = {}
        self.wires: dict[str, tuple[Wires, Wires]] = {}

    def saw(self, node: NodeId, before: Binding | None, now: Binding | None) -> None:
        """Note that a node was read again."""
        known = self.nodes.get(node)
        self.nodes[node] = (before if known is None else known[0], now)

    def wired(self, blob: str, before: Wires, now: Wires) -> None:
        """Note that a blob was wired again."""
        known = self.wires.get(blob)
        self.wires[blob] = (before if known is None else known[0], now)

    def extend(self, later: Account) -> None:
        """Go on with the account of what happened next."""
        self.edited |= later.edited
        self.spliced |= later.spliced
        self.text_changed |= later.text_changed
        self.is_whole &= later.is_whole
        for node, read in later.nodes.items():
            self.saw(node, *read)
        for blob, wires in later.wires.items():
            self.wired(blob, *wires)

    def events(self) -> Events:
        """Return the account as others are told."""
        nodes = self.nodes.items()
        stayed = {node for node, (before, now) in nodes if before is not None and now is not None}
        came: set[Edge] = set()
        went: set[Edge] = set()
        for before, now in self.wires.values():
            if not before:
                came.update(now)
            elif not now:
                went.update(before)
            else:
                came |= set(now).difference(before)
                went |= set(before).difference(now)
        return Events(
            added=frozenset([node for node, (before, now) in nodes if before is None and now is not None]),
            removed=frozenset([node for node, (before, now) in nodes if before is not None and now is None]),
            changed=frozenset(stayed & self.edited),
            moved=frozenset(stayed & self.spliced),
            edges_added=frozenset(came),
            edges_removed=frozenset(went),
            text_changed=self.text_changed,
        )


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
        self._account = Account()
        self._told = self.events

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
        return self._graph._replay(self, self._account, self._after, self._before, back=True)

    def redo(self) -> Events:
        """Make the change again after it was undone.

        Raises
        ------
        GraphError
            If the document is not as it was before the change.
        """
        if self.is_empty:
            return Events()
        return self._graph._replay(self, self._account, self._before, self._after, back=False)

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
        self._account.extend(later._account)
        self._told = self._account.events()
        self._after = later._after

    def _seal(self, after: object, account: Account) -> object:
        self._after = after
        self._account = account
        self.events = self._told = account.events()
        return after
