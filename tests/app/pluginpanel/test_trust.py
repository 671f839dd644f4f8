"""Code that came with a net: asked about, allowed without opening the net again, or left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton

from tests.app.pluginpanel.conftest import NET, Project, layer_with
from tests.engine.plugins.helpers import write

INPUT = NET.partition("\n")[0]


@pytest.fixture
def beside(project: Project) -> Project:
    """A net of a folder that is not trusted, with the module of its layer beside it."""
    write(project.folder, halve=layer_with("2"))
    return project


def bars(project: Project) -> list[Any]:
    return [bar for bar in project.window.bars if bar.objectName() == "window.bar.trust"]


def face(project: Project) -> Any:
    return project.window.canvas.canvas.nodes[project.node()].face


def menu(project: Project) -> dict[str, Any]:
    project.window.document.selection.set([project.node()])
    project.window.document.selection.flush()
    return {action.text(): action for action in project.window.canvas.node_menu().actions()}


def test_a_module_beside_an_untrusted_net_is_offered_and_comes_alive(beside: Project) -> None:
    beside.open(trusted=False)
    beside.wait_until(lambda: bars(beside))
    assert "halve.py" in bars(beside)[0].text and "'project'" in bars(beside)[0].text
    beside.wait_until(lambda: face(beside).reason)
    assert face(beside).state == "code not run" and "not trusted" in face(beside).reason
    assert not beside.error() and beside.tops() == (None,)
    graph = beside.window.document.graph
    beside.press("Trust")
    beside.wait_until(lambda: beside.tops() == ((2,),) and face(beside).state == "")
    assert beside.window.document.graph is graph and not bars(beside)
    assert "Trust the code of this folder" not in menu(beside)


def test_a_refusal_keeps_what_the_text_says_and_can_be_taken_back_at_the_node(beside: Project) -> None:
    beside.open(trusted=False)
    beside.wait_until(lambda: bars(beside))
    close = bars(beside)[0].findChild(QToolButton)
    beside.qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    beside.window.plugins.reload()
    beside.wait_until(lambda: beside.window.document.live.is_started and not beside.window.document.live.busy)
    assert not bars(beside)  # asked once
    assert [port.label for port in face(beside).outputs] == ["y"] and beside.tops() == (None,)
    assert not beside.window.settings.is_trusted(beside.folder)
    menu(beside)["Trust the code of this folder"].trigger()
    beside.wait_until(lambda: beside.tops() == ((2,),))
    assert beside.window.settings.is_trusted(beside.folder)


def test_files_beside_the_net_are_in_the_list_of_plugins(beside: Project) -> None:
    beside.open(trusted=False)
    beside.wait_until(lambda: bars(beside))
    beside.window.show_panel("plugins")
    panel = beside.window.panels["plugins"]
    panel.choose(beside.folder)
    assert panel.current.state == "not trusted" and panel.current.names == ("Halve",)
    assert "halve.py" in panel.about.text()
    trust = panel.findChild(QPushButton, "plugins.trust")
    beside.qtbot.mouseClick(trust, Qt.MouseButton.LeftButton)
    beside.wait_until(lambda: beside.tops() == ((2,),) and panel.current.state == "ready")
    assert not bars(beside)
    write(beside.folder, halve=layer_with("1 / 0"))
    beside.wait_until(lambda: panel.current.state == "has errors")
    assert "ZeroDivisionError" in panel.errors.toPlainText()
    beside.qtbot.mouseClick(trust, Qt.MouseButton.LeftButton)
    beside.wait_until(lambda: panel.current.state == "not trusted" and face(beside).state == "code not run")


def test_a_layer_that_is_added_later_is_asked_about_too(beside: Project) -> None:
    beside.open(INPUT, trusted=False)
    beside.wait_until(lambda: beside.window.document.live.is_started and not beside.window.document.live.busy)
    assert not bars(beside)
    fields = 'python_param { module: "halve" layer: "Halve" }'
    add = lambda graph: graph.add_node("Python", bottoms=["x"], tops=1, fields=fields)  # noqa: E731
    beside.window.document.apply("Add", add)
    beside.wait_until(lambda: bars(beside))


def test_a_module_that_is_nowhere_is_told_without_a_question_and_heard_when_it_comes(project: Project) -> None:
    project.open(trusted=False)
    project.wait_until(lambda: face(project).state == "code not found" and face(project).reason)
    assert "module 'halve' was not found" in face(project).reason and not bars(project)
    project.wait_until(lambda: project.window.document.problems_of(project.node())[0] == "warning")
    write(project.folder, halve=layer_with("2"))
    project.wait_until(lambda: bars(project))
    project.press("Trust")
    project.wait_until(lambda: project.tops() == ((2,),) and face(project).state == "")
    project.wait_until(lambda: project.window.document.problems_of(project.node())[0] == "")


def test_two_projects_with_a_module_of_one_name_keep_apart(beside: Project, tmp_path: Path) -> None:
    beside.open()
    beside.wait_until(lambda: beside.tops() == ((2,),))
    first, node = beside.window.document, beside.node()
    beside.folder = tmp_path / "other"
    write(beside.folder, halve=layer_with("7"))
    beside.open()
    beside.wait_until(lambda: beside.tops() == ((7,),))
    write(beside.folder, halve=layer_with("8"))
    beside.wait_until(lambda: beside.tops() == ((8,),))
    assert first.shapes[node].tops == ((2,),)


def test_another_open_net_of_the_folder_comes_alive_with_it(beside: Project) -> None:
    beside.open(trusted=False)
    beside.wait_until(lambda: bars(beside))
    first = beside.window.document
    other = beside.folder / "other.prototxt"
    other.write_text(NET)
    assert beside.window.files.open(other)
    assert beside.window.document is not first
    beside.wait_until(lambda: bars(beside))
    beside.press("Trust")
    beside.wait_until(lambda: beside.tops() == ((2,),))
    node = first.graph.named("p")[0].id
    beside.wait_until(lambda: first.shapes[node].tops == ((2,),))


def test_the_question_names_plugins_above_the_folder_of_the_net(beside: Project) -> None:
    write(beside.folder.parent / "plugins" / "shared", twice=layer_with("2"))
    beside.open(trusted=False)
    beside.wait_until(lambda: bars(beside))
    assert f"Plugins in {beside.folder.parent / 'plugins'} are then trusted, too." in bars(beside)[0].text


@pytest.mark.parametrize("beside_net", [True, False])
def test_code_that_fails_once_it_is_trusted_is_told_with_what_helps(
    project: Project, tmp_path: Path, beside_net: bool
) -> None:
    folder = (project.folder / "plugins" if beside_net else tmp_path) / "oldies"
    write(folder, halve=layer_with("2") + "\nprint 'old'\n")
    project.open(trusted=False)
    if not beside_net:
        project.drop(folder)
    project.press("Trust")
    project.wait_until(lambda: any("its code fails" in bar.text for bar in project.window.bars))
    bar = next(bar for bar in project.window.bars if "its code fails" in bar.text)
    assert bar.kind == "error" and "'oldies'" in bar.text and "Python 2" in bar.text
    assert [button.text() for button in bar.findChildren(QPushButton)] == ["Convert to Python 3\u2026", "Show"]
    project.press("Show")
    panel = project.window.panels["plugins"]
    assert panel.isVisible() and panel.current is not None and panel.current.path == folder


def test_a_fault_that_comes_after_an_edit_is_not_told_as_one_of_trust(project: Project, halve: Path) -> None:
    project.open(trusted=False)
    project.press("Trust")
    project.wait_until(lambda: project.tops() == ((2,),))
    write(halve, halve=layer_with("2") + "\nraise KeyError('lost')\n")
    project.wait_until(lambda: "KeyError" in project.error())
    assert not any("its code fails" in bar.text for bar in project.window.bars)
