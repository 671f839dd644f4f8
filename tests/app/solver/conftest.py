from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.document import Document
from app.solver.panel import SolverPanel
from app.theme import Theme

SOLVER = """# trains the net
net: "net.prototxt"
base_lr: 0.01   # the beginning
lr_policy: "step"
gamma: 0.1
stepsize: 400
max_iter: 1000
momentum: 0.9
home_made: 3
"""
NET = """layer { name: "d" type: "DummyData" top: "d" dummy_data_param { shape { dim: 2 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "d" top: "ip" inner_product_param { num_output: 2 } }
"""


class Bench:
    """A net with its solver's panel on the screen, and what a user does to it."""

    def __init__(self, qtbot: QtBot, document: Document) -> None:
        self.qtbot = qtbot
        self.document = document
        self.panel = SolverPanel(document)
        self.panel.resize(340, 900)
        qtbot.addWidget(self.panel)
        self.panel.show()
        qtbot.waitExposed(self.panel)
        self.panel.activateWindow()

    @property
    def solver(self) -> Any:
        return self.panel.solver

    @property
    def text(self) -> str:
        return str(self.solver.text)

    def find(self, name: str) -> Any:
        if self.panel.fields is not None:
            self.panel.fields.complete()
        found = self.panel.findChild(QWidget, f"properties.{name}")
        assert found is not None, name
        return found

    def type(self, name: str, text: str) -> Any:
        editor = self.find(name)
        editor.setFocus()
        editor.selectAll()
        self.qtbot.keyClicks(editor, text)
        self.qtbot.keyClick(editor, Qt.Key.Key_Return)
        QApplication.processEvents()
        return editor


@pytest.fixture
def solver_file(tmp_path: Path) -> Path:
    (tmp_path / "net.prototxt").write_text(NET)
    path = tmp_path / "net_solver.prototxt"
    path.write_text(SOLVER)
    return path


@pytest.fixture
def bench(qtbot: QtBot, solver_file: Path) -> Iterator[Callable[[], Bench]]:
    made: list[Bench] = []

    def make() -> Bench:
        document = Document.open(solver_file.with_name("net.prototxt"))
        made.append(Bench(qtbot, document))
        return made[-1]

    yield make
    for each in made:
        each.panel.set_document(None)
        each.document.close()


@pytest.fixture
def light_again(qapp: QApplication) -> Iterator[None]:
    yield
    Theme.load("light").apply(qapp)
