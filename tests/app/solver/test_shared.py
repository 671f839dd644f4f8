"""Two open nets with one solver have it in common: what one edits the other shows, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.document import Document
from app.solver.shelf import SolverShelf
from app.window.mainwindow import MainWindow
from tests.app.solver.conftest import NET, SOLVER


@pytest.fixture
def nets(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("net.prototxt", "test.prototxt"):
        (tmp_path / name).write_text(NET)
    (tmp_path / "net_solver.prototxt").write_text(SOLVER)
    return tmp_path / "net.prototxt", tmp_path / "test.prototxt"


@pytest.fixture
def two(window: MainWindow, nets: tuple[Path, Path]) -> tuple[Document, Document]:
    for path in nets:
        assert window.files.open(path)
    one, other = (page.document for page in window.tabs.pages())
    other.set_solver(one.solver_path)
    return one, other


def set_rate(document: Document, rate: str) -> None:
    solver = document.solver.open()
    assert solver is not None
    solver.apply("Set the rate", lambda graph: graph.set_field(None, ("base_lr",), rate))


def test_one_edits_and_the_other_follows(window: MainWindow, two: tuple[Document, Document], nets) -> None:
    one, other = two
    heard: list[bool] = []
    other.solver.changed.connect(lambda: heard.append(True))
    set_rate(one, "0.5")
    assert other.solver.open() is one.solver.open()
    assert heard and other.unsaved and "base_lr: 0.5" in (other.solver_text or "")
    set_rate(other, "0.25")
    assert "base_lr: 0.25" in (one.solver_text or "")
    one.solver.opened.undo_stack.undo()
    assert "base_lr: 0.5" in (other.solver_text or "")
    window.show_document(other)
    assert window.files.save()
    assert "base_lr: 0.5" in one.solver_path.read_text() and not one.unsaved


def test_a_net_that_is_closed_leaves_the_solver_to_the_other(window: MainWindow, two, monkeypatch) -> None:
    one, other = two
    set_rate(one, "0.5")
    monkeypatch.setattr("app.window.files.files.ask_to_leave", lambda *_args: True)
    window.close_page(window.tabs.page_of(one))
    assert "base_lr: 0.5" in (other.solver_text or "") and other.unsaved
    set_rate(other, "0.125")
    assert window.files.save() and "base_lr: 0.125" in other.solver_path.read_text()


def test_the_panel_shows_one_history_for_both(window: MainWindow, two) -> None:
    one, other = two
    window.show_document(one)
    window.show_panel("solver")
    panel = window.panels["solver"]
    set_rate(one, "0.5")
    window.show_document(other)
    assert panel.document is other and panel.solver is one.solver.opened
    assert panel.solver.undo_stack.count() == 1


def test_edits_made_before_two_nets_meet_are_both_in_the_history(nets) -> None:
    documents = [Document.open(path) for path in nets]
    shelf = SolverShelf()
    try:
        for document, rate in zip(documents, ("0.5", "0.25"), strict=True):
            document.set_solver(nets[0].with_name("net_solver.prototxt"))
            set_rate(document, rate)
        for document in documents:
            document.solver.join(shelf)
        solver = documents[0].solver.opened
        assert solver is documents[1].solver.opened
        assert "base_lr: 0.25" in solver.text
        solver.undo_stack.undo()
        assert "base_lr: 0.5" in solver.text
        solver.undo_stack.undo()
        assert solver.text == SOLVER and not solver.modified
    finally:
        for document in documents:
            document.close()
    assert shelf.find(nets[0].with_name("net_solver.prototxt")) is None


def test_by_another_path_it_is_the_same_solver(nets, tmp_path) -> None:
    link = tmp_path / "link_solver.prototxt"
    link.symlink_to(tmp_path / "net_solver.prototxt")
    documents = [Document.open(path) for path in nets]
    shelf = SolverShelf()
    try:
        for document, path in zip(documents, ("net_solver.prototxt", link.name), strict=True):
            document.solver.join(shelf)
            document.set_solver(tmp_path / path)
            assert document.solver.open() is not None
        assert documents[0].solver.opened is documents[1].solver.opened
    finally:
        for document in documents:
            document.close()
