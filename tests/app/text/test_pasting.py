"""A long text is pasted while the window answers, stopped by Escape, and refused where it would be too long."""

from __future__ import annotations

import threading
import time

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication

from engine.graph import OpGraph, Reading
from tests.app.text.conftest import NET, Bench, Make

LONGEST = 0.05
LAYER = 'layer {\n  name: "x%d"\n  type: "ReLU"\n  bottom: "conv1"\n  top: "x%d"\n}\n'
LONG = "".join(LAYER % (index, index) for index in range(1500))


def _paste(net: Bench, text: str) -> None:
    cursor = net.edit.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.Start)
    net.edit.setFocus()
    net.edit.setTextCursor(cursor)
    data = QMimeData()
    data.setText(text)
    net.edit.insertFromMimeData(data)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_long_text_is_one_step(bench: Make, ends: str) -> None:
    net = bench(NET)
    _paste(net, LONG.replace("\n", ends))
    assert net.pane.paster.active
    assert net.edit.isReadOnly()
    net.qtbot.waitUntil(lambda: not net.pane.paster.active, timeout=20_000)
    assert not net.edit.isReadOnly()
    net.qtbot.waitUntil(lambda: not net.pane.pending, timeout=20_000)
    assert net.text == LONG + NET
    assert net.document.undo_stack.count() == 1
    assert net.edit.textCursor().position() == len(LONG)
    net.document.undo_stack.undo()
    assert bytes(net.document.graph) == net.before
    net.qtbot.waitUntil(lambda: net.shown == NET, timeout=20_000)
    net.document.undo_stack.redo()
    net.qtbot.waitUntil(lambda: net.shown == net.text == LONG + NET, timeout=20_000)


def test_the_window_answers_meanwhile(bench: Make) -> None:
    looks = []
    for _look in range(3):
        net = bench(NET)
        net.pane._pause.set_interval(60_000)
        begin = time.thread_time()
        _paste(net, LONG)
        longest = time.thread_time() - begin
        while net.pane.paster.active:
            begin = time.thread_time()
            QApplication.processEvents()
            longest = max(longest, time.thread_time() - begin)
        looks.append(longest)
        assert net.shown == LONG + NET
    assert min(looks) < LONGEST, f"{min(looks) * 1e3:.0f} ms at once"


def test_escape_takes_out_what_is_there(bench: Make) -> None:
    net = bench(NET)
    _paste(net, LONG)
    while len(net.shown) == len(NET):  # to the first slice, and not as many as fit into a wait
        QApplication.processEvents()
    net.press(Qt.Key.Key_Escape)
    assert not net.pane.paster.active
    assert net.shown == NET
    assert not net.edit.isReadOnly()
    net.pane.commit()
    assert net.document.undo_stack.count() == 0
    net.keys("#")
    assert net.shown == "#" + NET


def test_what_asks_for_the_text_gets_all_of_it(bench: Make) -> None:
    net = bench(NET)
    _paste(net, LONG)
    net.pane.commit()
    assert net.text == LONG + NET


def test_an_edit_of_the_graph_comes_between(bench: Make) -> None:
    net = bench(NET)
    _paste(net, LONG)
    net.document.apply("rename", lambda graph: graph.rename_node(net.node("relu1").id, "other"))
    net.pane.commit()
    assert net.text == net.shown == LONG + NET.replace('"relu1"', '"other"')
    for _step in range(2):
        net.document.undo_stack.undo()
    assert bytes(net.document.graph) == net.before


def test_a_text_that_would_be_too_long_is_refused_at_once(bench: Make) -> None:
    net = bench(NET)
    looks = []
    for _look in range(3):
        begin = time.thread_time()
        _paste(net, "# too much\n" * 500_000)
        looks.append(time.thread_time() - begin)
    assert min(looks) < LONGEST
    assert net.shown == NET
    assert "5.2 MB" in net.pane._message.text()
    assert not net.pane._message.isHidden()
    assert not net.pane.pending


def test_a_long_text_is_read_away_from_the_window(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    real = OpGraph.read_ahead

    def read_ahead(graph: OpGraph, text: str) -> Reading:
        threads.append(threading.current_thread().name)
        return real(graph, text)

    monkeypatch.setattr(OpGraph, "read_ahead", read_ahead)
    net = bench(NET)
    _paste(net, LONG)
    net.qtbot.waitUntil(lambda: not net.pane.paster.active, timeout=20_000)
    net.qtbot.waitUntil(lambda: not net.pane.pending, timeout=20_000)
    assert net.text == LONG + NET
    assert len(threads) == 1
    assert threads != [threading.current_thread().name]


def test_what_was_read_beside_another_text_is_not_used(bench: Make) -> None:
    net = bench(NET)
    graph = net.document.graph
    reading = graph.read_ahead(LONG + NET)
    net.document.apply("rename", lambda graph: graph.rename_node(net.node("relu1").id, "other"))
    net.document.apply("replace", lambda graph: graph.replace_text(LONG + NET, reading))
    assert net.text == LONG + NET
    assert [node.name for node in graph.nodes()] == [node.name for node in OpGraph.parse(LONG + NET).nodes()]
