"""The comments in a part of the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.prototxt import lexer
from engine.prototxt.parts import Element, Field, Item, Junk, ListValue, Message, Note, Value

__all__ = ["comments_inside", "note_end"]

_COMMENT = re.compile("#[^\r\n]*")


def comments_inside(part: Field | Element) -> list[str]:
    """Return the comments of a field or of a value in a list, in order: those in it, and that on the rest of its line.

    Those above it are part of what leads to it.
    """
    found = [*_blank(part.gap)] if isinstance(part, Field) else []
    return [*found, *_inside(part.value), *_blank(part.tail)]


def note_end(lead: str) -> int:
    """Return where the comments end, in what leads to a field, that a blank line parts from it; 0 where there are none.

    They belong to no field: they are a :class:`~engine.prototxt.Note`.
    """
    cuts = [match.start() for match in lexer.BLANK_LINES.finditer(lead)]
    return next((cut for cut in reversed(cuts) if "#" in lead[:cut]), 0)


def _inside(value: Value) -> Iterator[str]:
    if isinstance(value, Message | ListValue):
        yield from _blank(value.open)
        for item in value.items:
            yield from _of_item(item)
        yield from _blank(value.close_lead)


def _of_item(item: Item | Element) -> Iterator[str]:
    yield from _blank(item.lead)
    if not isinstance(item, Junk | Note):
        yield from comments_inside(item)


def _blank(text: str) -> Iterator[str]:
    """Return the comments in what stands between words, where no quote can be."""
    for found in _COMMENT.findall(text):
        yield found.rstrip()
