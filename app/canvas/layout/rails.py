"""Which wires between rows of a wrapped drawing pass the rows between on a rail beside all columns.

A wire that goes straight down through several rows crosses what it passes: the wires in each row, and those that lead
from each row to the next. Beside the columns it crosses nothing, for which it may be longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.canvas.layout.channels import Leg, Trunk

__all__ = ["lead_outside"]

#: How much longer a wire may be for each crossing less, in columns.
_WORTH = 1.0


def lead_outside(trunks: Sequence[Trunk], within: Sequence[Sequence[int]], columns: int) -> None:
    """Put those wires on rails that cross fewer others there.

    Parameters
    ----------
    trunks : sequence of Trunk
        Their legs are replaced.
    within : sequence of sequence of int
        By row and gap: how many wires of the row pass the gap.
    columns : int
        How many there are.
    """
    sheet = _Crossings(trunks, within, columns)
    for trunk in sorted(trunks, key=lambda trunk: -max(leg.row - trunk.row for leg in trunk.legs)):
        if all(leg.row - trunk.row < 2 or not leg.gap for leg in trunk.legs):
            continue
        sheet.take_out(trunk)
        choices = []
        for side in (0, columns):
            gains = [sheet.gain(trunk, leg, side) for leg in trunk.legs]
            choices.append((sum(max(0.0, gain) for gain in gains), side, gains))
        best, side, gains = max(choices, key=lambda choice: choice[0])
        if best > 0.0:
            trunk.legs = [
                replace(leg, rail=side) if gain > 0.0 else leg for leg, gain in zip(trunk.legs, gains, strict=True)
            ]
        sheet.put_back(trunk)


class _Crossings:
    """Counts what a wire would cross, by the gaps between the columns alone."""

    def __init__(self, trunks: Sequence[Trunk], within: Sequence[Sequence[int]], columns: int) -> None:
        self.within = within
        self.columns = columns
        #: By gutter: courses along it, from a gap to a gap; and the gaps of wires that pass it.
        self.along: list[list[tuple[float, float]]] = [[] for _ in within]
        self.through: list[list[float]] = [[] for _ in within]
        for trunk in trunks:
            self.put_back(trunk)

    def put_back(self, trunk: Trunk) -> None:
        """Count a trunk among those that others cross."""
        for row, course in self._courses(trunk):
            self.along[row].append(course)
        for row, gap in self._passes(trunk):
            self.through[row].append(gap)

    def take_out(self, trunk: Trunk) -> None:
        """Count it no more."""
        for row, course in self._courses(trunk):
            self.along[row].remove(course)
        for row, gap in self._passes(trunk):
            self.through[row].remove(gap)

    def gain(self, trunk: Trunk, leg: Leg, side: int) -> float:
        """How much better a leg is on a rail, in columns."""
        if leg.row - trunk.row < 2 or not leg.gap:
            return 0.0
        rail = -1.0 if not side else side + 0.5
        fewer = self._straight(trunk, leg) - self._around(trunk, leg, rail)
        longer = abs(trunk.gap - side) + abs(leg.gap - side) - abs(trunk.gap - leg.gap)
        return _WORTH * fewer - longer

    def _straight(self, trunk: Trunk, leg: Leg) -> int:
        passed = range(trunk.row + 1, leg.row)
        inside = sum(self.within[row][leg.gap] for row in passed)
        gutters = sum(min(a, b) < leg.gap < max(a, b) for row in passed for a, b in self.along[row])
        return inside + gutters + self._gutter(trunk.row, trunk.gap - 0.5, leg.gap)

    def _around(self, trunk: Trunk, leg: Leg, rail: float) -> int:
        return self._gutter(trunk.row, trunk.gap - 0.5, rail) + self._gutter(leg.row - 1, rail, leg.gap)

    def _gutter(self, row: int, start: float, end: float) -> int:
        """Count what a wire crosses that runs along a gutter."""
        turned = sum((start - a) * (end - b) < 0 for a, b in self.along[row])
        return turned + sum(min(start, end) < gap < max(start, end) for gap in self.through[row])

    def _courses(self, trunk: Trunk) -> list[tuple[int, tuple[float, float]]]:
        if trunk.falls_straight:
            return []
        found = [(trunk.row, (trunk.gap - 0.5, self._place(leg.turns))) for leg in trunk.legs]
        found += [(leg.row - 1, (self._place(leg.rail), float(leg.gap))) for leg in trunk.legs if leg.rail is not None]
        return found

    def _passes(self, trunk: Trunk) -> list[tuple[int, float]]:
        first = trunk.row + (0 if trunk.falls_straight else 1)
        return [(row, float(leg.gap)) for leg in trunk.legs if leg.rail is None for row in range(first, leg.row)]

    def _place(self, gap: int) -> float:
        return gap + 0.5 if gap == self.columns else float(gap) if gap else -0.5
