from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from app.properties.editors.choices import EnumEdit, SpellingEdit
from app.properties.editors.textbox import TextBox
from tests.app.properties.nets import NET
from tests.app.properties.test_expressions import info

Make = Callable[[str], Any]


def shown_bold(editor: QLineEdit) -> bool:
    return editor.property("state") == "set"


# One edit of every kind: what is typed, and how the text changes by it.


@pytest.mark.parametrize(
    ("layer", "field", "typed", "before", "after"),
    [
        ("conv1", "convolution_param.num_output", "30", "num_output: 20  #", "num_output: 30  #"),
        ("conv1", "convolution_param.group", "2", "}\n  }\n", "}\n    group: 2\n  }\n"),
        ("drop", "dropout_param.dropout_ratio", "2.5e-1", "dropout_ratio: 5e-1", "dropout_ratio: 2.5e-1"),
        ("conv1", "convolution_param.kernel_size", "3, 5", "kernel_size: 5\n", "kernel_size: 3\n    kernel_size: 5\n"),
        ("db", "data_param.source", 'a "b"', 'source: "some_lmdb"', "source: 'a \"b\"'"),
        ("conv1", "convolution_param.num_output", "", "    num_output: 20  # filters\n", "    # filters\n"),
    ],
)
def test_typing_changes_just_that_text(
    bench: Make, layer: str, field: str, typed: str, before: str, after: str
) -> None:
    net = bench(NET)
    net.select(layer)
    net.type(field, typed)
    part, start = NET[NET.index(f'"{layer}"') :], NET[: NET.index(f'"{layer}"')]
    assert net.text == start + part.replace(before, after, 1)
    net.check_undo_redo()


def test_focus_out_commits(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.type("convolution_param.num_output", "7", end=Qt.Key.Key_Tab)
    assert "num_output: 7 " in net.text
    net.check_undo_redo()


def test_nothing_typed_is_no_command(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.type("convolution_param.num_output", "20")
    net.type("name", "conv1")
    assert net.document.undo_stack.count() == 0


def test_steps_are_one_command(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    editor = net.find("convolution_param.num_output")
    editor.setFocus()
    for _ in range(3):
        net.qtbot.keyClick(editor, Qt.Key.Key_Up)
    assert "num_output: 20" in net.text
    net.qtbot.waitUntil(lambda: "num_output: 23" in net.text)
    net.check_undo_redo()


def test_the_small_arrows_step(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    editor = net.find("convolution_param.num_output")
    place = QPoint(editor.width() - 8, 5)
    target = editor.childAt(place)
    QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=target.mapFrom(editor, place))
    net.qtbot.waitUntil(lambda: "num_output: 21" in net.text)


def test_steps_start_from_the_default(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    editor = net.find("convolution_param.group")
    assert editor.placeholderText() == "1"
    editor.setFocus()
    net.qtbot.keyClick(editor, Qt.Key.Key_Up)
    net.qtbot.waitUntil(lambda: "group: 2" in net.text)


@pytest.mark.parametrize(
    ("field", "typed", "words"),
    [
        ("convolution_param.num_output", "-1", "0 or more"),
        ("convolution_param.num_output", "many", "whole number"),
        ("convolution_param.kernel_size", "3, x", "whole number"),
    ],
)
def test_an_invalid_value_says_why_and_changes_nothing(bench: Make, field: str, typed: str, words: str) -> None:
    net = bench(NET)
    net.select("conv1")
    editor = net.type(field, typed)
    row = net.row(field)
    assert row.message.isVisible()
    assert words in row.message.text()
    assert editor.property("state") == "invalid"
    assert editor.text() == typed
    assert net.text == NET
    net.qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not row.message.isVisible()
    assert editor.text() in ("20", "5")


def test_a_wrong_value_is_told_while_typing(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.type("convolution_param.num_output", "-", end=None)
    row = net.row("convolution_param.num_output")
    net.qtbot.waitUntil(lambda: row.message.isVisible())


def test_bool_is_default_then_set_then_default_again(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    box = net.find("convolution_param.bias_term")
    assert (box.text(), box.property("state")) == ("true", "default")
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    assert "bias_term: false" in net.text
    assert (box.text(), box.property("state")) == ("false", "set")
    net.check_undo_redo()
    box.setFocus()
    net.qtbot.keyClick(box, Qt.Key.Key_Delete)
    assert net.text == NET


def test_enum_by_keyboard_and_back_to_default(bench: Make) -> None:
    net = bench(NET)
    net.select("pool1")
    combo = net.find("pooling_param.pool")
    assert combo.currentText() == "MAX"
    combo.setFocus()
    net.qtbot.keyClick(combo, Qt.Key.Key_Down)
    assert "pool: AVE" in net.text
    net.check_undo_redo()
    net.qtbot.keyClick(combo, Qt.Key.Key_Delete)
    assert "pool:" not in net.text
    assert combo.property("state") == "default"


def test_the_wheel_over_a_choice_changes_nothing(bench: Make) -> None:
    from PySide6.QtCore import QPointF
    from PySide6.QtGui import QWheelEvent

    net = bench(NET)
    net.select("pool1")
    for name in ("pooling_param.pool", "pooling_param.pad"):
        widget = net.find(name)
        place = QPointF(5, 5)
        event = QWheelEvent(
            place,
            widget.mapToGlobal(place),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(widget, event)
    QTest.qWait(250)
    assert net.text == NET


def test_reset_takes_the_field_out(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    row = net.row("convolution_param.num_output")
    assert shown_bold(net.find("convolution_param.num_output"))
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    assert net.text == NET.replace("    num_output: 20  # filters\n", "    # filters\n"), "the remark stays"
    assert not shown_bold(net.find("convolution_param.num_output"))
    assert not row.reset.isVisible()
    net.check_undo_redo()


def test_a_filler_opens_and_is_edited(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    header = net.find("convolution_param.weight_filler")
    assert header.summary == "xavier"
    header.setFocus()
    net.qtbot.keyClick(header, Qt.Key.Key_Right)
    net.type("convolution_param.weight_filler.type", "msra")
    assert net.text == NET.replace("'xavier'", "'msra'")
    assert header.summary == "msra"
    net.check_undo_redo()


def test_a_missing_filler_is_made_and_goes_again(bench: Make) -> None:
    net = bench(NET)
    net.select("conv2")
    header = net.find("convolution_param.bias_filler")
    assert not header.is_set
    net.qtbot.mouseClick(header, Qt.MouseButton.LeftButton, pos=QPoint(40, 10))
    net.type("convolution_param.bias_filler.value", "0.1")
    assert "bias_filler { value: 0.1 }" in net.text
    net.check_undo_redo()
    net.type("convolution_param.bias_filler.value", "")
    assert "bias_filler" not in net.text or "bias_filler { }" in net.text


def test_repeated_messages_come_and_go(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.qtbot.mouseClick(net.find("param.add"), Qt.MouseButton.LeftButton)
    assert net.text.count("param { lr_mult: 1 }") == 2
    net.check_undo_redo()
    net.type("param.1.decay_mult", "0")
    assert "param { lr_mult: 1 decay_mult: 0 }" in net.text
    net.document.undo_stack.undo()
    net.qtbot.mouseClick(net.find("param.0.remove"), Qt.MouseButton.LeftButton)
    assert net.text.count("param { lr_mult: 1 }") == 1


def test_an_include_rule_is_added(bench: Make) -> None:
    net = bench(NET)
    net.select("pool1")
    net.open("Phases")
    net.qtbot.mouseClick(net.find("include.add"), Qt.MouseButton.LeftButton)
    assert "include { phase: TRAIN }" in net.text[net.text.index('"pool1"') :] or "phase: TRAIN" in net.text
    assert net.panel.page.header.phase.text() == "TRAIN"
    net.check_undo_redo()


def test_entries_one_by_one(bench: Make) -> None:
    net = bench(NET.replace("kernel_size: 5\n", "kernel_size: [5, 3]\n"))
    net.select("conv1")
    from app.properties.editors.lists import ListEdit

    editor = net.row("convolution_param.kernel_size").editor
    assert isinstance(editor, ListEdit)
    net.qtbot.mouseClick(editor._toggle, Qt.MouseButton.LeftButton)
    assert [each.text() for each in editor.entry_editors] == ["5", "3"]
    second = editor.entry_editors[1]
    second.selectAll()
    net.qtbot.keyClicks(second, "7")
    net.qtbot.keyClick(second, Qt.Key.Key_Return)
    assert "kernel_size: [5, 7]\n" in net.text
    net.check_undo_redo()


def test_a_click_on_the_arrow_shows_the_usual_words(qtbot: QtBot) -> None:
    editor = SpellingEdit(("SGD", "Adam"))
    qtbot.addWidget(editor)
    editor.show()
    editor.show_value("SGD")
    qtbot.mouseClick(editor.findChild(QToolButton), Qt.MouseButton.LeftButton)
    popup = editor.completer().popup()
    assert popup.isVisible() and popup.model().rowCount() == 2, "all of them, whatever stands there"
    popup.hide()


@pytest.mark.parametrize("step", ["undo", "redo", "reload"])
def test_the_net_changes_while_something_is_typed(bench: Make, step: str) -> None:
    net = bench(NET)
    net.select("conv1")
    stack, graph = net.document.undo_stack, net.document.graph
    (conv,) = net.ids("conv1")
    net.document.apply("Set type", lambda graph: graph.set_string(conv, ("type",), "Deconvolution"))
    if step == "redo":
        stack.undo()
    net.type("name", "other", end=None)
    if step == "reload":
        net.document.apply("Reload", lambda graph: graph.replace_text(net.before.decode()))
    else:
        getattr(stack, step)()
    assert stack.count() == (2 if step == "reload" else 1)
    field = net.find("name", QLineEdit)
    assert field.text() == "other", "what is typed stays"
    assert graph.named("conv1")
    net.panel.commit()
    assert graph.named("other")
    while stack.canUndo():
        stack.undo()
    assert bytes(graph) == net.before


def test_a_long_param_str_is_coloured_in_no_time(qtbot: QtBot) -> None:
    box = TextBox()
    qtbot.addWidget(box)
    start = time.thread_time()
    box.setPlainText("x" * 20_000)
    assert time.thread_time() - start < 2.0


def test_lists_of_choices_have_rows_as_high_as_those_of_menus(qtbot: QtBot) -> None:
    spelled = SpellingEdit(("SGD", "Adam"))
    listed = EnumEdit(info("PoolingParameter", "pool"))
    for editor in (spelled, listed):
        qtbot.addWidget(editor)
        editor.show()
        qtbot.waitExposed(editor)
    spelled.setFocus()
    qtbot.keyClick(spelled, Qt.Key.Key_Down)
    listed.showPopup()
    for view in (spelled.completer().popup(), listed.view()):
        qtbot.waitUntil(view.isVisible)
        assert view.sizeHintForRow(0) >= view.fontMetrics().height() + 8
    listed.hidePopup()
    spelled.completer().popup().hide()
