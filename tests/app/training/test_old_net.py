"""A training keeps the net that it started with; the panel says so, and can train the edited one."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from app.document import Document
from tests.app.training.conftest import MakePanel, wait_for_state
from tests.app.training.hands import button, train


def edit(document: Document) -> None:
    text = bytes(document.graph) + b"# edited\n"
    document.apply("Edit", lambda graph: graph.replace_text(text))


def test_an_edit_is_told_until_it_is_taken_back(
    endless: Path, document: Document, make_panel: MakePanel, qtbot: QtBot
) -> None:
    panel = make_panel()
    edit(document)  # nothing trains
    document.undo_stack.undo()
    train(qtbot, panel)
    assert panel.strip.notice is None
    edit(document)
    qtbot.waitUntil(lambda: panel.strip.notice is not None, timeout=10_000)
    notice = panel.strip.notice
    assert notice is not None and "the net it started with" in notice.text
    edit(document)
    panel._old_net._due.flush()
    assert panel.strip.notice is notice, "said once"
    document.undo_stack.undo()
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: panel.strip.notice is None, timeout=10_000)


def test_the_edited_net_is_trained_on_request(
    endless: Path, document: Document, make_panel: MakePanel, qtbot: QtBot
) -> None:
    panel = make_panel()
    train(qtbot, panel)
    first = panel.run
    edit(document)
    qtbot.waitUntil(lambda: panel.strip.notice is not None, timeout=10_000)
    button(panel, "message_action_0").click()
    qtbot.waitUntil(lambda: panel.run is not None and panel.run != first, timeout=20_000)
    wait_for_state(qtbot, panel, "running")
    assert panel.run is not None and panel.run.net_text().endswith("# edited\n")
    assert first is not None and first.status().state == "stopped"


def test_it_is_told_of_a_training_that_is_resumed_after_the_edit(
    endless: Path, document: Document, make_panel: MakePanel, qtbot: QtBot
) -> None:
    panel = make_panel()
    train(qtbot, panel)
    panel.stop()
    wait_for_state(qtbot, panel, "stopped")
    edit(document)
    qtbot.waitUntil(lambda: panel.strip.notice is not None, timeout=10_000)
    button(panel, "message_action_0").click()  # resume it
    wait_for_state(qtbot, panel, "running")
    qtbot.waitUntil(
        lambda: panel.strip.notice is not None and "the net it started with" in panel.strip.notice.text, timeout=10_000
    )
