"""What a closed document leaves: nothing that only the cycle collector would find."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from shiboken6 import isValid

from app.window.closing.remains import Dismantling, Remains
from app.window.mainwindow import MainWindow
from engine.graph import OpGraph
from tests.benchmarks.nets import residual_net
from tests.benchmarks.opening import BUDGET, ROOM
from tests.benchmarks.stalls import StallWatch

LAYERS = 400


@pytest.fixture
def long(window: MainWindow, tmp_path: Path, qtbot) -> MainWindow:
    """A window with a long net, arranged and looked through, in its second tab."""
    window.notify("Keeps the first tab")
    window.document.apply("Add", lambda graph: graph.replace_text('layer { name: "a" type: "Silence" }'))
    path = tmp_path / "long.prototxt"
    path.write_text(residual_net(LAYERS))
    assert window.files.open(path)
    settle(window, qtbot)
    return window


def settle(window: MainWindow, qtbot) -> None:
    def settled() -> bool:
        document = window.document
        return (
            window.canvas.is_placed and not document.live.busy and not document.jobs.busy and not window._leaving.busy
        )

    qtbot.waitUntil(settled, timeout=30_000)
    qtbot.wait(20)


def test_a_closed_document_goes_with_its_last_reference(long: MainWindow, qtbot) -> None:
    assert not gc.isenabled(), "else this says nothing"
    page = long.tabs.current
    scene, graph = page.canvas.canvas, page.document.graph
    node = graph.node_ids()[7]
    watched = {
        "page": page,
        "document": page.document,
        "graph": graph,
        "scene": scene,
        "card": scene.nodes[node],
        "live": page.document.live,
        "keys": page.canvas.keys,
    }
    refs = {name: weakref.ref(each) for name, each in watched.items()}
    del page, scene, graph, watched
    long.close_page(long.tabs.current)
    settle(long, qtbot)
    assert not [name for name, ref in refs.items() if ref() is not None]


@pytest.mark.slow
def test_closing_is_not_felt(long: MainWindow, qtbot) -> None:
    watch = StallWatch()
    watch.run(lambda: long.close_page(long.tabs.current), lambda: not long._leaving.busy)
    assert watch.longest.busy < ROOM * BUDGET
    watch.deleteLater()


def test_a_closed_comparison_goes_too(long: MainWindow, tmp_path: Path, qtbot) -> None:
    long.comparing.with_path(tmp_path / "long.prototxt")
    page = long.tabs.current
    qtbot.waitUntil(lambda: page.comparison.canvases is not None and page.comparison.canvases[1].is_placed)
    qtbot.waitUntil(lambda: not page.comparison.comparison.busy, timeout=30_000)
    comparison = page.comparison.comparison
    refs = [weakref.ref(each) for each in (comparison.old.graph, comparison.new.graph, comparison.new)]
    del comparison
    long.comparing.close()
    qtbot.waitUntil(lambda: not page._dismantling.busy, timeout=30_000)
    qtbot.wait(20)
    assert not [ref for ref in refs if ref() is not None]
    assert len(long.document.graph) == LAYERS, "the net itself is open still"


def test_what_is_alive_is_left_alone(long: MainWindow) -> None:
    page = long.tabs.current
    title, cards = page.document.title, len(page.canvas.canvas.nodes)
    taken = Remains(page)
    taken._graphs.clear()
    for _step in taken.taken_apart():
        pass
    assert page.document.title == title and len(page.canvas.canvas.nodes) == cards
    assert all(card.edges is not None for card in page.canvas.canvas.nodes.values())


def test_a_closed_scene_loses_its_items_bit_by_bit(long: MainWindow, qtbot) -> None:
    page = long.tabs.current
    scene = page.canvas.canvas
    count = len(scene.items())
    remains = Remains(page)
    page.close_document()
    assert len(scene.items()) == count, "closing it is not felt"
    steps = remains.taken_apart()
    next(steps)
    assert len(scene.items()) == count - 1
    for _step in steps:
        pass
    assert isValid(scene) and not scene.items(), "its view is still there"


def test_a_failure_does_not_stop_the_rest(qtbot, faults) -> None:
    owner = QObject()
    dismantling = Dismantling(owner)
    broken, whole = Remains(QObject(owner)), Remains(QObject(owner))
    broken._graphs = [None]
    whole._graphs = [OpGraph.parse(residual_net(5))]
    graph = whole._graphs[0]
    dismantling.take(broken)
    qtbot.waitUntil(lambda: bool(faults))
    faults.clear()
    dismantling.take(whole)
    qtbot.waitUntil(lambda: not graph.tree.root.items)
    dismantling.close()
    owner.deleteLater()


def test_a_graph_taken_apart_has_no_circles_left() -> None:
    gc.collect()
    graph = OpGraph.parse(residual_net(30))
    assert graph.edges()
    field = graph.tree.root.items[5]
    value = field.value
    for _step in graph.taken_apart():
        pass
    assert value.owner is None and field.parent is None
    del graph, field, value
    assert gc.collect() < 200, "most went by themselves"
