from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.app.text.conftest import NET, Make


def test_a_pause_makes_one_command_of_what_is_typed(bench: Make) -> None:
    net = bench(NET)
    conv = net.node("conv1").id
    net.place("num_output: 2")
    net.keys("34")
    assert net.text == NET
    net.qtbot.waitUntil(lambda: net.text != NET)
    assert net.text == NET.replace("num_output: 20", "num_output: 2340")
    assert net.document.undo_stack.count() == 1
    assert net.node("conv1").id == conv
    net.document.undo_stack.undo()
    assert bytes(net.document.graph) == net.before
    assert net.shown == NET
    net.document.undo_stack.redo()
    assert net.shown == net.text == NET.replace("num_output: 20", "num_output: 2340")


def test_leaving_commits(bench: Make) -> None:
    net = bench(NET)
    net.place("num_output: 20")
    net.keys("0")
    net.edit.clearFocus()
    assert "num_output: 200" in net.text


def test_a_shortcut_commits_first(bench: Make) -> None:
    net = bench(NET)
    net.place("num_output: 20")
    net.keys("0")
    QTest.keyClick(net.edit, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert "num_output: 200" in net.text


def test_undo_key_takes_back_the_typing(bench: Make) -> None:
    net = bench(NET)
    net.place("num_output: 20")
    net.keys("0")
    QTest.keyClick(net.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert net.text == net.shown == NET
    QTest.keyClick(net.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert "num_output: 200" in net.shown
    assert not net.edit.document().isUndoAvailable()


def test_the_graph_changes_only_its_lines(bench: Make) -> None:
    net = bench(NET)
    net.place('name: "relu1')
    position, column = net.edit.textCursor().position(), net.edit.textCursor().positionInBlock()
    changes: list[tuple[int, int, int]] = []
    net.edit.document().contentsChange.connect(lambda *change: changes.append(change))
    net.document.apply(
        "x", lambda graph: graph.set_field(net.node("conv1").id, ("convolution_param", "num_output"), "1234")
    )
    assert net.shown == net.text
    at = NET.index("num_output: ") + len("num_output: ")
    assert [change for change in changes if change[1] or change[2]] == [(at, 2, 4)]
    assert net.edit.textCursor().position() == position + 2
    assert net.edit.textCursor().positionInBlock() == column
    assert not net.pane.pending
    assert net.document.undo_stack.count() == 1


def test_the_view_stays_when_lines_come_above(bench: Make) -> None:
    text = "".join(f'layer {{\n  name: "l{i}"\n  type: "ReLU"\n}}\n' for i in range(200))
    net = bench(text)
    bar = net.edit.verticalScrollBar()
    bar.setValue(400)
    top = net.edit.firstVisibleBlock().text()
    net.document.apply("x", lambda graph: graph.set_field(net.node("l3").id, ("relu_param", "negative_slope"), "1"))
    assert net.shown == net.text
    assert net.edit.firstVisibleBlock().text() == top
    assert bar.value() > 400


def test_a_hidden_pane_catches_up(bench: Make) -> None:
    net = bench(NET)
    net.pane.hide()
    net.document.apply("x", lambda graph: graph.rename_node(net.node("conv1").id, "first"))
    assert net.shown == NET
    net.pane.show()
    assert net.shown == net.text != NET


BROKEN = ["layer {", 'layer { name: "x }', "}}}", "num_output 10", "“smart”", "\u2028"]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_text_survives(bench: Make, text: str) -> None:
    net = bench(NET)
    cursor = net.edit.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    net.edit.setTextCursor(cursor)
    cursor.insertText(text)
    net.pane.commit()
    assert net.text == NET + text
    assert net.shown == NET + text
    net.document.undo_stack.undo()
    assert bytes(net.document.graph) == net.before
    assert net.shown == NET


def test_mistakes_are_underlined_and_told(bench: Make) -> None:
    net = bench(NET.replace("num_output: 20", "num_output 20"))
    assert net.edit.mistakes
    mistake = net.edit.mistakes[0]
    assert abs(mistake.line - 14) <= 1
    spans = net.edit.extraSelections()
    assert len(spans) == len(net.edit.mistakes)
    place = net.edit.cursorRect(spans[0].cursor).center()
    assert mistake.text in net.edit.mistake_at(place)


@pytest.mark.parametrize(
    "text",
    [
        NET.replace("\n", "\r\n"),
        NET.replace("first", "caf\udce9"),
        "\ufeff" + NET,
        NET.replace("first", "\U0001f600 \u2028 \xa0"),
        NET[:-1],
        "",
    ],
)
def test_bytes_survive_an_edit_elsewhere(bench: Make, text: str) -> None:
    net = bench(text)
    cursor = net.edit.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.insertText("# end")
    net.pane.commit()
    assert net.text == text + "# end"
    net.document.undo_stack.undo()
    assert bytes(net.document.graph) == net.before


def test_graph_edits_behind_wide_characters_land_in_their_place(bench: Make) -> None:
    net = bench(NET.replace("first", "\U0001f600\U0001f600"))
    net.document.apply("x", lambda graph: graph.rename_node(net.node("conv1").id, "c"))
    assert net.shown == net.text
    net.document.undo_stack.undo()
    assert net.shown == net.text


def test_selecting_a_layer_marks_and_shows_its_block(bench: Make) -> None:
    text = "".join(f'layer {{\n  name: "l{i}"\n  type: "ReLU"\n}}\n' for i in range(200))
    net = bench(text)
    net.select("l150")
    assert list(net.edit.marks) == [(600, 603)]
    top = net.edit.firstVisibleBlock().blockNumber()
    assert top <= 600 <= top + net.edit.verticalScrollBar().pageStep()
    net.select("l1", "l3")
    assert list(net.edit.marks) == [(4, 7), (12, 15)]


def test_the_cursor_selects_its_layer(bench: Make) -> None:
    net = bench(NET)
    bar = net.edit.verticalScrollBar().value()
    net.place("kernel_size")
    net.qtbot.waitUntil(lambda: net.document.selection.node_ids == (net.node("conv1").id,))
    QApplication.processEvents()
    assert list(net.edit.marks) == [(7, 16)]
    assert net.edit.textCursor().blockNumber() == 14
    assert net.edit.verticalScrollBar().value() >= bar


def test_selecting_elsewhere_does_not_select_back(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.select("relu1", "data")
    QApplication.processEvents()
    net.pane._select_due.flush()
    assert len(net.document.selection.node_ids) == 2


def test_marks_move_while_typing(bench: Make) -> None:
    net = bench(NET)
    net.select("relu1")
    first, last = net.edit.marks[0]
    net.place("# a net")
    QTest.keyClick(net.edit, Qt.Key.Key_Return)
    assert list(net.edit.marks) == [(first + 1, last + 1)]


def test_enter_keeps_the_indentation(bench: Make) -> None:
    net = bench(NET)
    net.place("convolution_param {")
    QTest.keyClick(net.edit, Qt.Key.Key_Return)
    net.keys("axis: 1")
    net.pane.commit()
    assert "convolution_param {\n    axis: 1\n    num_output" in net.text


def test_both_edits_stay_when_the_graph_changes_while_typing(bench: Make) -> None:
    net = bench(NET)
    net.place("kernel_size: 5")
    net.keys("5")
    net.document.apply("x", lambda graph: graph.rename_node(net.node("data").id, "input"))
    assert "kernel_size: 55" in net.shown
    assert '"input"' in net.shown
    net.pane.commit()
    assert net.text == net.shown
    net.document.undo_stack.undo()
    net.document.undo_stack.undo()
    assert bytes(net.document.graph) == net.before
    assert net.shown == NET


def test_find(bench: Make) -> None:
    net = bench(NET)
    net.edit.setFocus()
    QTest.keyClick(net.edit, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = net.pane.find_bar
    assert bar.isVisible()
    net.qtbot.keyClicks(bar.line, "conv1")
    assert bar.count.text() == "1 of 4"
    assert net.edit.textCursor().selectedText() == "conv1"
    for expected in ("2 of 4", "3 of 4", "4 of 4", "1 of 4"):
        QTest.keyClick(bar.line, Qt.Key.Key_Return)
        assert bar.count.text() == expected
    QTest.keyClick(bar.line, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count.text() == "4 of 4"
    net.qtbot.keyClicks(bar.line, "zz")
    assert bar.count.text() == "not found"
    QTest.keyClick(bar.line, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert net.text == NET


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_it_paints(bench: Make, qapp: QApplication, theme: str) -> None:
    from app.theme import Theme

    net = bench(NET.replace("num_output: 20", "num_output 20"))
    Theme.load(theme).apply(qapp)
    net.select("conv1")
    qapp.processEvents()  # what is seen is painted in the event after the change
    image = net.pane.grab().toImage()
    colors = {image.pixelColor(x, y).name() for x in range(0, 400, 2) for y in range(0, 280, 2)}
    assert len(colors) > 12


def test_large_files_stay_quick(bench: Make) -> None:
    block = (
        'layer {\n  name: "conv%d"\n  type: "Convolution"\n  bottom: "data"\n  top: "conv%d"\n'
        "  convolution_param {\n    num_output: 20\n    kernel_size: 5\n  }\n}\n"
    )
    text = "".join(block % (i, i) for i in range(7000))
    assert len(text) > 1_000_000
    net = bench(text)
    start = time.thread_time()
    net.select("conv3500")
    net.pane.grab()
    shown = time.thread_time() - start
    net.edit.setFocus()
    net.edit.ensureCursorVisible()
    start = time.thread_time()
    for _ in range(10):
        net.keys("x")
        net.edit.repaint()
    typing = (time.thread_time() - start) / 10
    assert shown < 0.6, f"selecting took {shown:.3f} s"
    assert typing < 0.06, f"one key took {typing:.3f} s"
    start = time.thread_time()
    net.pane.commit()
    commit = time.thread_time() - start
    assert commit < 0.6, f"committing took {commit:.3f} s"


def test_the_solver_is_edited_as_text_too(bench: Make, tmp_path: Path) -> None:
    solver = tmp_path / "solver.prototxt"
    solver.write_text('base_lr: 0.01\nlr_policy: ""\n')
    net = bench(NET)
    assert not net.pane.files.isVisible()
    net.document.set_solver(solver)
    assert net.pane.files.tabText(1) == "solver.prototxt"
    net.pane.files.setCurrentIndex(1)
    assert net.shown == solver.read_text()
    net.place('lr_policy: "')
    net.keys("mul")
    assert net.offers == ["multistep"]
    QTest.keyClick(net.edit, Qt.Key.Key_Tab)
    net.pane.commit()
    opened = net.document.solver.opened
    assert opened is not None
    assert opened.text == 'base_lr: 0.01\nlr_policy: "multistep"\n'
    assert opened.undo_stack.count() == 1
    assert net.document.undo_stack.count() == 0
    QTest.keyClick(net.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert net.shown == solver.read_text()
    net.pane.reveal_line(3)
    assert net.shown == NET
    assert not net.pane.shows_solver


def test_what_is_typed_has_its_colours(bench: Make) -> None:
    b = bench(NET)
    cursor = b.edit.textCursor()
    cursor.movePosition(cursor.MoveOperation.End)
    b.edit.setTextCursor(cursor)
    for letters in ("layer {", "\n", 'name: "typed'):
        QTest.keyClick(b.edit, Qt.Key.Key_Return) if letters == "\n" else QTest.keyClicks(b.edit, letters)
        b.edit.viewport().repaint()
    line = b.edit.textCursor().block()
    parts = [line.text()[each.start : each.start + each.length] for each in line.layout().formats()]
    assert parts == ["name", '"typed"']
