"""Questions to the graph."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from engine.errors import GraphError
from engine.graph.binding import UNWIRED, Binding, Slot, occurrences
from engine.graph.core import GraphCore
from engine.graph.records import INPUTS, Edge, Node, NodeId, Path
from engine.graph.rules import PHASES, NetState
from engine.graph.versions import base_name, fresh_name
from engine.prototxt import Field, Message, ParseProblem, Scalar, Tree, Value
from engine.schema import to_message
from engine.schema.upgrade import PADDING, upgrade_layer

__all__ = ["GraphQueries"]

#: Of so many edges those of one layer are picked out one by one.
_FEW_EDGES = 64


class GraphQueries(GraphCore):
    """The reading half of :class:`engine.graph.OpGraph`."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self._records: dict[NodeId, tuple[Binding, Node]] = {}
        self._nodes: tuple[tuple[int, int], tuple[Node, ...]] = ((-1, -1), ())
        self._text: tuple[int, str] = (-1, "")

    # The document

    def __bytes__(self) -> bytes:
        return bytes(self._tree)

    @property
    def text(self) -> str:
        """The document's text; bytes that are not UTF-8 appear as surrogate escapes."""
        version = self._tree.version
        if self._text[0] != version:  # many ask after each edit
            self._text = version, self._tree.text
        return self._text[1]

    @property
    def tree(self) -> Tree:
        """The tree behind the graph, to be read only."""
        return self._tree

    @property
    def version(self) -> int:
        """A number that grows with every edit, undo and redo."""
        return self._tree.version

    @property
    def net_name(self) -> str:
        """The net's name; empty where it has none."""
        return self._tree.root.text_of("name") or ""

    @property
    def problems(self) -> list[ParseProblem]:
        """What is wrong with the text."""
        return self._tree.problems

    # Nodes

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes in document order; the net's own inputs come first."""
        state = (self._serial, self._tree.version)
        if self._nodes[0] != state:  # many ask after each edit
            self._nodes = state, tuple([self.node(node) for node in self._order])
        return self._nodes[1]

    def node_ids(self) -> tuple[NodeId, ...]:
        """Return the ids of all nodes in document order."""
        return tuple(self._order)

    def node(self, node: NodeId) -> Node:
        """Return the record of a node.

        Raises
        ------
        GraphError
            If there is no such node.
        """
        binding = self._binding(node)
        ordinal = self._ordinals[node]
        line = self._line(binding)
        phases = self._phases(binding.mask)
        held = self._records.get(node)
        if held is not None and held[0] is binding:
            record = held[1]
            if record.ordinal == ordinal and record.line == line and record.phases == phases:
                return record
        record = Node(
            node,
            ordinal,
            binding.name,
            binding.type,
            binding.bottoms,
            binding.tops,
            phases,
            binding.in_place,
            line,
            binding.version,
            binding.written_type,
            binding.field is None,
        )
        self._records[node] = (binding, record)
        return record

    def __contains__(self, node: object) -> bool:
        return node in self._bindings

    def __len__(self) -> int:
        return len(self._bindings)

    def named(self, name: str) -> tuple[Node, ...]:
        """Return the nodes of a name, in document order: there may be one for each phase."""
        return tuple(self.node(node) for node in self._sorted(self._named.get(name, ())))

    def ids_named(self, name: str) -> frozenset[NodeId]:
        """Return the nodes of a name, in no order."""
        return frozenset(self._named.get(name, ()))

    def node_at(self, line: int) -> NodeId | None:
        """Return the node on whose text a line of the document lies, or None."""
        tree, nodes = self._tree, self._order[1:] if INPUTS in self._bindings else self._order
        if not nodes:
            return None

        def start(node: NodeId) -> int:
            field = self._bindings[node].field
            return 0 if field is None else tree.start_line(field)

        place = bisect_right(nodes, line, key=start) - 1
        if place < 0:
            return None
        field = self._bindings[nodes[place]].field
        assert field is not None
        last = start(nodes[place]) + field.line_breaks - (1 if field.text.endswith("\n") else 0)
        return nodes[place] if line <= last else None

    def readings(self) -> Mapping[NodeId, Binding]:
        """Return what was read of each node: another object, once the text of the layer has been edited."""
        return MappingProxyType(self._bindings)

    def layer_count(self, nodes: Iterable[NodeId] | None = None) -> int:
        """Return how many of some nodes, or of all, are layers of the text and not its ``input`` fields."""
        if nodes is None:
            return self._versions.total()
        return sum(each.field is not None for each in map(self._bindings.__getitem__, nodes))

    @property
    def states(self) -> tuple[NetState, ...]:
        """The states that the document is looked at in: each phase alone, and with each stage that its rules name."""
        return self._states

    def users(self, blob: str) -> frozenset[NodeId]:
        """Return the nodes that read or write a blob name."""
        return frozenset(self._users.get(blob, ()))

    def line_range(self, node: NodeId) -> tuple[int, int]:
        """Return the first and last line of a layer, without the comments above it."""
        binding = self._binding(node)
        first = self._line(binding)
        if binding.field is None:
            return (first, first)
        text = binding.field.text
        breaks = text.count("\n", len(binding.field.lead)) - (1 if text.endswith("\n") else 0)
        return (first, first + max(breaks, 0))

    # Edges

    def edges(self) -> tuple[Edge, ...]:
        """Return all edges."""
        return tuple(edge for edges in self._edges.values() for edge in edges)

    def edges_in(self, node: NodeId) -> tuple[Edge, ...]:
        """Return the edges that end at a node, by bottom."""
        found = self._written_at(self._binding(node).bottoms)
        if found is None:
            found = [edge for _, _, edge in self._network.in_edges(node, keys=True)]
        else:
            found = [edge for edge in found if edge.target == node]
        return tuple(sorted(found, key=lambda edge: (edge.bottom, self._ordinals[edge.source])))

    def edges_out(self, node: NodeId) -> tuple[Edge, ...]:
        """Return the edges that start at a node, by top."""
        found = self._written_at(self._binding(node).tops)
        if found is None:
            found = [edge for _, _, edge in self._network.out_edges(node, keys=True)]
        else:
            found = [edge for edge in found if edge.source == node]
        return tuple(sorted(found, key=lambda edge: (edge.top, self._ordinals[edge.target], edge.bottom)))

    def _written_at(self, blobs: Iterable[str]) -> list[Edge] | None:
        """Return the edges of some blobs where these are few; None where the network is there, or finds them faster.

        To draw the network, and to import what it is drawn with, takes longer than one question may.
        """
        if self._drawn is not None:
            return None
        known = [edges for blob in dict.fromkeys(blobs) if (edges := self._edges.get(blob))]
        return [edge for edges in known for edge in edges] if sum(map(len, known)) <= _FEW_EDGES else None

    def writers(self, blob: str) -> tuple[NodeId, ...]:
        """Return the nodes that write a blob name, in document order."""
        return tuple(node for node in self._users_in_order(blob) if blob in self._bindings[node].tops)

    def readers(self, blob: str) -> tuple[NodeId, ...]:
        """Return the nodes that read a blob name, in document order."""
        return tuple(node for node in self._users_in_order(blob) if blob in self._bindings[node].bottoms)

    def blobs(self) -> tuple[str, ...]:
        """Return all blob names that are written or read, sorted."""
        return tuple(sorted(name for name, users in self._users.items() if users and name != UNWIRED))

    def unresolved(self, node: NodeId, bottom: int) -> frozenset[str]:
        """Return the phases in which a layer takes part, but its bottom has no writer above it.

        Where rules speak of stages, a phase counts only if no state of it resolves the bottom.
        """
        mask = self._binding(node).mask
        resolved = mask & self._resolved(node, bottom)
        if len(self._states) > len(PHASES):
            return self._phases(mask) - self._phases(resolved)
        return self._phases(mask & ~resolved)

    def together(self, first: NodeId, second: NodeId) -> frozenset[str]:
        """Return the phases in which two layers can take part at once."""
        return self._phases(self._binding(first).mask & self._binding(second).mask)

    def hold_together(self, first: Edge, second: Edge) -> frozenset[str]:
        """Return the phases that have a state in which two edges hold at once."""
        masks = (self._edges.get(edge.blob, {}).get(edge, 0) for edge in (first, second))
        return self._phases(next(masks) & next(masks))

    # Fields

    def message(self, node: NodeId | None) -> Message:
        """Return a layer's message in the tree, to be read only; the net's own message for None and for its inputs."""
        if node is None:
            return self._tree.root
        field = self._binding(node).field
        if field is None:
            return self._tree.root
        message = field.message
        assert message is not None
        return message

    def field(self, node: NodeId | None, path: Path) -> Value | None:
        """Return a value of a layer as the tree has it, or None where the field is not written.

        Parameters
        ----------
        node : NodeId or None
            The layer; None for the net's own fields.
        path : tuple of str and int
            Field names, each followed by an index where one of several values is meant. Without an index the last
            value counts, as in protobuf.
        """
        slot = self._find(self.message(node), path)
        return None if slot is None else slot.value

    def value(self, node: NodeId | None, path: Path) -> str | None:
        """Return the text of a value as written (strings with their quotes), or None where it is not written."""
        value = self.field(node, path)
        return None if value is None else value.text

    def place(self, node: NodeId, path: Path = ()) -> tuple[int, int]:
        """Return the 1-based line and column of a value; of the layer itself where the field is not written."""
        slot = self._find(self.message(node), path) if path else None
        if slot is None:
            return (self.node(node).line, 1)
        place = slot if isinstance(slot, Field) and not isinstance(slot.value, Scalar) else slot.value
        return (place.line, place.column) if isinstance(place, (Field, Scalar)) else (self.node(node).line, 1)

    def count(self, node: NodeId | None, path: Path) -> int:
        """Return how many values a field has; those of lists are counted one by one."""
        return sum(
            len(occurrences(message, str(path[-1]))) for message in self._messages(self.message(node), path[:-1])
        )

    def layer_text(self, node: NodeId) -> str:
        """Return a layer as the file has it, without the comments above it and what follows its bracket."""
        field = self._binding(node).field
        if field is None:
            return ""
        end = len(field.text) - len(field.tail)
        return field.text[len(field.lead) : end]

    def layer_message(self, node: NodeId) -> Any:
        """Return a layer as a ``LayerParameter``, whatever format the file is in.

        What does not fit the schema is left out; see :func:`engine.schema.convert`. In the oldest format padding is a
        layer: it passes its blob on as it is, and what it pads by is in the message of the layer that reads it, which
        is where Caffe puts it.
        """
        binding = self._binding(node)
        if binding.version == 2:
            return to_message(self.message(node), "LayerParameter")
        block = to_message(self.message(node), "V1LayerParameter")
        padding = self._padding(binding)
        if padding is not None and block.layer.type in ("conv", "pool"):
            block.layer.pad = padding
        layer = to_message(Message(), "LayerParameter")
        upgrade_layer(block, layer)
        layer.type = binding.type
        return layer

    def _padding(self, binding: Binding) -> int | None:
        """Return by how much a padding layer above pads the only bottom of a layer; None where there is none."""
        for edge in self.edges_in(binding.id) if binding.version == 0 and len(binding.bottoms) == 1 else ():
            if self._bindings[edge.source].written_type == PADDING:
                return int(to_message(self.message(edge.source), "V1LayerParameter").layer.pad)
        return None

    # Names

    def fresh_layer_name(self, type_name: str) -> str:
        """Return a name for a new layer of a type that nothing in the document has: ``conv3``."""
        return fresh_name(*base_name(type_name), self._named, self._users)

    def fresh_blob_name(self, base: str) -> str:
        """Return ``base``, or ``base`` with the first number that makes it a name no blob has."""
        return fresh_name(base, True, (), self._users)

    # For the rest of the graph

    def _binding(self, node: NodeId) -> Binding:
        try:
            return self._bindings[node]
        except KeyError:
            raise GraphError(f"There is no node {node} in this graph.", next_step="It may have been removed.") from None

    def _line(self, binding: Binding) -> int:
        field = binding.field
        if field is None:
            first = next(iter(self._tree.root.fields("input")), None)
            return first.line if first is not None else 0
        return self._tree.start_line(field) + field.lead.count("\n")

    def _users_in_order(self, blob: str) -> list[NodeId]:
        return self._sorted(self._users.get(blob, ()))

    def _sorted(self, nodes: Iterable[NodeId]) -> list[NodeId]:
        return sorted(nodes, key=self._ordinals.__getitem__)

    def _messages(self, message: Message, path: Path) -> list[Message]:
        """Return the messages that a path leads to: several where a singular message is written in pieces."""
        messages = [message]
        place = 0
        while place < len(path):
            slots = [slot for outer in messages for slot in occurrences(outer, str(path[place]))]
            place += 1
            if place < len(path) and isinstance(path[place], int):
                index = int(path[place])
                slots = slots[index : index + 1] if index >= 0 else []
                place += 1
            messages = [slot.value for slot in slots if isinstance(slot.value, Message)]
        return messages

    def _slots(self, message: Message, path: Path) -> list[Slot]:
        """Return all that holds a value of the field at the end of a path without a last index."""
        return [slot for outer in self._messages(message, path[:-1]) for slot in occurrences(outer, str(path[-1]))]

    def _find(self, message: Message, path: Path) -> Slot | None:
        """Return what holds the value at a path, or None."""
        if not path or isinstance(path[0], int):
            raise GraphError(f"A path begins with a field name, got {path!r}.")
        if isinstance(path[-1], int):
            slots = self._slots(message, path[:-1])
            return slots[path[-1]] if 0 <= path[-1] < len(slots) else None
        slots = self._slots(message, path)
        return slots[-1] if slots else None

    def _owner(self, node: NodeId) -> Field:
        """Return a layer's field; the net's inputs have none.

        Raises
        ------
        GraphError
            For the node that stands for the net's own inputs.
        """
        field = self._binding(node).field
        if field is None:
            raise GraphError(
                "The net's own inputs are no layer.", next_step="Edit the 'input' fields at the top of the file."
            )
        return field
