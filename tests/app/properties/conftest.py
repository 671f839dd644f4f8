from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot


class Bench:
    """A document with its panel on the screen, and what a user does to them."""

    def __init__(self, qtbot: QtBot, text: str) -> None:
        from app.document import Document
        from app.properties import PropertiesPanel
        from engine.graph import OpGraph

        self.qtbot = qtbot
        self.before = text.encode("utf-8", "surrogateescape")
        self.document = Document(OpGraph.parse(self.before))
        self.panel = PropertiesPanel(self.document)
        self.panel.resize(340, 700)
        qtbot.addWidget(self.panel)
        self.panel.show()
        qtbot.waitExposed(self.panel)
        self.panel.activateWindow()

    @property
    def text(self) -> str:
        return self.document.graph.text

    def ids(self, *names: str) -> list[Any]:
        return [node.id for node in self.document.graph.nodes() if node.name in names]

    def select(self, *names: str) -> None:
        self.document.selection.set(self.ids(*names))
        self.document.selection.flush()
        QApplication.processEvents()

    def open(self, title: str) -> None:
        for section in self.panel.page.sections:  # type: ignore[union-attr]
            if section.header.text() == title:
                section.set_open(True)

    def find(self, name: str, kind: type[QWidget] = QWidget) -> Any:
        if hasattr(self.panel.page, "fields"):
            self.panel.page.fields.complete()
            QApplication.processEvents()
        found = self.panel.page.findChild(kind, f"properties.{name}")  # type: ignore[union-attr]
        assert found is not None, name
        return found

    def row(self, name: str) -> Any:
        from app.properties.rows.row import Row

        widget = self.find(name)
        while not isinstance(widget, Row):
            widget = widget.parentWidget()
        return widget

    def type(self, name: str, text: str, end: Qt.Key | None = Qt.Key.Key_Return) -> Any:
        editor = self.find(name)
        editor.setFocus()
        editor.selectAll()
        if text:
            self.qtbot.keyClicks(editor, text)
        else:
            self.qtbot.keyClick(editor, Qt.Key.Key_Backspace)
        if end is not None:
            self.qtbot.keyClick(editor, end)
        return editor

    def check_undo_redo(self) -> None:
        """The last edit is one command that takes back and brings again exactly its bytes."""
        after = bytes(self.document.graph)
        assert after != self.before
        assert self.document.undo_stack.count() == 1
        self.document.undo_stack.undo()
        assert bytes(self.document.graph) == self.before
        self.document.undo_stack.redo()
        assert bytes(self.document.graph) == after


@pytest.fixture
def bench(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Bench]]:
    monkeypatch.setattr("app.live.LiveFacts.graph_changed", lambda *_: None)
    made: list[Bench] = []

    def make(text: str) -> Bench:
        made.append(Bench(qtbot, text))
        return made[-1]

    yield make
    for each in made:
        each.panel.set_document(None)
        each.document.close()
