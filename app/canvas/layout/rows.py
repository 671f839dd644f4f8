"""A strip of ranks cut into rows like a text, with the wires within the rows and between them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from app.canvas.layout.channels import TRACK, Leg, Trunk, assign_tracks, share_lanes
from app.canvas.layout.layers import Chain, Layering, Link, layer_graph
from app.canvas.layout.ordering import Segment
from app.canvas.layout.rails import lead_outside

__all__ = ["GAP_X", "GAP_Y", "Drawing", "Strip", "draw_rows"]

#: Least space between two columns, and between two cards of a column.
GAP_X = 66.0
GAP_Y = 20.0
#: Space around a wire that passes between two cards.
LANE = 24.0
#: Space between two rows, and that which a wire between them keeps from the cards, or from the next wire.
ROW_GAP = 34.0
_CLEAR = 16.0
_PASS = 8.0
_GRID = 10.0

Place = tuple[float, float]


class Strip(NamedTuple):
    """What is to be cut.

    Attributes
    ----------
    widths, heights : list of float
        Of the blocks, in pixels.
    links : list of Link
        Wires between blocks, each to a higher rank.
    ranks : list of int
        Rank of each block.
    """

    widths: list[float]
    heights: list[float]
    links: list[Link]
    ranks: list[int]


@dataclass(slots=True)
class Drawing:
    """Where everything is.

    Attributes
    ----------
    places : list of tuple of float
        Upper left corner of each block.
    routes : dict
        By number of a wire: the points that it passes; none for a wire to the next column.
    left, right, bottom : float
        Ends of the whole, wires included; its top is 0.
    """

    places: list[Place]
    routes: dict[int, list[Place]] = field(default_factory=dict)
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0


class _Row:
    """One row: its blocks in layers."""

    def __init__(
        self, strip: Strip, members: list[int], first: int, links: list[Link], entering: Sequence[Link]
    ) -> None:
        self.members = members
        local = {block: number for number, block in enumerate(members)}
        inner = [link._replace(source=local[link.source], target=local[link.target]) for link in links]
        heights = [strip.heights[block] for block in members]
        ranks = [strip.ranks[block] - first for block in members]
        ports: dict[tuple[int, float], int] = {}
        entries = []
        for link in entering:
            port = ports.setdefault((link.source, link.port), -1 - len(ports))
            entries.append(Segment(port, local[link.target], 0.0, link.target_level, 0.0))
        self.layering: Layering = layer_graph(heights, inner, ranks, GAP_Y, LANE, entries)
        y = [_snap(each) for each in self.layering.y]
        top = min(y)
        self.layering.y = [each - top for each in y]
        self.height = max(
            self.layering.y[v] + (heights[v] if v < len(heights) else 0.0) for v in range(len(self.layering.y))
        )


def draw_rows(strip: Strip, cuts: Sequence[tuple[int, int]]) -> Drawing:
    """Draw a strip in rows.

    Parameters
    ----------
    strip : Strip
    cuts : sequence of (int, int)
        First rank of each row, and the one behind its last.
    """
    row_of = [row for row, (start, end) in enumerate(cuts) for _rank in range(start, end)]
    members: list[list[int]] = [[] for _ in cuts]
    for block, rank in enumerate(strip.ranks):
        members[row_of[rank]].append(block)
    inner: list[list[Link]] = [[] for _ in cuts]
    across: list[Link] = []
    for link in strip.links:
        row = row_of[strip.ranks[link.source]]
        if row == row_of[strip.ranks[link.target]]:
            inner[row].append(link)
        else:
            across.append(link)
    rows = _make_rows(strip, cuts, members, inner, across)
    return _Sheet(strip, cuts, rows, across).draw()


def _make_rows(
    strip: Strip,
    cuts: Sequence[tuple[int, int]],
    members: Sequence[list[int]],
    inner: Sequence[list[Link]],
    across: Sequence[Link],
) -> list[_Row]:
    """Order and level each row, from above on, with an eye on what comes into its first column from those above."""
    rows: list[_Row] = []
    levels: dict[int, float] = {}
    entering: dict[int, list[Link]] = defaultdict(list)
    for link in across:
        entering[strip.ranks[link.target]].append(link)
    for blocks, links, (start, _end) in zip(members, inner, cuts, strict=True):
        # What comes from further right, and from higher up in a column, goes to what is higher up.
        above = sorted(entering[start], key=lambda link: (-strip.ranks[link.source], levels[link.source] + link.port))
        row = _Row(strip, blocks, start, links, above)
        levels.update(zip(row.members, row.layering.y, strict=False))
        rows.append(row)
    return rows


class _Sheet:
    """Puts rows below each other and leads the wires."""

    def __init__(self, strip: Strip, cuts: Sequence[tuple[int, int]], rows: list[_Row], across: list[Link]) -> None:
        self.strip = strip
        self.rows = rows
        self.column = [rank - start for start, end in cuts for rank in range(start, end)]
        self.row_of = [row for row, (start, end) in enumerate(cuts) for _rank in range(start, end)]
        self.y = [0.0] * len(strip.heights)
        for row in rows:
            for number, block in enumerate(row.members):
                self.y[block] = row.layering.y[number]
        self.trunks = self._trunks(across)
        lead_outside(self.trunks, self._within(), max(self.column) + 1)
        self.channels = share_lanes(self.trunks)
        self.x: list[float] = []
        self.ends: list[float] = []
        self._space_columns()
        self.tracks: list[dict[int, int]] = []
        self.tops: list[float] = []
        self.bottom = 0.0
        self._stack()

    def draw(self) -> Drawing:
        """Return places and routes."""
        places = [
            (self.x[self.column[rank]], self.tops[self.row_of[rank]] + self.y[block])
            for block, rank in enumerate(self.strip.ranks)
        ]
        drawing = Drawing(places, right=max(self.ends), bottom=self.bottom)
        for number, row in enumerate(self.rows):
            for chain in row.layering.chains:
                points = self._inside(number, chain)
                if points:
                    drawing.routes[chain.number] = points
        for number, trunk in enumerate(self.trunks):
            for leg in trunk.legs:
                points = drawing.routes[leg.number] = self._course(number, trunk, leg)
                drawing.left = min(drawing.left, *(x for x, _y in points))
                drawing.right = max(drawing.right, *(x for x, _y in points))
        return drawing

    def _trunks(self, across: list[Link]) -> list[Trunk]:
        """Gather the wires between rows by the ports where they begin."""
        ranks = self.strip.ranks
        found: dict[tuple[int, float], Trunk] = {}
        for link in across:
            trunk = found.get((link.source, link.port))
            if trunk is None:
                rank = ranks[link.source]
                level = self.y[link.source] + link.port
                trunk = found[link.source, link.port] = Trunk(self.row_of[rank], self.column[rank] + 1, level)
            rank = ranks[link.target]
            level = self.y[link.target] + link.target_level
            trunk.legs.append(Leg(self.row_of[rank], self.column[rank], level, link.number))
        return list(found.values())

    def _within(self) -> list[list[int]]:
        """Count by row and gap how many wires of the row pass there, those of one port as one."""
        found = []
        for row in self.rows:
            gaps = [0] * (max(self.column) + 2)
            steps = {
                (chain.vertices[0], chain.port, row.layering.rank_of[vertex])
                for chain in row.layering.chains
                for vertex in chain.vertices[1:]
            }
            for _source, _port, column in steps:
                gaps[column] += 1
            found.append(gaps)
        return found

    def _space_columns(self) -> None:
        """Find the columns, the same in all rows, with room for the lanes between them."""
        widths: dict[int, float] = defaultdict(float)
        for block, rank in enumerate(self.strip.ranks):
            column = self.column[rank]
            widths[column] = max(widths[column], self.strip.widths[block])
        x = 0.0
        for column in range(max(widths) + 1):
            if column:
                lanes = self.channels.left.get(column, 0) + self.channels.right.get(column, 0)
                x = _snap(x + max(GAP_X, 2 * _CLEAR + TRACK * (lanes - 1)), up=True)
            self.x.append(x)
            x += widths[column]
            self.ends.append(x)

    def _stack(self) -> None:
        """Put the rows below each other, with room for the tracks between them."""
        y = 0.0
        for number, row in enumerate(self.rows):
            self.tops.append(y)
            y += row.height
            self.bottom = y
            courses = [
                (name, self._fall(name), [self._turn(name, leg) for leg in trunk.legs])
                for name, trunk in enumerate(self.trunks)
                if trunk.row == number and not trunk.falls_straight
            ]
            courses += self._from_rails(number)
            tracks, count = assign_tracks(courses)
            self.tracks.append(tracks)
            y = _snap(y + max(ROW_GAP, 2 * _CLEAR + TRACK * (count - 1)), up=True)

    def _fall(self, number: int) -> float:
        """Where a trunk turns down."""
        trunk = self.trunks[number]
        return self.ends[trunk.gap - 1] + _CLEAR + TRACK * self.channels.falls[number]

    def _drop(self, number: int, gap: int) -> float:
        """Where a trunk turns down again."""
        return self.x[gap] - _CLEAR - TRACK * self.channels.drops[number, gap]

    def _turn(self, number: int, leg: Leg) -> float:
        """Where a leg leaves the track below its source."""
        if leg.rail:
            return self.ends[-1] + _CLEAR + TRACK * self.channels.rails[number]
        return self._drop(number, leg.turns)

    def _from_rails(self, row: int) -> Iterator[tuple[int, float, list[float]]]:
        """Find what comes into a gutter from the rails."""
        for number, trunk in enumerate(self.trunks):
            legs = [leg for leg in trunk.legs if leg.rail is not None and leg.row == row + 1]
            for side in dict.fromkeys(leg.rail for leg in legs):
                own = [leg for leg in legs if leg.rail == side]
                yield number, self._turn(number, own[0]), [self._drop(number, leg.gap) for leg in own]

    def _course(self, number: int, trunk: Trunk, leg: Leg) -> list[Place]:
        """Return the points of a wire between two rows."""
        above, below = self.tops[trunk.row] + trunk.level, self.tops[leg.row] + leg.level
        into = self._drop(number, leg.gap)
        if trunk.falls_straight:
            return [(into, above), (into, below)]
        out, track = self._fall(number), self._track(number, trunk.row)
        if leg.rail is None:
            return [(out, above), (out, track), (into, track), (into, below)]
        rail, last = self._turn(number, leg), self._track(number, leg.row - 1)
        return [(out, above), (out, track), (rail, track), (rail, last), (into, last), (into, below)]

    def _track(self, number: int, row: int) -> float:
        """Level of a wire in the gutter below a row."""
        return self.tops[row] + self.rows[row].height + _CLEAR + TRACK * self.tracks[row][number]

    def _inside(self, number: int, chain: Chain) -> list[Place]:
        """Return the points of a wire within a row: straight through the columns that it passes."""
        layering, top = self.rows[number].layering, self.tops[number]
        points: list[Place] = []
        for here in chain.vertices[1:-1]:
            column = layering.rank_of[here]
            y = top + layering.y[here]
            if points and points[-1][1] == y:
                points.pop()
            else:
                points.append((self.x[column] - _PASS, y))
            points.append((self.ends[column] + _PASS, y))
        return points


def _snap(value: float, *, up: bool = False) -> float:
    return (math.ceil(value / _GRID - 1e-6) if up else round(value / _GRID)) * _GRID
