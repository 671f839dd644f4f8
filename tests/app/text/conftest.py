from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

NET = """# a net
name: "Small"
layer {
  name: "data"
  type: "Input"
  top: "data"
}
layer {
  name: "conv1"  # first
  type: "Convolution"
  bottom: "data"
  top: "conv1"
  convolution_param {
    num_output: 20
    kernel_size: 5
  }
}
layer {
  name: "relu1"
  type: "ReLU"
  bottom: "conv1"
  top: "conv1"
}
"""


class Bench:
    """A pane with a document, driven by real keys."""

    def __init__(self, qtbot: QtBot, text: str) -> None:
        from app.document import Document
        from app.text import TextPane
        from engine.graph import OpGraph

        self.qtbot = qtbot
        self.document = Document(OpGraph.parse(text.encode("utf-8", "surrogateescape")))
        self.before = bytes(self.document.graph)
        self.pane = TextPane(self.document)
        self.edit = self.pane.edit
        self.pane.resize(600, 300)
        qtbot.addWidget(self.pane)
        self.pane.show()
        qtbot.waitExposed(self.pane)
        self.pane.activateWindow()
        qtbot.waitUntil(lambda: not self.pane.filler.active)
        qtbot.waitUntil(self.pane.isActiveWindow)

    @property
    def text(self) -> str:
        return self.document.graph.text

    @property
    def shown(self) -> str:
        return self.edit.document().toRawText().replace("\u2029", "\n")

    def node(self, name: str) -> Any:
        return next(node for node in self.document.graph.nodes() if node.name == name)

    def select(self, *names: str) -> None:
        self.document.selection.set([self.node(name).id for name in names])
        self.document.selection.flush()

    def place(self, before: str) -> None:
        """Put the cursor behind a piece of text."""
        self.edit.setFocus()
        cursor = self.edit.textCursor()
        cursor.setPosition(self.shown.index(before) + len(before))
        self.edit.setTextCursor(cursor)

    def keys(self, text: str) -> None:
        self.qtbot.keyClicks(self.edit, text)

    def press(self, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
        held = Qt.KeyboardModifier.NoModifier
        for each in modifiers:
            held |= each
        QTest.keyClick(self.edit, key, held)

    @property
    def offers(self) -> list[str]:
        """What the list of completions shows; empty when it is closed."""
        completer = self.edit.completer
        return [each.text for each in completer.popup.found] if completer.is_open else []

    def hidden(self) -> list[str]:
        """The lines that are folded away."""
        document = self.edit.document()
        blocks = (document.findBlockByNumber(line) for line in range(document.blockCount()))
        return [block.text() for block in blocks if not block.isVisible()]


Make = Callable[[str], Bench]


@pytest.fixture
def bench(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    monkeypatch.setattr("app.live.LiveFacts.graph_changed", lambda *_: None)
    made: list[Bench] = []

    def make(text: str) -> Bench:
        made.append(Bench(qtbot, text))
        return made[-1]

    yield make
    for each in made:
        each.pane.set_document(None)
        each.document.close()
