from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QPushButton

from app.document import ChangedOnDiskError
from app.problems import ProblemsPanel
from app.solver.document import SolverDocument
from app.text import TextPane
from tests.app.solver.conftest import SOLVER

Make = Callable[[], Any]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def test_every_setting_has_its_editor(bench: Make) -> None:
    solver = bench()
    for section in solver.panel.fields.sections:
        section.set_open(True)
    schema = solver.solver.schema
    for info in schema.describe("SolverParameter").fields:
        solver.find(info.name if not (info.kind == "message" and info.repeated) else f"{info.name}.add")
    assert solver.find("home_made").text() == "3"
    assert solver.text == SOLVER
    assert not solver.solver.modified


def test_an_edit_changes_its_bytes_alone_and_can_be_undone(bench: Make, solver_file: Path) -> None:
    solver = bench()
    editor = solver.type("base_lr", "*0.1")
    changed = SOLVER.replace("base_lr: 0.01 ", "base_lr: 0.001 ")
    assert solver.text == changed
    assert solver.panel.plot.schedule.rates[0] == pytest.approx(0.001)
    assert solver.document.unsaved
    assert not solver.document.modified
    assert solver.document.solver_text == changed
    solver.qtbot.keyClick(editor, Qt.Key.Key_Z, CONTROL)
    assert solver.text == SOLVER
    assert not solver.document.unsaved
    assert solver.document.undo_stack.count() == 0
    solver.qtbot.keyClick(editor, Qt.Key.Key_Z, CONTROL | SHIFT)
    assert solver.text == changed
    solver.qtbot.mouseClick(solver.panel.head.undo, Qt.MouseButton.LeftButton)
    assert solver.text == SOLVER
    solver.qtbot.mouseClick(solver.panel.head.redo, Qt.MouseButton.LeftButton)
    assert solver_file.read_text() == SOLVER
    solver.qtbot.mouseClick(solver.panel.head.save, Qt.MouseButton.LeftButton)
    assert solver_file.read_text() == changed
    assert not solver.document.unsaved


def test_dragging_a_name_shows_the_schedule_and_is_one_step(bench: Make) -> None:
    solver = bench()
    row = solver.find("stepsize").parentWidget()
    place = QPoint(5, 10)
    solver.qtbot.mousePress(row.label, Qt.MouseButton.LeftButton, pos=place)
    for distance in (20, 40, -50):
        solver.qtbot.mouseMove(row.label, place + QPoint(distance, 0))
        QApplication.processEvents()
    assert "stepsize: 300" in solver.text
    QApplication.processEvents()
    assert solver.panel.plot.schedule.drops == (300, 600, 900)
    assert solver.solver.undo_stack.count() == 0
    solver.qtbot.mouseRelease(row.label, Qt.MouseButton.LeftButton, pos=place + QPoint(-50, 0))
    assert solver.solver.undo_stack.count() == 1
    solver.solver.undo_stack.undo()
    assert solver.text == SOLVER


def test_the_warm_up_of_the_extras_is_drawn(bench: Make, solver_file: Path) -> None:
    extras = {"warm_up": {"iterations": 100, "start": 0.5}}
    solver_file.with_name(f"{solver_file.name}.extras.json").write_text(json.dumps(extras))
    solver = bench()
    schedule = solver.panel.plot.schedule
    assert schedule.warm_up == 100
    assert schedule.rates[0] == pytest.approx(0.005)
    assert "warm-up" in schedule.words


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.usefixtures("light_again")
def test_the_picture_tells_the_rate_under_the_pointer(bench: Make, qapp: QApplication, theme: str) -> None:
    from app.theme import Theme

    Theme.load(theme).apply(qapp)
    solver = bench()
    plot = solver.panel.plot
    plain = plot.grab().toImage()
    for x in (1, plot.width() // 2):
        solver.qtbot.mouseMove(plot, QPoint(x, plot.height() // 2))
    assert plot.said.startswith("iteration 4")
    assert plot.said.endswith("0.001")
    solver.qtbot.mouseClick(plot.log_button, Qt.MouseButton.LeftButton)
    assert plot.grab().toImage() != plain


def test_what_does_not_fit_the_net_is_said(bench: Make) -> None:
    solver = bench()
    solver.document.live.start()
    solver.qtbot.waitUntil(lambda: not solver.document.live.busy, timeout=20_000)
    solver.type("max_iter", "0")
    shown = solver.panel.head.problems
    solver.qtbot.waitUntil(lambda: "max_iter of 1 or more" in shown.text(), timeout=20_000)
    assert shown.isVisible()
    row = solver.find("max_iter").parentWidget()
    assert "max_iter of 1 or more" in row.message.text()
    solver.solver.undo_stack.undo()
    solver.qtbot.waitUntil(lambda: "max_iter" not in shown.text(), timeout=20_000)


def test_search(bench: Make) -> None:
    solver = bench()
    solver.qtbot.keyClicks(solver.panel.search_line, "momentum2")
    assert solver.find("momentum2").isVisible()
    assert not solver.find("base_lr").isVisible()


def test_a_file_that_changed_on_disk_is_not_overwritten(bench: Make, solver_file: Path) -> None:
    solver = bench()
    solver.type("momentum", "0.8")
    solver_file.write_text("net: 'net.prototxt'\nmax_iter: 7\n")
    assert not solver.panel.save()
    assert "changed by another program" in solver.panel.head.problem.text()
    solver.panel.head.look_at_disk(solver.solver)
    solver.qtbot.mouseClick(solver.panel.head.reload, Qt.MouseButton.LeftButton)
    assert solver.text == "net: 'net.prototxt'\nmax_iter: 7\n"
    solver.solver.undo_stack.undo()
    assert "momentum: 0.8" in solver.text


def test_what_changed_on_disk_comes_in_where_nothing_was_edited(bench: Make, solver_file: Path) -> None:
    solver = bench()
    solver_file.write_text("max_iter: 7\n")
    solver.panel.head.look_at_disk(solver.solver)
    assert solver.find("max_iter").text() == "7"
    assert not solver.solver.modified


def test_a_net_without_a_solver_gets_one(bench: Make, solver_file: Path) -> None:
    solver_file.unlink()
    solver = bench()
    assert solver.solver is None
    assert solver.panel.hint.isVisible()
    solver.qtbot.mouseClick(solver.panel.create_button, Qt.MouseButton.LeftButton)
    assert solver.document.solver_path == solver_file
    assert solver.text.startswith('net: "net.prototxt"\n')
    assert not solver.panel.plot.schedule.problem
    assert not solver.panel.hint.isVisible()
    assert solver.panel.isAncestorOf(solver.panel.focusWidget())


@pytest.mark.parametrize("data", [b"", b"max_iter: {", b'net: "x', b"\xff\xfe: 3", b"max_iter: 1 max_iter: 2"])
def test_broken_files_open_and_stay_as_they_are(solver_file: Path, bench: Make, data: bytes) -> None:
    solver_file.write_bytes(data)
    solver = bench()
    solver.document.set_solver(solver_file)
    solver.panel.set_document(solver.document)
    assert bytes(solver.solver.graph) == data


def test_what_cannot_be_read_is_said(bench: Make, solver_file: Path) -> None:
    solver = bench()
    solver.document.set_solver(solver_file.with_name("gone.prototxt"))
    assert "gone.prototxt" in solver.panel.hint.text()
    assert solver.panel.hint.isVisible()


def test_saving_asks_before_it_overwrites(solver_file: Path) -> None:
    solver = SolverDocument.open(solver_file)
    solver.apply("x", lambda graph: graph.set_field(None, ("max_iter",), "5"))
    solver_file.write_text("max_iter: 6")
    with pytest.raises(ChangedOnDiskError):
        solver.save()
    solver.save(force=True)
    assert solver_file.read_text() == SOLVER.replace("1000", "5")
    solver.close()


def test_what_is_wrong_is_mended_by_a_button_as_one_step(bench: Make, solver_file: Path) -> None:
    faulty = SOLVER.replace("lr_policy", "lr_policyy").replace("max_iter: 1000", "max_iter: 0")
    solver_file.write_text(faulty)
    solver = bench()
    solver.document.live.start()

    def offered() -> list[str]:
        return [each.text() for each in solver.panel.findChildren(QPushButton, "solver.fix") if each.isVisible()]

    def press(label: str) -> None:
        buttons = solver.panel.findChildren(QPushButton, "solver.fix")
        solver.qtbot.mouseClick(next(each for each in buttons if each.text() == label), Qt.MouseButton.LeftButton)

    solver.qtbot.waitUntil(lambda: len(offered()) == 2, timeout=20_000)
    assert set(offered()) == {"Write it as 'lr_policy'", "Train for 10000 iterations"}
    press("Write it as 'lr_policy'")
    assert solver.text == faulty.replace("lr_policyy", "lr_policy")
    solver.qtbot.waitUntil(lambda: offered() == ["Train for 10000 iterations"], timeout=20_000)
    press("Train for 10000 iterations")
    assert "max_iter: 10000" in solver.text
    solver.qtbot.waitUntil(lambda: not offered(), timeout=20_000)
    assert solver.solver.undo_stack.count() == 2 and solver.document.undo_stack.count() == 0
    solver.solver.undo_stack.undo()
    solver.solver.undo_stack.undo()
    assert solver.text == faulty


def test_the_problems_list_mends_the_solver_too(bench: Make, solver_file: Path) -> None:
    solver_file.write_text(SOLVER.replace("lr_policy", "lr_policyy"))
    solver = bench()
    problems = ProblemsPanel(solver.document)
    solver.qtbot.addWidget(problems)
    solver.document.live.start()
    solver.qtbot.waitUntil(lambda: any(each.file is not None for each in problems.model.rows), timeout=20_000)
    net = bytes(solver.document.graph)
    problems.apply_fix(next(place for place, each in enumerate(problems.model.rows) if each.file is not None))
    assert solver.text == SOLVER and solver.solver.undo_stack.count() == 1
    assert bytes(solver.document.graph) == net
    problems.set_document(None)


def test_the_text_of_the_solver_is_mended_too(bench: Make, solver_file: Path) -> None:
    solver_file.write_text(SOLVER.replace("lr_policy", "lr_policyy"))
    solver = bench()
    pane = TextPane(solver.document)
    solver.qtbot.addWidget(pane)
    pane.show_solver(True)
    solver.document.live.start()
    line = SOLVER.splitlines().index('lr_policy: "step"')
    solver.qtbot.waitUntil(lambda: any(each.fix for each in pane.edit.mistakes_on(line)), timeout=20_000)
    pane.mender.mend(line)
    assert solver.text == SOLVER and solver.solver.undo_stack.count() == 1
    assert solver.document.undo_stack.count() == 0
    pane.set_document(None)
