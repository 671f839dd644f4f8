from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from app.problems.model import Column
from app.wording import problem_words
from engine.diagnostics import Diagnostic, QuickFix

NET = """layer {
  name: "a"
  type: "ReLU"
  bottom: "x"
  top: "a"
}
layer {
  name: "b"
  type: "ReLU"
  bottom: "a"
  top: "b"
}
"""


class Bench:
    def __init__(self, qtbot: QtBot, patch: pytest.MonkeyPatch) -> None:
        from app.document import Document
        from app.problems import ProblemsPanel
        from engine.graph import OpGraph

        self.document = Document(OpGraph.parse(NET))
        self.found: list[Diagnostic] = []
        patch.setattr(type(self.document), "diagnostics", property(lambda _: self.found))
        self.panel = ProblemsPanel(self.document)
        self.panel.resize(700, 200)
        qtbot.addWidget(self.panel)
        self.panel.show()
        qtbot.waitExposed(self.panel)

    def node(self, name: str) -> Any:
        return next(node.id for node in self.document.graph.nodes() if node.name == name)

    def show(self, *found: Diagnostic) -> None:
        self.found[:] = found
        self.document.diagnostics_changed.emit()

    def cell(self, row: int, column: Column) -> str:
        return str(self.panel.model.index(row, column).data() or "")

    def click(self, row: int, column: Column) -> None:
        view = self.panel.view
        place = view.visualRect(self.panel.model.index(row, column)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


@pytest.fixture
def bench(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr("app.live.LiveFacts.graph_changed", lambda *_: None)
    made = Bench(qtbot, monkeypatch)
    yield made
    made.panel.set_document(None)
    made.document.close()


def three(bench: Bench) -> list[Diagnostic]:
    fix = QuickFix("Rename to c", lambda graph: graph.rename_node(bench.node("b"), "c"))
    return [
        Diagnostic("info-code", "info", "By the way.", 1),
        Diagnostic("warn-code", "warning", "Doubtful.", 9, 3, bench.node("b"), fix=fix),
        Diagnostic("error-code", "error", "Wrong.", 4, 3, bench.node("a"), next_step="Mend it."),
    ]


def test_empty_state(bench: Bench) -> None:
    assert bench.panel.empty.isVisible()
    assert bench.panel.empty.text() == "No problems"
    assert bench.panel.title == "Problems"


def test_rows_worst_first(bench: Bench) -> None:
    bench.show(*three(bench))
    assert not bench.panel.empty.isVisible()
    assert [bench.cell(row, Column.MESSAGE) for row in range(3)] == ["Wrong.", "Doubtful.", "By the way."]
    assert [bench.cell(0, column) for column in Column] == ["Wrong.", "", "a", "error-code", "4"]
    assert "Mend it." in bench.panel.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_counts_are_told(bench: Bench) -> None:
    told: list[object] = []
    bench.panel.count_changed.connect(lambda *numbers: told.append(numbers))
    bench.panel.title_changed.connect(told.append)
    bench.show(*three(bench))
    assert told == [(1, 1), "Problems · 1 error, 1 warning"]
    bench.show(*three(bench))
    bench.show()
    assert told[2:] == [(0, 0), "Problems"]
    assert bench.panel.empty.isVisible()


@pytest.mark.parametrize(
    ("errors", "warnings", "words"),
    [(0, 0, ""), (1, 0, "1 error"), (2, 1, "2 errors, 1 warning"), (0, 3, "3 warnings")],
)
def test_words_of_counts(errors: int, warnings: int, words: str) -> None:
    assert problem_words(errors, warnings) == words


def test_a_click_selects_layer_and_line(bench: Bench, qtbot: QtBot) -> None:
    bench.show(*three(bench))
    with qtbot.waitSignal(bench.panel.line_activated) as line:
        bench.click(0, Column.MESSAGE)
    assert line.args == [4, 3]
    assert bench.document.selection.node_ids == (bench.node("a"),)


def test_enter_does_the_same(bench: Bench, qtbot: QtBot) -> None:
    bench.show(*three(bench))
    bench.panel.view.setFocus()
    bench.panel.view.setCurrentIndex(bench.panel.model.index(0, 0))
    with qtbot.waitSignal(bench.panel.line_activated):
        QTest.keyClick(bench.panel.view, Qt.Key.Key_Return)


def test_quick_fix_is_one_command(bench: Bench) -> None:
    bench.show(*three(bench))
    assert bench.cell(1, Column.FIX) == "Rename to c"
    bench.click(1, Column.FIX)
    assert '"c"' in bench.document.graph.text
    assert bench.document.undo_stack.count() == 1
    assert bench.document.undo_stack.undoText() == "Rename to c"
    bench.document.undo_stack.undo()
    assert bench.document.graph.text == NET


def test_of_several_fixes_one_is_chosen_in_a_menu(bench: Bench) -> None:
    names = ("c", "d & e")
    fixes = [QuickFix(f"Rename to {name}", partial(rename, bench.node("b"), name)) for name in names]
    bench.show(Diagnostic("code", "error", "Wrong.", 9, 3, bench.node("b"), fix=fixes[0], more_fixes=(fixes[1],)))
    assert bench.cell(0, Column.FIX) == "2 fixes\u2026"
    bench.click(0, Column.FIX)
    assert bench.document.graph.text == NET
    (menu,) = (each for each in bench.panel.findChildren(QMenu, "problems.fixes") if each.isVisible())
    assert [action.text() for action in menu.actions()] == ["Rename to c", "Rename to d && e"]
    menu.actions()[1].trigger()
    menu.hide()
    assert '"d & e"' in bench.document.graph.text and bench.document.undo_stack.count() == 1


def rename(node: Any, name: str, graph: Any) -> None:
    graph.rename_node(node, name)


def test_a_cell_without_fix_only_selects(bench: Bench) -> None:
    bench.show(*three(bench))
    bench.panel.apply_fix(0)
    bench.panel.apply_fix(77)
    assert bench.document.undo_stack.count() == 0


def test_a_refused_fix_says_why(bench: Bench) -> None:
    from engine.errors import CheckError

    def refuse(graph: Any) -> None:
        raise CheckError("It cannot be mended.")

    bench.show(Diagnostic("x", "error", "Wrong.", fix=QuickFix("Mend", refuse)))
    bench.panel.apply_fix(0)
    assert bench.panel._message.isVisible()
    assert "cannot be mended" in bench.panel._message.text()


def test_the_chosen_row_stays_chosen(bench: Bench) -> None:
    found = three(bench)
    bench.show(*found)
    bench.panel.view.setCurrentIndex(bench.panel.model.index(1, 0))
    bench.show(*found, Diagnostic("other", "error", "Worse.", 1))
    assert bench.cell(bench.panel.view.currentIndex().row(), Column.MESSAGE) == "Doubtful."


def test_copy(bench: Bench) -> None:
    bench.show(*three(bench))
    bench.panel.view.setFocus()
    bench.panel.view.setCurrentIndex(bench.panel.model.index(0, 0))
    QTest.keyClick(bench.panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "line 4: Wrong. [error-code]"


def test_it_paints(bench: Bench) -> None:
    bench.show(*three(bench))
    image = bench.panel.grab().toImage()
    assert len({image.pixelColor(x, y).name() for x in range(0, 700, 3) for y in range(0, 190, 3)}) > 8


def test_very_many_are_cut(bench: Bench) -> None:
    bench.show(*[Diagnostic("x", "warning", f"Number {i}.", i) for i in range(2500)])
    assert bench.panel.model.rowCount() == 2000
    assert "500 more" in bench.panel._message.text()


@pytest.mark.parametrize(("width", "lines"), [(1400, 1), (420, 2)])
def test_a_sentence_that_is_too_long_has_a_second_line(bench: Bench, width: int, lines: int) -> None:
    sentence = "Layer 'b' (ReLU): expected a negative_slope of 0 or more, got -1. Set relu_param negative_slope."
    bench.panel.resize(width, 200)
    bench.show(Diagnostic("shape", "error", sentence, 9, 3, bench.node("b")))
    view = bench.panel.view
    height = view.visualRect(bench.panel.model.index(0, Column.MESSAGE)).height()
    assert (height > 2.5 * view.fontMetrics().lineSpacing()) == (lines == 2)


@pytest.mark.parametrize(("width", "hidden"), [(1400, []), (420, [Column.CODE]), (280, [Column.LAYER, Column.CODE])])
def test_columns_go_where_there_is_hardly_room_for_the_sentence(bench: Bench, width: int, hidden: list[Column]) -> None:
    bench.show(Diagnostic("a-rather-long-code", "error", "Wrong.", 9, 3, bench.node("b")))
    bench.panel.resize(width, 200)
    assert [column for column in (Column.LAYER, Column.CODE) if bench.panel.view.isColumnHidden(column)] == hidden
