"""A long text that is put into the widget bit by bit, while it changes."""

from __future__ import annotations

import random

import pytest
from PySide6.QtWidgets import QPlainTextEdit

from app.text import filling
from app.text.filling import Filler
from app.text.mirror import TextMirror


@pytest.fixture
def edit(qtbot, monkeypatch):
    for name, lines in (("_FIRST", 5), ("_SLICE", 7), ("_FEW", 4), ("_MANY", 10), ("_CUT", 6)):
        monkeypatch.setattr(filling, name, lines)
    widget = QPlainTextEdit()
    qtbot.addWidget(widget)
    return widget


def text(count: int) -> str:
    return "\n".join(f"line {number}" for number in range(count))


class Shown:
    """A widget whose text follows that of a file."""

    def __init__(self, edit: QPlainTextEdit, written: str) -> None:
        self.edit = edit
        self.ends = 0
        self.mirror = TextMirror(written)
        self.filler = Filler(edit, self.done)
        self.filler.fill(self.mirror.lines)

    def done(self) -> None:
        assert self.edit.toPlainText() == self.mirror.text
        self.ends += 1

    def change(self, written: str) -> None:
        old = self.mirror.lines
        change = self.mirror.update(written)
        if change is not None:
            self.filler.follow(change, old, self.mirror.lines)


def some_edit(chance: random.Random, written: str) -> str:
    lines = written.split("\n")
    first = chance.randrange(len(lines) + 1)
    last = min(first + chance.choice([0, 1, 3, 15, 60]), len(lines))
    if chance.random() < 0.3:
        new = [f"{line}!" for line in lines[first:last]]
    else:
        new = [f"new {number}" for number in range(chance.choice([0, 1, 3, 15, 60]))]
    return "\n".join([*lines[:first], *new, *lines[last:]])


@pytest.mark.parametrize("seed", range(30))
def test_the_text_is_the_last_one(edit, qtbot, seed):
    chance = random.Random(seed)
    shown = Shown(edit, text(80))
    for _step in range(12):
        for _slice in range(chance.choice([0, 1, 2, 30])):
            shown.filler._go_on()
        shown.change(some_edit(chance, shown.mirror.text))
        if chance.random() < 0.1:
            shown.filler.finish()
    qtbot.waitUntil(lambda: not shown.filler.active)
    assert edit.toPlainText() == shown.mirror.text
    assert shown.ends


def test_what_waits_for_a_line_is_done_once_it_is_there(edit, qtbot):
    shown = Shown(edit, text(60))
    told: list[int] = []
    shown.filler.when_there(40, lambda: told.append(1))
    shown.filler.when_there(50, lambda: told.append(edit.blockCount()))
    assert not told
    qtbot.waitUntil(lambda: bool(told))
    assert len(told) == 1 and 50 <= told[0] < 60, "the last that asked, and before all is there"
    shown.filler.when_there(1000, lambda: told.append(0))
    qtbot.waitUntil(lambda: not shown.filler.active)
    assert told[1:] == [0]


def test_what_is_above_a_change_stays_in_view(edit, qtbot):
    edit.resize(200, 100)
    edit.show()
    shown = Shown(edit, text(300))
    shown.filler.finish()
    edit.verticalScrollBar().setValue(100)
    lines = shown.mirror.text.split("\n")
    shown.change("\n".join([*lines[:150], *(f"more {number}" for number in range(40)), *lines[150:]]))
    assert edit.isReadOnly()
    assert edit.verticalScrollBar().value() == 100
    qtbot.waitUntil(lambda: not shown.filler.active)
    assert edit.verticalScrollBar().value() == 100
