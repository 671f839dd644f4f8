"""Where a long drawing is cut into rows, so that as much as possible is read at first sight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from app.canvas.layout.rows import GAP_X, GAP_Y, LANE, ROW_GAP, Drawing, Strip, draw_rows

__all__ = ["READABLE", "Flow", "Room", "best_drawing"]

#: From this scale on the small print of the cards can be read: it is 8 pixels high then.
READABLE = 0.65
#: A net that is read in one row at that scale is not cut.
_ONE_ROW = 0.7
#: What is too long to be read at once is read at that scale, if the view is wide enough for it, ...
_LONG = 0.75
#: ... and is at most that many views high then; or that many, at the scale at which it can just be read.
_MOST_VIEWS, _VERY_MOST_VIEWS = 4.0, 10.0
#: Room beside the rows for wires that turn there.
_BESIDE = 60.0
#: What may be readable, as far as can be guessed, is drawn to see whether it is.
_PROMISING = 0.9
#: How much larger all must be for one row more.
_PRICE = 0.03
#: How far the length of a row may be from what is wanted, where fewer wires pass there.
_SLACK = 0.3
#: Of a net of that many blocks several drawings are made and compared.
_TRIED, _TRIES = 80, 5

Cuts = list[tuple[int, int]]


class Flow(Enum):
    """Which way a net runs."""

    WRAPPED = "wrapped"
    """In one row where it can be read so, else in rows like a text, as the view has room for."""
    ACROSS = "across"
    """From left to right in one row, however long."""
    DOWN = "down"
    """From top to bottom: each rank is a row of its own."""


class Room(NamedTuple):
    """Size of the view for which a net is laid out, without its margins, in pixels."""

    width: float = 1060.0
    height: float = 580.0

    def scale(self, width: float, height: float) -> float:
        """Return at which scale something is seen whole; 1 at most."""
        return min(1.0, self.width / max(width, 1.0), self.height / max(height, 1.0))


@dataclass(frozen=True, slots=True)
class _Guess:
    """Rows, and how large they will be."""

    cuts: Cuts
    width: float
    height: float


def best_drawing(strip: Strip, room: Room, flow: Flow = Flow.WRAPPED) -> Drawing:
    """Return the drawing of a strip that is read best in a view.

    Parameters
    ----------
    strip : Strip
    room : Room
    flow : Flow
        Which way it runs.
    """
    room = Room(max(room.width, 1.0), max(room.height, 1.0))  # a view may be smaller than its margins
    ranks = _Ranks(strip)
    if flow is Flow.DOWN:
        return draw_rows(strip, ranks.even(1))
    whole = ranks.guess([(0, ranks.count)])
    if flow is Flow.ACROSS or ranks.count == 1 or room.scale(whole.width, whole.height) >= _ONE_ROW:
        return draw_rows(strip, whole.cuts)
    guesses = [whole, *ranks.guesses()]
    guesses.sort(key=lambda guess: -_worth(guess.cuts, room.scale(guess.width, guess.height)))
    if room.scale(guesses[0].width, guesses[0].height) >= _PROMISING * READABLE:
        tried = guesses[: _TRIES if len(strip.heights) <= _TRIED else 1]
        drawings = [(guess.cuts, draw_rows(strip, guess.cuts)) for guess in tried]
        _cuts, drawing = max(drawings, key=lambda each: _worth(each[0], _scale(each[1], room)))
        if _scale(drawing, room) >= READABLE:
            return drawing
    return draw_rows(strip, ranks.even(ranks.long(room, guesses[0])))


def _scale(drawing: Drawing, room: Room) -> float:
    return room.scale(drawing.right - drawing.left, drawing.bottom)


def _worth(cuts: Cuts, scale: float) -> float:
    return scale * (1.0 - _PRICE) ** len(cuts)


class _Ranks:
    """What is known of the ranks before anything is drawn."""

    def __init__(self, strip: Strip) -> None:
        self.count = max(strip.ranks) + 1
        self.width = max(strip.widths)
        self.heights = [0.0] * self.count
        for rank, height in zip(strip.ranks, strip.heights, strict=True):
            self.heights[rank] += height + (GAP_Y if self.heights[rank] else 0.0)
        self.crossing = self._crossing(strip)

    def _crossing(self, strip: Strip) -> list[int]:
        """How many wires pass from each rank to the next, those of one port counted once."""
        reach: dict[tuple[int, float], int] = {}
        for link in strip.links:
            end = strip.ranks[link.target]
            reach[link.source, link.port] = max(end, reach.get((link.source, link.port), end))
        steps = [0] * (self.count + 1)
        for (source, _port), end in reach.items():
            steps[strip.ranks[source]] += 1
            steps[end] -= 1
        found, passing = [], 0
        for step in steps[:-1]:
            passing += step
            found.append(passing)
        return found

    def guess(self, cuts: Cuts) -> _Guess:
        """Guess how large a drawing with these rows is."""
        columns = max(end - start for start, end in cuts)
        height = sum(max(self.heights[start:end]) for start, end in cuts)
        tracks = sum(ROW_GAP + LANE / 2 * max(0, self.crossing[end - 1] - 1) for _start, end in cuts[:-1])
        return _Guess(cuts, columns * (self.width + GAP_X) - GAP_X + (LANE if len(cuts) > 1 else 0.0), height + tracks)

    def guesses(self) -> Iterator[_Guess]:
        """Try each number of rows, of lengths that are the same and of such that fewer wires pass between them."""
        columns = self.count
        for rows in range(2, self.count + 1):
            if -(-self.count // rows) == columns:
                continue
            columns = -(-self.count // rows)
            even = self.even(columns)
            yield self.guess(even)
            calm = self.calm(len(even))
            if calm != even:
                yield self.guess(calm)

    def even(self, columns: int) -> Cuts:
        """Cut after the same number of columns, or nearly so."""
        rows = -(-self.count // columns)
        ends = [round(self.count * row / rows) for row in range(rows + 1)]
        return list(pairwise(ends))

    def calm(self, rows: int) -> Cuts:
        """Cut where few wires pass, near to where rows would be alike."""
        wanted = self.count / rows
        cuts: Cuts = []
        start = 0
        while start < self.count:
            if self.count - start <= wanted * (1.0 + _SLACK):
                cuts.append((start, self.count))
                break
            aim = start + wanted
            low = max(start + 1, int(start + wanted * (1.0 - _SLACK)) + 1)
            high = max(low, min(self.count - 1, int(start + wanted * (1.0 + _SLACK))))
            end = min(range(low, high + 1), key=lambda rank: (self.crossing[rank - 1], abs(rank - aim)))
            cuts.append((start, end))
            start = end
        return cuts

    def long(self, room: Room, roundest: _Guess) -> int:
        """Return how many columns a net has of which only a part can be read at once.

        It is as wide as the view where it is not very high then, else more like the view in its shape.
        """
        widest = self._columns(room.width / READABLE)
        for columns in range(self._columns(room.width / _LONG), widest + 1):
            guess = self.guess(self.even(columns))
            views = guess.height * max(READABLE, room.scale(guess.width, 1.0)) / room.height
            if views <= (_MOST_VIEWS if columns < widest else _VERY_MOST_VIEWS):
                return columns
        return max(widest, *(end - start for start, end in roundest.cuts))

    def _columns(self, width: float) -> int:
        """How many columns there are on so many pixels."""
        return max(1, int((width - _BESIDE + GAP_X) // (self.width + GAP_X)))
