"""What the graph will find in layers that are to come, found out ahead: away from the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from engine.graph.binding import UNWIRED, Binding, bind
from engine.graph.records import Edge, NodeId
from engine.graph.rules import NetState
from engine.graph.wiring import wire
from engine.prototxt import Field

__all__ = ["Foresight"]


class Foresight:
    """Readings of layers that are not in the document yet, and the wires among them.

    It is only ever a help: what the document turns out not to bear is read and wired as if there were none.

    Parameters
    ----------
    next_id : int
        Id of the next node of the graph.
    states : tuple of NetState
        Those that the graph looks at.

    Attributes
    ----------
    next_id : int
        Id of the next node of the graph once the layers are in it.
    bindings : dict of Field to Binding
        By the layers' fields, which bear their ids already.
    wires : dict of str to tuple
        For blobs that only these layers name: who does, and the wires.
    """

    def __init__(self, next_id: int = 0, states: tuple[NetState, ...] = ()) -> None:
        self.next_id = next_id
        self.states = states
        self.bindings: dict[Field, Binding] = {}
        self.wires: dict[str, tuple[set[NodeId], Mapping[Edge, int]]] = {}

    def read(self, layer: Field) -> Binding:
        """Read a layer; one without an id is given the next."""
        if layer.key is None:
            layer.key = self.next_id
            self.next_id += 1
        binding = self.bindings[layer] = bind(NodeId(layer.key), layer, self.states)
        return binding

    def connect(
        self, layers: Iterable[Field], phases: Callable[[int], frozenset[str]], is_used: Callable[[str], bool]
    ) -> None:
        """Wire the blobs that nothing but the layers names.

        Parameters
        ----------
        layers : iterable of Field
            Layers that were read, in the order in which they will stand.
        phases : callable
            Names the phases of a mask of states.
        is_used : callable
            Whether a layer of the document names a blob.
        """
        users: dict[str, list[Binding]] = {}
        for layer in layers:
            binding = self.bindings[layer]
            for blob in dict.fromkeys((*binding.bottoms, *binding.tops)):
                users.setdefault(blob, []).append(binding)
        for blob, own in users.items():
            if blob != UNWIRED and not is_used(blob):
                self.wires[blob] = {binding.id for binding in own}, wire(blob, own, phases)
