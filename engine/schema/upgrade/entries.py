"""Fields of a text as they are moved about: with the comments that belong to them, without the layout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.prototxt import Field, ListValue, Message, Note, Numbers, Scalar

__all__ = ["Entry", "comments", "print_entries", "read_entries"]

_UNIT = "  "


@dataclass(slots=True)
class Entry:
    """One value of a field.

    Attributes
    ----------
    name : str
        Empty for comments that belong to no field.
    value : str or list of Entry
        Text of a scalar as written, or of a message in brackets that is to stay on one line; the fields of a message.
    above : list of str
        Comments on lines of their own.
    beside : str
        Comments on the value's line.
    """

    name: str
    value: str | list[Entry] = ""
    above: list[str] = field(default_factory=list)
    beside: str = ""

    @property
    def entries(self) -> list[Entry]:
        """Fields of the message; empty where the value is none."""
        return self.value if isinstance(self.value, list) else []

    @property
    def text(self) -> str:
        """Text of the scalar; empty where the value is none."""
        return self.value if isinstance(self.value, str) else ""


def comments(blank: str) -> list[str]:
    """Return the comments in what stands between fields."""
    return [found.rstrip() for found in re.findall(r"#[^\n]*", blank)]


def read_entries(message: Message) -> list[Entry]:
    """Return the fields of a message in order; the values of lists one by one."""
    entries: list[Entry] = []
    for item in message.items:
        if isinstance(item, Field):
            entries += _read_field(item)
        elif isinstance(item, Note):
            entries.append(Entry("", above=comments(item.lead)))
    last = comments(message.close_lead)
    return [*entries, Entry("", above=last)] if last else entries


def _read_field(item: Field) -> Iterator[Entry]:
    above, beside = comments(item.lead + item.gap), " ".join(comments(item.tail))
    if not isinstance(item.value, ListValue):
        yield _entry(item.name, item.value, above, beside)
        return
    above += comments(item.value.open)
    for element in item.value.elements:
        value = element.value
        if isinstance(value, Numbers):  # as a list still
            value = Scalar(f"[{value.text}]")
        yield _entry(item.name, value, above + comments(element.lead), " ".join(comments(element.tail)))
        above = []
    left = above + comments(item.value.close_lead) + ([beside] if beside else [])
    if left:
        yield Entry("", above=left)


def _entry(name: str, value: Scalar | Message, above: list[str], beside: str) -> Entry:
    if isinstance(value, Message):
        return Entry(name, read_entries(value), above + comments(value.open), beside)
    return Entry(name, value.text, above, beside)


def print_entries(entries: Iterable[Entry], indent: str = "") -> list[str]:
    """Return entries as lines, each level two spaces further in."""
    lines = []
    for entry in entries:
        lines += [indent + comment for comment in entry.above]
        beside = f"  {entry.beside}" if entry.beside else ""
        if isinstance(entry.value, list):
            lines.append(f"{indent}{entry.name} {{")
            lines += print_entries(entry.value, indent + _UNIT)
            lines.append(f"{indent}}}{beside}")
        elif entry.name:
            gap = " " if entry.value.startswith("{") else ": "
            lines.append(f"{indent}{entry.name}{gap}{entry.value}{beside}")
    return lines
