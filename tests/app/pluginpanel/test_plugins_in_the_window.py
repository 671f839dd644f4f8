"""Plugins as a user meets them: dropped, trusted, edited, broken, converted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton

from engine.plugins import use_safe_mode
from tests.app.pluginpanel.conftest import NET, Project, layer_with
from tests.engine.plugins.helpers import write

OLD = "import caffe\n\nclass Halve(caffe.Layer):\n    def setup(self, bottom, top):\n        print 'old'\n" + (
    "    def reshape(self, bottom, top): top[0].reshape(4)\n"
    "    def forward(self, bottom, top): pass\n    def backward(self, top, propagate_down, bottom): pass\n"
)


def test_a_dropped_folder_is_in_the_palette_once_it_is_trusted(project: Project, tmp_path: Path) -> None:
    project.open('layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }', trusted=False)
    seconds = []
    for name in ("outside", "another", "third"):  # the best counts: other programs of a test machine want their time
        folder = write(tmp_path / name, **{name: layer_with("5").replace("Halve", name.title())})
        project.drop(folder)
        project.wait_until(lambda name=name: any(name in bar.text for bar in project.window.bars))
        assert name.title() not in project.palette()
        assert folder not in project.window.document.plugin_paths
        begin = time.perf_counter()
        project.press("Trust")
        project.wait_until(lambda name=name: name.title() in project.palette(), 5000)
        seconds.append(time.perf_counter() - begin)
        assert folder in project.window.settings.plugin_folders
    assert min(seconds) < 1, seconds
    # Its layers run although the net's own folder is not trusted.
    project.window.document.selection.set([project.node("x")])
    project.window.canvas.add_layer("python:outside/Outside")
    name = project.window.document.graph.node(project.window.document.selection.last).name
    project.wait_until(lambda: project.tops(name) == ((5,),))
    project.window.document.undo_stack.undo()
    assert not [node for node in project.window.document.graph.nodes() if node.type == "Python"]


@pytest.mark.parametrize(
    ("modules", "words"),
    [({"other": "x = 1\n"}, "no layers"), ({"engine": "x = 1\n", "halve": layer_with("1")}, "engine")],
)
def test_a_folder_that_cannot_be_used_is_told_and_not_offered(
    project: Project, tmp_path: Path, modules: dict[str, str], words: str
) -> None:
    project.open(trusted=False)
    project.drop(write(tmp_path / "outside", **modules))
    project.wait_until(lambda: any(words in bar.text for bar in project.window.bars))
    bar = next(bar for bar in project.window.bars if words in bar.text)
    assert not bar.findChild(QPushButton, "window.bar.action.Trust")


def test_code_of_the_project_runs_only_when_it_is_allowed(project: Project, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    write(project.folder / "plugins", halve=layer_with("2") + f"\nopen({str(mark)!r}, 'w').close()\n")
    project.open(trusted=False)
    project.wait_until(lambda: project.window.document.shapes)
    assert "Halve" in project.palette()  # its text is read
    assert not mark.exists() and project.tops() == (None,)
    project.press("Trust")
    project.wait_until(lambda: project.tops() == ((2,),))
    assert mark.exists()


def test_a_saved_file_shows_its_new_shapes_in_under_a_second(project: Project, halve: Path) -> None:
    project.open()
    project.wait_until(lambda: project.tops() == ((2,),))
    seconds = []
    for size in range(3, 6):
        begin = time.perf_counter()
        write(halve, halve=layer_with(str(size)))
        project.wait_until(lambda size=size: project.tops() == ((size,),))
        seconds.append(time.perf_counter() - begin)
    assert min(seconds) < 1, seconds


def test_a_module_beside_the_net_is_watched_too(project: Project) -> None:
    write(project.folder, halve=layer_with("2"))
    project.open()
    project.wait_until(lambda: project.tops() == ((2,),))
    write(project.folder, halve=layer_with("3"))
    project.wait_until(lambda: project.tops() == ((3,),))


def test_a_failed_reload_keeps_the_shapes_and_its_error_can_be_copied(project: Project, halve: Path) -> None:
    """F5, A17."""
    project.open()
    project.wait_until(lambda: project.tops() == ((2,),))
    write(halve, halve=layer_with("2") + "\nraise KeyError('lost')\n")
    project.wait_until(lambda: "KeyError" in project.error())
    assert project.tops() == ((2,),)
    project.wait_until(lambda: project.window.document.problems_of(project.node())[0] == "error")
    project.window.document.selection.set([project.node()])
    project.window.document.selection.flush()
    actions = {action.text(): action for action in project.window.canvas.node_menu().actions()}
    actions["Show the whole error\u2026"].trigger()
    sheet = project.sheet("ErrorSheet")
    project.qtbot.mouseClick(sheet.findChild(QPushButton, "plugins.sheet.copy"), Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert "Traceback" in copied and "halve.py" in copied and "KeyError: 'lost'" in copied
    project.qtbot.mouseClick(sheet.findChild(QPushButton, "plugins.sheet.code"), Qt.MouseButton.LeftButton)
    pane = project.window.panels["code"]
    project.wait_until(lambda: pane.edit is not None and pane.edit.mistakes)
    assert pane.edit.mistakes[0].line == layer_with("2").count("\n") + 2
    sheet.close()
    write(halve, halve=layer_with("7"))
    project.wait_until(lambda: project.tops() == ((7,),) and not project.error())


def test_the_panel_lists_plugins_with_what_is_wrong(project: Project, halve: Path) -> None:
    write(halve, bad="import caffe\nimport no_such_thing\nclass Bad(caffe.Layer): pass\n")
    project.open()
    panel = project.window.panels["plugins"]
    project.window.show_panel("plugins")
    panel.choose(halve)
    project.wait_until(lambda: "no_such_thing" in panel.errors.toPlainText())
    assert "Traceback" in panel.errors.toPlainText()
    facts = panel.current
    assert facts.name == "halving" and set(facts.names) == {"Halve", "Bad"} and facts.state == "has errors"
    project.qtbot.mouseClick(panel.findChild(QPushButton, "plugins.copy"), Qt.MouseButton.LeftButton)
    assert "no_such_thing" in QGuiApplication.clipboard().text()
    project.qtbot.mouseClick(panel.findChild(QPushButton, "plugins.trust"), Qt.MouseButton.LeftButton)
    project.wait_until(lambda: panel.current.state == "not trusted")
    assert not project.window.document.live.trusted


def test_python_2_is_converted_only_after_its_changes_were_shown(project: Project, halve: Path) -> None:
    file = halve / "halve.py"
    file.write_text(OLD)
    project.open()
    project.wait_until(lambda: "Python 2" in project.error())
    project.window.show_panel("plugins")
    panel = project.window.panels["plugins"]
    panel.choose(halve)
    project.wait_until(lambda: panel.current is not None and panel.current.is_python2)
    project.qtbot.mouseClick(panel.findChild(QPushButton, "plugins.convert"), Qt.MouseButton.LeftButton)
    sheet = project.sheet("ConversionSheet")
    assert "+        print('old')" in sheet.text.toPlainText()
    assert file.read_text() == OLD
    project.qtbot.mouseClick(sheet.findChild(QPushButton, "plugins.sheet.apply"), Qt.MouseButton.LeftButton)
    assert "print('old')" in file.read_text()
    project.wait_until(lambda: project.tops() == ((4,),))
    project.press("Undo")
    assert file.read_text() == OLD


@pytest.fixture
def safe(request: pytest.FixtureRequest) -> Any:
    use_safe_mode()
    yield
    use_safe_mode(False)


def test_safe_mode_is_marked_and_runs_no_plugin(safe: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    project: Project = request.getfixturevalue("project")
    write(project.folder / "plugins", halve=layer_with("2"))
    project.open()
    assert "safe mode" in project.window.windowTitle()
    mark = project.window.findChild(QLabel, "window.safe_mode")
    assert mark is not None and mark.isVisible()
    project.wait_until(lambda: project.window.document.shapes)
    assert project.tops() == (None,) and "Halve" not in project.palette()
    project.drop(write(tmp_path / "outside", halve=layer_with("5")))
    project.wait_until(lambda: any("safe mode" in bar.text for bar in project.window.bars))


def test_a_schema_of_the_manifest_makes_the_form(project: Project, halve: Path) -> None:
    table = '[layers."halve.Halve".param_str.gain]\ntype = "float"\ndefault = 2.5\nmax = 9\n'
    (halve / "plugin.toml").write_text(table)
    project.open(NET.replace('"Halve"', '"Halve" param_str: ""'))
    project.window.document.selection.set([project.node()])
    project.window.document.selection.flush()
    editor = project.window.panels["properties"].page.findChild(object, "properties.python_param.param_str.gain")
    assert editor is not None and editor.placeholderText() == "2.5"
