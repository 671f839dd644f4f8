"""Take the pictures of resources/screenshots from the real program: `python docs/screenshots.py`.

Runs the window without a screen, trains the bundled LeNet in it, and saves what it shows, in both themes. Settings
and data go to a temporary folder, so the pictures show a first start and the user's own files stay untouched.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QSettings, QSize
from PySide6.QtWidgets import QApplication, QWidget

from app.start import make_application
from app.theme import Theme
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from engine.examples import prepare_example

PICTURES = ROOT / "resources" / "screenshots"
SIZE = QSize(1600, 1000)
ITERATIONS = 400


def wait_until(ready: Callable[[], bool], what: str, seconds: float = 300.0) -> None:
    """Let the window work until ``ready``."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # only an event loop does that by itself
        time.sleep(0.005)


def settle(seconds: float = 0.5) -> None:
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > end, "the window to settle")


def save(window: QWidget, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    path = PICTURES / f"{name}.png"
    if not window.grab().save(str(path), "PNG"):
        raise OSError(f"cannot write {path}")
    print(path.relative_to(ROOT))


def select(window: MainWindow, name: str) -> None:
    document = window.document
    document.selection.set([next(node.id for node in document.graph.nodes() if node.name == name)])


def take(app: QApplication, folder: Path) -> None:
    os.environ["XDG_DATA_HOME"] = str(folder / "data")
    example = prepare_example("lenet", folder=folder)
    solver = example.solver.read_text().replace("max_iter: 1000", f"max_iter: {ITERATIONS}")
    example.solver.write_text(solver)
    Theme.load("light").apply(app)
    window = MainWindow(WindowSettings(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)))
    window.resize(SIZE)
    window.show()
    window.load_panels()
    window.files.open(example.net)
    settle()
    select(window, "conv1")
    panel = window.panels["training"]
    panel.train_action.trigger()
    wait_until(lambda: panel.state == "finished", "the training")
    for theme in ("light", "dark"):
        Theme.load(theme).apply(app)
        window.show_panel("properties")
        settle()
        save(window, f"editor-{theme}")
        window.show_panel("text")
        settle()
        save(window, f"text-{theme}")
    window.close()


def main() -> None:
    app = make_application()
    with tempfile.TemporaryDirectory() as folder:
        take(app, Path(folder))


if __name__ == "__main__":
    main()
