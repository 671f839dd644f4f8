"""Which layer's blob a bottom reads: the latest above it that writes the name, for each state of the net."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.graph.binding import UNWIRED, Binding
from engine.graph.records import Edge

__all__ = ["wire"]

Phases = Callable[[int], frozenset[str]]


def wire(blob: str, users: Iterable[Binding], phases: Phases, *, mask: int = 0) -> dict[Edge, int]:
    """Connect the readers of one blob name with its writers.

    Parameters
    ----------
    blob : str
        The name.
    users : iterable of Binding
        The layers that read or write it, in document order.
    phases : callable
        Names the phases of a mask of states.
    mask : int
        Stands for the states of all users alike, whatever their own are; 0 for their own.

    Returns
    -------
    dict of Edge to int
        Each edge with the mask of the states in which it holds.
    """
    if blob == UNWIRED:
        return {}
    edges: dict[Edge, int] = {}
    writers: list[tuple[Binding, int, int]] = []
    for user in users:
        own = mask or user.mask
        for bottom, name in enumerate(user.bottoms):
            if name != blob:
                continue
            wanted = own
            for writer, top, written in reversed(writers):
                held = wanted & written
                if held:
                    edges[Edge(writer.id, top, user.id, bottom, blob, phases(held))] = held
                    wanted &= ~held
                    if not wanted:
                        break
        for top, name in enumerate(user.tops):
            if name == blob:
                writers.append((user, top, own))
    return edges
