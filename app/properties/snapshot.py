"""What a message says, as plain values that can be compared and read by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.prototxt import Message, Scalar, unquote

__all__ = ["Entry", "Path", "Snapshot"]

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a field.

    Attributes
    ----------
    text : str
        The value as written.
    group : Snapshot or None
        What a message holds.
    """

    text: str
    group: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The fields of one message with their values, lists spread out.

    Attributes
    ----------
    fields : mapping of str to tuple of Entry
        By name, in the order in which the names first appear.
    """

    fields: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, message: Message) -> Snapshot:
        """Read a message of the lossless tree."""
        fields: dict[str, tuple[Entry, ...]] = {}
        for each in message:
            value = each.value
            if isinstance(value, Scalar | Message):
                parts: list[Scalar | Message] = [value]
            else:
                parts = [element.value for element in value.elements]
            fields[each.name] = fields.get(each.name, ()) + tuple(_entry(part) for part in parts)
        return cls(fields)

    def entries(self, path: Path) -> tuple[Entry, ...]:
        """Return the values at ``path``: one of several after an index, all of them without; empty where none is.

        A singular message that is written in pieces counts as one, as in protobuf.
        """
        groups: list[Snapshot] = [self]
        found: tuple[Entry, ...] = ()
        for step in path:
            if isinstance(step, int):
                found = found[step : step + 1] if step >= 0 else ()
            else:
                found = tuple(entry for group in groups for entry in group.fields.get(step, ()))
            groups = [entry.group for entry in found if entry.group is not None]
        return found

    def group(self, path: Path) -> Snapshot:
        """Return the message at ``path``, an empty one where there is none."""
        if not path:
            return self
        groups = [entry.group for entry in self.entries(path) if entry.group is not None]
        if len(groups) == 1:
            return groups[0]
        fields: dict[str, tuple[Entry, ...]] = {}
        for group in groups:
            for name, entries in group.fields.items():
                fields[name] = fields.get(name, ()) + entries
        return Snapshot(fields)

    def names(self) -> Iterator[str]:
        """Names of the fields that are present."""
        return iter(self.fields)

    def scalar(self, *path: str | int) -> str:
        """Return the unquoted scalar at ``path``; of several the last, which counts; empty where none is."""
        found = self.entries(path)
        return unquote(found[-1].text) if found and found[-1].group is None else ""


def _entry(part: Scalar | Message) -> Entry:
    if isinstance(part, Scalar):
        return Entry(part.text)
    return Entry(part.text, Snapshot.of(part))
