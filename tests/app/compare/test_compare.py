"""Two nets side by side in the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
from shiboken6 import isValid

from app.compare.changes import KINDS
from app.compare.listing import shortened
from app.theme import Theme


def named(view, name):
    return next(each for each in view.comparison.changes if name in each.name)


def button(view, name) -> QToolButton:
    return view.findChild(QToolButton, f"compare.{name}_button")


def press(view, name) -> None:
    QTest.mouseClick(button(view, name), Qt.MouseButton.LeftButton)


def item(canvas, name):
    return canvas.canvas.nodes[canvas.document.graph.named(name)[0].id]


def test_every_kind_of_change_is_told_with_fields_shapes_and_costs(compared):
    kinds = {each.name: each.kinds for each in compared.comparison.changes}
    assert kinds == {
        "conv1": ("changed", "reshaped"),
        "relu1": ("reshaped",),
        "norm": ("added",),
        "pool1": ("changed", "reshaped"),
        "drop": ("removed",),
        "ip": ("changed", "reshaped"),
        "prob \u2192 softmax": ("renamed",),
    }
    conv = named(compared, "conv1")
    assert [(each.field, each.old, each.new) for each in conv.fields] == [("convolution_param.num_output", "4", "8")]
    assert conv.output == "2\u00d74\u00d716\u00d716 \u2192 2\u00d78\u00d716\u00d716"
    assert conv.delta(0) == 4 * 28
    assert conv.delta(1) == 4 * 27 * 2 * 16 * 16
    assert named(compared, "norm").delta(0) == 0
    assert named(compared, "ip").delta(0) == 4 * 64 * 10
    assert "1 added" in compared.summary.text() and "1 removed" in compared.summary.text()


@pytest.mark.parametrize("width", [700, 1040, 2000])
def test_what_differs_in_words_is_never_cut_by_the_buttons(compared, width):
    compared.window().resize(width + 560, 900)
    compared._heading.resize(width, 60)
    QApplication.processEvents()
    heading, words = compared._heading, compared.summary
    heading.resize(width, heading.heightForWidth(width))
    heading.layout().activate()
    assert words.heightForWidth(words.width()) <= words.height()
    below = compared.close_button.mapTo(heading, QPoint()).y() > words.y() + words.height() / 2
    assert below == (width < 900)


def test_nothing_moves_in_the_heading_when_more_is_known(compared, still):
    window, heading = compared.window(), compared._heading
    still(window)
    known, places = compared.summary.text(), []
    for words in ("Reading other.prototxt\u2026", "<b>other.prototxt</b> \u2192 here: 1 changed", known):
        compared.summary.setText(words)
        heading.fit()
        still(window)
        buttons = (compared.take_button, compared.close_button)
        places.append((heading.height(), *(each.mapTo(window, QPoint()).toTuple() for each in buttons)))
    assert len(set(places)) == 1, places
    assert "of other shape or cost" in known


@pytest.mark.parametrize(
    "text",
    [
        "64\u00d73\u00d7224\u00d7224 \u2192 64\u00d73\u00d7112\u00d7112",
        "a very long name \u2192 b",
        "b \u2192 a very long name",
    ],
)
def test_where_both_do_not_fit_the_arrow_between_them_stays(compared, text):
    letters = compared.list.fontMetrics()
    for room in (400, 120, 80, 50):
        shown = shortened(text, letters, room)
        assert (shown == text) == (letters.horizontalAdvance(text) <= room)
        assert " \u2192 " in shown and letters.horizontalAdvance(shown) <= room
    assert "b" in shortened(text, letters, 80) or "a" not in text


def test_layers_that_both_have_stand_at_the_same_place(compared):
    old, new = compared.canvases
    for before, after in compared.comparison.difference.pairs:
        a, b = old.canvas.nodes[before.id], new.canvas.nodes[after.id]
        assert a.pos().x() == b.pos().x(), before.name
        if before.name not in ("relu1",):  # hangs under a card of its own height
            assert a.pos().y() == b.pos().y(), before.name
    assert item(old, "relu1").docked and item(new, "relu1").docked
    assert old.canvas.sceneRect() == new.canvas.sceneRect()


def test_each_side_marks_what_differs_by_sign_and_colour(compared):
    old, new = (
        {canvas.canvas.nodes[node].face.title: kind for node, kind in canvas.marks.items()}
        for canvas in compared.canvases
    )
    assert {name: kind.sign for name, kind in old.items()} == {
        "conv1": "\u2260",
        "relu1": "\u25a1",
        "pool1": "\u2260",
        "drop": "\u2212",
        "ip": "\u2260",
        "prob": "\u2192",
    }
    assert new["norm"].sign == "+" and "data" not in new
    assert len({kind.sign for kind in KINDS.values()}) == len(KINDS)


@pytest.mark.parametrize("leader", [0, 1])
def test_both_sides_pan_and_zoom_as_one(compared, leader, qtbot):
    canvas, other = compared.canvases[leader], compared.canvases[1 - leader]
    at = canvas.viewport().rect().center()
    for _turn in range(3):
        event = QWheelEvent(
            at.toPointF(), canvas.viewport().mapToGlobal(at).toPointF(), QPoint(), QPoint(0, 120),
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(canvas.viewport(), event)
    assert other.transform() == canvas.transform()
    before = other.mapToScene(at)
    QTest.mousePress(canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(canvas.viewport(), at - QPoint(40, 25))
    QTest.mouseRelease(canvas.viewport(), Qt.MouseButton.LeftButton, pos=at - QPoint(40, 25))
    assert other.mapToScene(at) != before
    assert (other.mapToScene(at) - canvas.mapToScene(at)).manhattanLength() < 2.0


def test_what_is_equal_is_hidden_and_comes_back(compared, qtbot):
    old, new = compared.canvases
    press(compared, "hide")
    assert {each.face.title for each in new.canvas.items_shown()} == {
        "conv1",
        "relu1",
        "norm",
        "pool1",
        "ip",
        "softmax",
    }
    assert not item(new, "data").isVisible() and not item(old, "data").isVisible()
    qtbot.keyClick(compared, Qt.Key.Key_H)
    assert len(new.canvas.items_shown()) == 7
    assert item(new, "data").isVisible()


def test_keys_go_to_the_next_and_the_previous_difference(compared, qtbot, window):
    names = []
    for _step in range(8):
        qtbot.keyClick(compared.list, Qt.Key.Key_F8)
        names.append(compared.change.name)
    assert names == ["conv1", "relu1", "norm", "pool1", "drop", "ip", "prob \u2192 softmax", "conv1"]
    qtbot.keyClick(compared.canvases[0], Qt.Key.Key_F7)
    assert compared.change.name == "prob \u2192 softmax"
    assert window.document.graph.node(window.document.selection.last).name == "softmax"
    old, new = compared.canvases
    assert item(old, "prob").marked and item(new, "softmax").marked


def test_a_click_chooses_the_layer_on_both_sides_in_the_list_and_in_the_net(compared, window):
    old, new = compared.canvases
    body = item(old, "pool1").scene_body()
    QTest.mouseClick(old.viewport(), Qt.MouseButton.LeftButton, pos=old.mapFromScene(body.center()))
    assert compared.change.name == "pool1"
    assert item(new, "pool1").marked
    assert window.document.graph.node(window.document.selection.last).name == "pool1"


@pytest.mark.parametrize("name", ["conv1", "norm", "drop", "softmax"])
def test_one_change_is_taken_over_as_a_step_that_can_be_undone(compared, window, settled, name):
    document, before = window.document, bytes(window.document.graph)
    compared.list.choose(compared.comparison.changes.index(named(compared, name)))
    press(compared, "take")
    after = bytes(document.graph)
    assert after != before
    settled(compared)
    left = [each for each in compared.comparison.changes if name in each.name and each.kinds != ("reshaped",)]
    assert not left
    document.undo_stack.undo()
    assert bytes(document.graph) == before
    document.undo_stack.redo()
    assert bytes(document.graph) == after


def test_what_follows_from_other_layers_cannot_be_taken_over_and_says_so(compared):
    compared.list.choose(compared.comparison.changes.index(named(compared, "relu1")))
    assert not button(compared, "take").isEnabled()
    assert button(compared, "take").toolTip() == "Its shape and cost follow from other layers."


def test_it_follows_what_is_edited_meanwhile(compared, window, settled):
    graph = window.document.graph
    window.document.apply(
        "Widen", lambda g: g.set_field(graph.named("conv1")[0].id, ("convolution_param", "num_output"), "4")
    )
    settled(compared)
    assert not [each for each in compared.comparison.changes if each.name == "conv1"]
    assert "conv1" not in {compared.canvases[1].canvas.nodes[node].face.title for node in compared.canvases[1].marks}


def test_equal_nets_say_so(window, mine, qtbot, settled):
    window.comparing.with_file()
    view = window.tabs.current.comparison
    settled(view)
    assert view.comparison.changes == []
    assert "No difference" in view.summary.text()
    assert not button(view, "next").isEnabled() and button(view, "next").toolTip()


def test_escape_goes_back_to_the_canvas_and_ends_what_worked_for_it(compared, window, qtbot):
    threads = [compared.comparison.jobs, compared.comparison.old.jobs, compared.comparison.new.jobs]
    qtbot.keyClick(compared.list, Qt.Key.Key_Escape)
    assert window.tabs.current.comparison is None
    qtbot.waitUntil(lambda: not any(jobs._thread is not None and jobs._thread.is_alive() for jobs in threads))
    assert window.canvas.isVisible()


def test_a_tab_is_closed_with_its_comparison(compared, window):
    window.actions_by_name["close_tab"].trigger()
    assert window.tabs.current.comparison is None


def test_a_file_that_is_gone_is_told_and_the_canvas_comes_back(window, mine, tmp_path, qtbot):
    window.comparing.with_path(tmp_path / "gone.prototxt")
    qtbot.waitUntil(lambda: window.tabs.current.comparison is None, timeout=10_000)
    assert any("gone.prototxt" in bar.text for bar in window.bars)


def test_both_themes_paint_it_and_tell_colours_apart(compared, qapp):
    pictures = []
    for name in ("light", "dark"):
        theme = Theme.load(name)
        theme.apply(qapp)
        pictures.append(compared.grab().toImage())
        colors = {theme.color(kind.role).name() for kind in KINDS.values()}
        assert len(colors) >= 5
    assert pictures[0] != pictures[1]


def long_net(width: int, count: int = 200) -> bytes:
    layers = [b'layer { name: "d" type: "Input" top: "b0" input_param { shape { dim: 1 dim: 4 dim: 8 dim: 8 } } }']
    for number in range(count):
        layers.append(
            b'layer { name: "c%d" type: "Convolution" bottom: "b%d" top: "b%d" convolution_param '
            b"{ num_output: %d kernel_size: 1 } }" % (number, number, number + 1, width if number == count // 2 else 4)
        )
    return b"\n".join(layers)


def test_a_long_net_is_arranged_off_the_windows_thread_and_shows_the_first_difference(window, tmp_path, qtbot, settled):
    paths = tmp_path / "a.prototxt", tmp_path / "b.prototxt"
    for path, width in zip(paths, (4, 6), strict=True):
        path.write_bytes(long_net(width))
    assert window.files.open(paths[0])
    window.comparing.with_path(paths[1])
    view = window.tabs.current.comparison
    settled(view)
    old, new = view.canvases
    qtbot.waitUntil(lambda: new.visible_rect().contains(item(new, "c100").scene_body()), timeout=10_000)
    view.equal.choose("all")
    qtbot.waitUntil(
        lambda: old.is_placed and new.is_placed and bool(old.sceneRect() == new.sceneRect()), timeout=20_000
    )
    assert {each.name for each in view.comparison.changes} == {"c100", "c101"}
    qtbot.waitUntil(lambda: not view.together.busy and new.is_placed, timeout=10_000)
    for number in range(200):
        assert item(old, f"c{number}").pos() == item(new, f"c{number}").pos()


def test_a_second_comparison_takes_the_place_of_the_first(compared, window, settled):
    first = compared.comparison.old, compared.comparison.new
    window.comparing.with_file()
    view = window.tabs.current.comparison
    settled(view)
    assert view is not compared and not view.comparison.changes
    assert not any(map(isValid, first))


def test_the_messages_of_the_window_never_cover_the_buttons(compared, window, qtbot):
    bar = window.notify("Something to say", "warning")
    qtbot.waitUntil(lambda: bar.isVisible() and bar.height() > 10, timeout=5_000)
    assert bar.mapTo(window, QPoint()).y() >= compared.mapTo(window, QPoint(0, compared.height())).y() - 1
    window.comparing.close()
    qtbot.waitUntil(
        lambda: bar.mapTo(window, QPoint()).y() <= window.canvas.mapTo(window, QPoint(0, 4)).y(), timeout=5_000
    )
