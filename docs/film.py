"""Film the first five minutes of a new user: `python docs/film.py FOLDER`.

Drives the real window without a screen, by mouse and keyboard alone, from the welcome page to a picture of the net, and
saves what it shows after each act to FOLDER, in both themes. Settings and data go to a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SCREEN = {"screens": [{"name": "film", "x": 0, "y": 0, "width": 1920, "height": 1200, "logicalDpi": 96, "dpr": 1}]}


def use_screen(folder: Path) -> None:
    """Have Qt draw on a screen that holds the window and what pops up; before the application is made."""
    config = folder / "screen.json"
    config.write_text(json.dumps(SCREEN))
    os.environ.setdefault("QT_QPA_PLATFORM", f"offscreen:configfile={config}")


from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QWidget

from app.canvas.scene.nodeitem import NodeItem
from app.start import make_application
from app.theme import Theme
from app.window.canvas_area import CanvasArea
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from engine.examples import prepare_example

SIZE = QSize(1600, 1000)
LEFT = Qt.MouseButton.LeftButton
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def wait_until(ready: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Let the window work until ``ready``."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.005)


def settle(seconds: float = 0.4) -> None:
    """Let the window do what is due."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > end, "the window to settle")


class Camera:
    """Takes pictures of a window with what pops up over it.

    Parameters
    ----------
    window : QWidget
    folder : Path
        Where the pictures go.
    theme : str
        Goes into their names.
    """

    def __init__(self, window: QWidget, folder: Path, theme: str) -> None:
        self._window, self._folder, self._theme, self._count = window, folder, theme, 0

    def take(self, name: str) -> None:
        """Save a picture; they are numbered in the order in which they are taken."""
        settle()
        picture = self._window.grab()
        painter = QPainter(picture)
        for popup in QApplication.topLevelWidgets():
            if popup is not self._window and popup.isVisible():
                self._draw(painter, popup.grab(), popup.frameGeometry())
        painter.end()
        self._count += 1
        path = self._folder / f"{self._count:02}-{name}-{self._theme}.png"
        if not picture.save(str(path), "PNG"):
            raise OSError(f"cannot write {path}")
        print(path.name)

    def _draw(self, painter: QPainter, picture: QPixmap, frame: QRect) -> None:
        painter.drawPixmap(frame.topLeft() - self._window.mapToGlobal(QPoint()), picture)


class Hands:
    """Mouse and keyboard of the user in the window."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window

    @property
    def view(self) -> CanvasArea:
        return self.window.canvas

    def node(self, name: str) -> NodeItem:
        """The card of a layer."""
        return self.view.canvas.nodes[self.window.document.graph.named(name)[0].id]

    def title(self, name: str) -> QPoint:
        """A place on the title of a card."""
        body = self.node(name).scene_body()
        return self.view.mapFromScene(QPointF(body.left() + 60.0, body.top() + 12.0))

    def click(self, at: QPoint) -> None:
        """Click on a place of the canvas."""
        self.move(at)
        QTest.mouseClick(self.view.viewport(), LEFT, pos=at)

    def move(self, at: QPoint, held: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
        """Move the pointer over the canvas."""
        target = self.view.viewport()
        place = QPointF(at)
        kind, none = QEvent.Type.MouseMove, Qt.MouseButton.NoButton
        event = QMouseEvent(kind, place, QPointF(target.mapToGlobal(at)), none, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(target, event)

    def carry(self, start: QPoint, end: QPoint) -> None:
        """Press and drag, without letting go."""
        QTest.mousePress(self.view.viewport(), LEFT, pos=start)
        for step in range(1, 9):
            self.move(start + (end - start) * step / 8, LEFT)

    def drop(self, at: QPoint) -> None:
        """Let go."""
        QTest.mouseRelease(self.view.viewport(), LEFT, pos=at)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key in what has the focus, or else in the canvas."""
        QTest.keyClick(self._focus(), key, modifiers)

    def write(self, text: str) -> None:
        """Type a text into what has the focus."""
        QTest.keyClicks(self._focus(), text)

    def _focus(self) -> QWidget:
        """What gets the keys: of an open popup the field in it."""
        popup = QApplication.activePopupWidget()
        if popup is not None:
            return popup.focusWidget() or popup
        return QApplication.focusWidget() or self.view

    def choose(self, menu: QMenu, words: str) -> None:
        """Walk to an entry of an open menu by keyboard and take it."""
        for _step in range(len(menu.actions()) + 1):
            if any(words in action.text() for action in menu.actions() if action is menu.activeAction()):
                QTest.keyClick(menu, Qt.Key.Key_Return)
                self.window.activateWindow()  # without a window manager nothing else gives the keys back
                return
            QTest.keyClick(menu, Qt.Key.Key_Down)
        raise LookupError(f"the menu has no entry '{words}'")


class Film:
    """The acts, one method each, in their order."""

    def __init__(self, window: MainWindow, folder: Path, net: Path, theme: str) -> None:
        self.window, self.net = window, net
        self.hands = Hands(window)
        self.camera = Camera(window, folder, theme)

    def shoot(self) -> None:
        """Play all acts."""
        for act in (
            *(self.welcome, self.open, self.search, self.connect, self.break_it, self.mend, self.take_back),
            *(self.fold, self.compare, self.export),
        ):
            act()

    def welcome(self) -> None:
        self.window.beginnings.welcome()
        self.camera.take("welcome")

    def open(self) -> None:
        self.window.files.open(self.net)
        document = self.window.document
        wait_until(lambda: bool(document.shapes) and not document.live.busy, "the shapes")
        self.camera.take("open")

    def search(self) -> None:
        hands = self.hands
        hands.click(hands.title("pool2"))
        hands.key(Qt.Key.Key_Tab)
        hands.write("conv")
        self.camera.take("search")
        hands.key(Qt.Key.Key_Return)
        self._calm()
        self.camera.take("added")

    def connect(self) -> None:
        hands, document = self.hands, self.window.document
        last = document.selection.last
        assert last is not None
        new = document.graph.node(last).name
        hands.key(Qt.Key.Key_Home)
        settle(0.2)
        start = hands.view.mapFromScene(hands.node(new).output_point(0))
        end = hands.view.mapFromScene(hands.node("ip1").input_point(0))
        hands.carry(start, end)
        self.camera.take("connecting")
        hands.drop(end)
        self._calm()
        self.camera.take("connected")

    def break_it(self) -> None:
        """Misspell a field in the text."""
        hands = self.hands
        hands.click(hands.title("conv2"))
        self.window.show_panel("text")
        settle()
        editor = self.window.panels["text"].edit
        editor.setFocus()
        editor.find("num_output")
        QTest.keyClick(editor, Qt.Key.Key_Right)
        QTest.keyClicks(editor, "s")
        settle(0.2)
        QTest.keyClick(editor, Qt.Key.Key_Escape)
        settle(1.0)
        self._calm()
        self.camera.take("broken")

    def mend(self) -> None:
        hands = self.hands
        hands.view.setFocus()
        QTest.keyClick(hands.view, Qt.Key.Key_Period, CONTROL)
        settle(0.2)
        menu = next(each for each in hands.view.findChildren(QMenu, "canvas.fix_menu") if each.isVisible())
        self.camera.take("quick-fix")
        hands.choose(menu, "Fix: ")
        self._calm()
        self.camera.take("mended")

    def take_back(self) -> None:
        hands = self.hands
        self.window.show_panel("history")
        settle(0.2)
        hands.view.setFocus()
        for _step in range(2):
            QTest.keyClick(hands.view, Qt.Key.Key_Z, CONTROL)
        self._calm()
        self.camera.take("undone")

    def fold(self) -> None:
        hands, view = self.hands, self.hands.view
        for name in ("conv1", "pool1"):
            at = hands.title(name)
            hands.move(at)
            QTest.mouseClick(view.viewport(), LEFT, SHIFT if name != "conv1" else Qt.KeyboardModifier.NoModifier, at)
        QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.AltModifier)
        settle(0.2)
        QTest.keyClick(view, Qt.Key.Key_Home)
        self._calm()
        self.camera.take("folded")

    def compare(self) -> None:
        self.window.comparing.menu.popup(self.window.mapToGlobal(QPoint(240, 60)))
        self.hands.choose(self.window.comparing.menu, "saved file")
        view = self.window.tabs.current.comparison
        assert view is not None
        wait_until(lambda: view.comparison.is_listed and not view.comparison.busy, "what differs, and its costs")
        settle(1.0)
        self.camera.take("compared")
        self.window.comparing.close()
        settle(0.2)

    def export(self) -> None:
        view = self.hands.view
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_E, CONTROL | SHIFT)
        wait_until(lambda: any(each.isVisible() for each in view.findChildren(QFileDialog)), "the dialog", 10.0)
        dialog = next(each for each in view.findChildren(QFileDialog) if each.isVisible())
        self.camera.take("export")
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        assert isinstance(field, QLineEdit)
        QTest.keyClick(field, Qt.Key.Key_A, CONTROL)
        QTest.keyClicks(field, str(self.net.with_suffix(".svg")))
        QTest.keyClick(field, Qt.Key.Key_Return)
        settle(0.2)
        self._calm()
        self.camera.take("exported")

    def _calm(self) -> None:
        document = self.window.document
        settle(0.1)
        wait_until(lambda: not document.live.busy, "shapes and diagnoses")


def film(app: QApplication, folder: Path, theme: str) -> None:
    """Play the film once, in a theme."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        os.environ["XDG_DATA_HOME"] = str(work / "data")  # blocks that the user keeps are none of a first start
        net = prepare_example("lenet", folder=work / "digits").net
        settings = WindowSettings(QSettings(str(work / "settings.ini"), QSettings.Format.IniFormat))
        settings.theme = theme
        Theme.load(theme).apply(app)
        window = MainWindow(settings)
        window.resize(SIZE)
        window.show()
        window.activateWindow()
        settle()
        window.load_panels()
        settle()
        try:
            Film(window, folder, net, theme).shoot()
        finally:
            for page in window.tabs.pages():
                page.document.undo_stack.setClean()
            window.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Film the first five minutes of a new user.")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        use_screen(Path(name))
        app = make_application()
    for theme in ("light", "dark"):
        film(app, folder, theme)


if __name__ == "__main__":
    main()
