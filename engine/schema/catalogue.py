"""The message types, their Python classes and their descriptions."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from google.protobuf import descriptor_pool, message_factory

from engine.errors import SchemaError
from engine.schema.dialects import BVLC, descriptions, merged_description
from engine.schema.fragments import SchemaFragment, add_fragment
from engine.schema.info import FieldInfo, MessageInfo, make_field_info, split_comment
from engine.schema.layer_fields import param_fields_for
from engine.schema.merge import local_name

__all__ = ["Schema", "load_schema"]

_PACKAGE = "caffe"


class Schema:
    """A set of message types in a descriptor pool of its own.

    The pool is never protobuf's default one, so that a user's own ``caffe_pb2`` can live in the same process.

    Parameters
    ----------
    dialect : str
        Whose messages: BVLC's alone, or together with those of a fork; see
        :func:`~engine.schema.dialects.dialect_names`.
    fragments : sequence of SchemaFragment
        What plugins add, in order: what stands first stays.

    Raises
    ------
    SchemaError
        If there is no such dialect, or its files are missing or damaged.
    """

    def __init__(self, dialect: str = BVLC, fragments: Sequence[SchemaFragment] = ()) -> None:
        self._dialect = dialect
        description, self._pool, self._fragments, self._clashes = _with_fragments(dialect, tuple(fragments))
        self._names = tuple(message.name for message in description.message_type)
        self._classes: dict[str, Any] = {}
        self._held: dict[str, Any] = {}
        self._infos: dict[str, MessageInfo] = {}

    @property
    def dialect(self) -> str:
        """Name of the dialect."""
        return self._dialect

    @property
    def fragments(self) -> tuple[SchemaFragment, ...]:
        """What plugins added."""
        return self._fragments

    @property
    def clashes(self) -> tuple[str, ...]:
        """Sentences on what of the plugins' fragments could not stand beside what was there."""
        return self._clashes

    @property
    def message_names(self) -> tuple[str, ...]:
        """Names of all top-level message types."""
        return self._names

    def message(self, name: str) -> Any:
        """Return the Python class of a message type.

        Parameters
        ----------
        name : str
            Name without the package, such as ``"LayerParameter"``.

        Raises
        ------
        SchemaError
            If there is no such type.
        """
        found = self._classes.get(name)
        if found is None:
            descriptor = self._descriptor(name)
            found = message_factory.GetMessageClass(descriptor)
            self._hold(descriptor)
            self._classes[name] = found
        return found

    def _hold(self, descriptor: Any) -> None:
        """Keep the classes of all messages that one may hold.

        protobuf itself refers to a class weakly, and asks for it anew for each message inside of a message. A class
        that nobody holds becomes garbage; when another thread asks for it while that is being collected, it gets one
        that is half taken apart, and the interpreter crashes.
        """
        waiting = [descriptor]
        while waiting:
            each = waiting.pop()
            if each.full_name not in self._held:
                self._held[each.full_name] = message_factory.GetMessageClass(each)
                waiting += [field.message_type for field in each.fields if field.message_type is not None]

    def describe(self, name: str) -> MessageInfo:
        """Return the description of a message type and its fields."""
        found = self._infos.get(name)
        if found is None:
            descriptor = self._descriptor(name)
            fields = tuple(self._field_info(field) for field in descriptor.fields)
            found = self._infos[name] = MessageInfo(name, self._comment(descriptor.full_name), fields)
        return found

    def find_field(self, name: str, path: Sequence[str | int]) -> FieldInfo | None:
        """Return the field that a path below message type ``name`` leads to, or None where there is none.

        Parameters
        ----------
        name : str
            Message type to start from.
        path : sequence of str or int
            Field names; an integer is the index into the repeated field before it and is skipped.
        """
        info: FieldInfo | None = None
        current: str | None = name
        for step in path:
            if isinstance(step, int):
                continue
            info = self.describe(current).field(step) if current is not None else None
            if info is None:
                return None
            current = info.message_type
        return info

    def field_info(self, name: str, path: Sequence[str | int]) -> FieldInfo:
        """Return the field that a path below message type ``name`` leads to.

        Raises
        ------
        SchemaError
            If the path leads nowhere.
        """
        info = self.find_field(name, path)
        if info is None:
            raise SchemaError(f"Message {name} has no field '{'.'.join(map(str, path))}'.")
        return info

    def param_field_for(self, layer_type: str) -> str | None:
        """Return the ``LayerParameter`` field that holds the settings of a layer type, or None."""
        return next(iter(self.param_fields_for(layer_type)), None)

    def param_fields_for(self, layer_type: str) -> tuple[str, ...]:
        """Return all ``LayerParameter`` fields that hold settings of a layer type, the main one first."""
        layer = self.describe("LayerParameter")
        for fragment in self._fragments:
            for of_type, fields in fragment.param_fields:
                if of_type == layer_type:
                    return tuple(name for name in fields if layer.field(name) is not None)
        return param_fields_for(layer, layer_type)

    def for_layer(self, layer_type: str) -> Schema:
        """Return the schema without what plugins add for layer types of their own, other than this one."""
        heard = [each for each in self._fragments if not each.types or layer_type in each.types]
        return self if len(heard) == len(self._fragments) else load_schema(self._dialect, heard)

    def _descriptor(self, name: str) -> Any:
        try:
            return self._pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")
        except KeyError:
            raise SchemaError(f"No message type is called '{name}'.") from None

    def _field_info(self, field: Any) -> FieldInfo:
        choice_docs: dict[str, str] = {}
        if field.enum_type is not None:
            enum = field.enum_type.full_name
            choice_docs = {value.name: self._comment(f"{enum}.{value.name}") for value in field.enum_type.values}
        return make_field_info(field, self._comments.get(field.full_name, ""), choice_docs)

    @functools.cached_property
    def _comments(self) -> dict[str, str]:
        """The comment above each declaration by its full name; read only when something is described."""
        found: dict[str, str] = {}
        for description in descriptions(self._dialect):
            found.update((local_name(name), text) for name, text in _comments(description).items())
        for fragment in self._fragments:
            for name, text in _comments(fragment.file()).items():
                found.setdefault(name, _readable(text))
        return found

    def _comment(self, full_name: str) -> str:
        return split_comment(self._comments.get(full_name, ""))[0]


def load_schema(dialect: str = BVLC, fragments: Sequence[SchemaFragment] = ()) -> Schema:
    """Return the schema of a dialect and of plugins, made once.

    Parameters
    ----------
    dialect : str
        BVLC Caffe's when left out.
    fragments : sequence of SchemaFragment
        What plugins add; see :class:`Schema`.

    Raises
    ------
    SchemaError
        If there is no such dialect, or its files are missing or damaged.
    """
    return _load_extended(dialect, tuple(fragments)) if fragments else _load(dialect)


@functools.cache
def _load(dialect: str) -> Schema:
    return Schema(dialect)


@functools.lru_cache(maxsize=32)
def _load_extended(dialect: str, fragments: tuple[SchemaFragment, ...]) -> Schema:
    return Schema(dialect, fragments)


def _with_fragments(
    dialect: str, fragments: tuple[SchemaFragment, ...]
) -> tuple[Any, descriptor_pool.DescriptorPool, tuple[SchemaFragment, ...], tuple[str, ...]]:
    """Return a dialect's description with the fragments that go with it, its pool, and what does not fit."""
    description = merged_description(dialect)
    clashes = tuple(problem for each in fragments for problem in add_fragment(description, each))
    try:
        return description, _pool(description), fragments, clashes
    except TypeError as error:  # protobuf refuses the whole
        if not fragments:
            raise SchemaError(f"The shipped schema cannot be used: {error}.") from error
    kept: list[SchemaFragment] = []
    refused: list[str] = []
    for each in fragments:  # which of them it is shows one by one
        trial = merged_description(dialect)
        for other in (*kept, each):
            add_fragment(trial, other)
        try:
            _pool(trial)
        except TypeError as error:
            reason = str(error).rpartition("pool: ")[2]
            refused.append(f"Plugin '{each.plugin}': its messages cannot be used beside the others: {reason}.")
        else:
            kept.append(each)
    description, pool, left, clashes = _with_fragments(dialect, tuple(kept))
    return description, pool, left, (*clashes, *refused)


def _pool(description: Any) -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(description.SerializeToString())
    return pool


def _readable(comment: str) -> str:
    """Return a plugin's comment as it is if it has the form that is read here, else as words without tags."""
    try:
        split_comment(comment)
    except ValueError:
        return comment.replace("Unit: ", "Unit ").replace("Default: ", "Default ")
    return comment


def _comments(file: Any) -> dict[str, str]:
    """Map the full name of each message, field, enum and enum value to the comment above it."""
    by_path = {tuple(location.path): location.leading_comments for location in file.source_code_info.location}
    names = dict(_named_paths(file))
    return {name: by_path[path] for path, name in names.items() if by_path.get(path)}


def _named_paths(file: Any) -> Iterable[tuple[tuple[int, ...], str]]:
    """Yield the path of each declaration, as descriptor.proto numbers them, with its full name."""
    for index, enum in enumerate(file.enum_type):
        yield from _enum_paths(enum, (5, index), file.package)
    for index, message in enumerate(file.message_type):
        yield from _message_paths(message, (4, index), file.package)


def _message_paths(message: Any, path: tuple[int, ...], scope: str) -> Iterable[tuple[tuple[int, ...], str]]:
    name = f"{scope}.{message.name}"
    yield path, name
    for index, field in enumerate(message.field):
        yield (*path, 2, index), f"{name}.{field.name}"
    for index, nested in enumerate(message.nested_type):
        yield from _message_paths(nested, (*path, 3, index), name)
    for index, enum in enumerate(message.enum_type):
        yield from _enum_paths(enum, (*path, 4, index), name)


def _enum_paths(enum: Any, path: tuple[int, ...], scope: str) -> Iterable[tuple[tuple[int, ...], str]]:
    name = f"{scope}.{enum.name}"
    yield path, name
    for index, value in enumerate(enum.value):
        yield (*path, 2, index), f"{name}.{value.name}"
