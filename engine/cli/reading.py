"""Reading text that takes its time: a bar on a terminal; an interrupt ends it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from engine.prototxt import Progress

__all__ = ["reading"]

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
