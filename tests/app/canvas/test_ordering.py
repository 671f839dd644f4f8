"""The order within the ranks, and the rails beside the columns: few wires cross, and none crosses a card."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from itertools import combinations, pairwise, product

import pytest

from app.canvas.layout import rows
from app.canvas.layout.layout import LayoutEdge, LayoutNode, LayoutResult, Room, lay_out
from app.canvas.layout.ordering import Segment, order_ranks

WIDTH, HEIGHT = 184.0, 140.0
VIEW = Room(960.0, 530.0)


@pytest.fixture(params=["fast-sugiyama", "pure Python"], autouse=True)
def ordering(request, monkeypatch):
    """Run with the library and as if it were not installed."""
    if request.param == "pure Python":
        monkeypatch.setitem(sys.modules, "fast_sugiyama", None)


def piece(above: int, below: int, port: float = 0.0, target: float = 0.0) -> Segment:
    return Segment(above, below, port, target, port)


def crossings(order: Sequence[Sequence[int]], segments: Sequence[Segment]) -> int:
    """Count them one by one."""
    place = {vertex: index for rank in order for index, vertex in enumerate(rank)}
    rank_of = {vertex: number for number, rank in enumerate(order) for vertex in rank}
    ends = [(rank_of[s.above], (place[s.above], s.port), (place[s.below], s.target_level)) for s in segments]
    pairs = (pair for pair in combinations(ends, 2) if pair[0][0] == pair[1][0])
    return sum((a[1] < b[1] and a[2] > b[2]) or (a[1] > b[1] and a[2] < b[2]) for a, b in pairs)


@pytest.mark.parametrize("turned", [1, -1])
def test_branches_stand_as_the_ports_that_they_come_from(turned):
    """Branches of two cards each, listed in the order of their ports and the other way round."""
    ranks = [[0], [1, 2, 3][::turned], [4, 5, 6][::turned]]
    segments = [piece(0, 1, 10.0), piece(0, 2, 20.0), piece(0, 3, 30.0), piece(1, 4), piece(2, 5), piece(3, 6)]
    assert order_ranks(ranks, segments) == [[0], [1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("turned", [1, -1])
def test_branches_stand_as_the_inputs_that_they_go_to(turned):
    segments = [piece(1, 4), piece(2, 5), piece(4, 0, target=30.0), piece(5, 0, target=10.0)]
    assert order_ranks([[1, 2][::turned], [4, 5][::turned], [0]], segments) == [[2, 1], [5, 4], [0]]


def test_what_comes_from_the_row_above_is_taken_up_in_its_order():
    """Three chains that know nothing of each other."""
    segments = [piece(1, 4), piece(2, 5), piece(3, 6)]
    entries = [piece(-1, 3), piece(-2, 1), piece(-3, 2)]
    assert order_ranks([[1, 2, 3], [4, 5, 6]], segments, entries) == [[3, 1, 2], [6, 4, 5]]


@pytest.mark.parametrize("seed", range(8))
def test_an_eye_on_the_ports_never_makes_more_wires_cross(seed, monkeypatch):
    rng = random.Random(seed)
    ranks = [list(range(first, first + 6)) for first in (0, 6, 12, 18)]
    pairs = [pair for upper, lower in pairwise(ranks) for pair in rng.sample(list(product(upper, lower)), 9)]
    segments = [piece(a, b, rng.choice([10.0, 20.0, 30.0]), rng.choice([10.0, 20.0])) for a, b in pairs]
    mended = order_ranks(ranks, segments)
    monkeypatch.setattr("app.canvas.layout.ordering._MINDED", 0)
    assert crossings(mended, segments) <= crossings(order_ranks(ranks, segments), segments)
    assert [sorted(rank) for rank in mended] == ranks


def with_labels(count: int) -> LayoutResult:
    """A long chain whose first layer gives a label to its last one."""
    nodes = [LayoutNode(key, WIDTH, HEIGHT) for key in range(count)]
    edges = [LayoutEdge(k, k + 1, (k, k + 1), 60.0, 60.0) for k in range(count - 1)]
    return lay_out(nodes, [*edges, LayoutEdge(0, count - 1, "label", 80.0, 80.0, 1)], VIEW)


def length(points: Sequence[tuple[float, float]]) -> float:
    return sum(abs(x2 - x1) + abs(y2 - y1) for (x1, y1), (x2, y2) in pairwise(points))


def cut(points: Sequence[tuple[float, float]], others: Sequence[Sequence[tuple[float, float]]]) -> int:
    """Count where a course crosses others; all are upright and level."""
    return sum(
        min(x1, x2) < x < max(x1, x2) and min(v1, v2) < y1 < max(v1, v2)
        for other in others
        for a, b in product(pairwise(points), pairwise(other))
        for ((x1, y1), (x2, y2)), ((x, v1), (u, v2)) in ((a, b), (b, a))
        if y1 == y2 and x == u
    )


def test_a_wire_past_many_rows_runs_beside_them(monkeypatch):
    found = with_labels(30)
    points = found.routes["label"]
    assert len(points) == 6
    rail = points[2][0]
    assert rail == points[3][0]
    assert rail < 0.0 or rail > max(x for x, _y in found.places.values()) + WIDTH
    others = [route for key, route in found.routes.items() if key != "label"]
    assert cut(points, others) <= 1
    monkeypatch.setattr(rows, "lead_outside", lambda *_args: None)
    straight = with_labels(30)
    before = [route for key, route in straight.routes.items() if key != "label"]
    assert cut(straight.routes["label"], before) > 3, "else the test says nothing"
    assert length(points) < 2 * length(straight.routes["label"])


def test_a_wire_to_the_next_row_takes_no_way_around():
    assert all(len(points) <= 4 for key, points in with_labels(10).routes.items() if key != "label")


@pytest.mark.parametrize("seed", range(6))
def test_rails_and_tracks_keep_off_cards(seed):
    rng = random.Random(seed)
    count = 40
    nodes = [LayoutNode(key, WIDTH, HEIGHT) for key in range(count)]
    chain = [LayoutEdge(k, k + 1, (k, k + 1), 60.0, 60.0) for k in range(count - 1)]
    far = [sorted(rng.sample(range(count), 2)) for _ in range(9)]
    edges = chain + [LayoutEdge(a, b, number, 80.0, 80.0, 1 + number) for number, (a, b) in enumerate(far)]
    found = lay_out(nodes, edges, VIEW)
    for points in found.routes.values():
        for (x1, y1), (x2, y2) in pairwise(points):
            if x1 != x2 and y1 != y2:
                continue  # a swing between two columns
            for x, y in found.places.values():
                beside = max(x1, x2) <= x or min(x1, x2) >= x + WIDTH
                assert beside or max(y1, y2) <= y or min(y1, y2) >= y + HEIGHT
