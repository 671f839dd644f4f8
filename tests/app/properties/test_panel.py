from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from tests.app.properties.nets import NET

Make = Callable[[str], Any]


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
    assert any("trained as 'conv1'" in label.text() for label in net.panel.findChildren(QLabel) if label.isVisible())
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


def test_layers_of_different_types_share_what_any_layer_has(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1", "pool1")
    assert "2 types" in net.panel.page.header.type.text()
    assert {section.header.text() for section in net.panel.page.sections} == {"Learning", "Phases"}
    net.qtbot.mouseClick(net.find("include.add"), Qt.MouseButton.LeftButton)
    assert net.text.count("phase: TRAIN") == 3
    net.check_undo_redo()
    net.select("pool1")
    assert net.find("pooling_param.kernel_size").text() == "2"


def test_layers_of_different_formats_say_what_to_do(bench: Make) -> None:
    net = bench('layer { name: "a" type: "ReLU" }\nlayers { name: "b" type: RELU }\n')
    net.select("a", "b")
    assert "different formats" in net.find("hint").text()
    assert net.find("select.ReLU") is not net.find("select.ReLU (old format)")


def test_nothing_selected_shows_the_net(bench: Make) -> None:
    net = bench(NET)
    from app.properties.pages.net_page import net_facts, type_counts

    assert dict(net_facts(net.document)) == {"Layers": "6", "in TEST": "5", "Dialect": "BVLC's Caffe"}
    assert dict(type_counts(net.document))["Convolution"] == "2"
    net.type("net_name", "Larger")
    assert net.text == NET.replace('"Small"', '"Larger"')
    net.check_undo_redo()


def test_an_empty_net_says_what_to_do(bench: Make) -> None:
    net = bench("")
    assert "first layer on the canvas" in net.panel.page.hint.text()


def test_removing_the_shown_layer(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.document.apply("Remove", lambda graph: graph.remove_nodes(net.ids("conv1")))
    net.document.selection.flush()
    assert not net.document.selection.node_ids
    net.find("net_name")


def test_edits_and_a_theme_between_a_removal_and_the_new_selection(bench: Make, qapp: QApplication) -> None:
    from app.theme import Theme

    b = bench(NET)
    b.select("conv1")
    b.document.apply("Delete conv1", lambda graph: graph.remove_nodes(b.ids("conv1")))
    other = next(iter(b.document.graph.node_ids()))
    b.document.apply("Rename", lambda graph: graph.rename_node(other, "other"))  # before the notice
    Theme.load("dark").apply(qapp)
    Theme.load("light").apply(qapp)
    b.document.selection.flush()
    b.document.undo_stack.undo()
    b.document.undo_stack.undo()
    b.select("conv1")
    assert b.panel.page.target.ids == tuple(b.ids("conv1"))


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


def test_very_many_layers_say_so(bench: Make) -> None:
    net = bench("".join(f'layer {{ name: "r{i}" type: "ReLU" }}\n' for i in range(301)))
    net.select(*[f"r{i}" for i in range(301)])
    assert "Up to 300" in net.find("hint").text()
    net.select("r0", "r1")
    assert net.panel.page.header.name.text() == "2 layers"


def test_the_summary_of_the_net_follows(bench: Make) -> None:
    from app.properties.pages.net_page import type_counts

    net = bench(NET)
    net.document.apply("x", lambda graph: graph.remove_nodes(net.ids("conv1", "conv2")))
    assert "Convolution" not in dict(type_counts(net.document))
    values = net.panel.page._facts._cells[0][1]
    net.qtbot.waitUntil(lambda: values.text() == "4")


def test_a_name_longer_than_a_line_edit_takes_is_not_cut(bench):
    text = f'name: "{"x" * 100_000}"\nlayer {{ name: "a{"y" * 40_000}" type: "Input" top: "a" }}\n'
    one = bench(text)
    one.panel.commit()
    one.document.selection.set([one.document.graph.nodes()[0].id])
    one.document.selection.flush()
    one.panel.commit()
    assert not one.document.modified
    assert one.text == text


def test_another_dialect_brings_its_fields(bench: Make) -> None:
    net = bench('layer { name: "p" type: "Pooling" top: "y" pooling_param { torch_pooling: true } }\n')
    net.select("p")
    assert "Not in the schema" in net.row("pooling_param.torch_pooling").message.text()
    net.document.set_dialect("nvidia")
    assert "Not in the schema" not in net.row("pooling_param.torch_pooling").message.text()
    net.document.undo_stack.undo()
    assert "Not in the schema" in net.row("pooling_param.torch_pooling").message.text()
    net.document.selection.set(())
    net.document.selection.flush()
    net.document.set_dialect("nvidia")
    net.qtbot.waitUntil(lambda: any(label.text() == "NVIDIA's Caffe" for label in net.panel.page.findChildren(QLabel)))
    net.select("p")
    assert "Not in the schema" not in net.row("pooling_param.torch_pooling").message.text()


def test_the_name_of_a_layer_that_is_removed_while_it_is_typed_goes_nowhere(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    name = net.find("name")
    name.setFocus()
    net.qtbot.keyClicks(name, "x")
    net.document.apply("remove", lambda graph: graph.remove_nodes(net.ids("conv1")))
    name.commit()  # as when the focus goes
    assert net.document.undo_stack.count() == 1
