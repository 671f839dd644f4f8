"""A comparison that is kept up to date: a net that is open, and another that stays as it was read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.compare.changes import Change, list_changes
from app.compare.sources import Other
from app.document import Document
from app.jobs import Jobs
from app.live.layercosts import CostCount, Inputs, count_costs
from app.qt import Debounce, guard
from engine.errors import FileFormatError
from engine.graph import OpGraph
from engine.graph.comparing import Difference, compare
from engine.graph.taking import take_over
from engine.schema import FileKind, sniff

if TYPE_CHECKING:
    from pathlib import Path

    from engine.graph import Node, NodeId

__all__ = ["Comparison"]

_PAUSE = 120
_PATIENCE = 0.0  # what a thread is in the middle of goes on, and nobody waits


@dataclass(frozen=True, slots=True)
class _Found:
    """What the thread found out; the graphs are the comparison's own from then on."""

    data: bytes
    version: int
    other: OpGraph
    mine: OpGraph
    difference: Difference


class Comparison(QObject):
    """What differs between another net and the one that is open.

    Parameters
    ----------
    document : Document
        The net that is open; its edits are followed.
    other : Other
        What it is compared with.

    Attributes
    ----------
    opened : Signal()
        Both sides are read: ``old`` and ``new`` are there.
    failed : Signal(str)
        The other side cannot be read; the reason in a sentence.
    compared : Signal()
        Another difference was found.
    measured : Signal()
        Shapes and costs in ``changes`` are newer.
    old, new : Document
        The other net, and a copy of the one that is open.
    changes : list of Change
    difference : Difference
    """

    opened = Signal()
    failed = Signal(str)
    compared = Signal()
    measured = Signal()

    def __init__(self, document: Document, other: Other, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.other = other
        self.old: Document | None = None
        self.new: Document | None = None
        self.changes: list[Change] = []
        self.difference = Difference((), (), (), (), (), (), ())
        self.counts = (CostCount(), CostCount())
        self._held: tuple[dict[NodeId, Any], dict[NodeId, Any]] = {}, {}
        self._theirs: bytes | None = None
        self._version = -1
        self._listed_once = False
        self.jobs = Jobs(self)  # of its own: the shapes of the open net need not wait for it
        self._due = Debounce(self._compare, _PAUSE, self)
        self._costs_due = Debounce(self._measure, _PAUSE, self)
        document.changed.connect(self._edited)
        document.view_changed.connect(self._view_changed)
        document.dialect_changed.connect(self._edited)
        document.assumptions.changed.connect(self._assume)
        self._compare()

    @property
    def busy(self) -> bool:
        """Whether something newer is still to come."""
        if self._due.pending or self._costs_due.pending or self.jobs.busy:
            return True
        return any(each.live.busy for each in (self.old, self.new) if each is not None)

    def close(self) -> None:
        """End both copies."""
        self.document.changed.disconnect(self._edited)
        self.document.view_changed.disconnect(self._view_changed)
        self.document.dialect_changed.disconnect(self._edited)
        self.document.assumptions.changed.disconnect(self._assume)
        self.jobs.close(_PATIENCE)
        self._due.cancel()
        self._costs_due.cancel()
        for each in (self.old, self.new):
            if each is not None:
                each.close()

    # Reading and comparing

    @guard
    def _edited(self, _events: object = None) -> None:
        self._due.trigger()

    @guard
    def _view_changed(self, view: object) -> None:
        for each in (self.old, self.new):
            if each is not None:
                each.set_view(self.document.view)

    def _compare(self) -> None:
        graph = self.document.graph
        mine, version, known = bytes(graph), graph.version, self._theirs
        schema, read = self.document.schema, self.other.read

        def work() -> tuple[bytes, _Found]:
            theirs = known if known is not None else _net_text(read())
            old, new = OpGraph.parse(theirs), OpGraph.parse(mine)
            return theirs, _Found(mine, version, old, new, compare(old, new, (schema, schema)))

        self.jobs.submit("compare", work, self._compared, self._failed)

    @guard
    def _failed(self, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.failed.emit(f"{self.other.title} cannot be read: {reason}")

    @guard
    def _compared(self, result: tuple[bytes, _Found]) -> None:
        self._theirs, found = result
        self._version = found.version
        first = self.old is None
        if self.old is None or self.new is None:
            self.old = self._open(found.other, self.other.folder)
            self.new = self._open(found.mine, None)
            self._assume()
        elif found.data != bytes(self.new.graph):
            self.new.apply("", lambda graph: graph.replace_text(found.data))
            self.new.undo_stack.clear()
        self.jobs.cancel("costs")
        if first:
            self.opened.emit()
        self._list(self.old.graph, self.new.graph, found.difference)

    def _list(self, old: OpGraph, new: OpGraph, difference: Difference) -> None:
        """Put the difference in terms of the two documents, which only change when something newer is found."""
        counts = self.counts

        def work() -> tuple[Difference, list[Change]]:
            here = _translated(difference, old.nodes(), new.nodes())
            return here, _listed(here, counts)

        self.jobs.submit("list", work, self._listed)

    @guard
    def _listed(self, found: tuple[Difference, list[Change]]) -> None:
        self.difference, self.changes = found
        self._listed_once = True
        self.compared.emit()
        self._costs_due.trigger()

    @guard
    def _assume(self) -> None:
        """Assume of both nets what is assumed of them elsewhere."""
        here = self.document.assumptions.shapes
        for side, shapes in ((self.old, self.other.assumed), (self.new, None)):
            if side is not None:
                side.assumptions.shapes = here if shapes is None else shapes
                side.assumptions.changed.emit()

    def _open(self, graph: OpGraph, other_folder: Path | None) -> Document:
        source = self.document
        folder = source.path
        if other_folder is not None:
            folder = other_folder / (source.path.name if source.path is not None else "net.prototxt")
        opened = Document(graph, folder, self)
        opened.dialect_choice.choose(source.dialect)
        opened.live.trusted = source.live.trusted
        opened.live.registry = source.live.registry  # what its own folder offers is found out later
        opened.live.plugins.use(source.plugin_paths)
        opened.set_view(source.view)
        opened.shapes_changed.connect(self._shapes_changed)
        opened.view_changed.connect(self._shapes_changed)
        return opened

    # Costs

    def start_live(self) -> None:
        """Begin to compute shapes and costs, once both nets can be seen; no wire is led before it has its place."""
        for each in (self.old, self.new):
            if each is not None and not each.live.is_started:
                each.live.start()

    @guard
    def _shapes_changed(self, _view: object = None) -> None:
        self._costs_due.trigger()

    def _measure(self) -> None:
        old, new = self.old, self.new
        if old is None or new is None:
            return
        takes = [
            (each.graph, None if each.seen is None else frozenset(each.seen.node_ids()), each.shapes, held)
            for each, held in zip((old, new), self._held, strict=True)
        ]
        difference = self.difference

        def work() -> tuple[tuple[CostCount, CostCount], list[Change]]:
            counts = []
            for graph, seen, shapes, held in takes:
                nodes = [node for node in graph.nodes() if seen is None or node.id in seen]
                counts.append(count_costs(Inputs(nodes, shapes, {}, held)))
            both = counts[0], counts[1]
            return both, _listed(difference, both)

        self.jobs.submit("costs", work, self._measured)

    @guard
    def _measured(self, found: tuple[tuple[CostCount, CostCount], list[Change]]) -> None:
        self.counts, self.changes = found
        self.measured.emit()

    # What is done with it

    @property
    def is_listed(self) -> bool:
        """Whether the differences are known."""
        return self._listed_once

    @property
    def broken(self) -> str:
        """Where the text of the other net is broken, in a sentence; empty where it is not."""
        problem = next(iter(self.old.graph.problems), None) if self.old is not None else None
        return f"Its text is broken at line {problem.line}." if problem is not None else ""

    @property
    def is_current(self) -> bool:
        """Whether the copy is the open net as it is now."""
        return self.new is not None and self._version == self.document.graph.version

    def partner(self, node: NodeId, *, of_old: bool) -> NodeId | None:
        """Return the same layer on the other side; None where that has none."""
        here, there = (0, 1) if of_old else (1, 0)
        return next((pair[there].id for pair in self.difference.pairs if pair[here].id == node), None)

    def original(self, node: NodeId) -> NodeId | None:
        """Return the layer of the open net that one of its copy stands for; None where it was edited since."""
        new, document = self.new, self.document
        if new is None or not self.is_current or node not in new.graph:  # the differences may still be those of before
            return None
        return document.graph.node_ids()[new.graph.ordinal(node)]

    def copy_of(self, node: NodeId) -> NodeId | None:
        """Return the layer of the copy that stands for one of the open net."""
        new, document = self.new, self.document
        if new is None or not self.is_current or node not in document.graph:
            return None
        return new.graph.node_ids()[document.graph.ordinal(node)]

    def obstacle(self, change: Change | None) -> str:
        """Why a change cannot be taken over, in a sentence; empty where it can."""
        if change is None:
            return "Select a difference first."
        if change.kinds == ("reshaped",):
            return "Its shape and cost follow from other layers."
        if change.kinds == ("moved",):
            return "Only its place in the file differs."
        if any(node is not None and node.virtual for node in (change.old, change.new)):
            return "The net's own inputs are not taken over."
        return ""

    def take(self, change: Change) -> None:
        """Make one layer of the open net what it is on the other side, in one undoable step.

        Raises
        ------
        GraphError
            When it cannot be, with the reason.
        """
        document, old = self.document, self.old
        assert old is not None
        if self.new is None or not self.is_current:
            return  # it is compared anew in a moment
        text = take_over(self.new.graph, old.graph, self.difference.pairs, change.old, change.new)
        document.apply(f"Take {change.name} from {self.other.title}", lambda graph: graph.replace_text(text))


def _net_text(data: bytes) -> bytes:
    """Return the text of a net; NetcanvasError where it is plainly that of a solver."""
    if sniff(data) is FileKind.SOLVER_TEXT:
        raise FileFormatError("it is a solver, not a net.", next_step="Choose the net that it trains.")
    return data


def _listed(difference: Difference, counts: tuple[CostCount, CostCount]) -> list[Change]:
    old, new = ({row.node: row for row in count.rows} for count in counts)
    return list_changes(difference, old, new)


def _translated(found: Difference, old: tuple[Node, ...], new: tuple[Node, ...]) -> Difference:
    """Return a difference of two other readings of the same texts in terms of these."""

    def here(node: Node) -> Node:
        return new[node.ordinal]

    def there(node: Node) -> Node:
        return old[node.ordinal]

    return replace(
        found,
        added=tuple(map(here, found.added)),
        removed=tuple(map(there, found.removed)),
        renamed=tuple((there(a), here(b)) for a, b in found.renamed),
        moved=tuple(map(here, found.moved)),
        changed=tuple((there(a), here(b), fields) for a, b, fields in found.changed),
        pairs=tuple((there(a), here(b)) for a, b in found.pairs),
    )
