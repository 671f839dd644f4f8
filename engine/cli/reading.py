"""Reading nets, which may take its time: a bar on a terminal; an interrupt ends it."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from engine.errors import FileFormatError
from engine.files import net_of_weights
from engine.graph import OpGraph
from engine.prototxt import Progress
from engine.schema import FileKind, describe_kind, sniff

__all__ = ["read_graph", "read_shown_graph", "reading"]

_BIG = 4 * 2**20


@contextmanager
def reading(data: bytes, name: str) -> Iterator[Progress | None]:
    """Show how far a file is read, where it is big and a person looks.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        What the bar calls it.

    Yields
    ------
    callable or None
        For :func:`engine.prototxt.parse`.
    """
    if len(data) < _BIG or not sys.stderr.isatty():
        yield None
        return
    with tqdm(total=len(data), desc=f"Reading {name}", unit="B", unit_scale=True, leave=False) as bar:

        def show(position: int, _length: int) -> None:
            bar.update(position - bar.n)

        yield show


def read_graph(path: Path) -> OpGraph:
    """Read the net in a prototxt file; faults of its text are in the graph's ``problems``.

    Raises
    ------
    FileFormatError
        If the file is no net.
    """
    data = path.read_bytes()
    if sniff(data) not in (FileKind.NET_TEXT, FileKind.TEXT):
        looks_like, step = describe_kind(data)
        raise FileFormatError(f"Expected a net in prototxt, but '{path}' looks like {looks_like}.", next_step=step)
    with reading(data, path.name) as progress:
        return OpGraph.parse(data, progress=progress)


def read_shown_graph(path: Path) -> tuple[OpGraph, tuple[str, ...]]:
    """Read a net to look at: one in prototxt, or the one that a weights file holds.

    Returns
    -------
    graph : OpGraph
    notes : tuple of str
        What there is to say of how it was read.

    Raises
    ------
    FileFormatError
        If the file is neither.
    """
    if not _is_weights(path):
        return read_graph(path), ()
    net = net_of_weights(path)
    return OpGraph.parse(net.text.encode()), ("the net that the weights file holds, as it was saved", *net.notes)


def _is_weights(path: Path) -> bool:
    """Whether a file holds weights; it is not read whole for that."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return sniff(data) is FileKind.WEIGHTS
    except (OSError, ValueError):  # a pipe, or an empty file; whoever reads it says what is wrong
        return False
