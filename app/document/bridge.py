"""What carries the graph's events and the selection into Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.qt import Debounce, guard

if TYPE_CHECKING:
    from engine.graph import Events, NodeId, OpGraph

__all__ = ["GraphBridge", "Selection"]


class GraphBridge(QObject):
    """Turn the events of one graph into a Qt signal.

    Attributes
    ----------
    changed : Signal(engine.graph.Events)
        Sent once after each change, its undo and its redo.
    """

    changed = Signal(object)

    def __init__(self, graph: OpGraph, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._unsubscribe = graph.subscribe(self._forward)

    def close(self) -> None:
        """Stop listening to the graph."""
        self._unsubscribe()

    @guard
    def _forward(self, events: Events) -> None:
        self.changed.emit(events)


class Selection(QObject):
    """The selected nodes, shared by canvas, properties, text and problems.

    Attributes
    ----------
    changed : Signal()
        Sent once for a burst of changes, at the end of the current event.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ids: dict[NodeId, None] = {}
        self._notify = Debounce(self.changed.emit, 0, self)

    @property
    def node_ids(self) -> tuple[NodeId, ...]:
        """Selected nodes in the order of their selection."""
        return tuple(self._ids)

    @property
    def last(self) -> NodeId | None:
        """The node selected last, or None."""
        return next(reversed(self._ids), None)

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def set(self, ids: Iterable[NodeId]) -> None:
        """Select exactly ``ids``."""
        self._replace(dict.fromkeys(ids))

    def add(self, ids: Iterable[NodeId]) -> None:
        """Select ``ids`` too; they count as selected last."""
        added = dict.fromkeys(ids)
        self._replace({**{old: None for old in self._ids if old not in added}, **added})

    def toggle(self, ids: Iterable[NodeId]) -> None:
        """Select those of ``ids`` that are not selected, and the other way round."""
        flipped = dict.fromkeys(ids)
        kept = {old: None for old in self._ids if old not in flipped}
        self._replace({**kept, **{new: None for new in flipped if new not in self._ids}})

    def remove(self, ids: Iterable[NodeId]) -> None:
        """Take ``ids`` out of the selection."""
        gone = set(ids)
        self._replace({old: None for old in self._ids if old not in gone})

    def clear(self) -> None:
        """Select nothing."""
        self._replace({})

    def flush(self) -> None:
        """Send the due notice now."""
        self._notify.flush()

    def _replace(self, ids: dict[NodeId, None]) -> None:
        if tuple(ids) != tuple(self._ids):
            self._ids = ids
            self._notify.trigger()
