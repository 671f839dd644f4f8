"""What a screen reader gets from the interfaces of accessibility: names, roles, states, and what is said unasked.

The same was looked at from another process over AT-SPI, and heard with Orca; here it needs neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QTreeWidgetItem, QWidget

from app.properties.section import SectionHeader
from app.window.mainwindow import MainWindow
from app.wording import row_words

Key, Modifier = Qt.Key, Qt.KeyboardModifier
Name, Description = QAccessible.Text.Name, QAccessible.Text.Description


def read(widget: QWidget) -> QAccessibleInterface:
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None
    return found


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


@pytest.fixture
def opened(window: MainWindow, lenet: Any, qtbot: Any) -> MainWindow:
    assert window.files.open(lenet)
    window.activateWindow()
    window.canvas.setFocus()
    qtbot.waitUntil(window.canvas.hasFocus)
    return window


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is announced while a reader is there; whether one is, nobody but the system says."""
    heard: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", staticmethod(lambda: True))
    monkeypatch.setattr(QAccessible, "updateAccessibility", staticmethod(lambda event: heard.append(event.message())))
    yield heard


def cell_words(view: QAbstractItemView) -> str:
    """What is read of the row that has the keyboard in a list."""
    index = view.currentIndex()
    return str(index.data(Qt.ItemDataRole.AccessibleTextRole) or index.data() or "")


def test_what_the_keyboard_goes_through_says_name_role_and_state(opened, qtbot) -> None:
    """Every halt of the tabulator, with everything open that there is at once."""
    opened.show_panel("properties")
    opened.document.selection.set([opened.document.graph.named("conv1")[0].id])
    opened.document.selection.flush()
    qtbot.wait(5)
    nameless = []
    for region in opened.regions.regions():
        for stop in region.stops:
            interface = read(stop)
            state = interface.state()
            assert state.focusable and not state.disabled, stop.objectName()
            if not interface.text(Name) or interface.role() == QAccessible.Role.NoRole:
                nameless.append(f"{region.name}: {stop.objectName()}")
    assert not nameless


def test_the_canvas_says_name_type_blobs_and_what_is_wrong(opened, announced, qtbot) -> None:
    document = opened.document
    node = document.graph.named("conv1")[0].id
    document.apply("x", lambda graph: graph.set_field(node, ("type",), '"Convolutions"'))
    qtbot.waitUntil(lambda: bool(document.problems_of(node)[1]), timeout=20_000)
    document.selection.set([node])
    document.selection.flush()
    words = read(opened.canvas).text(Description)
    assert words.startswith("conv1, Convolutions; reads data; writes conv1")
    severity, problems = document.problems_of(node)
    assert words.endswith(f"; {severity}: {problems[0]}")
    assert announced[-1] == words
    assert read(opened.canvas).text(Name) == "Net canvas"
    opened.show_panel("outline")
    outline = opened.panels["outline"].view
    outline.setCurrentIndex(outline.model().index(2, 0))
    assert cell_words(outline) == words, "canvas and tree say the same"


def test_a_message_is_announced_and_named(opened, announced) -> None:
    opened.notify("The disk is full.", "error")
    assert announced[-1] == "Error: The disk is full."
    assert read(opened.bars[0]).text(Name) == "The disk is full."


@pytest.mark.parametrize(
    ("panel", "words"),
    [
        ("costs", ("conv1, Convolution, ", "parameters ", "multiply-adds ", "training ")),
        ("plugins", (", ready", "layers ")),
    ],
)
def test_a_row_is_read_whole(opened, qtbot, panel, words) -> None:
    opened._docks.go(panel)
    view = focused()
    assert isinstance(view, QAbstractItemView)
    row = 2 if panel == "costs" else 0
    qtbot.waitUntil(lambda: view.model().rowCount() > row, timeout=20_000)
    view.setCurrentIndex(view.model().index(row, 0))
    assert [each for each in words if each not in cell_words(view)] == []


def test_rows_leave_out_what_is_empty() -> None:
    assert row_words(("a", "", "3"), ("", "", "loss")) == "a, loss 3"
    item = QTreeWidgetItem(["a"])
    item.setData(0, Qt.ItemDataRole.AccessibleTextRole, row_words(("a", "1"), ("", "score")))
    assert item.data(0, Qt.ItemDataRole.AccessibleTextRole) == "a, score 1"


def test_a_part_of_the_form_says_whether_it_is_folded_and_a_name_has_no_marks(opened, qtbot) -> None:
    opened.show_panel("properties")
    opened.document.selection.set([opened.document.graph.named("conv1")[0].id])
    opened.document.selection.flush()
    panel = opened.panels["properties"]
    header = next(each for each in panel.findChildren(SectionHeader) if each.text() == "Phases")
    header.setFocus()
    for state in ("unfolded", "folded"):
        QTest.keyClick(header, Key.Key_Space)
        assert read(header).text(Description).split(",")[0] == state
    field = panel.findChild(QWidget, "properties.convolution_param.kernel_size")
    labels = [each for each in panel.findChildren(QWidget) if read(each).text(Name) == "kernel_size pixels"]
    assert labels and read(field).text(Name) == "kernel_size"


def test_a_value_that_changes_is_there_to_be_read(opened, qtbot) -> None:
    """A number stepped by keys: the interface of its text has the new one at once."""
    opened.show_panel("properties")
    opened.document.selection.set([opened.document.graph.named("conv1")[0].id])
    opened.document.selection.flush()
    field = opened.panels["properties"].findChild(QWidget, "properties.convolution_param.num_output")
    field.setFocus()
    before = read(field).text(QAccessible.Text.Value)
    QTest.keyClick(field, Key.Key_Up)
    assert int(read(field).text(QAccessible.Text.Value)) == int(before) + 1
    field.commit()


def test_the_row_that_enter_would_take_is_said_though_the_keyboard_is_in_the_field(opened, announced) -> None:
    opened.keys.open_palette()
    palette = opened.keys.palette
    QTest.keyClicks(palette.search, "selall")
    assert announced[-1].startswith("Select all, Edit, Ctrl+A")
    assert read(palette.search).text(Description) == announced[-1]
    QTest.keyClicks(palette.search, "#")
    assert announced[-1] == "Nothing is called so."
    QTest.keyClick(palette.search, Key.Key_Escape)
    opened.canvas.setFocus()
    opened.canvas.ask_for_layer()
    search = opened.canvas.popup.search
    QTest.keyClicks(search, "relu")
    first = announced[-1]
    QTest.keyClick(search, Key.Key_Down)
    assert first.startswith("ReLU: ") and announced[-1] != first
    QTest.keyClick(search, Key.Key_Escape)


def test_how_many_places_there_are_is_said(opened, announced) -> None:
    opened._docks.go("text")
    bar = opened.panels["text"].find_bar
    bar.open_bar()
    QTest.keyClicks(bar.line, "conv1")
    assert announced[-1] == "1 of 3"
    QTest.keyClick(bar.line, Key.Key_Return)
    assert read(bar.line).text(Description) == announced[-1] == "2 of 3"


def test_completions_are_said(opened, announced, qtbot) -> None:
    opened._docks.go("text")
    edit = opened.panels["text"].edit
    cursor = edit.textCursor()
    cursor.setPosition(edit.toPlainText().index("num_output"))
    edit.setTextCursor(cursor)
    edit.completer.open()
    qtbot.waitUntil(lambda: edit.completer.is_open)
    QTest.keyClick(edit, Key.Key_Down)
    chosen = edit.completer.popup.current
    assert announced[-1].startswith(f"{chosen.text}. ")
    QTest.keyClick(edit, Key.Key_Escape)
