"""Reading whole nets and solvers, from files or from text."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from engine import prototxt
from engine.errors import FileFormatError, PrototxtError, SchemaError
from engine.schema.catalogue import Schema
from engine.schema.convert import as_error, convert
from engine.schema.sniff import FileKind, describe_kind, sniff
from engine.schema.upgrade import upgrade_layers, upgrade_solver

__all__ = ["read_net", "read_solver"]

_log = logging.getLogger(__name__)


def read_net(source: str | bytes | Path, *, schema: Schema | None = None, strict: bool = True) -> Any:
    """Read a net; one in an old format is brought to today's, as Caffe does.

    A net's own ``input`` fields stay as they are: :class:`engine.net.Net` makes a layer of them.

    Parameters
    ----------
    source : str, bytes or Path
        Path of a prototxt file, or its text. A string of one line without braces is a path where such a file
        exists or it does not look like text.
    schema : Schema, optional
        BVLC's when left out.
    strict : bool
        Refuse fields and values that the schema does not know, as Caffe does.

    Returns
    -------
    NetParameter message

    Raises
    ------
    PrototxtError, SchemaError
        With file, line and column of what cannot be read; if old and new layers are mixed; if an old padding layer
        is not followed by a convolution or pooling.
    FileFormatError
        If the file cannot be read or is no net; the message says what it looks like.
    """
    message, tree = _read(source, "NetParameter", FileKind.NET_TEXT, schema, strict)
    path = _as_path(source)
    name = "" if path is None else str(path)
    if len(message.layers) and len(message.layer):
        raise _mixed(tree, name)
    try:
        notes = upgrade_layers(message)
    except SchemaError as error:
        raise SchemaError(error.message, source=name, next_step=error.next_step) from error
    for note in notes:
        _log.warning("%s%s It is left out, as Caffe does.", f"{name}: " if name else "", note)
    return message


def _mixed(tree: prototxt.Tree, source: str) -> SchemaError:
    """Say that a net has layers of the old and of the new format, and where both begin."""
    first = {name: tree.root.fields(name)[0] for name in ("layers", "layer")}
    later = max(first.values(), key=lambda field: field.line)
    return SchemaError(
        f"The net mixes old 'layers' (first on line {first['layers'].line}) and new 'layer' (first on line "
        f"{first['layer'].line}); neither is left out, so it cannot run.",
        line=later.line,
        column=later.column,
        source=source,
        next_step="Write all layers in one format.",
    )


def read_solver(source: str | bytes | Path, *, schema: Schema | None = None, strict: bool = True) -> Any:
    """Read a solver; the older ``solver_type`` becomes ``type``, as Caffe makes of it.

    Parameters and errors are those of :func:`read_net`.

    Returns
    -------
    SolverParameter message
    """
    message, tree = _read(source, "SolverParameter", FileKind.SOLVER_TEXT, schema, strict)
    try:
        upgrade_solver(message)
    except SchemaError as error:
        path, field = _as_path(source), tree.root.get("solver_type")
        line, column = (field.line, field.column) if field is not None else (0, 0)
        name = "" if path is None else str(path)
        raise SchemaError(error.message, line=line, column=column, source=name, next_step=error.next_step) from error
    return message


def _read(
    source: str | bytes | Path, type_name: str, wanted: FileKind, schema: Schema | None, strict: bool
) -> tuple[Any, prototxt.Tree]:
    """Return the message and the tree that it was read from."""
    path = _as_path(source)
    name = "" if path is None else str(path)
    data = _content(source, path)
    kind = sniff(data)
    empty_text = path is None and kind is FileKind.EMPTY
    if kind not in (wanted, FileKind.TEXT) and not empty_text:
        raise _wrong_kind(data, path, wanted)
    tree = prototxt.parse(data)
    for problem in tree.problems:
        raise PrototxtError(
            problem.message, line=problem.line, column=problem.column, source=name, next_step=problem.hint
        )
    conversion = convert(tree.root, type_name, schema=schema)
    if strict and conversion.problems:
        raise as_error(conversion.problems[0], name)
    return conversion.message, tree


def _as_path(source: str | bytes | Path) -> Path | None:
    """Return the path that ``source`` is, or None if it is text."""
    if isinstance(source, Path):
        return source
    if isinstance(source, bytes) or "\n" in source or "{" in source or not source.strip():
        return None
    path = Path(source)
    return path if path.is_file() or ":" not in source else None


def _content(source: str | bytes | Path, path: Path | None) -> bytes:
    if path is None:
        return source if isinstance(source, bytes) else str(source).encode("utf-8", "surrogateescape")
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileFormatError(f"'{path}' cannot be read: {error.strerror}.", next_step="Check the path.") from error


def _named(path: Path | None) -> str:
    return "the text" if path is None else f"'{path}'"


def _wrong_kind(data: bytes, path: Path | None, wanted: FileKind) -> FileFormatError:
    looks_like, step = describe_kind(data, wanted)
    return FileFormatError(f"Expected {wanted.value}, but {_named(path)} looks like {looks_like}.", next_step=step)
