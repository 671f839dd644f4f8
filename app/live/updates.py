"""How large the updates of a document's layers are in the run that is shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["LiveUpdates"]


class LiveUpdates(QObject):
    """The last figures of the run, which whoever follows it hands over; see :mod:`engine.worker.updates`.

    Attributes
    ----------
    changed : Signal()
        There are other figures, or the run began or ended.
    values : mapping of str to float
        ``norm(update) / norm(weights)`` by name of the layer; empty while there are none.
    iteration : int
        Updates done when they were taken.
    is_running : bool
        Whether the run goes on or is paused: else they are its last ones.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.values: Mapping[str, float] = {}
        self.iteration = 0
        self.is_running = False

    def take(self, values: Mapping[str, float], iteration: int, *, is_running: bool) -> None:
        """Take over figures; those that are there already change nothing."""
        if values is self.values and is_running == self.is_running:
            return
        told = bool(values or self.values) or is_running != self.is_running
        self.values, self.iteration, self.is_running = values, iteration, is_running
        if told:
            self.changed.emit()

    def by_node(self) -> dict[NodeId, float]:
        """Return the figures of the layers that are in the run; layers that only test are not, whatever their name."""
        if not self.values:
            return {}
        nodes = self._document.graph.nodes()
        return {
            node.id: self.values[node.name]
            for node in nodes
            if node.name in self.values and (not node.phases or "TRAIN" in node.phases)
        }
