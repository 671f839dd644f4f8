from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

NET = """name: "Small"
layer {
  name: "data"  # the input
  type: "Input"
  top: "data"
  input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } }
}
layer {
  name: "conv1"
  type: "Convolution"
  bottom: "data"
  top: "conv1"
  param { lr_mult: 1 }
  convolution_param {
    num_output: 20  # filters
    kernel_size: 5
    weight_filler { type: 'xavier' }
  }
}
layer {
  name: "pool1"
  type: "Pooling"
  bottom: "conv1"
  top: "pool1"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 }
}
layer { name: "drop" type: "Dropout" bottom: "pool1" top: "pool1" dropout_param { dropout_ratio: 5e-1 } }
layer { name: "conv2" type: "Convolution" bottom: "pool1" convolution_param { num_output: 50 kernel_size: 5 } }
layer {
  name: "db"
  type: "Data"
  top: "d"
  include { phase: TRAIN }
  mystery_field: 3
  data_param { source: "some_lmdb" batch_size: 64 backend: LMDB }
}
"""

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
        ("conv1", "convolution_param.num_output", "", "    num_output: 20  # filters\n", ""),
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
    assert net.text == NET.replace("    num_output: 20  # filters\n", "")
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
    from app.properties.lists import ListEdit

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


def test_unknown_fields_are_text_and_flagged(bench: Make) -> None:
    net = bench(NET)
    net.select("db")
    row = net.row("mystery_field")
    assert row.isVisible()
    assert "Not in the schema" in row.message.text()
    editor = net.type("mystery_field", "{")
    assert "one value" in row.message.text()
    assert net.text == NET
    net.type("mystery_field", '"three"')
    assert net.text == NET.replace("mystery_field: 3", 'mystery_field: "three"')
    assert editor.text() == '"three"'
    net.check_undo_redo()


def test_search_shows_what_matches(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.panel.focus_search()
    net.qtbot.keyClicks(net.panel.search_line, "std")
    assert net.find("convolution_param.weight_filler.std").isVisible()
    assert not net.find("convolution_param.num_output").isVisible()
    net.qtbot.keyClicks(net.panel.search_line, "zzz")
    assert net.panel._nothing.isVisible()
    net.qtbot.keyClick(net.panel.search_line, Qt.Key.Key_Escape)
    assert net.find("convolution_param.num_output").isVisible()
    assert not net.find("convolution_param.weight_filler.std").isVisible()


def test_rename(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.panel.setFocus()
    net.qtbot.keyClick(net.panel.search_line, Qt.Key.Key_F2)
    name = net.find("name")
    assert QApplication.focusWidget() is name
    assert name.selectedText() == "conv1"
    net.qtbot.keyClicks(name, "first")
    net.qtbot.keyClick(name, Qt.Key.Key_Return)
    assert net.document.graph.node(net.document.selection.node_ids[0]).name == "first"
    net.check_undo_redo()


def test_undo_updates_in_place(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    page = net.panel.page
    editor = net.type("convolution_param.num_output", "30")
    net.panel.area.verticalScrollBar().setValue(60)
    place = net.panel.area.verticalScrollBar().value()
    net.qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert net.text == NET
    assert editor.text() == "20"
    assert net.panel.page is page
    assert QApplication.focusWidget() is editor
    assert net.panel.area.verticalScrollBar().value() == place
    net.qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert editor.text() == "30"


def test_undo_of_what_is_not_committed_is_the_lines_own(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.type("convolution_param.num_output", "30")
    editor = net.find("convolution_param.num_output")
    net.qtbot.keyClicks(editor, "4")
    net.qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert "num_output: 30" in net.text


def test_what_is_typed_stays_when_something_else_changes(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    editor = net.type("convolution_param.num_output", "3", end=None)
    node = net.ids("conv1")[0]
    net.document.apply("x", lambda graph: graph.set_field(node, ("convolution_param", "group"), "4"))
    assert editor.text() == "3"
    assert net.find("convolution_param.group").text() == "4"
    net.qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert "num_output: 3 " in net.text


def test_what_is_typed_is_written_when_another_layer_is_selected(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.type("convolution_param.num_output", "31", end=None)
    net.select("conv2")
    assert net.text == NET.replace("num_output: 20", "num_output: 31")
    assert net.find("convolution_param.num_output").text() == "50"


def test_layers_of_one_type_share_the_form(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    page = net.panel.page
    net.find("convolution_param.num_output")
    net.select("pool1")
    assert net.panel.page is not page


def test_several_layers_are_edited_at_once(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1", "conv2")
    editor = net.find("convolution_param.num_output")
    assert (editor.text(), editor.placeholderText()) == ("", "several values")
    assert net.find("convolution_param.kernel_size").text() == "5"
    net.type("convolution_param.num_output", "64")
    assert net.text.count("num_output: 64") == 2
    net.check_undo_redo()


def test_layers_of_different_types_say_what_to_do(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1", "pool1")
    assert "different types" in net.panel.page.text()


def test_nothing_selected_shows_the_net(bench: Make) -> None:
    net = bench(NET)
    from app.properties.net_page import net_facts

    facts = dict(net_facts(net.document))
    assert facts["Layers"] == "6"
    assert facts["Convolution"] == "2"
    net.type("net_name", "Larger")
    assert net.text == NET.replace('"Small"', '"Larger"')
    net.check_undo_redo()


def test_an_empty_net_says_what_to_do(bench: Make) -> None:
    net = bench("")
    assert "Tab" in net.panel.page.hint.text()


def test_removing_the_shown_layer(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.document.apply("Remove", lambda graph: graph.remove_nodes(net.ids("conv1")))
    net.document.selection.flush()
    assert not net.document.selection.node_ids
    net.find("net_name")


def test_tab_goes_from_field_to_field(bench: Make) -> None:
    net = bench(NET)
    net.select("drop")
    net.find("name").setFocus()
    seen = []
    for _ in range(4):
        net.qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget().objectName())
    assert "properties.dropout_param.dropout_ratio" in seen
    assert all(name.startswith("properties.") for name in seen)


def test_old_layers_have_forms(bench: Make) -> None:
    net = bench(
        'layers { name: "c" type: CONVOLUTION bottom: "a" top: "b" blobs_lr: 1 convolution_param { num_output: 3 } }\n'
        'layers {\n  layer { name: "o" type: "conv" num_output: 4 }\n  bottom: "a" top: "d"\n}\n'
        'input: "a"\n'
    )
    net.select("c")
    net.type("convolution_param.num_output", "5")
    assert "num_output: 5" in net.text
    net.select("o")
    net.type("layer.num_output", "6")
    assert "num_output: 6" in net.text
    net.select("input")
    assert "own inputs" in net.panel.page.header.help.text()


def test_a_diagnosis_shows_at_its_field(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.diagnostics import Diagnostic

    net = bench(NET)
    net.select("conv1")
    node = net.ids("conv1")[0]
    found = [
        Diagnostic("a", "warning", "Twenty is few.", 10, 1, node, ("convolution_param", "num_output")),
        Diagnostic("b", "error", "No such filler.", 12, 1, node, ("convolution_param", "weight_filler", "type")),
        Diagnostic("c", "error", "The layer is lost.", 8, 1, node),
    ]
    monkeypatch.setattr(type(net.document), "diagnostics", property(lambda self: found))
    net.document.diagnostics_changed.emit()
    row = net.row("convolution_param.num_output")
    assert row.message.isVisible()
    assert row.message.text() == "Twenty is few."
    assert net.find("convolution_param.weight_filler").warning == ("No such filler.", True)
    assert net.panel.page.header.diagnosis.text() == "The layer is lost."
    net.type("convolution_param.num_output", "x")
    assert "whole number" in row.message.text()
    found.clear()
    net.document.diagnostics_changed.emit()
    net.qtbot.keyClick(net.find("convolution_param.num_output"), Qt.Key.Key_Escape)
    assert not row.message.isVisible()
    assert net.find("convolution_param.weight_filler").warning[0] == ""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_new_theme_keeps_page_and_place(bench: Make, qapp: QApplication, theme: str) -> None:
    from app.theme import Theme

    net = bench(NET)
    net.select("conv1")
    net.find("convolution_param.group").setFocus()
    Theme.load(theme).apply(qapp)
    assert QApplication.focusWidget().objectName() == "properties.convolution_param.group"
