"""What layers that work in place destroy: the one rule, for nets that run and for documents that are edited."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Step", "find_spoiled"]

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Step(Generic[K]):
    """What a layer does to its blobs.

    Attributes
    ----------
    key : object
        Which layer it is.
    bottoms, tops : sequence of hashable
        Its blobs; one that is in both is worked on in place.
    reads : str
        What its backward pass needs of the values in its tops: nothing (``""``), ``"signs"`` or ``"values"``; nothing
        too where no gradient passes.
    leaves : str
        What is left of its bottom's values when it works in place; as above.
    """

    key: K
    bottoms: Sequence[Hashable]
    tops: Sequence[Hashable]
    reads: str = ""
    leaves: str = ""


def find_spoiled(steps: Iterable[Step[K]]) -> list[tuple[K, K, Hashable]]:
    """Return each layer whose gradient may come out wrong, the later one in place that is why, and their blob.

    Parameters
    ----------
    steps : iterable of Step
        In the order of the net.
    """
    found: list[tuple[K, K, Hashable]] = []
    waiting: dict[Hashable, dict[str, list[K]]] = {}  # the layers that need a blob as it is, by what they read of it
    for step in steps:
        for blob in step.tops:
            readers = waiting.setdefault(blob, {})
            if blob not in step.bottoms:
                readers.clear()
            for reads in [] if step.leaves == "values" else [each for each in readers if each != step.leaves]:
                found += [(reader, step.key, blob) for reader in readers.pop(reads)]
            if step.reads:
                readers.setdefault(step.reads, []).append(step.key)
    return found
