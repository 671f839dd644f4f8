"""A file that another program changed: merged by layers where edits do not overlap, and conflicts are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.window.mainwindow import MainWindow

BASE = "".join(f'layer {{ name: "{name}" type: "Power" bottom: "x" top: "{name}" }}\n' for name in "abc")


@pytest.fixture
def net(window: MainWindow, tmp_path: Path) -> Path:
    path = tmp_path / "net.prototxt"
    path.write_text(BASE)
    assert window.files.open(path)
    return path


def change(window: MainWindow, old: str, new: str) -> None:
    window.document.apply("Change", lambda graph: graph.replace_text(graph.text.replace(old, new)))


def look(window: MainWindow, qtbot) -> list[str]:
    window.files.look_at_disk()
    qtbot.waitUntil(lambda: bool(window.bars), timeout=20_000)
    labels = [button.removeprefix("window.bar.action.") for button in buttons(window)]
    return [label for label in labels if label != "Compare"]  # that answers nothing


def buttons(window: MainWindow) -> list[str]:
    children = window.bars[0].children()
    return [each.objectName() for each in children if each.objectName().startswith("window.bar.action.")]


def press(window: MainWindow, label: str) -> None:
    window.bars[0].findChild(object, f"window.bar.action.{label}").click()


def test_changes_of_different_layers_are_merged_in_one_step_that_can_be_undone(window, net, qtbot):
    change(window, 'name: "a" type: "Power"', 'name: "a" type: "Exp"')
    mine = bytes(window.document.graph)
    net.write_text(BASE.replace('name: "c" type: "Power"', 'name: "c" type: "Log"') + "# theirs\n")
    assert look(window, qtbot) == ["Merge", "Reload", "Overwrite", "Save as\u2026"]
    assert "do not overlap" in window.bars[0].text
    press(window, "Merge")
    merged = bytes(window.document.graph).decode()
    assert 'name: "a" type: "Exp"' in merged and 'name: "c" type: "Log"' in merged and merged.endswith("# theirs\n")
    assert window.document.modified
    assert window.files.save(), "what they wrote is in it, so saving asks no more"
    assert net.read_text() == merged
    window.actions_by_name["undo"].trigger()
    assert bytes(window.document.graph) == mine


@pytest.mark.parametrize(("label", "left"), [("Merge, mine first", "Exp"), ("Merge, theirs first", "Log")])
def test_a_conflict_is_named_and_the_user_says_who_wins(window, net, qtbot, label, left):
    change(window, 'name: "a" type: "Power"', 'name: "a" type: "Exp"')
    net.write_text(BASE.replace('name: "a" type: "Power"', 'name: "a" type: "Log"').replace('top: "c"', 'top: "d"'))
    assert look(window, qtbot) == ["Merge, mine first", "Merge, theirs first", "Reload", "Overwrite", "Save as\u2026"]
    assert "layer 'a'" in window.bars[0].text
    press(window, label)
    assert f'name: "a" type: "{left}"' in window.document.graph.text
    assert 'top: "d"' in window.document.graph.text


def test_without_changes_here_there_is_nothing_to_merge(window, net, qtbot):
    net.write_text(BASE + "# theirs\n")
    assert look(window, qtbot) == ["Reload"]
    press(window, "Reload")
    assert window.document.graph.text.endswith("# theirs\n")
    assert not window.document.modified


def test_a_broken_file_is_not_merged(window, net, qtbot):
    change(window, 'name: "a" type: "Power"', 'name: "a" type: "Exp"')
    net.write_text(BASE + "layer {")
    assert look(window, qtbot) == ["Reload", "Overwrite", "Save as\u2026"]


def test_the_question_is_asked_once_a_change(window, net, qtbot):
    net.write_text(BASE + "# theirs\n")
    look(window, qtbot)
    window.bars[0].dismiss()
    window.files.look_at_disk()
    assert window.bars == []
    net.write_text(BASE + "# again\n")
    window.files.disk.forget(window.document)
    assert look(window, qtbot) == ["Reload"]


def test_edits_made_while_the_question_stands_are_merged_too(window, net, qtbot):
    change(window, 'name: "a" type: "Power"', 'name: "a" type: "Exp"')
    net.write_text(BASE.replace('name: "c" type: "Power"', 'name: "c" type: "Log"'))
    look(window, qtbot)
    change(window, 'name: "b" type: "Power"', 'name: "b" type: "ELU"')
    press(window, "Merge")
    qtbot.waitUntil(lambda: bool(window.bars), timeout=20_000)
    press(window, "Merge")
    assert [node.type for node in window.document.graph.nodes()] == ["Exp", "ELU", "Log"]
