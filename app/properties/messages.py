"""What is said about a message in few words, found in it by a search, and told of its fields by a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping

from app.properties.snapshot import Path, Snapshot
from engine.prototxt import unquote
from engine.schema import FieldInfo, Schema

__all__ = ["RAW_MESSAGES", "Diagnoses", "diagnosis_of", "field_matches", "summarise"]

#: Messages that are too large for a form.
RAW_MESSAGES = frozenset({"BlobProto", "BlobProtoVector"})
_SUMMARY_PARTS, _SUMMARY_VALUES = 3, 6
#: Fields whose values need no name.
_SAYS_ITSELF = frozenset({"type", "phase", "stage", "dim"})

#: What the diagnosis says by path of the field: a sentence, and whether it is an error.
Diagnoses = Mapping[Path, tuple[str, bool]]


def summarise(schema: Schema, message: str, group: Snapshot, *, present: bool) -> str:
    """Say in a few words what a message holds: ``gaussian · std 0.01``, ``1 × 3 × 32 × 32``, or its default."""
    parts = []
    described = schema.describe(message)
    for name, entries in group.fields.items():
        field = described.field(name)
        listed_all = field is not None and field.repeated and entries[-1].group is None
        said = entries if listed_all else entries[-1:]
        values = ["…" if entry.group is not None else unquote(entry.text) for entry in said]
        listed = (" × " if name == "dim" else ", ").join(values[:_SUMMARY_VALUES])
        value = listed + (" …" if len(values) > _SUMMARY_VALUES else "")
        parts.append(value if name in _SAYS_ITSELF else f"{name} {value}")
    if parts:
        return " · ".join(parts[:_SUMMARY_PARTS]) + (" …" if len(parts) > _SUMMARY_PARTS else "")
    kind = described.field("type")
    if kind is not None and kind.default_text:
        return unquote(kind.default_text)
    return "empty" if present else "not set"


def field_matches(schema: Schema, info: FieldInfo, words: str, depth: int = 4) -> bool:
    """Whether a field, or one in the message that it holds, contains the words of a search."""
    if words in info.name.lower() or words in info.doc.lower():
        return True
    if not info.message_type or info.message_type in RAW_MESSAGES or depth == 0:
        return False
    return any(field_matches(schema, each, words, depth - 1) for each in schema.describe(info.message_type).fields)


def diagnosis_of(found: Diagnoses, path: Path, *, below: bool) -> tuple[str, bool]:
    """Return the worst sentence about a field, or about one below it, and whether it is an error."""
    hits = [found[each] for each in found if each[: len(path)] == path and (below or each == path)]
    hits.sort(key=lambda hit: not hit[1])
    return hits[0] if hits else ("", False)
