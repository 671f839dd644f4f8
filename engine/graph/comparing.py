"""What two documents differ in, layer by layer; spelling, comments and formats of files do not count."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.graph.opgraph import OpGraph
from engine.graph.records import Node
from engine.prototxt import Field, ListValue, Message, Scalar
from engine.schema import Schema, SchemaProblem, convert, format_float32, to_message
from engine.schema.upgrade import PADDING, upgrade_inputs

__all__ = ["Difference", "FieldChange", "compare"]

Values = Mapping[str, str]

_WIRES = ("name", "bottom", "top")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field with another value.

    Attributes
    ----------
    field : str
        Its path, with dots.
    old, new : str
        The values as text; empty where the field is not set.
    """

    field: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What two nets differ in; false where they are the same.

    Attributes
    ----------
    net_fields : tuple of FieldChange
        Fields of the nets themselves.
    added, removed : tuple of Node
        Layers of the second and of the first net alone.
    renamed : tuple of (Node, Node)
        Layers that go by another name; what else changed in them is in ``changed``.
    moved : tuple of Node
        Layers of the second net that stand in another order with regard to the rest.
    changed : tuple of (Node, Node, tuple of FieldChange)
        Layers that differ in more than their names.
    pairs : tuple of (Node, Node)
        All layers that both nets have.
    """

    net_fields: tuple[FieldChange, ...]
    added: tuple[Node, ...]
    removed: tuple[Node, ...]
    renamed: tuple[tuple[Node, Node], ...]
    moved: tuple[Node, ...]
    changed: tuple[tuple[Node, Node, tuple[FieldChange, ...]], ...]
    pairs: tuple[tuple[Node, Node], ...]

    def __bool__(self) -> bool:
        return any((self.net_fields, self.added, self.removed, self.renamed, self.moved, self.changed))


def compare(first: OpGraph, second: OpGraph, schemas: tuple[Schema | None, Schema | None] = (None, None)) -> Difference:
    """Say what two documents differ in.

    Layers of one name, type and phases are the same layer, then those of one name; of the rest, those with the same
    settings that read the same blobs, or the only one of its type that does.

    Parameters
    ----------
    first, second : OpGraph
        Of any format.
    schemas : pair of Schema or None
        Those of their dialects; BVLC's where left out. What a schema does not know is compared as it is written.
    """
    pair = zip((first, second), schemas, strict=True)
    old, new = ({node: layer_values(graph, node, schema) for node in _layers(graph)} for graph, schema in pair)
    named = _named_pairs(list(old), list(new))
    renamed = _renamed_pairs(old, new, named)
    pairs = {**named, **renamed}
    ordered = tuple((node, pairs[node]) for node in old if node in pairs)
    kept = set(pairs.values())
    changed = []
    for before, after in ordered:
        changes = _changes(old[before], new[after])
        if _name(before) != _name(after):  # its name, and what its blobs are called, is told by that
            changes = tuple(change for change in changes if change.field.partition(".")[0] not in _WIRES)
        if changes:
            changed.append((before, after, changes))
    return Difference(
        _changes(_net_values(first, schemas[0]), _net_values(second, schemas[1])),
        tuple(node for node in new if node not in kept),
        tuple(node for node in old if node not in pairs),
        tuple((before, after) for before, after in ordered if _name(before) != _name(after)),
        _moved([after for _, after in ordered]),
        tuple(changed),
        ordered,
    )


def _layers(graph: OpGraph) -> list[Node]:
    """Return the layers of a document; those that only pad are part of the next, as they are today."""
    return [node for node in graph.nodes() if not _pads(node)]


def _pads(node: Node) -> bool:
    return node.version == 0 and node.written_type == PADDING


def _name(node: Node) -> str:
    """Return a layer's name; that of the layer which a net's own inputs stand for."""
    return "input" if node.virtual else node.name


def layer_values(graph: OpGraph, node: Node, schema: Schema | None = None) -> dict[str, str]:
    """Return the fields of a layer by their paths, those that the schema does not know as they are written."""
    if node.virtual:
        net = convert(graph.message(None), "NetParameter").message
        del net.layer[:], net.layers[:]
        upgrade_inputs(net)
        return dict(_flat(net.layer[0])) if net.layer else {"top": " ".join(node.tops)}
    is_todays = node.version == 2
    message = (
        to_message(graph.message(node.id), "LayerParameter", schema=schema)
        if is_todays
        else graph.layer_message(node.id)
    )
    for edge in graph.edges_in(node.id) if node.version == 0 else ():
        source = graph.node(edge.source)
        if _pads(source) and source.bottoms:
            message.bottom[edge.bottom] = source.bottoms[0]
    values = dict(_flat(message))
    type_name = "LayerParameter" if is_todays else "V1LayerParameter"
    problems = convert(graph.message(node.id), type_name, schema=schema if is_todays else None).problems
    values.update(_unread(graph.message(node.id), [each for each in problems if each.field != "type"]))
    return values


def _net_values(graph: OpGraph, schema: Schema | None) -> dict[str, str]:
    root = Message("", graph.tree)
    root.items = [item for item in graph.tree.root.items if item.key is None]
    conversion = convert(root, "NetParameter", schema=schema)
    net = conversion.message
    for field in ("input", "input_shape", "input_dim"):
        net.ClearField(field)
    return {**dict(_flat(net)), **dict(_unread(root, conversion.problems))}


def _flat(message: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Go through all values of a message with their paths."""
    for field, value in message.ListFields():
        for place, each in enumerate(value if field.is_repeated else [value]):
            step = f"{path}{field.name}.{place}" if field.is_repeated and len(value) > 1 else f"{path}{field.name}"
            if field.message_type is not None:
                yield step, "{}"
                yield from _flat(each, f"{step}.")
            elif field.enum_type is not None:
                yield step, str(field.enum_type.values_by_number[each].name)
            elif isinstance(each, float):
                yield step, format_float32(each)
            else:
                yield step, str(each).lower() if isinstance(each, bool) else str(each)


def _unread(message: Message, problems: Sequence[SchemaProblem], path: str = "") -> Iterator[tuple[str, str]]:
    """Go through the fields of a text that the schema does not know or allow, as they are written."""
    names = {problem.field for problem in problems}
    places = {(problem.line, problem.column) for problem in problems}
    work = [(message, path)]
    while names and work:
        here, path = work.pop()
        for place, field in enumerate(here):
            value = field.value
            if field.name in names and _is_at(field, places):
                yield f"{path}{field.name}#{place}", " ".join(value.text.split())
                continue
            for slot in value.elements if isinstance(value, ListValue) else [field]:
                if isinstance(slot.value, Message):
                    work.append((slot.value, f"{path}{field.name}."))


def _is_at(field: Field, places: set[tuple[int, int]]) -> bool:
    value = field.value
    return (field.line, field.column) in places or (isinstance(value, Scalar) and (value.line, value.column) in places)


def _named_pairs(old: list[Node], new: list[Node]) -> dict[Node, Node]:
    """Pair layers of one name: first those of the same type and phases."""
    pairs: dict[Node, Node] = {}
    taken: set[Node] = set()
    for exact in (True, False):
        waiting: defaultdict[Any, deque[Node]] = defaultdict(deque)
        for node in new:
            if node not in taken:
                waiting[_key(node, exact)].append(node)
        for node in old:
            if node not in pairs and _name(node) and (found := waiting.get(_key(node, exact))):
                pairs[node] = found.popleft()
                taken.add(pairs[node])
    return pairs


def _key(node: Node, exact: bool) -> Any:
    return (_name(node), node.type, node.phases) if exact else _name(node)


def _renamed_pairs(
    old: Mapping[Node, Values], new: Mapping[Node, Values], named: Mapping[Node, Node]
) -> dict[Node, Node]:
    """Pair layers of other names that have the same settings and read the same blobs, whatever those are called."""
    taken = set(named.values())
    waiting: defaultdict[Any, list[Node]] = defaultdict(list)
    other: defaultdict[Any, list[Node]] = defaultdict(list)
    for node, values in new.items():
        if node not in taken:
            waiting[_signature(values, node.bottoms)].append(node)
            other[node.type, node.phases, node.bottoms].append(node)
    pairs: dict[Node, Node] = {}
    blobs: dict[str, str] = {}
    for node, values in old.items():
        match = named.get(node)
        if match is None:
            bottoms = tuple(blobs.get(blob, blob) for blob in node.bottoms)
            match = _first(waiting.get(_signature(values, bottoms), ()), node, taken)
            match = match or _only(other, node, bottoms, taken)
            if match is None:
                continue
            taken.add(match)
            pairs[node] = match
        blobs.update(zip(node.tops, match.tops, strict=False))
    return pairs


def _first(candidates: Iterable[Node], node: Node, taken: Container[Node]) -> Node | None:
    return next((each for each in candidates if each not in taken and len(each.tops) == len(node.tops)), None)


def _only(
    others: Mapping[Any, Sequence[Node]], node: Node, bottoms: tuple[str, ...], taken: Container[Node]
) -> Node | None:
    """Return the layer that took the place of one and was changed besides: the only one that reads the same.

    What has nothing to read is told apart by its settings alone.
    """
    found = [each for each in others.get((node.type, node.phases, bottoms), ()) if each not in taken]
    return found[0] if bottoms and len(found) == 1 and len(found[0].tops) == len(node.tops) else None


def _signature(values: Values, bottoms: tuple[str, ...]) -> Any:
    return (bottoms, frozenset(item for item in values.items() if item[0].partition(".")[0] not in _WIRES))


def _changes(old: Values, new: Values) -> tuple[FieldChange, ...]:
    """Return the fields that differ; of messages only what is in them."""
    changes = []
    for field in dict.fromkeys((*old, *new)):
        before, after = old.get(field, ""), new.get(field, "")
        if before != after and not ("{}" in (before, after) and _has_inner(field, old, new)):
            changes.append(FieldChange(field, before, after))
    return tuple(changes)


def _has_inner(field: str, old: Values, new: Values) -> bool:
    return any(name.startswith(f"{field}.") for values in (old, new) for name in values)


def _moved(nodes: list[Node]) -> tuple[Node, ...]:
    """Return the fewest layers whose order explains the rest: those off the longest rising sequence."""
    ends: list[int] = []
    last: list[Node] = []
    before: dict[Node, Node | None] = {}
    for node in nodes:
        place = bisect_left(ends, node.ordinal)
        before[node] = last[place - 1] if place else None
        ends[place : place + 1] = [node.ordinal]
        last[place : place + 1] = [node]
    rising: set[Node] = set()
    node_or_none = last[-1] if last else None
    while node_or_none is not None:
        rising.add(node_or_none)
        node_or_none = before[node_or_none]
    return tuple(node for node in nodes if node not in rising)
