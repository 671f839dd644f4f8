"""A solver beside a net that gets another file, another name or other layers, in the whole window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.training.launch import Launch
from app.window.files.solverfollow import named_elsewhere
from app.window.mainwindow import MainWindow
from tests.app.solver.conftest import NET


@pytest.fixture
def net(window: MainWindow, solver_file: Path) -> Path:
    path = solver_file.with_name("net.prototxt")
    assert window.files.open(path)
    return path


def save_as(window: MainWindow, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr("app.window.files.saving.QFileDialog.getSaveFileName", lambda *_args: (str(path), ""))
    assert window.files.save_as()


def press(qtbot, window: MainWindow, label: str) -> None:
    buttons = [each for bar in window.bars for each in bar.findChildren(QPushButton, f"window.bar.action.{label}")]
    assert buttons, [bar.text for bar in window.bars]
    qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(
    ("place", "written"), [("mine.prototxt", "mine.prototxt"), ("sub/net.prototxt", "sub/net.prototxt")]
)
def test_a_net_that_is_saved_elsewhere_takes_its_solver_along_where_the_user_says_so(
    window, net, solver_file, qtbot, monkeypatch, place, written
):
    (net.parent / "sub").mkdir()
    before = solver_file.read_text()
    save_as(window, monkeypatch, net.parent / place)
    assert any("still names 'net.prototxt'" in bar.text for bar in window.bars)
    assert solver_file.read_text() == before and not window.document.unsaved
    press(qtbot, window, f"Have it name '{Path(place).name}'")
    changed = before.replace('net: "net.prototxt"', f'net: "{written}"')
    assert window.document.solver.opened.text == changed and window.document.unsaved
    assert named_elsewhere(window.document) is None
    window.document.solver.opened.undo_stack.undo()  # the solver's own history, whatever the net's is
    assert window.document.solver.opened.text == before and not window.document.unsaved
    window.document.solver.opened.undo_stack.redo()
    assert window.files.save() and solver_file.read_text() == changed


def test_a_net_that_is_renamed_on_disk_has_its_solver_told(window, net, solver_file, qtbot):
    net.rename(net.with_name("other.prototxt"))
    window.files.look_at_disk()
    press(qtbot, window, "Work on 'other.prototxt'")
    press(qtbot, window, "Have it name 'other.prototxt'")
    assert 'net: "other.prototxt"' in window.document.solver_text


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ('train_net: "net.prototxt" test_net: "te.prototxt"', None),
        ('train_net: "te.prototxt" test_net: "net.prototxt"', None),
        ('train_net: "te.prototxt"', ("train_net", "te.prototxt")),
        ('net: "examples/far/net.prototxt"', None),
        ('net: "examples/far/off.prototxt"', ("net", "examples/far/off.prototxt")),
        ('net_param { name: "x" }', None),
        ("max_iter: 1", None),
        ("net: {", None),
        ("net: 3", ("net", "3")),
    ],
)
def test_what_counts_as_naming_another_net(window, net, solver_file, names, found):
    net.with_name("te.prototxt").write_text("")
    solver_file.write_text(names)
    window.document.set_solver(solver_file)
    window.document.solver.open().reload()
    assert named_elsewhere(window.document) == found


def test_a_solver_that_was_chosen_and_is_not_there_is_not_replaced_by_settings_made_up(window, net, solver_file):
    window.document.set_solver(net.with_name("gone.prototxt"))
    with pytest.raises(ValueError, match="gone.prototxt"):
        Launch.of(window.document)
    panel = window.panels["training"]
    panel.train()
    assert "'gone.prototxt' is not there" in panel.strip.notice.text
    assert panel.run is None


def test_a_solver_that_is_open_trains_though_its_file_is_gone(window, net, solver_file):
    text = window.document.solver.open().text
    solver_file.unlink()
    assert Launch.of(window.document).solver_text == text


def test_a_solver_edited_by_another_program_is_shown_at_once(window, net, solver_file, qtbot):
    text = solver_file.read_text().replace("max_iter: 1000", "max_iter: 77")
    solver_file.write_text(text)
    qtbot.waitUntil(lambda: window.panels["solver"].solver.text == text, timeout=5_000)
    assert not window.document.unsaved


@pytest.mark.parametrize(("field", "named"), [("net_param", "net"), ("train_net_param", "train_net")])
def test_a_net_that_stands_in_its_solver_is_put_into_a_file(window, solver_file, qtbot, field, named):
    solver = solver_file.with_name("inline_solver.prototxt")
    inside = NET.replace("\n", "\n  ").rstrip()
    before = f"# mine\n{field} {{\n  # the net\n  {inside}\n}}\nbase_lr: 0.1 lr_policy: 'fixed' max_iter: 3\n"
    solver.write_text(before)
    assert window.files.open(solver)
    assert any("holds its net itself" in bar.text for bar in window.bars)
    press(qtbot, window, "Put the net into a file")
    net = solver.with_name("inline_net.prototxt")
    assert net.read_text() == f"# the net\n{NET}" and window.document.path == net
    assert [node.name for node in window.document.graph.nodes()] == ["d", "ip"]
    assert solver.read_text() == before and window.document.unsaved
    opened = window.document.solver.opened
    assert f'{named}: "inline_net.prototxt"' in opened.text and field + " {" not in opened.text
    opened.undo_stack.undo()
    assert opened.text == before
    opened.undo_stack.redo()
    press(qtbot, window, "Save")
    assert not window.document.unsaved and named in solver.read_text()
    window.close_page(window.tabs.current)
    assert window.files.open(solver) and window.document.path == net
