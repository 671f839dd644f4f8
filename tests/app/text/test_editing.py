from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from app.text.edit import Mistake
from engine.diagnostics import QuickFix
from tests.app.text.conftest import NET, Bench, Make

Key = Qt.Key
Control = Qt.KeyboardModifier.ControlModifier
Shift = Qt.KeyboardModifier.ShiftModifier
Alt = Qt.KeyboardModifier.AltModifier


def select(net: Bench, first: str, last: str) -> None:
    cursor = net.edit.textCursor()
    cursor.setPosition(net.shown.index(first))
    cursor.setPosition(net.shown.index(last) + len(last), QTextCursor.MoveMode.KeepAnchor)
    net.edit.setFocus()
    net.edit.setTextCursor(cursor)


def undone(net: Bench) -> None:
    """Commit, and check that one undo leads to the bytes before and one redo back."""
    net.pane.commit()
    after = bytes(net.document.graph)
    assert net.document.undo_stack.count() == 1
    net.document.undo_stack.undo()
    assert bytes(net.document.graph) == net.before
    assert net.shown == net.before.decode()
    net.document.undo_stack.redo()
    assert bytes(net.document.graph) == after
    assert net.shown == after.decode()


def test_comment_lines_and_back(bench: Make) -> None:
    net = bench(NET)
    select(net, "num_output", "size: 5")
    net.press(Key.Key_Slash, Control)
    assert "    # num_output: 20\n    # kernel_size: 5\n" in net.shown
    net.press(Key.Key_Slash, Control)
    assert net.shown == NET
    net.press(Key.Key_Slash, Control)
    undone(net)


def test_move_lines(bench: Make) -> None:
    net = bench(NET)
    net.place("num_output")
    column = net.edit.textCursor().positionInBlock()
    net.press(Key.Key_Down, Alt)
    assert "    kernel_size: 5\n    num_output: 20\n" in net.shown
    assert net.edit.textCursor().positionInBlock() == column
    net.press(Key.Key_Up, Alt)
    assert net.shown == NET
    net.press(Key.Key_Up, Alt)
    assert "    num_output: 20\n  convolution_param {\n" in net.shown
    undone(net)


@pytest.mark.parametrize("key", [Key.Key_Up, Key.Key_Down])
def test_the_first_and_last_line_stay(bench: Make, key: Key) -> None:
    net = bench("a: 1\nb: 2")
    net.place("a" if key == Key.Key_Up else "b: 2")
    net.press(key, Alt)
    assert net.shown == "a: 1\nb: 2"


def test_duplicate(bench: Make) -> None:
    net = bench(NET)
    net.place("num_out")
    net.press(Key.Key_D, Control)
    assert "num_output: 20\n    num_output: 20\n" in net.shown
    undone(net)


@pytest.mark.parametrize(
    ("typed", "shown", "column"),
    [("x {", "x {}", 3), ("x {}", "x {}", 4), ('n: "a', 'n: "a"', 5), ('n: "a"', 'n: "a"', 6), ("# {", "# {", 3)],
)
def test_brackets_close_by_themselves(bench: Make, typed: str, shown: str, column: int) -> None:
    net = bench("")
    net.edit.setFocus()
    for letter in typed:
        net.keys(letter)
        net.edit.completer.close()
    assert net.shown == shown
    assert net.edit.textCursor().position() == column


def test_enter_between_brackets_and_backspace_in_a_pair(bench: Make) -> None:
    net = bench("")
    net.edit.setFocus()
    net.keys("x {")
    net.press(Key.Key_Return)
    assert net.shown == "x {\n  \n}"
    assert net.edit.textCursor().position() == 6
    net.keys("{")
    net.press(Key.Key_Backspace)
    assert net.shown == "x {\n  \n}"


def test_the_other_bracket(bench: Make) -> None:
    net = bench(NET)
    net.place("convolution_param ")
    net.press(Key.Key_Bar, Control, Shift)
    assert net.edit.textCursor().blockNumber() == 15
    image = net.pane.grab()
    assert not image.isNull()


def test_fold_and_unfold(bench: Make) -> None:
    net = bench(NET)
    net.place("num_output")
    net.press(Key.Key_BraceLeft, Control, Shift)
    assert net.hidden() == ["    num_output: 20", "    kernel_size: 5", "  }"]
    assert net.edit.textCursor().block().isVisible()
    net.press(Key.Key_BraceLeft, Control, Shift)
    assert len(net.hidden()) == 9
    net.press(Key.Key_BraceRight, Control, Shift)
    assert len(net.hidden()) == 3, "what is folded inside stays folded"
    net.press(Key.Key_BracketRight, Control, Alt)
    assert not net.hidden()
    assert net.shown == NET
    assert not net.pane.pending


def test_the_arrow_in_the_margin_folds(bench: Make) -> None:
    net = bench(NET)
    gutter = net.edit.gutter
    place = net.edit.cursorRect(QTextCursor(net.edit.document().findBlockByNumber(2))).center().y()
    QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(gutter.width() - 10, place))
    assert list(net.edit.folding.folded) == [2]
    QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(gutter.width() - 10, place))
    assert not net.edit.folding.folded


def test_fold_all_then_edit_above_and_inside(bench: Make) -> None:
    net = bench(NET)
    net.edit.setFocus()
    net.press(Key.Key_BracketLeft, Control, Alt)
    assert list(net.edit.folding.folded) == [2, 7, 17]
    net.place("# a net")
    net.press(Key.Key_Return)
    assert list(net.edit.folding.folded) == [3, 8, 18]
    net.pane.commit()
    net.document.apply("x", lambda graph: graph.set_field(net.node("conv1").id, ("convolution_param", "pad"), "2"))
    net.qtbot.waitUntil(lambda: net.shown == net.text)
    assert list(net.edit.folding.folded) == [3, 8, 19]
    assert not any(line.startswith("layer") for line in net.hidden())


def test_a_place_that_is_gone_to_is_unfolded(bench: Make) -> None:
    net = bench(NET)
    net.edit.folding.fold_all()
    net.pane.reveal_line(14)
    assert net.edit.document().findBlockByNumber(13).isVisible()
    assert list(net.edit.folding.folded) == [2, 17]


def test_folding_a_large_file_in_slices(bench: Make) -> None:
    net = bench("".join(f'layer {{\n  name: "l{i}"\n  type: "ReLU"\n  p {{\n  x: 1\n  }}\n}}\n' for i in range(10_000)))
    start = time.thread_time()
    net.edit.folding.fold_all()
    first = time.thread_time() - start
    net.qtbot.waitUntil(lambda: not net.edit.folding.working)
    assert len(net.edit.folding.folded) == 10_000
    assert first < 0.15, f"the first slice took {first:.3f} s"
    net.edit.setFocus()
    looks = []
    for _look in range(3):
        start = time.thread_time()
        net.keys("x")
        net.edit.repaint()
        looks.append(time.thread_time() - start)
    assert min(looks) < 0.1


def test_go_to_line(bench: Make) -> None:
    net = bench(NET)
    net.edit.setFocus()
    net.press(Key.Key_G, Control)
    bar = net.pane.ask_bar
    assert bar.isVisible()
    net.qtbot.keyClicks(bar.line, "999")
    QTest.keyClick(bar.line, Key.Key_Return)
    assert bar.isVisible()
    assert "1 to 24" in bar.refusal.text()
    bar.line.selectAll()
    net.qtbot.keyClicks(bar.line, "12")
    QTest.keyClick(bar.line, Key.Key_Return)
    assert not bar.isVisible()
    assert net.edit.line_of_cursor() == 11


def test_go_to_what_makes_a_blob_and_to_its_places(bench: Make) -> None:
    net = bench(NET)
    net.place('bottom: "conv1')
    net.press(Key.Key_F12)
    assert net.edit.line_of_cursor() == 11
    lines = []
    for _ in range(3):
        net.press(Key.Key_F12, Shift)
        lines.append(net.edit.line_of_cursor())
    assert lines == [20, 21, 11]
    place = net.edit.cursorRect(QTextCursor(net.edit.document().findBlockByNumber(10))).center()
    QTest.mouseClick(net.edit.viewport(), Qt.MouseButton.LeftButton, Control, QPoint(place.x() + 90, place.y()))
    assert net.edit.line_of_cursor() == 5


def test_rename_a_blob(bench: Make) -> None:
    net = bench(NET)
    net.place('bottom: "conv1')
    net.press(Key.Key_F2)
    bar = net.pane.ask_bar
    assert bar.line.text() == "conv1"
    net.qtbot.keyClicks(bar.line, "data")
    QTest.keyClick(bar.line, Key.Key_Return)
    assert "writes that name" in bar.refusal.text()
    bar.line.selectAll()
    net.qtbot.keyClicks(bar.line, "c")
    QTest.keyClick(bar.line, Key.Key_Return)
    assert not bar.isVisible()
    blobs = NET.replace('top: "conv1"', 'top: "c"').replace('bottom: "conv1"', 'bottom: "c"')
    assert net.shown == net.text == blobs
    undone(net)


def test_rename_a_layer(bench: Make) -> None:
    net = bench(NET)
    net.place('name: "relu')
    net.press(Key.Key_F2)
    net.qtbot.keyClicks(net.pane.ask_bar.line, "r")
    QTest.keyClick(net.pane.ask_bar.line, Key.Key_Return)
    assert net.text == NET.replace('"relu1"', '"r"')


@pytest.mark.parametrize(("key", "held"), [(Key.Key_Return, Alt), (Key.Key_Period, Control)])
def test_a_quick_fix_by_key(bench: Make, key: Key, held: Qt.KeyboardModifier) -> None:
    net = bench(NET)
    conv = net.node("conv1").id
    fix = QuickFix("Set pad to 1", lambda graph: graph.set_field(conv, ("convolution_param", "pad"), "1"))
    net.place("    kern")
    net.edit.set_mistakes([Mistake(15, 5, "The kernel is too large.", True, fix)])
    tip = net.edit.tip_at(net.edit.cursorRect().center())
    assert "too large" in tip
    assert "Set pad to 1" in tip
    net.press(key, held)
    assert "pad: 1" in net.text
    undone(net)


def test_a_field_says_what_it_means(bench: Make) -> None:
    net = bench(NET)
    net.place("num_out")
    info = net.document.schema.field_info("ConvolutionParameter", ("num_output",))
    assert net.edit.tip_at(net.edit.cursorRect().center()) == info.doc


@pytest.mark.parametrize(
    ("find", "instead", "switches", "old", "new"),
    [
        ("conv1", "c", (), '"conv1"', '"c"'),
        ("CONV1", "c", ("case",), None, None),
        ("conv", "c", ("word",), None, None),
        (r"relu(\d)", r"act\1", ("regex",), '"relu1"', '"act1"'),
    ],
)
def test_replace_all(
    bench: Make, find: str, instead: str, switches: tuple[str, ...], old: str | None, new: str | None
) -> None:
    net = bench(NET)
    net.edit.setFocus()
    net.press(Key.Key_H, Control)
    bar = net.pane.find_bar
    assert bar.replacement.isVisible()
    for each in switches:
        QTest.mouseClick(getattr(bar, each), Qt.MouseButton.LeftButton)
    net.qtbot.keyClicks(bar.line, find)
    net.qtbot.keyClicks(bar.replacement, instead)
    QTest.mouseClick(bar.replace_all_button, Qt.MouseButton.LeftButton)
    if old is None or new is None:
        assert bar.count.text() == "not found"
        assert net.shown == NET
        return
    assert net.shown == NET.replace(old, new)
    undone(net)


def test_replace_one_by_one(bench: Make) -> None:
    net = bench(NET)
    net.edit.setFocus()
    net.press(Key.Key_H, Control)
    bar = net.pane.find_bar
    net.qtbot.keyClicks(bar.line, "conv1")
    bar.replacement.setFocus()
    net.qtbot.keyClicks(bar.replacement, "c")
    QTest.keyClick(bar.replacement, Key.Key_Return)
    assert net.shown == NET.replace("conv1", "c", 1)
    assert bar.count.text() == "1 of 3"


@pytest.mark.parametrize("pattern", ["(", "["])
def test_a_broken_pattern_is_told(bench: Make, pattern: str) -> None:
    net = bench(NET)
    net.pane.find_bar.open_replace()
    net.pane.find_bar.regex.setChecked(True)
    net.qtbot.keyClicks(net.pane.find_bar.line, pattern)
    assert net.pane.find_bar.count.text() == "no such pattern"
