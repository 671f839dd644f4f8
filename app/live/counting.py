"""What the net of a document costs, counted once for all that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.qt import Debounce, guard

if TYPE_CHECKING:
    from app.document import Document
    from app.live.layercosts import CostCount, Inputs
    from engine.graph import Events, NetState, Node, NodeId

__all__ = ["LiveCosts"]

_PAUSE_MS = 15


class LiveCosts(QObject):
    """The costs of the net in view; they follow every edit, and are counted in the document's thread.

    Layers that did not change are not counted again, and a count that is no longer wanted is thrown away.

    Attributes
    ----------
    changed : Signal()
        ``count`` is another.
    count : CostCount or None
        The newest; None before the first.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._inputs: Inputs | None = None
        self._records: dict[NodeId, Node] = {}
        self._states: tuple[NetState, ...] = ()
        self._looked_at: set[NodeId] = set()
        self._due = Debounce(self._ask, _PAUSE_MS, self)
        self.count: CostCount | None = None
        document.shapes_changed.connect(self._trigger)
        document.view_changed.connect(self._trigger)

    @property
    def busy(self) -> bool:
        """Whether a count is about to be asked for."""
        return self._due.pending

    def graph_changed(self, events: Events) -> None:
        """Count anew what a change reaches."""
        for node in events.changed | events.removed:
            self._looked_at.discard(node)
            self._records.pop(node, None)
            if self._inputs is not None:
                self._inputs.names.pop(node, None)
        self._due.trigger()

    def refresh(self) -> None:
        """Count anew."""
        self._due.trigger()

    def close(self) -> None:
        """Count no more."""
        self._due.cancel()

    @guard
    def _trigger(self, _view: object = None) -> None:
        self._due.trigger()

    def _ask(self) -> None:
        from app.live.layercosts import (  # with numpy behind it; the first frame needs none
            Inputs,
            count_costs,
            inputs_of,
        )

        states = self._document.graph.states
        if states != self._states:  # the phases of any layer may be others
            self._states = states
            self._records.clear()
        last = self._inputs or Inputs((), {}, {})
        self._inputs = inputs = inputs_of(self._document, self._records, last, self._looked_at)
        self._document.jobs.submit("costs", lambda: count_costs(inputs), self._counted)

    @guard
    def _counted(self, count: CostCount) -> None:
        if self._inputs is not None:
            self._inputs.readers = {}
        self.count = count
        self.changed.emit()
