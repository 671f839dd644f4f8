"""What a plugin says of its Python layers is seen in the window: pictures, and the names of ports."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from app.layerpicture import LayerPicture
from app.palette import rows
from tests.app.pluginpanel.conftest import NET, Project, layer_with
from tests.app.support import COLOURED, GLYPH
from tests.engine.plugins.helpers import write

TABLE = '[plugin]\nicon = "{icon}"\n[layers."halve.Halve"]\nbottoms = ["features", "boxes"]\ntops = ["low", "high"]\n'
TWO_TOPS = NET.replace('top: "y"', 'top: "y" top: "z"')


def face(project: Project, name: str = "p") -> Any:
    return project.window.canvas.canvas.nodes[project.node(name)].face


def in_palette(project: Project, name: str) -> Any:
    model = project.window.palette_panel.model
    items = [model.item(row) for row in range(model.rowCount())]
    return next(item.data(rows.PICTURE) for item in items if item.data(rows.TYPE) == name)


def test_a_picture_is_in_the_palette_on_the_node_and_in_the_properties(project: Project, halve: Path) -> None:
    (halve / "icon.svg").write_text(GLYPH)
    (halve / "plugin.toml").write_text(TABLE.format(icon="icon.svg"))
    project.open(trusted=False)  # it is text, and needs no trust
    project.wait_until(lambda: face(project).picture is not None)
    shown = face(project).picture
    assert isinstance(shown, LayerPicture) and shown.path == str(halve / "icon.svg")
    assert in_palette(project, "Halve") == shown
    assert in_palette(project, "Convolution") is None and face(project, "x").picture is None
    project.window.document.selection.set([project.node()])
    project.window.document.selection.flush()
    assert project.window.panels["properties"].page.header.mark._picture == shown
    (halve / "icon.svg").write_text(COLOURED)
    project.wait_until(lambda: face(project).picture not in (None, shown))
    assert in_palette(project, "Halve") == face(project).picture


def test_a_picture_that_cannot_be_shown_is_told_once_and_the_category_stands_in(
    project: Project, halve: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (halve / "plugin.toml").write_text(TABLE.format(icon="gone.svg"))
    with caplog.at_level(logging.WARNING, "app.live.plugins"):
        project.open()
        project.wait_until(lambda: project.tops() == ((2,),))
        project.window.plugins.reload()
        project.wait_until(lambda: not project.window.document.live.busy)
    told = [record.getMessage() for record in caplog.records if "gone.svg" in record.getMessage()]
    assert len(told) == 1
    assert face(project).picture is None and in_palette(project, "Halve") is None
    project.window.show_panel("plugins")
    panel = project.window.panels["plugins"]
    panel.choose(halve)
    assert "gone.svg" in panel.errors.toPlainText() and panel.current.state == "has warnings"


def test_ports_of_a_python_layer_have_the_names_that_its_plugin_gives(project: Project, halve: Path) -> None:
    project.open(TWO_TOPS)
    assert [port.label for port in face(project).inputs] == ["x", "input"]
    assert [port.label for port in face(project).outputs] == ["y", "z"]
    (halve / "plugin.toml").write_text(TABLE.format(icon=""))
    project.wait_until(lambda: face(project).outputs[0].label == "low")
    assert [port.label for port in face(project).inputs] == ["features", "boxes"]
    assert [port.label for port in face(project).outputs] == ["low", "high"]
    assert [port.blob for port in face(project).outputs] == ["y", "z"]
    (halve / "plugin.toml").unlink()
    project.wait_until(lambda: face(project).outputs[0].label == "y")


def test_ports_and_summary_of_a_module_beside_the_net_are_read_from_its_class(project: Project) -> None:
    ports = '\n    """Takes the half."""\n    bottoms = ("whole", "mask?")\n    tops: list = ["half"]'
    write(project.folder, halve=layer_with("2").replace("(caffe.Layer):", f"(caffe.Layer):{ports}"))
    project.open(trusted=False)
    project.wait_until(lambda: [port.label for port in face(project).inputs] == ["whole"])
    assert face(project).summary == "Takes the half." and face(project).state == "code not run"
    assert "Halve" in project.palette()
