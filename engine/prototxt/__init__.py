"""Prototxt without loss: ``bytes(parse(data)) == data`` for any bytes."""

from engine.prototxt.comments import comments_inside, note_end
from engine.prototxt.edits import EditLog
from engine.prototxt.incremental import Patch, all_told, misread, reparse
from engine.prototxt.numbers import Numbers
from engine.prototxt.parser import Progress, parse
from engine.prototxt.parts import Element, Field, Item, Junk, ListValue, Message, Note, Scalar, Value
from engine.prototxt.problems import Fault, ParseProblem
from engine.prototxt.scalars import bad_escape, quote, unquote, unquote_bytes
from engine.prototxt.style import (
    Style,
    end_line,
    insert_fields,
    insert_items,
    keep_apart,
    parse_fields,
    parse_value,
    reindented,
    style_of,
)
from engine.prototxt.tree import Tree

__all__ = [
    "EditLog",
    "Element",
    "Fault",
    "Field",
    "Item",
    "Junk",
    "ListValue",
    "Message",
    "Note",
    "Numbers",
    "ParseProblem",
    "Patch",
    "Progress",
    "Scalar",
    "Style",
    "Tree",
    "Value",
    "all_told",
    "bad_escape",
    "comments_inside",
    "end_line",
    "insert_fields",
    "insert_items",
    "keep_apart",
    "misread",
    "note_end",
    "parse",
    "parse_fields",
    "parse_value",
    "quote",
    "reindented",
    "reparse",
    "style_of",
    "unquote",
    "unquote_bytes",
]
