"""A project with plugins in the window, and what a user does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QPushButton

from app.palette import rows
from app.window.mainwindow import MainWindow
from tests.engine.plugins.helpers import write

LAYER = """
import caffe

class Halve(caffe.Layer):
    def setup(self, bottom, top): pass
    def reshape(self, bottom, top): top[0].reshape(SIZE)
    def forward(self, bottom, top): pass
    def backward(self, top, propagate_down, bottom): pass
"""
NET = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
layer { name: "p" type: "Python" bottom: "x" top: "y" python_param { module: "halve" layer: "Halve" } }
"""


def layer_with(size: str) -> str:
    return LAYER.replace("SIZE", size)


class Project:
    """A folder with a net, shown in the window."""

    def __init__(self, window: MainWindow, qtbot: Any, folder: Path) -> None:
        self.window = window
        self.qtbot = qtbot
        self.folder = folder

    def open(self, text: str = NET, *, trusted: bool = True) -> None:
        path = self.folder / "net.prototxt"
        path.write_text(text)
        if trusted:
            self.window.settings.trust(self.folder)
        assert self.window.files.open(path)
        self.qtbot.waitUntil(lambda: bool(self.window.document.live.plugins.folders))

    def node(self, name: str = "p") -> Any:
        return self.window.document.graph.named(name)[0].id

    def tops(self, name: str = "p") -> Any:
        shapes = self.window.document.shapes.get(self.node(name))
        return shapes.tops if shapes is not None else None

    def error(self, name: str = "p") -> str:
        shapes = self.window.document.shapes.get(self.node(name))
        return str(shapes.error) if shapes is not None and shapes.error is not None else ""

    def wait_until(self, condition: Callable[[], object], timeout: int = 15_000) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=timeout)

    def drop(self, folder: Path) -> None:
        """Drag a folder from outside onto the canvas."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(folder))])
        target = self.window.canvas.viewport()
        copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(QPoint(50, 50), copy, data, left, none)
        QApplication.sendEvent(target, enter)
        assert enter.isAccepted()
        QApplication.sendEvent(target, QDropEvent(QPointF(50, 50), copy, data, left, none))

    def press(self, label: str) -> None:
        """Press a button of a bar."""
        found: list[QPushButton] = []

        def there() -> bool:
            name = f"window.bar.action.{label}"
            found[:] = [b for bar in self.window.bars for b in bar.findChildren(QPushButton) if b.objectName() == name]
            return bool(found)

        self.wait_until(there)
        self.qtbot.mouseClick(found[0], Qt.MouseButton.LeftButton)

    def palette(self) -> list[str]:
        model = self.window.palette_panel.model
        return [str(model.item(row).data(rows.TYPE)) for row in range(model.rowCount())]

    def sheet(self, kind: str) -> Any:
        from PySide6.QtWidgets import QDialog

        found: list[Any] = []

        def there() -> bool:
            found[:] = [s for s in self.window.findChildren(QDialog) if type(s).__name__ == kind and s.isVisible()]
            return bool(found)

        self.wait_until(there)
        return found[0]


@pytest.fixture
def project(window: MainWindow, qtbot: Any, tmp_path: Path) -> Iterator[Project]:
    folder = tmp_path / "project"
    folder.mkdir()
    yield Project(window, qtbot, folder)


@pytest.fixture
def halve(project: Project) -> Path:
    """The plugin folder of the project, with one layer."""
    return write(project.folder / "plugins" / "halving", halve=layer_with("2"))
