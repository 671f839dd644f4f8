"""Making a Python layer in the window."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton

from tests.app.pluginpanel.conftest import Project

EMPTY = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }\n'


def begin(project: Project) -> Any:
    project.window.actions_by_name["new_layer"].trigger()
    return project.sheet("LayerWizard")


def fill(project: Project, sheet: Any, name: str, text: str) -> None:
    edit = sheet.findChild(QLineEdit, name)
    edit.setFocus()
    edit.selectAll()
    project.qtbot.keyClicks(edit, text)


def test_a_few_questions_make_a_layer_on_the_canvas(project: Project) -> None:
    project.open(EMPTY)
    before = bytes(project.window.document.graph)
    project.window.document.selection.set([project.node("x")])
    sheet = begin(project)
    fill(project, sheet, "wizard.name", "GainLayer")
    assert sheet.module.text() == "gain_layer"
    project.qtbot.mouseClick(sheet.findChild(QPushButton, "wizard.add_field"), Qt.MouseButton.LeftButton)
    assert sheet.focusWidget() is sheet.fields[0].name
    fill(project, sheet, "wizard.field.name", "gain")
    sheet.findChild(QComboBox, "wizard.field.kind").setCurrentText("float")
    fill(project, sheet, "wizard.field.default", "2.5")
    project.qtbot.mouseClick(sheet.create_button, Qt.MouseButton.LeftButton)
    folder = project.folder / "plugins" / "gain_layer"
    assert {path.name for path in folder.iterdir()} == {"gain_layer.py", "plugin.toml", "test_gain_layer.py"}
    graph = project.window.document.graph
    project.wait_until(lambda: any(node.type == "Python" for node in graph.nodes()))
    (node,) = (node for node in graph.nodes() if node.type == "Python")
    assert node.bottoms == ("x",) and node.name == "gain1"
    project.wait_until(lambda: project.tops(node.name) == ((2, 3),))
    pane = project.window.panels["code"]
    assert pane.edit is not None and pane.edit.source.path == folder / "gain_layer.py"
    project.window.document.selection.set([node.id])
    project.window.document.selection.flush()
    editor = project.window.panels["properties"].page.findChild(QLineEdit, "properties.python_param.param_str.gain")
    assert editor is not None and editor.placeholderText() == "2.5"
    stack = project.window.document.undo_stack
    assert stack.count() == 1
    after = bytes(graph)
    stack.undo()
    assert bytes(graph) == before
    stack.redo()
    assert bytes(graph) == after


def test_what_is_there_is_never_overwritten(project: Project) -> None:
    there = project.folder / "plugins" / "my_layer"
    there.mkdir(parents=True)
    project.open(EMPTY)
    sheet = begin(project)
    assert not sheet.create_button.isEnabled() and "there already" in sheet.create_button.toolTip()
    fill(project, sheet, "wizard.tops", "9")
    assert "outputs" in sheet.create_button.toolTip()
    fill(project, sheet, "wizard.tops", "2")
    fill(project, sheet, "wizard.name", "1x")
    assert not sheet.create_button.isEnabled()
    fill(project, sheet, "wizard.name", "Other")
    assert sheet.create_button.isEnabled()
    project.qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    assert not list(there.iterdir()) and not (there.parent / "other").exists()


def test_the_palette_offers_the_wizard(project: Project) -> None:
    project.open(EMPTY)
    panel = project.window.palette_panel
    panel.search.setFocus()
    project.qtbot.keyClicks(panel.search, "new python")
    project.qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    sheet = project.sheet("LayerWizard")
    assert sheet.isVisible()
    sheet.close()
