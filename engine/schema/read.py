"""Reading whole nets and solvers, from files or from text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine import prototxt
from engine.errors import FileFormatError, PrototxtError
from engine.schema.catalogue import Schema
from engine.schema.convert import as_error, convert
from engine.schema.sniff import FileKind, describe_kind, sniff

__all__ = ["read_net", "read_solver"]


def read_net(source: str | bytes | Path, *, schema: Schema | None = None, strict: bool = True) -> Any:
    """Read a net.

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
        With file, line and column of what cannot be read.
    FileFormatError
        If the file cannot be read or is no net; the message says what it looks like.
    """
    message = _read(source, "NetParameter", FileKind.NET_TEXT, schema, strict)
    if len(message.layers):
        old = "V0" if any(layer.HasField("layer") for layer in message.layers) else "V1"
        raise FileFormatError(
            f"Expected layers written 'layer {{ }}', but {_named(_as_path(source))} is in Caffe's old {old} format, "
            f"with 'layers {{ }}'.",
            next_step="Write its layers in today's format; this version does not upgrade old files yet.",
        )
    return message


def read_solver(source: str | bytes | Path, *, schema: Schema | None = None, strict: bool = True) -> Any:
    """Read a solver.

    Parameters and errors are those of :func:`read_net`.

    Returns
    -------
    SolverParameter message
    """
    return _read(source, "SolverParameter", FileKind.SOLVER_TEXT, schema, strict)


def _read(source: str | bytes | Path, type_name: str, wanted: FileKind, schema: Schema | None, strict: bool) -> Any:
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
    return conversion.message


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
