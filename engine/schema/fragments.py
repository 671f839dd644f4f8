"""What plugins add to the messages: their ``.proto`` fragments, put into the description of one document.

A fragment is written as a dialect is: messages of its own, and ``message LayerParameter`` with the fields that its
layers have there. It is text, read before the plugin's code is trusted. Plugins do not know of each other, so nothing
is replaced: what stands first stays, and what cannot stand beside it is told.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2

from engine.errors import SchemaError
from engine.schema.proto_file import NO_NUMBER, NO_WORD_NUMBER, parse_proto

__all__ = ["SchemaFragment", "add_fragment", "is_text_only", "read_fragment", "without_text_only"]

_PACKAGE = "caffe"
_Field = descriptor_pb2.FieldDescriptorProto
#: Numbers of fields that exist in text only. Caffe's forks number theirs far below.
_PRIVATE = range(1 << 28, (1 << 29) - 1)


@dataclass(frozen=True, slots=True)
class SchemaFragment:
    """What one plugin adds to the messages.

    Attributes
    ----------
    plugin : str
        Name of the plugin, for messages.
    description : bytes
        A serialized ``FileDescriptorProto`` as :func:`~engine.schema.proto_file.parse_proto` returns it.
    param_fields : tuple of (str, tuple of str)
        Layer types with the fields of ``LayerParameter`` that hold their settings, the main one first.
    types : tuple of str
        The plugin's own layer types and those that it extends, the only ones that understand what it adds; empty
        where it has none, and any layer may.
    """

    plugin: str
    description: bytes
    param_fields: tuple[tuple[str, tuple[str, ...]], ...] = ()
    types: tuple[str, ...] = ()

    def file(self) -> Any:
        """Return the description as a ``FileDescriptorProto`` of the caller's own."""
        return descriptor_pb2.FileDescriptorProto.FromString(self.description)

    def layer_fields(self) -> tuple[str, ...]:
        """Return the names of the fields that ``LayerParameter`` gets."""
        found = (message for message in self.file().message_type if message.name == "LayerParameter")
        return tuple(field.name for message in found for field in message.field)


def read_fragment(
    plugin: str,
    files: Sequence[Path],
    param_fields: Sequence[tuple[str, tuple[str, ...]]] = (),
    types: Sequence[str] = (),
) -> SchemaFragment:
    """Read a plugin's ``.proto`` files.

    Parameters
    ----------
    plugin : str
        Name of the plugin.
    files : sequence of Path
        Read as if they were one.
    param_fields : sequence of (str, tuple of str)
    types : sequence of str
        See :class:`SchemaFragment`.

    Raises
    ------
    SchemaError
        If a file cannot be read or understood, or names a type that nobody has.
    """
    whole = descriptor_pb2.FileDescriptorProto(package=_PACKAGE)
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SchemaError(f"The schema of plugin '{plugin}' cannot be read: {error}.", source=str(path)) from error
        part = parse_proto(text, str(path))
        for location in part.source_code_info.location:
            counts = {4: len(whole.message_type), 5: len(whole.enum_type)}
            location.path[1] += counts[location.path[0]]
        part.ClearField("package")
        whole.MergeFrom(part)
    _check_types(plugin, whole)
    fragment = SchemaFragment(plugin, whole.SerializeToString(deterministic=True), tuple(param_fields), tuple(types))
    _check_whole(fragment)
    return fragment


def add_fragment(base: Any, fragment: SchemaFragment) -> list[str]:
    """Add a plugin's messages and fields to a description.

    Parameters
    ----------
    base : google.protobuf.descriptor_pb2.FileDescriptorProto
        Changed in place.
    fragment : SchemaFragment

    Returns
    -------
    list of str
        Sentences on what did not fit. A field or enum value that is there already and is the same is no clash; one
        that differs stays as it is; a field whose number is taken exists in text only.
    """
    return _Addition(base, fragment).problems


def is_text_only(number: int) -> bool:
    """Return whether a field of that number exists in text only, and never in a binary file."""
    return number in _PRIVATE


def without_text_only(message: Any) -> Any:
    """Return a message without the fields that exist in text only: itself where it has none."""
    if not any(True for _ in _text_only_parts(message)):
        return message
    copy = type(message)()
    copy.CopyFrom(message)
    for part, field in list(_text_only_parts(copy)):
        part.ClearField(field)
    return copy


def _text_only_parts(message: Any) -> Iterator[tuple[Any, str]]:
    for field, value in message.ListFields():
        if is_text_only(field.number):
            yield message, field.name
        elif field.message_type is not None:
            for part in value if field.is_repeated else (value,):
                yield from _text_only_parts(part)


class _Addition:
    """One fragment on its way into a description."""

    def __init__(self, base: Any, fragment: SchemaFragment) -> None:
        self.problems: list[str] = []
        self._plugin = fragment.plugin
        addition = fragment.file()
        known = dict(_types(base, _PACKAGE))
        known.update((name, kind) for name, kind in _types(addition, _PACKAGE) if name not in known)
        self._known = known
        self._merge_types(base.message_type, base.enum_type, addition.message_type, addition.enum_type, _PACKAGE)

    def _merge_types(self, messages: Any, enums: Any, added_messages: Any, added_enums: Any, scope: str) -> None:
        by_name = {message.name: message for message in messages}
        for added in added_messages:
            target = by_name.get(added.name)
            self._merge_message(messages.add(name=added.name) if target is None else target, added, scope)
        enums_by_name = {enum.name: enum for enum in enums}
        for added in added_enums:
            enum = enums_by_name.get(added.name)
            self._merge_values(enums.add(name=added.name) if enum is None else enum, added, scope)

    def _merge_message(self, target: Any, added: Any, scope: str) -> None:
        name = f"{scope}.{added.name}"
        self._merge_types(target.nested_type, target.enum_type, added.nested_type, added.enum_type, name)
        held = {field.name: field for field in target.field}
        taken = {field.number for field in target.field}
        for field in added.field:
            self._resolve(field, name)
            same = held.get(field.name)
            if same is not None:
                self._compare(same, field, target.name)
                continue
            if field.number == NO_NUMBER:
                field.number = _private_number(f"{name}.{field.name}", taken)
            elif field.number in taken or _in_ranges(field.number, target.extension_range):
                self._tell(
                    f"field '{field.name}' of {target.name} has the number {field.number} of another field, "
                    "so it exists in text only."
                )
                field.number = _private_number(f"{name}.{field.name}", taken)
            taken.add(field.number)
            target.field.add().CopyFrom(field)

    def _compare(self, held: Any, field: Any, message: str) -> None:
        facts = [(each.label, each.type, each.type_name, each.default_value) for each in (held, field)]
        if facts[0] != facts[1]:
            self._tell(f"field '{field.name}' of {message} is declared otherwise already, so it stays as it was.")

    def _merge_values(self, held: Any, added: Any, scope: str) -> None:
        by_name = {value.name: value.number for value in held.value}
        taken = set(by_name.values())
        for value in added.value:
            if value.name in by_name:
                if value.number not in (by_name[value.name], NO_WORD_NUMBER):
                    self._tell(f"word {value.name} of enum {held.name} has another number already, which it keeps.")
                continue
            number = value.number
            if number == NO_WORD_NUMBER:
                number = _private_number(f"{scope}.{held.name}.{value.name}", taken)
            elif number in taken:
                self._tell(f"word {value.name} of enum {held.name} has the number of another, so it is left out.")
                continue
            taken.add(number)
            held.value.add(name=value.name, number=number)

    def _resolve(self, field: Any, scope: str) -> None:
        if field.type_name:
            name = _find_type(field.type_name, scope, self._known)
            # a name that only the plugin itself has was checked when the fragment was read
            field.type, field.type_name = self._known[name], f".{name}"

    def _tell(self, what: str) -> None:
        self.problems.append(f"Plugin '{self._plugin}': {what}")


def _check_whole(fragment: SchemaFragment) -> None:
    """Refuse a fragment that cannot be added to BVLC's description."""
    from engine.schema.catalogue import Schema

    schema = Schema(fragments=[fragment])
    if not schema.fragments:
        raise SchemaError(schema.clashes[-1], next_step="Give each name in a message, its enums' words too, once.")


def _check_types(plugin: str, file: Any) -> None:
    """Refuse a field of a type that neither the fragment nor BVLC's Caffe has."""
    from engine.schema.dialects import BVLC, merged_description

    known = {**dict(_types(merged_description(BVLC), _PACKAGE)), **dict(_types(file, _PACKAGE))}
    work = [(_PACKAGE, message) for message in file.message_type]
    while work:
        scope, message = work.pop()
        name = f"{scope}.{message.name}"
        for field in message.field:
            if field.type_name and _find_type(field.type_name, name, known) not in known:
                raise SchemaError(
                    f"The schema of plugin '{plugin}': field '{field.name}' of {message.name} has type "
                    f"'{field.type_name}', which is not declared.",
                    next_step="Declare the message or enum in the same file.",
                )
        work.extend((name, nested) for nested in message.nested_type)


def _find_type(written: str, scope: str, known: Any) -> str:
    """Return the full name of the type that a name means inside ``scope``, as C++ looks names up."""
    if written.startswith("."):
        return written[1:]
    here = scope
    while here:
        if f"{here}.{written}" in known:
            return f"{here}.{written}"
        here = here.rpartition(".")[0]
    return written


def _types(file: Any, scope: str) -> Iterator[tuple[str, int]]:
    """Yield the full names of a file's messages and enums, with the type that a field of them has."""
    work: list[tuple[str, Iterable[Any], Iterable[Any]]] = [(scope, file.message_type, file.enum_type)]
    while work:
        where, messages, enums = work.pop()
        for enum in enums:
            yield f"{where}.{enum.name}", _Field.TYPE_ENUM
        for message in messages:
            yield f"{where}.{message.name}", _Field.TYPE_MESSAGE
            work.append((f"{where}.{message.name}", message.nested_type, message.enum_type))


def _private_number(name: str, taken: set[int]) -> int:
    """Return a number that follows from the field's name alone, so that all processes agree on it."""
    number = _PRIVATE.start + zlib.crc32(name.encode()) % len(_PRIVATE)
    while number in taken:
        number = _PRIVATE.start + (number - _PRIVATE.start + 1) % len(_PRIVATE)
    return number


def _in_ranges(number: int, ranges: Any) -> bool:
    return any(each.start <= number < each.end for each in ranges)
