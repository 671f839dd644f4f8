"""The code editor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox

from app.pluginpanel.code import CodePane
from app.theme import Theme

CODE = 'import caffe\n\n\ndef f(x):\n    """Two\n    lines."""\n    return x\n'


@pytest.fixture
def pane(qtbot: Any) -> Iterator[CodePane]:
    made = CodePane()
    made.resize(500, 500)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    yield made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(CODE)
    return path


def key(qtbot: Any, pane: CodePane, code: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    every = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        every |= modifier
    qtbot.keyClick(pane.edit, code, every)


def test_a_file_is_typed_in_and_saved(pane: CodePane, file: Path, qtbot: Any) -> None:
    assert not pane.open(file, 4)
    assert pane.edit is not None and pane.edit.line_of_cursor() == 3
    pane.edit.setFocus()
    key(qtbot, pane, Qt.Key.Key_End)
    key(qtbot, pane, Qt.Key.Key_Return)
    qtbot.keyClicks(pane.edit, "pass")
    assert pane.unsaved == [file] and pane.files.itemText(0).endswith("*")
    assert "    pass" in pane.edit.text  # a line after a colon is indented
    with qtbot.waitSignal(pane.saved):
        key(qtbot, pane, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert file.read_text() == CODE.replace("(x):\n", "(x):\n    pass\n")
    assert not pane.unsaved
    key(qtbot, pane, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert pane.unsaved == [file]


@pytest.mark.parametrize(
    "data", [b"x = 1\r\ny = 'a'\r\n", b"# coding: latin-1\nx = '\xe9'\n", b"x = 1", "s = '\xa0☃'\n".encode()]
)
def test_only_what_is_typed_differs(pane: CodePane, tmp_path: Path, qtbot: Any, data: bytes) -> None:
    path = tmp_path / "odd.py"
    path.write_bytes(data)
    pane.open(path)
    assert pane.edit is not None
    qtbot.keyClicks(pane.edit, "#")
    assert pane.save()
    assert path.read_bytes() == b"#" + data


def test_what_is_no_python_is_underlined_at_its_line(pane: CodePane, file: Path, qtbot: Any) -> None:
    pane.open(file)
    assert pane.edit is not None
    qtbot.keyClicks(pane.edit, "def (")
    qtbot.waitUntil(lambda: bool(pane.edit.mistakes))
    assert pane.edit.mistakes[0].line == 1
    assert pane.message.text().startswith("Line 1:")


def test_where_the_code_failed_is_underlined(pane: CodePane, file: Path, qtbot: Any) -> None:
    pane.open(file)
    pane.set_errors({file: [(7, "ValueError: x")]})
    assert pane.edit is not None
    assert [(each.line, each.text) for each in pane.edit.mistakes] == [(7, "ValueError: x")]
    assert pane.message.text() == "Line 7: ValueError: x"


def test_ctrl_f_finds(pane: CodePane, file: Path, qtbot: Any) -> None:
    pane.open(file)
    key(qtbot, pane, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = pane._bars[file]
    assert bar.isVisible()
    qtbot.keyClicks(bar.line, "return")
    assert pane.edit is not None and pane.edit.textCursor().selectedText() == "return"


def test_a_file_that_another_program_changed_is_not_overwritten_unasked(pane: CodePane, file: Path, qtbot: Any) -> None:
    pane.open(file)
    file.write_text("theirs = 1\n")
    pane.take_news(pane.ask_for_news()())
    assert pane.edit is not None and pane.edit.text == "theirs = 1\n"
    qtbot.keyClicks(pane.edit, "#")
    file.write_text("theirs = 2\n")
    pane.take_news(pane.ask_for_news()())
    assert pane.edit.text == "#theirs = 1\n"
    assert not pane.save() and file.read_text() == "theirs = 2\n"
    assert pane.save() and file.read_text() == "#theirs = 1\n"


def test_a_string_over_several_lines_has_one_colour_in_both_themes(pane: CodePane, file: Path) -> None:
    pane.open(file)
    assert pane.edit is not None
    for name in ("dark", "light"):
        theme = Theme.load(name)
        theme.apply(QApplication.instance())
        formats = [
            {
                each.format.foreground().color().name()
                for each in pane.edit.document().findBlockByNumber(n).layout().formats()
            }
            for n in (4, 5)
        ]
        assert formats[0] == formats[1] == {theme.category("shape").name()}


def test_what_cannot_be_read_is_said(pane: CodePane, tmp_path: Path) -> None:
    assert "cannot be read" in pane.open(tmp_path / "gone.py")
    assert pane.edit is None


@pytest.mark.parametrize(("answer", "saved"), [("Save", True), ("Discard", False)])
def test_code_that_is_not_saved_is_asked_about(
    window: Any, file: Path, qtbot: Any, monkeypatch: Any, answer: str, saved: bool
) -> None:
    asked: list[str] = []

    def reply(box: QMessageBox) -> QMessageBox.StandardButton:
        asked.append(box.text())
        return QMessageBox.StandardButton[answer]

    monkeypatch.setattr(QMessageBox, "exec", reply)
    window.plugins.code.show(file)
    qtbot.keyClicks(window.panels["code"].edit, "#")
    assert window.close()
    assert asked and "mine.py" in asked[0]
    assert (file.read_text() == f"#{CODE}") is saved
