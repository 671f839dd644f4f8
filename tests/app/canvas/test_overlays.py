"""The map and the heat-map."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.canvas.scene.heat import MEASURES, TIME, heat_color
from app.theme import Theme
from tests.app.support import contrast, luminance


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_m_shows_the_map_in_both_themes_and_dragging_pans(canvas, qtbot, theme):
    Theme.load(theme).apply(QApplication.instance())
    assert canvas.minimap.isHidden()
    qtbot.keyClick(canvas, Qt.Key.Key_M)
    assert canvas.minimap.isVisible()
    assert canvas.rect().contains(canvas.minimap.geometry())
    picture = canvas.minimap.grab().toImage()
    colors = {picture.pixel(x, y) for x in range(0, picture.width(), 2) for y in range(0, picture.height(), 2)}
    assert len(colors) > 4
    first = next(iter(canvas.canvas.nodes.values())).scene_body().center()
    at = canvas.minimap.transform().map(first)
    QTest.mousePress(canvas.minimap, Qt.MouseButton.LeftButton, pos=at.toPoint())
    QTest.mouseRelease(canvas.minimap, Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert (canvas.visible_rect().center() - first).manhattanLength() < 60
    QTest.mousePress(canvas.minimap, Qt.MouseButton.LeftButton, pos=at.toPoint())
    QTest.mouseMove(canvas.minimap, at.toPoint() + QPoint(20, 0))
    QTest.mouseRelease(canvas.minimap, Qt.MouseButton.LeftButton, pos=at.toPoint() + QPoint(20, 0))
    qtbot.keyClick(canvas, Qt.Key.Key_M)
    assert canvas.minimap.isHidden()
    Theme.load("light").apply(QApplication.instance())


def test_the_map_is_painted_anew_only_when_the_net_looks_different(canvas, qtbot, monkeypatch):
    if canvas.minimap.isHidden():  # it comes by itself, a moment later
        canvas.minimap.toggle()
    canvas.minimap.repaint()
    painted: list[float] = []
    paint = canvas.minimap._paint_net
    monkeypatch.setattr(canvas.minimap, "_paint_net", lambda ratio: painted.append(ratio) or paint(ratio))
    for _step in range(5):
        canvas.scroll_by(20, 10)
        canvas.minimap.repaint()
    assert not painted
    node = canvas.document.graph.named("conv1")[0].id
    canvas.document.apply("Delete", lambda graph: graph.remove_nodes([node]))
    canvas.minimap.repaint()
    assert painted


@pytest.fixture
def known(document, canvas, qtbot):
    """A canvas whose shapes are known."""
    text = document.graph.text.replace(
        document.graph.layer_text(document.graph.nodes()[0].id),
        'layer { name: "mnist" type: "Input" top: "data" top: "label" '
        "input_param { shape { dim: 8 dim: 1 dim: 28 dim: 28 } shape { dim: 8 } } }",
        1,
    )
    second = document.graph.layer_text(document.graph.nodes()[1].id)
    document.apply("Inputs", lambda graph: graph.replace_text(text.replace(second, "", 1)))
    document.live.start()
    qtbot.waitUntil(lambda: not document.live.busy and len(document.shapes) > 5, timeout=20_000)
    canvas.canvas.faces.refresh()
    return canvas


@pytest.mark.parametrize(
    ("name", "dearest", "text"),
    [
        ("parameters", "ip1", "400"),
        ("multiply_adds", "conv2", "12.8"),
        ("memory", "conv1", "360"),
        ("inference", "ip1", "1.54"),
        ("training", "ip1", "4.61"),
    ],
)
def test_the_heat_map_prints_what_each_layer_costs(known, name, dearest, text):
    known.show_heat(name)
    scene = known.canvas
    heats = {item.face.title: item.heat for item in scene.items_shown()}
    assert max((heat for heat in heats.values() if heat is not None), key=lambda heat: heat.reach) is heats[dearest]
    assert heats[dearest].reach == 1.0
    assert heats[dearest].text.startswith(text), heats[dearest].text
    assert heats["relu1"] is not None
    assert not heats["relu1"].text or name == "memory"
    title, total, _least, most = known.legend.texts
    assert title == next(each.title for each in MEASURES if each.name == name)
    assert total.endswith("in all")
    assert most == heats[dearest].text
    assert not known.legend.isHidden()
    known.viewport().grab()
    known.set_scale(0.1)
    known.viewport().grab()
    known.show_heat("")
    assert all(item.heat is None for item in scene.items_shown())
    assert known.legend.isHidden()


def test_messages_over_the_canvas_leave_the_legend_to_be_read(known):
    known.show_heat("parameters")
    before = known.legend.y()
    known.set_top_room(60)
    assert known.legend.y() == before + 60
    known.set_top_room(0)
    assert known.legend.y() == before


def test_the_heat_of_a_folded_block_is_that_of_its_layers(known):
    graph = known.document.graph
    known.document.selection.set([graph.named(name)[0].id for name in ("ip1", "ip2")])
    known.fold_selection()
    known.show_heat("parameters")
    card = next(iter(known.canvas.folding.cards.values()))
    assert card.heat.reach == 1.0
    assert card.heat.text == dict(card.face.params)["parameters"]


def test_times_are_measured_when_they_are_asked_for_and_grey_once_they_are_old(known, qtbot):
    document, canvas = known.document, known.canvas
    known.show_heat("time")
    assert canvas.heat.measure is None and document.live.timings.is_running
    qtbot.waitUntil(lambda: canvas.heat.measure is TIME, timeout=60_000)
    node = document.graph.named("conv1")[0].id
    fresh = canvas.nodes[node].heat
    seconds = document.live.timings.times[node]
    assert fresh.text == TIME.text((seconds.forward.median + seconds.backward.median) / 1e3)
    assert known.legend.texts[1].endswith("in all")
    document.apply("Rename", lambda graph: graph.rename_node(node, "other"))
    qtbot.waitUntil(lambda: canvas.nodes[node].heat.is_stale, timeout=10_000)
    grey = canvas.nodes[node].heat.color
    assert grey.red() == grey.green() == grey.blue() and grey != fresh.color
    assert "before the change" in known.legend.texts[0]
    known.viewport().grab()


def test_what_stands_in_the_way_of_measuring_is_told(known):
    said = []
    known.told.connect(lambda text, kind: said.append((text, kind)))
    node = known.document.graph.named("conv1")[0].id
    known.document.apply("Open", lambda graph: graph.set_field(node, ("bottom", 0), '"?"'))
    known.show_heat("time")
    assert known.canvas.heat.measure is None and not known.document.live.timings.is_running
    assert said[0][1] == "warning" and "open bottom" in said[0][0]


def test_the_colours_get_lighter_steadily_and_their_numbers_can_be_read():
    from app.canvas.scene.heat import Heat

    colors = [heat_color(step / 20) for step in range(21)]
    assert all(luminance(dark) < luminance(light) for dark, light in pairwise(colors))
    for step in range(21):
        heat = Heat((step / 20) ** 2, "1")
        assert contrast(heat.pen.color(), heat.color) >= 4.5, step


def test_the_far_view_shows_the_heat(known):
    known.show_heat("parameters")
    known.frame()
    known.set_scale(0.1)
    assert known.is_far
    body = known.canvas.nodes[known.document.graph.named("ip1")[0].id].scene_body()
    known.centerOn(body.center())
    picture = known.viewport().grab().toImage()
    at = known.mapFromScene(body.center() + QPointF(0.0, 0.0))
    assert picture.pixelColor(at) == heat_color(1.0)
