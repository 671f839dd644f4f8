"""What the graph reads from a layer's part of the tree."""

from __future__ import annotations

from dataclasses import dataclass

from engine.graph.records import NodeId
from engine.graph.rules import NetState, Rules, read_rule
from engine.graph.versions import LAYER_FIELDS, current_type
from engine.prototxt import Element, Field, ListValue, Message, Scalar

__all__ = ["UNWIRED", "Binding", "Slot", "bind", "is_layer", "layer_body", "occurrences", "scalars"]

#: What a bottom that is not wired is written as.
UNWIRED = "?"

#: What holds one value of a repeated field.
Slot = Field | Element

_NO_RULES = Rules()


@dataclass(slots=True)
class Binding:
    """A layer's field with what was read from it.

    Attributes
    ----------
    mask : int
        One bit for each state of the graph in which the layer takes part.
    """

    id: NodeId
    field: Field | None
    name: str = ""
    written_type: str = ""
    type: str = ""
    version: int = 2
    bottoms: tuple[str, ...] = ()
    tops: tuple[str, ...] = ()
    in_place: tuple[bool, ...] = ()
    rules: Rules = _NO_RULES
    mask: int = 0

    def blobs(self) -> set[str]:
        """Return the names of all blobs that the layer reads or writes."""
        return {*self.bottoms, *self.tops}

    @property
    def wiring(self) -> tuple[object, ...]:
        """What its wires depend on, beside its place among the layers."""
        return self.bottoms, self.tops, self.mask

    @property
    def has_rules(self) -> bool:
        """Whether there are include or exclude rules."""
        return self.rules is not _NO_RULES

    def activate(self, states: tuple[NetState, ...]) -> None:
        """Set the mask for ``states``."""
        if not self.has_rules:
            self.mask = (1 << len(states)) - 1
        else:
            self.mask = sum(1 << place for place, state in enumerate(states) if self.rules.active(state))


def is_layer(item: object) -> bool:
    """Whether a top-level item is a layer."""
    return type(item) is Field and item.name in LAYER_FIELDS and type(item.value) is Message


def bind(node: NodeId, field: Field, states: tuple[NetState, ...]) -> Binding:
    """Read a layer from the tree."""
    message = field.message
    assert message is not None
    name = written_type = ""
    version = 2 if field.name == "layer" else 1
    bottoms: list[str] = []
    tops: list[str] = []
    include: list[Message] = []
    exclude: list[Message] = []
    for item in message.items:
        if type(item) is not Field:
            continue
        value = item.value
        if item.name == "bottom":
            bottoms += _texts(value)
        elif item.name == "top":
            tops += _texts(value)
        elif type(value) is Scalar:
            if item.name == "name":
                name = value.as_str()
            elif item.name == "type":
                written_type = value.as_str()
        elif item.name == "include":
            include += _messages(value)
        elif item.name == "exclude":
            exclude += _messages(value)
        elif item.name == "layer" and version < 2 and type(value) is Message:
            version = 0
            name = value.text_of("name") or ""
            written_type = value.text_of("type") or ""
    rules = _NO_RULES
    if include or exclude:
        rules = Rules(tuple(map(read_rule, include)), tuple(map(read_rule, exclude)))
    in_place = tuple(place < len(bottoms) and top == bottoms[place] for place, top in enumerate(tops))
    binding = Binding(
        node,
        field,
        name,
        written_type,
        current_type(written_type, version),
        version,
        tuple(bottoms),
        tuple(tops),
        in_place,
        rules,
    )
    binding.activate(states)
    return binding


def layer_body(field: Field) -> Message:
    """Return the message that holds a layer's name and type: the inner one in the oldest format."""
    message = field.message
    assert message is not None
    if field.name == "layers":
        inner = message.get("layer")
        if inner is not None and inner.message is not None:
            return inner.message
    return message


def occurrences(message: Message, name: str) -> list[Slot]:
    """Return what holds the values of a field, in order; the elements of its lists one by one."""
    found: list[Slot] = []
    for field in message.fields(name):
        if isinstance(field.value, ListValue):
            found += field.value.elements
        else:
            found.append(field)
    return found


def scalars(message: Message, name: str) -> list[Scalar]:
    """Return the scalar values of a field, in order."""
    return [slot.value for slot in occurrences(message, name) if isinstance(slot.value, Scalar)]


def _texts(value: Scalar | Message | ListValue) -> list[str]:
    if type(value) is Scalar:
        return [value.as_str()]
    if type(value) is ListValue:
        return [element.value.as_str() for element in value.elements if type(element.value) is Scalar]
    return []


def _messages(value: Scalar | Message | ListValue) -> list[Message]:
    if type(value) is Message:
        return [value]
    if type(value) is ListValue:
        return [element.value for element in value.elements if type(element.value) is Message]
    return []
