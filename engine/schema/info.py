"""What is known about a message and its fields, as plain values.

The comments of ``resources/schema/caffe.proto`` follow one form: a sentence, then optionally ``Unit: pixels.`` and
``Default: what applies when the field is absent.`` The last is written only where the declaration itself cannot say
it, as for repeated fields; a declared default is read from the declaration.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from engine.schema.fragments import is_text_only
from engine.schema.text import format_float32, quote

__all__ = ["EnumValueInfo", "FieldInfo", "MessageInfo", "split_comment"]

_KINDS = {
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_DOUBLE: "double",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_ENUM: "enum",
    FieldDescriptor.TYPE_MESSAGE: "message",
}
_TAGS = re.compile(r"\s*(?:Unit: (?P<unit>[^.]+(?:\.\d[^.]*)*)\.)?\s*(?:Default: (?P<default>.+)\.)?\s*$")


@dataclass(frozen=True, slots=True)
class EnumValueInfo:
    """One name that an enum field may hold.

    Attributes
    ----------
    name : str
    number : int
    doc : str
        What choosing it means, in one sentence.
    """

    name: str
    number: int
    doc: str


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """One field of a message.

    Attributes
    ----------
    name : str
    number : int
        Number on the wire.
    kind : str
        ``int32``, ``uint32``, ``int64``, ``uint64``, ``float``, ``double``, ``bool``, ``string``, ``bytes``,
        ``enum`` or ``message``.
    repeated, required, packed, deprecated : bool
    default : object or None
        The declared default as a Python value, an enum's as its name; None where none is declared.
    has_default : bool
        Whether a default is declared.
    default_text : str
        What applies when the field is absent, as text to show: the declared default as prototxt spells it, or the
        words of the description; empty where nothing applies.
    choices : tuple of EnumValueInfo
        The values of an enum field, in the order of their declaration.
    message_type : str or None
        Name of the message that a field of kind ``message`` holds.
    enum_type : str or None
        Full name of the enum, such as ``PoolingParameter.PoolMethod``.
    summary : str
        One sentence on what the field does.
    unit : str
        Unit of the value, such as ``pixels``; empty for pure numbers and texts.
    """

    name: str
    number: int
    kind: str
    repeated: bool
    required: bool
    packed: bool
    deprecated: bool
    default: Any
    has_default: bool
    default_text: str
    choices: tuple[EnumValueInfo, ...]
    message_type: str | None
    enum_type: str | None
    summary: str
    unit: str

    @property
    def enum_values(self) -> tuple[str, ...]:
        """Names that an enum field may hold; empty for other kinds."""
        return tuple(choice.name for choice in self.choices)

    @property
    def text_only(self) -> bool:
        """Whether a plugin declares it without a number, so that it is never written into a binary file."""
        return is_text_only(self.number)

    @property
    def doc(self) -> str:
        """The tooltip: the sentence, then unit and default where there are any."""
        parts = [self.summary]
        if self.unit:
            parts.append(f"Unit: {self.unit}.")
        if self.default_text:
            parts.append(f"Default: {self.default_text}.")
        if self.text_only:
            parts.append("Not kept in weights files.")
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class MessageInfo:
    """One message type.

    Attributes
    ----------
    name : str
        Name without the package.
    doc : str
        What it describes, in one sentence.
    fields : tuple of FieldInfo
        In the order of the description, which is the order to show them in.
    """

    name: str
    doc: str
    fields: tuple[FieldInfo, ...]

    def field(self, name: str) -> FieldInfo | None:
        """Return the field of that name, or None."""
        return next((field for field in self.fields if field.name == name), None)


def split_comment(comment: str) -> tuple[str, str, str]:
    """Split a comment of the description into its sentence, unit and default; the last two may be empty."""
    text = " ".join(comment.split())
    match = re.search(r"(?:^| )(?:Unit: |Default: )", text)
    if match is None:
        return text, "", ""
    tags = _TAGS.match(text[match.start() :])
    if tags is None:
        raise ValueError(f"Comment does not end in 'Unit: ...' and 'Default: ...': {text!r}")
    return text[: match.start()].rstrip(), tags["unit"] or "", tags["default"] or ""


def make_field_info(field: FieldDescriptor, comment: str, choice_docs: dict[str, str]) -> FieldInfo:
    """Build the value from a descriptor and its comments.

    Parameters
    ----------
    field : google.protobuf.descriptor.FieldDescriptor
    comment : str
        Comment above the field.
    choice_docs : dict of str to str
        Comments above the values of the field's enum.
    """
    summary, unit, default_words = split_comment(comment)
    kind = _KINDS[field.type]
    default = _default(field) if field.has_default_value else None
    options = field.GetOptions()
    return FieldInfo(
        name=field.name,
        number=field.number,
        kind=kind,
        repeated=bool(field.is_repeated),
        required=bool(field.is_required),
        packed=bool(field.is_packed),
        deprecated=bool(options.deprecated),
        default=default,
        has_default=bool(field.has_default_value),
        default_text=_default_text(kind, default) if field.has_default_value else default_words,
        choices=_choices(field.enum_type, choice_docs) if field.enum_type is not None else (),
        message_type=_local_name(field.message_type) if field.message_type is not None else None,
        enum_type=_local_name(field.enum_type) if field.enum_type is not None else None,
        summary=summary,
        unit=unit,
    )


def _local_name(descriptor: Any) -> str:
    return str(descriptor.full_name).removeprefix(f"{descriptor.file.package}.")


def _default(field: FieldDescriptor) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values_by_number[field.default_value].name
    return field.default_value


def _default_text(kind: str, default: Any) -> str:
    if kind == "bool":
        return "true" if default else "false"
    if kind in ("float", "double"):
        return format_float32(default)
    if kind in ("string", "bytes"):
        return quote(default)
    return str(default)


def _choices(enum: EnumDescriptor, docs: dict[str, str]) -> tuple[EnumValueInfo, ...]:
    return tuple(EnumValueInfo(value.name, value.number, docs.get(value.name, "")) for value in enum.values)
