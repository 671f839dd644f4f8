"""Repeats of a sequence that follow each other: ``abcabcabc`` is three times ``abc``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Item", "Run", "best_runs"]

_LONGEST = 24
_FEWEST_CARDS = 4


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a sequence.

    Attributes
    ----------
    key : Hashable
        Equal where two items may stand for each other.
    nodes, cards : int
        How many layers it is, and how many of them stand for themselves: not in place on another one.
    stride : int
        By how much it makes a picture smaller.
    heavy : bool
        Whether it has weights: a part had better begin so.
    """

    key: Hashable
    nodes: int
    cards: int
    stride: int
    heavy: bool


@dataclass(frozen=True, slots=True)
class Run:
    """A part that is repeated.

    Attributes
    ----------
    start : int
        Place of its first item.
    period : int
        Items of the part.
    count : int
        How often it stands there, at least twice.
    """

    start: int
    period: int
    count: int

    @property
    def end(self) -> int:
        """Place after its last item."""
        return self.start + self.period * self.count

    @property
    def starts(self) -> range:
        """Where each repetition begins."""
        return range(self.start, self.end, self.period)


def best_runs(items: Sequence[Item], fewest: int = _FEWEST_CARDS) -> list[Run]:
    """Choose runs that share nothing, those that cover most first; return them in the order of the sequence.

    A part whose strides are others than those of the next begins a run, and does not go on with one: it is where a
    stage of a net begins.

    Parameters
    ----------
    items : sequence of Item
        The sequence.
    fewest : int
        Runs of fewer cards are left alone.
    """
    total = [0]
    for item in items:
        total.append(total[-1] + item.nodes)

    def rank(run: Run) -> tuple[int, int, bool, int]:
        # Of runs that cover the same, the one of more and shorter parts; then one cut at a good place; then the upper.
        return total[run.start] - total[run.end], run.period, not _well_cut(items, run), run.start

    taken = [False] * len(items)
    chosen: list[Run] = []
    for run in sorted(_all_runs(items), key=rank):
        if not _is_worth_it(items, run, fewest) or any(taken[run.start : run.end]):
            continue
        taken[run.start : run.end] = [True] * (run.end - run.start)
        chosen.append(run)
    return sorted(chosen, key=lambda run: run.start)


def _is_worth_it(items: Sequence[Item], run: Run, fewest: int) -> bool:
    unit = items[run.start : run.start + run.period]
    if sum(item.cards for item in unit) * run.count < fewest:
        return False
    if any(_is_multiple(unit, part) for part in range(1, run.period // 2 + 1)):
        return False  # its parts are the run, as far as strides let them
    # Blocks that are alike and follow each other are a run of their own, and no part of another.
    around = [*unit, unit[0]] if run.period > 1 else unit
    return not any(a.key == b.key and a.cards > 1 for a, b in pairwise(around))


def _is_multiple(unit: Sequence[Item], part: int) -> bool:
    """Whether a sequence is the same part several times."""
    return len(unit) % part == 0 and all(a.key == b.key for a, b in zip(unit, unit[part:], strict=False))


def _well_cut(items: Sequence[Item], run: Run) -> bool:
    """Whether a part begins with weights, and gets smaller at its beginning or end if it does."""
    unit = items[run.start : run.start + run.period]
    smaller = any(item.stride > 1 for item in unit)
    ends_so = unit[-1].stride > 1 and not unit[-1].heavy
    return unit[0].heavy and (not smaller or unit[0].stride > 1 or ends_so)


def _all_runs(items: Sequence[Item]) -> list[Run]:
    """List the longest runs of each period at each place of its parts."""
    names: dict[Hashable, int] = {}
    numbers = [names.setdefault(item.key, len(names)) for item in items]
    strides = [item.stride for item in items]
    found: list[Run] = []
    size = len(numbers)
    for period in range(1, min(_LONGEST, size // 2) + 1):
        start = 0
        while start + period < size:
            length = start
            while length + period < size and numbers[length] == numbers[length + period]:
                length += 1
            if length - start >= period:
                for phase in range(min(period, length - start - period + 1)):
                    count = (length + period - start - phase) // period
                    found += _broken_at_strides(start + phase, period, count, strides)
            start = max(length, start) + 1
    return found


def _broken_at_strides(start: int, period: int, count: int, strides: Sequence[int]) -> list[Run]:
    """Cut a run where its parts change their strides."""
    marks = [tuple(strides[at : at + period]) for at in range(start, start + period * count, period)]
    pieces: list[Run] = []
    begin = 0
    for place in range(1, count + 1):
        # The first part of a piece may differ from the second, every other one must be like the one before.
        second = place - begin == 1 and any(mark > 1 for mark in marks[begin])
        goes_on = place < count and (second or marks[place] == marks[place - 1])
        if not goes_on:
            if place - begin >= 2:
                pieces.append(Run(start + period * begin, period, place - begin))
            begin = place
    return pieces
