"""``netcanvas upgrade``."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli.output import Output
from engine.cli.reading import reading
from engine.errors import FileFormatError, NetcanvasError, PrototxtError
from engine.files import atomic_write, read_weights
from engine.prototxt import parse
from engine.schema import FileKind, describe_kind, sniff
from engine.schema.upgrade import upgrade_net
from engine.schema.upgrade.text import upgraded_net_text, upgraded_solver_text

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Write a net, solver or weights file in today's format; return the exit code."""
    source: Path = options.file
    target: Path = options.out
    data = source.read_bytes()
    if target.exists() and target.samefile(source) and not options.in_place:
        raise NetcanvasError(
            f"'{target}' is the file that is to be upgraded.", next_step="Name another file, or add --in-place."
        )
    try:
        upgraded, notes = _upgraded(source, data)
    except PrototxtError as error:
        named = type(error)(
            error.message, line=error.line, column=error.column, source=str(source), next_step=error.next_step
        )
        raise named from error
    output = Output(quiet=options.quiet)
    for note in notes:
        output.note(f"{source}: {note} It is left out, as Caffe does.")
    if upgraded != data or not (target.exists() and target.samefile(source)):
        atomic_write(target, upgraded)
    output.note(f"{target}: written in today's format." if upgraded != data else f"{source} is in today's format.")
    return 0


def _upgraded(path: Path, data: bytes) -> tuple[bytes, list[str]]:
    """Return the content in today's format, and what could not be taken over."""
    kind = sniff(data)
    if kind in (FileKind.NET_TEXT, FileKind.TEXT):
        with reading(data, path.name) as progress:
            tree = parse(data, progress=progress)
        return upgraded_net_text(tree).encode("utf-8", "surrogateescape"), []
    if kind is FileKind.SOLVER_TEXT:
        return upgraded_solver_text(parse(data)).encode("utf-8", "surrogateescape"), []
    if kind is not FileKind.WEIGHTS:
        looks_like, step = describe_kind(data)
        raise FileFormatError(
            f"Expected a net, solver or weights file, but '{path}' looks like {looks_like}.", next_step=step
        )
    net = read_weights(path)
    is_old = bool(len(net.layers) or len(net.input))
    notes = upgrade_net(net)
    return (net.SerializeToString() if is_old else data), notes
