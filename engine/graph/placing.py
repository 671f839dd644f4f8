"""Where a new layer goes among those that are there."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from engine.graph.binding import Binding
from engine.prototxt import Item

__all__ = ["first_layer", "place_for"]

_LAST = ("Accuracy", "Softmax", "Silence", "Loss")


def place_for(
    items: Sequence[Item],
    reading: Callable[[Item], Binding | None],
    type_name: str,
    *,
    reads: bool,
    writers: Container[Item] = (),
) -> int:
    """Return the place of a new layer.

    Sources go behind those that begin the file, losses and the like to the end, all others before the losses, and
    never above what they read.

    Parameters
    ----------
    items : sequence of Field, Junk and Note
        What stands at the top of the document.
    reading : callable
        Returns what was read of an item, or None for what is no layer.
    type_name : str
        Type of the layer.
    reads : bool
        Whether it has bottoms.
    writers : container of Item
        The layers that write what it reads.
    """
    if not reads:
        return _behind_sources(items, reading)
    first = len(items)
    for place in range(len(items) - 1, -1, -1):
        known = reading(items[place])
        if known is None:
            continue
        if type_name.endswith(_LAST) or items[place] in writers or not known.type.endswith(_LAST):
            return place + 1
        first = place
    return first


def first_layer(items: Sequence[Item], reading: Callable[[Item], Binding | None]) -> int:
    """Return the place of the first layer; behind everything where there is none."""
    return next((place for place, item in enumerate(items) if reading(item) is not None), len(items))


def _behind_sources(items: Sequence[Item], reading: Callable[[Item], Binding | None]) -> int:
    last = -1
    for place, item in enumerate(items):
        known = reading(item)
        if known is not None and known.bottoms:
            return last + 1 if last >= 0 else place
        if known is not None:
            last = place
    return last + 1 if last >= 0 else len(items)
