"""Help, paths and the order of entries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from tests.app.properties.nets import NET

Make = Callable[[str], Any]


def test_f1_shows_the_help_of_a_field_and_takes_it_away(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    editor = net.find("convolution_param.num_output")
    editor.setFocus()
    net.qtbot.keyClick(editor, Qt.Key.Key_F1)
    shown = net.find("convolution_param.num_output.help", QLabel)
    assert shown.isVisible()
    assert shown.text() == net.document.schema.describe("ConvolutionParameter").field("num_output").doc
    net.qtbot.keyClick(editor, Qt.Key.Key_F1)
    assert not shown.isVisible()


@pytest.mark.parametrize("key", [None, Qt.Key.Key_Up, Qt.Key.Key_Down])
def test_entries_of_a_list_move(bench: Make, key: Qt.Key | None) -> None:
    text = NET.replace("kernel_size: 5\n", "kernel_size: [5, 7, 9]  # three\n")
    net = bench(text)
    net.select("conv1")
    editor = net.row("convolution_param.kernel_size").editor
    net.qtbot.mouseClick(editor._toggle, Qt.MouseButton.LeftButton)
    first, last = editor.entry_editors[0], editor.entry_editors[2]
    if key == Qt.Key.Key_Down:
        first.setFocus()
        net.qtbot.keyClick(first, key, Qt.KeyboardModifier.AltModifier)
        expected = "[7, 5, 9]"
    else:
        last.setFocus()
        if key is None:
            button = next(
                each for each in last.parentWidget().children() if getattr(each, "toolTip", str)()[:4] == "Move"
            )
            net.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        else:
            net.qtbot.keyClick(last, key, Qt.KeyboardModifier.AltModifier)
        expected = "[5, 9, 7]"
    assert net.text == text.replace("[5, 7, 9]", expected)
    assert QApplication.focusWidget() is editor.entry_editors[1]
    net.check_undo_redo()


def test_messages_of_a_list_move(bench: Make) -> None:
    text = NET.replace("param { lr_mult: 1 }\n", "param { lr_mult: 1 }\n  param { lr_mult: 2 decay_mult: 0 }  # bias\n")
    net = bench(text)
    net.select("conv1")
    net.qtbot.mouseClick(net.find("param.1.up"), Qt.MouseButton.LeftButton)
    node = net.ids("conv1")[0]
    assert [net.document.graph.value(node, ("param", index, "lr_mult")) for index in (0, 1)] == ["2", "1"]
    net.check_undo_redo()


def test_a_path_says_where_it_leads(bench: Make, tmp_path: Path) -> None:
    net = bench(NET)
    net.document.path = tmp_path / "deep" / "net.prototxt"
    (tmp_path / "deep").mkdir()
    net.select("db")
    row = net.row("data_param.source")
    assert "Not found" in row.message.text()
    (tmp_path / "some_lmdb").mkdir()
    row.refresh()
    assert row.message.text().replace("\u200b", "").endswith("/some_lmdb")
    assert row.message.text().startswith("Found at")
    assert str(tmp_path / "some_lmdb") in row.toolTip()
