"""The automatic layout: nothing overlaps, wires run forward, blocks hold together, with and without fast-sugiyama."""

from __future__ import annotations

import random
import sys
from itertools import combinations, pairwise

import pytest

from app.canvas.edits.foldedits import is_folded
from app.canvas.layout.channels import assign_tracks
from app.canvas.layout.cuts import READABLE
from app.canvas.layout.layout import Flow, LayoutEdge, LayoutNode, Room, lay_out
from app.document import Document
from tests.support import shared

WIDTH, HEIGHT = 184.0, 140.0
NETS = [
    "bvlc/examples__mnist__lenet_train_test.prototxt",
    "bvlc/models__bvlc_googlenet__train_val.prototxt",
    "bvlc/examples__siamese__mnist_siamese_train_test.prototxt",
    "resnet/ResNet-50-deploy.prototxt",
]


@pytest.fixture(params=["fast-sugiyama", "pure Python"])
def ordering(request, monkeypatch):
    """Run with the library and as if it were not installed."""
    if request.param == "pure Python":
        monkeypatch.setitem(sys.modules, "fast_sugiyama", None)
    return request.param


def node(key, **more) -> LayoutNode:
    return LayoutNode(key, WIDTH, HEIGHT, **more)


def edge(a, b, key=None) -> LayoutEdge:
    return LayoutEdge(a, b, key if key is not None else (a, b), 60.0, 60.0)


def overlaps(places, heights) -> list[tuple]:
    boxes = [(key, x, y, x + WIDTH, y + heights[key]) for key, (x, y) in places.items()]
    return [
        (a[0], b[0]) for a, b in combinations(boxes, 2) if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
    ]


def test_an_empty_net_has_an_empty_layout():
    assert lay_out([], []).places == {}


def test_a_chain_runs_straight_from_left_to_right(ordering):
    result = lay_out([node(k) for k in range(4)], [edge(k, k + 1) for k in range(3)])
    xs, ys = zip(*(result.places[k] for k in range(4)), strict=True)
    assert list(xs) == sorted(xs)
    assert len(set(ys)) == 1


@pytest.mark.parametrize(("flow", "along"), [(Flow.ACROSS, 0), (Flow.DOWN, 1)])
def test_a_net_can_be_turned_whatever_the_view(flow, along):
    keys = range(30)
    result = lay_out([node(k) for k in keys], [edge(k, k + 1) for k in keys[:-1]], Room(700.0, 500.0), flow)
    ahead, aside = ([result.places[k][axis] for k in keys] for axis in (along, 1 - along))
    assert ahead == sorted(set(ahead)), "each is behind the one before"
    assert len(set(aside)) == 1


@pytest.mark.parametrize("flow", Flow)
@pytest.mark.parametrize("seed", range(6))
def test_random_nets_never_overlap(seed, flow, ordering):
    rng = random.Random(seed)
    count = 60
    nodes = [node(k) for k in range(count)]
    edges = [edge(a, b, n) for n, (a, b) in enumerate(sorted(rng.sample(range(count), 2)) for _ in range(110))]
    result = lay_out(nodes, edges, flow=flow)
    assert len(result.places) == count
    assert not overlaps(result.places, dict.fromkeys(range(count), HEIGHT))


@pytest.mark.parametrize("size", [(0, 0), (-20, -20), (1, 1), (4000, 1)])
def test_a_view_without_room_does_no_harm(size):
    rows, *_rest = chain(30, Room(*size))
    assert sum(map(len, rows.values())) == 30


def test_a_cycle_does_no_harm(ordering):
    result = lay_out([node(k) for k in "abc"], [edge("a", "b"), edge("b", "c"), edge("c", "a")])
    assert len(result.places) == 3


def test_a_chain_of_ten_thousand_needs_no_recursion():
    count = 10_000
    result = lay_out([node(k) for k in range(count)], [edge(k, k + 1) for k in range(count - 1)])
    assert len(set(result.places.values())) == count


def test_in_place_layers_hang_under_their_host_in_order(ordering):
    nodes = [node("conv"), node("relu", host="conv"), node("drop", host="relu"), node("pool")]
    result = lay_out(nodes, [edge("conv", "relu"), edge("relu", "drop"), edge("drop", "pool")])
    x, y = result.places["conv"]
    assert result.places["relu"] == (x, y + HEIGHT + 6.0)
    assert result.places["drop"] == (x, y + 2 * (HEIGHT + 6.0))
    assert result.places["pool"][0] > x


def test_variants_of_one_layer_stand_in_one_column(ordering):
    nodes = [node("train", variant="data"), node("test", variant="data"), node("conv")]
    result = lay_out(nodes, [edge("train", "conv"), edge("test", "conv")])
    assert result.places["train"][0] == result.places["test"][0] < result.places["conv"][0]


def chain(count: int, room: Room):
    """A chain in a view: its rows from top to bottom, its size, and its wires that are led."""
    result = lay_out([node(k) for k in range(count)], [edge(k, k + 1) for k in range(count - 1)], room)
    rows: dict[float, list[int]] = {}
    for key, (_x, y) in result.places.items():
        rows.setdefault(y, []).append(key)
    width = max(x for x, _y in result.places.values()) + WIDTH
    height = max(y for _x, y in result.places.values()) + HEIGHT
    return rows, width, height, result.routes


@pytest.mark.parametrize("count", [2, 4, 5])
def test_what_fits_in_one_row_is_in_one_row(count, ordering):
    rows, *_rest = chain(count, Room(960, 530))
    assert len(rows) == 1


@pytest.mark.parametrize("size", [(690, 430), (960, 530), (1060, 580), (500, 900)])
def test_what_can_be_read_at_once_is_wrapped_so_that_it_is(size, ordering):
    rows, width, height, _routes = chain(10, Room(*size))
    assert min(size[0] / width, size[1] / height) >= READABLE
    assert [key for row in rows.values() for key in row] == list(range(10)), "rows are read like lines of a text"


@pytest.mark.parametrize("count", [30, 45])
def test_a_longer_net_is_as_wide_as_the_view(count, ordering):
    rows, width, height, _routes = chain(count, Room(960, 530))
    assert READABLE < 960 / width < 1.0
    assert height > 530
    assert max(map(len, rows.values())) - min(map(len, rows.values())) <= 1


def test_a_very_long_net_is_shaped_like_the_view(ordering):
    _rows, width, height, routes = chain(400, Room(960, 530))
    assert 0.5 < width / height < 3.2
    around = [points for points in routes.values() if points]
    assert around, "the wire to the next row is led around its end"
    for points in around:
        assert points[0][0] == points[1][0] > points[2][0] == points[3][0]


def test_wires_between_rows_keep_off_cards_and_each_other(ordering):
    """Ten labels of one data layer go to ten losses, far down."""
    heights = dict.fromkeys(range(30), HEIGHT)
    nodes = [node(key) for key in heights]
    edges = [edge(k, k + 1) for k in range(19)]
    edges += [LayoutEdge(0, 20 + k, ("label", k), 60.0, 80.0, k) for k in range(10)]
    edges += [edge(2 * k + 1, 20 + k) for k in range(10)]
    result = lay_out(nodes, edges, Room(960, 530))
    assert not overlaps(result.places, heights)
    for points in result.routes.values():
        for (x1, y1), (x2, y2) in pairwise(points):
            for x, y in result.places.values():
                beside = max(x1, x2) <= x or min(x1, x2) >= x + WIDTH
                assert beside or max(y1, y2) <= y or min(y1, y2) >= y + HEIGHT
    tracks = {(points[1][1], points[1][0]) for points in result.routes.values() if len(points) == 4}
    levels = sorted({y for y, _x in tracks})
    assert all(b - a >= 10.0 for a, b in pairwise(levels))


def test_a_layout_is_the_same_each_time(ordering):
    rng = random.Random(5)
    nodes = [node(k) for k in range(40)]
    edges = [edge(a, b, n) for n, (a, b) in enumerate(sorted(rng.sample(range(40), 2)) for _ in range(70))]
    first, second = lay_out(nodes, edges), lay_out(nodes, edges)
    assert (first.places, first.routes) == (second.places, second.routes)


@pytest.mark.parametrize(
    ("upper", "lower", "order"),
    [
        ((0, 100.0, [10.0]), (1, 90.0, [0.0]), [1, 0]),  # two branches of one row that go on in the next
        ((0, 10.0, [50.0]), (1, 20.0, [60.0]), [1, 0]),
        ((0, 0.0, [10.0]), (1, 30.0, [40.0]), [0, 0]),  # nothing in common: one track
    ],
)
def test_tracks_are_given_so_that_few_wires_cross(upper, lower, order):
    tracks, count = assign_tracks([upper, lower])
    assert [tracks[0], tracks[1]] == order
    assert count == max(order) + 1


@pytest.mark.parametrize("name", NETS)
def test_corpus_nets_never_overlap(name, make_canvas):
    document = Document.open(shared(f"corpus/prototxt/{name}"))
    try:
        canvas = make_canvas(document)
        for _folded in range(2 if is_folded(document) else 1):
            items = {item.node_id: item for item in canvas.canvas.items_shown()}
            places = {key: (item.x(), item.y()) for key, item in items.items()}
            heights = {key: item.face.height for key, item in items.items()}
            assert not overlaps(places, heights)
            assert len(set(places.values())) == len(places)
            if is_folded(document):
                canvas.fold_repeats()
        assert len(items) == len(document.graph)
    finally:
        document.close()


@pytest.mark.parametrize(("name", "words"), [("layout_across", "in one row"), ("layout_down", "from top to bottom")])
def test_turning_is_a_command_and_one_step(window, lenet, qtbot, name, words):
    assert window.files.open(lenet)
    qtbot.waitUntil(lambda: window.canvas.is_placed)
    document = window.document
    before = document.positions.of(document.graph.node_ids())
    window.actions_by_name[name].trigger()
    after = document.positions.of(document.graph.node_ids())
    conv, ip = (after[document.graph.named(each)[0].id] for each in ("conv1", "ip2"))
    assert (ip.y > conv.y + 300) == (name == "layout_down") != (ip.x > conv.x + 300)
    assert document.undo_stack.count() == 1 and document.undo_stack.undoText().endswith(words)
    document.undo_stack.undo()
    assert document.positions.of(document.graph.node_ids()) == before
