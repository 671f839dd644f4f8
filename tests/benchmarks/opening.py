"""How long the window is deaf while nets are opened, shown and edited.

    python -m tests.benchmarks.opening [--blame] [LAYERS ...]

Drives the real window and prints for each thing that a user does the longest time in which no key or click would have
been answered, in processor time of the window's thread and by the clock, and what the thread took in all; before that,
how long it takes from the start of the program to the picture of the net. Ends with status 1 when something holds the
window up for three times the 50 ms of the design. ``--blame`` says what it was.
"""

from __future__ import annotations

import compileall
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

import app
import engine
from app.canvas.edits import edits
from app.collector import CalmCollector
from app.compare.view import CompareView
from app.start import share_interpreter
from app.theme import Theme
from app.window.docks.docks import PANELS
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from engine.graph import Node
from tests.benchmarks.nets import residual_net
from tests.benchmarks.stalls import Blame, StallWatch
from tests.benchmarks.starting import start_time

__all__ = ["BUDGET", "Figure", "OpeningBench"]

#: Milliseconds that nothing may take on the window's thread.
BUDGET = 50.0
ROOM = 3
_FEW = 100


@dataclass(frozen=True, slots=True)
class Figure:
    """What one thing that the user did cost, in milliseconds.

    Attributes
    ----------
    longest : float
        Most processor time of the window's thread between two events.
    waited : float
        The longest time by the clock that an event had to wait.
    total : float
        Processor time of the window's thread in all.
    blame : tuple of str
        What was under way in the stretches that are too long, if that was asked for.
    """

    what: str
    longest: float
    waited: float
    total: float
    blame: tuple[str, ...] = ()


class OpeningBench:
    """The window, and a user with nets of some size.

    Parameters
    ----------
    folder : Path
        Where the nets are written.
    count : int
        Layers of each.
    blame : Blame, optional
        Tells what holds the window up.

    Attributes
    ----------
    net : Path
        The net.
    """

    def __init__(self, folder: Path, count: int, blame: Blame | None = None) -> None:
        self._count = count
        self._blame = blame
        self._watch = StallWatch()
        self.net = folder / f"net{count}.prototxt"
        self.net.write_text(residual_net(count))
        self._small = folder / "small.prototxt"
        self._small.write_text(residual_net(_FEW))
        self.window = MainWindow(WindowSettings(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)))
        self._collector = CalmCollector(self.window)
        self.window.resize(1600, 1000)

    def close(self) -> None:
        """Close the window, whatever was edited."""
        for page in self.window.tabs.pages():
            page.document.undo_stack.setClean()
        self._collector.close()
        self.window.close()
        self.window.deleteLater()

    def figures(self) -> Iterator[Figure]:
        """Do one thing after the other and yield what it cost."""
        window = self.window
        yield self._measure("show the window with a small net", self._show)
        yield self._measure("open the net", lambda: window.files.open(self.net))
        yield self._measure("go to the other tab", lambda: window.tabs.step(1))
        yield self._measure("and back", lambda: window.tabs.step(1))
        yield self._measure("change the theme", window.themes.toggle)
        yield self._measure("and back", window.themes.toggle)
        yield self._measure("compare with a changed one", lambda: window.comparing.with_path(self._changed()))
        yield self._measure("unfold what is equal", lambda: self._comparison.equal.choose("all"))
        yield self._measure("hide what is equal", lambda: self._comparison.equal.choose("hide"))
        yield self._measure("show all of it again", lambda: self._comparison.equal.choose("all"))
        yield self._measure("fold what is equal again", lambda: self._comparison.equal.choose("fold"))
        yield self._measure("close the comparison", window.comparing.close)
        yield self._measure("select a layer", lambda: window.document.selection.set([self._layer(0.5).id]))
        yield self._measure("edit a field in the panel", lambda: self._type_number("7"))
        yield self._measure("undo that", window.document.undo_stack.undo)
        window.show_panel("text")
        yield self._measure("show the text", lambda: None)
        yield self._measure("edit a number in the text", self._type_text)
        yield self._measure("undo that", window.document.undo_stack.undo)
        self._select(_FEW)
        yield self._measure(f"delete {_FEW} layers", lambda: edits.delete_selected(window.canvas.canvas))
        yield self._measure("undo that", window.document.undo_stack.undo)
        yield self._measure("open the net again in a tab", lambda: window.files.open(self._copy()))
        yield self._measure("close that", lambda: window.close_page(window.tabs.current))

    # What the user does

    def _show(self) -> None:
        self.window.files.open(self._small)
        self.window.show()

    def _copy(self) -> Path:
        copy = self.net.with_name(f"copy_of_{self.net.name}")
        copy.write_bytes(self.net.read_bytes())
        return copy

    def _changed(self) -> Path:
        changed = self.net.with_name(f"changed_{self.net.name}")
        changed.write_text(self.net.read_text().replace("num_output: 16", "num_output: 12", 2))
        return changed

    @property
    def _comparison(self) -> CompareView:
        found = self.window.tabs.current.comparison
        assert found is not None, "nothing is compared"
        return found

    def _layer(self, place: float) -> Node:
        """Return a convolution about so far down the net."""
        nodes = self.window.document.graph.nodes()
        return next(node for node in nodes[int(place * len(nodes)) :] if node.type == "Convolution")

    def _select(self, count: int) -> None:
        document = self.window.document
        document.selection.set(document.graph.node_ids()[count // 4 : count // 4 + count * 2 // 3])
        document.selection.flush()

    def _type_number(self, text: str) -> None:
        panel = self.window.panels["properties"]
        panel.page.fields.complete()
        editor = panel.page.findChild(QWidget, "properties.convolution_param.num_output")
        editor.setFocus()
        editor.selectAll()
        QTest.keyClicks(editor, text)
        QTest.keyClick(editor, Qt.Key.Key_Return)

    def _type_text(self) -> None:
        """Type a digit into the middle of the text, and leave it."""
        pane = self.window.panels["text"]
        node = self._layer(0.6)
        first, last = self.window.document.graph.line_range(node.id)
        document = pane.edit.document()
        blocks = (document.findBlockByNumber(line - 1) for line in range(first, last + 1))
        block = next(each for each in blocks if "num_output: " in each.text())
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + block.text().index("num_output: ") + len("num_output: "))
        pane.edit.setTextCursor(cursor)
        pane.edit.setFocus()
        QTest.keyClicks(pane.edit, "1")
        pane.commit()

    # Looking at it

    def _measure(self, what: str, action: Callable[[], object]) -> Figure:
        watch = self._watch
        watch.run(action, self._settled)
        blame: list[str] = []
        for stretch in watch.stretches:
            if self._blame is not None and stretch.busy > BUDGET:
                blame += [f"{stretch.busy:.0f} ms", *self._blame.of(stretch)]
        return Figure(what, watch.longest.busy, watch.waited, watch.busy, tuple(blame))

    def _settled(self) -> bool:
        window = self.window
        return (
            len(window._docks.panels) == len(PANELS)
            and not window.document.live.busy
            and window.canvas.is_placed
            and not window.document.jobs.busy
            and not window._leaving.busy
            and not window.tabs.current._dismantling.busy
            and not Theme.notifier().dressing.busy
            and self._is_compared()
        )

    def _is_compared(self) -> bool:
        view = self.window.tabs.current.comparison
        if view is None:
            return True
        together, canvases = view.together, view.canvases
        if canvases is None or together is None or together.busy or view.comparison.busy:
            return False
        return canvases[0].is_placed


def _use_compiled(folder: Path) -> None:
    """Have the modules that are still to be imported compiled, as they are in an installed program."""
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(folder / "compiled")
    for package in (app, engine):
        compileall.compile_dir(next(iter(package.__path__)), quiet=2)


@contextlib.contextmanager
def as_installed(arguments: list[str]) -> Iterator[tuple[Path, Blame | None]]:
    """Set the program up as a user has it; a folder for nets, and who is to be blamed, where that is asked for."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    Theme.load("light").apply(application)
    share_interpreter()
    blame = Blame() if "--blame" in arguments else None
    if blame is not None:
        blame.start()
    with tempfile.TemporaryDirectory() as folder:
        _use_compiled(Path(folder))
        yield Path(folder), blame
    if blame is not None:
        blame.stop()


def report(bench: OpeningBench, count: int) -> bool:
    """Measure and print; return whether something held the window up for too long."""
    failed = False
    for figure in bench.figures():
        verdict = "ok" if figure.longest <= BUDGET else "over" if figure.longest <= ROOM * BUDGET else "FAILED"
        failed |= verdict == "FAILED"
        print(
            f"{count:6} layers  {figure.what:34} longest {figure.longest:7.1f} ms ({figure.waited:7.1f} by the "
            f"clock), in all {figure.total:8.1f} ms   {verdict}",
            flush=True,
        )
        if figure.longest > BUDGET:
            print("".join(f"{'':16}{line}\n" for line in figure.blame), end="", flush=True)
    bench.close()
    return failed


def main(arguments: list[str]) -> int:
    """Run and print; return the exit status."""
    failed = False
    with as_installed(arguments) as (folder, blame):
        for count in [int(each) for each in arguments if each.isdigit()] or [100, 1000, 5000, 10_000]:
            bench = OpeningBench(folder, count, blame)
            print(f"{count:6} layers  {'from start to picture':34} {start_time(bench.net, folder):7.1f} ms")
            failed |= report(bench, count)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
