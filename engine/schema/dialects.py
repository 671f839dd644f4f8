"""The dialects of Caffe: what the common forks added to BVLC's messages.

Each is a pair of files in ``resources/schema/dialects``, a ``.proto`` and what ``docs/build_schema.py`` makes of it;
``dialects.toml`` there says whose they are and which layer types they have. A dialect may build on another, which its
file then imports: NVIDIA's and Intel's Caffe took over what SSD's has.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from engine.errors import SchemaError
from engine.resources import resource_path
from engine.schema.merge import merge

__all__ = ["BVLC", "Dialect", "dialect_names", "dialects_with", "dialects_with_type", "find_dialect"]

#: The dialect of BVLC's own Caffe, on which the others build.
BVLC = "bvlc"
_BASE_FILE = "caffe.proto"


@dataclass(frozen=True, slots=True)
class Dialect:
    """Who speaks a dialect.

    Attributes
    ----------
    name : str
        Short name, as files keep it: ``ssd``.
    title : str
        Whose Caffe it is, as sentences say it: ``SSD's Caffe``.
    layer_types : frozenset of str
        Layer types that BVLC's Caffe does not have.
    """

    name: str
    title: str
    layer_types: frozenset[str]


def dialect_names() -> tuple[str, ...]:
    """Return the names of all dialects, BVLC's first, the others by how likely a document is theirs."""
    return tuple(_dialects())


def find_dialect(name: str) -> Dialect:
    """Return a dialect by its name.

    Raises
    ------
    SchemaError
        If there is none of that name.
    """
    found = _dialects().get(name)
    if found is None:
        names = ", ".join(dialect_names())
        raise SchemaError(f"No dialect of Caffe is called '{name}'.", next_step=f"Choose one of {names}.")
    return found


def dialects_with(message_type: str, field: str) -> tuple[str, ...]:
    """Return the names of the dialects that have a field: ``bvlc`` if it is BVLC's, else those that add it.

    Parameters
    ----------
    message_type : str
        Name without the package, such as ``"LayerParameter"``.
    field : str
    """
    wanted = (message_type, field)
    return tuple(name for name in dialect_names() if any(wanted in _own_fields(each) for each in _lineage(name)))


def dialects_with_type(layer_type: str) -> tuple[str, ...]:
    """Return the names of the dialects that have a layer type which BVLC's Caffe lacks."""
    return tuple(dialect.name for dialect in _dialects().values() if layer_type in dialect.layer_types)


def descriptions(name: str) -> Iterator[Any]:
    """Yield the compiled files of a dialect, BVLC's first, then what the dialect builds on, then its own.

    Yields
    ------
    google.protobuf.descriptor_pb2.FileDescriptorProto
        Not to be changed.

    Raises
    ------
    SchemaError
        If the dialect does not exist, or a file is missing or damaged.
    """
    find_dialect(name)
    for each in dict.fromkeys((BVLC, *_lineage(name))):
        yield _description(each)


def merged_description(name: str) -> Any:
    """Return BVLC's description with all that a dialect adds, without comments.

    Returns
    -------
    google.protobuf.descriptor_pb2.FileDescriptorProto
    """
    merged = descriptor_pb2.FileDescriptorProto()
    for description in descriptions(name):
        if not merged.name:
            merged.CopyFrom(description)
            merged.ClearField("source_code_info")
        else:
            merge(merged, description)
    return merged


@functools.lru_cache(maxsize=1)
def _dialects() -> dict[str, Dialect]:
    path = resource_path("schema/dialects/dialects.toml")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            name: Dialect(name, facts["title"], frozenset(facts.get("layer_types", ())))
            for name, facts in table.items()
        }
    except (OSError, ValueError, KeyError) as error:
        raise SchemaError(f"The shipped list of dialects cannot be read: {error}.", source=str(path)) from error


@functools.cache
def _description(name: str) -> Any:
    path = resource_path("schema/caffe.desc" if name == BVLC else f"schema/dialects/{name}.desc")
    try:
        (file,) = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file
    except (OSError, ValueError, DecodeError) as error:
        raise SchemaError(f"The shipped schema cannot be read: {error}.", source=str(path)) from error
    return file


def _lineage(name: str) -> tuple[str, ...]:
    """Return the dialects that make up one beside BVLC's: those it builds on, then itself."""
    order: dict[str, None] = {}
    for imported in _description(name).dependency:
        if imported != _BASE_FILE:
            order.update(dict.fromkeys(_lineage(imported.removesuffix(".proto"))))
    return (*order, name)


@functools.cache
def _own_fields(name: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of message type and field that a dialect's own file declares."""
    found: set[tuple[str, str]] = set()
    work = [("", message) for message in _description(name).message_type]
    while work:
        scope, message = work.pop()
        full_name = f"{scope}{message.name}"
        # Problems name a nested message by its last word.
        found.update((title, field.name) for field in message.field for title in (full_name, message.name))
        work.extend((f"{full_name}.", nested) for nested in message.nested_type)
    return frozenset(found)
