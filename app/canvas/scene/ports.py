"""The wires of each output, and which of them says its shape."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.graph import Edge, NodeId, OpGraph

__all__ = ["Port", "Ports", "port_of"]

#: A layer and the index of one of its tops.
Port = tuple["NodeId", int]


def port_of(edge: Edge) -> Port:
    """Return where a wire begins."""
    return edge.source, edge.top


class Ports:
    """The wires of a scene by the output where they begin.

    The first of them is the one whose reader comes first in the file, however the net came to be what it is.

    Parameters
    ----------
    graph : OpGraph
        Knows the order of the layers; asked only for a first wire.
    """

    def __init__(self, graph: OpGraph) -> None:
        self._graph = graph
        self._wires: dict[Port, dict[Edge, None]] = {}
        self._first: dict[Port, Edge] = {}
        self._changed: set[Port] = set()

    def wires(self, port: Port) -> Collection[Edge]:
        """Return the wires of an output."""
        return self._wires.get(port, ())

    def add(self, edge: Edge) -> None:
        """Take in a wire."""
        self._wires.setdefault(port_of(edge), {})[edge] = None
        self.reorder(port_of(edge))

    def discard(self, edge: Edge) -> None:
        """Let go of a wire."""
        port = port_of(edge)
        wires = self._wires.get(port, {})
        wires.pop(edge, None)
        if wires:
            self.reorder(port)
        else:
            self.drop(port)

    def drop(self, port: Port) -> None:
        """Let go of all wires of an output."""
        self._wires.pop(port, None)
        self._first.pop(port, None)
        self._changed.discard(port)

    def reorder(self, port: Port) -> None:
        """Note that another wire of an output may be the first now: one came or went, or its reader has moved."""
        self._first.pop(port, None)
        self._changed.add(port)

    def first(self, port: Port) -> Edge | None:
        """Return the wire of an output whose reader is the first in the file; None where nobody reads it."""
        found = self._first.get(port)
        if found is None and (wires := self._wires.get(port)):
            found = self._first[port] = min(wires, key=self._rank) if len(wires) > 1 else next(iter(wires))
        return found

    def take_changed(self) -> set[Port]:
        """Return the outputs with wires whose first may be another than when this was last asked."""
        changed, self._changed = self._changed, set()
        return changed

    def _rank(self, edge: Edge) -> tuple[int, int, list[str]]:
        return self._graph.ordinal(edge.target), edge.bottom, sorted(edge.phases)
