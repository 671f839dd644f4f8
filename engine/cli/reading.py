"""Reading nets, which may take its time: a bar on a terminal; an interrupt ends it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from engine.errors import FileFormatError
from engine.graph import OpGraph
from engine.prototxt import Progress
from engine.schema import FileKind, describe_kind, sniff

__all__ = ["read_graph", "reading"]

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
