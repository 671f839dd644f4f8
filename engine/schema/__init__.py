"""What the fields of a prototxt file are called, mean and hold.

One description, ``resources/schema/caffe.proto``, serves everything: reading and printing text, binary files, the
widgets of the properties panel and their tooltips.
"""

from __future__ import annotations

from engine.schema.catalogue import Schema, load_schema
from engine.schema.convert import Conversion, SchemaProblem, closest_field, convert, to_message
from engine.schema.dialects import BVLC, Dialect, dialect_names, dialects_with, dialects_with_type, find_dialect
from engine.schema.fragments import SchemaFragment, read_fragment
from engine.schema.guess import DialectGuess, guess_dialect
from engine.schema.info import EnumValueInfo, FieldInfo, MessageInfo
from engine.schema.layer_fields import is_caffe_type, param_fields_for
from engine.schema.read import read_net, read_solver
from engine.schema.sniff import FileKind, describe_kind, sniff
from engine.schema.text import format_float32, quote, to_text

__all__ = [
    "BVLC",
    "Conversion",
    "Dialect",
    "DialectGuess",
    "EnumValueInfo",
    "FieldInfo",
    "FileKind",
    "MessageInfo",
    "Schema",
    "SchemaFragment",
    "SchemaProblem",
    "closest_field",
    "convert",
    "describe_kind",
    "dialect_names",
    "dialects_with",
    "dialects_with_type",
    "find_dialect",
    "format_float32",
    "guess_dialect",
    "is_caffe_type",
    "load_schema",
    "param_fields_for",
    "quote",
    "read_fragment",
    "read_net",
    "read_solver",
    "sniff",
    "to_message",
    "to_text",
]
