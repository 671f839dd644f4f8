"""How fast the canvas is, against the budgets of the design.

    python -m tests.benchmarks.canvas [NODES ...]
    python -m tests.benchmarks.canvas --peers[=PYTHON] [NODES ...]

With ``--peers`` other node editors for Python go through the same steps beside ours; see
:mod:`tests.benchmarks.against`. They are in the extra ``bench``, or another Python has them. Else it prints one line
a figure and ends with status 1 when one is above three times its budget. Times are medians of what
one step of the user costs, painting included, on a raster viewport of 1600 x 900 pixels.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import resource

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from app.canvas.edits import edits
from app.canvas.edits.arrange import layout_inputs
from app.canvas.edits.clipboard import paste
from app.canvas.edits.foldedits import fold_repeats
from app.canvas.layout.layout import lay_out
from app.canvas.view import CanvasView
from app.collector import CalmCollector
from app.document import Document
from app.document.annotations import Annotation
from app.document.placement import Point
from app.theme import Theme
from engine.graph import OpGraph
from tests.app.canvas.hands import Hands
from tests.benchmarks.nets import residual_net

# Milliseconds (MB for memory) at 1,000 and at 5,000 nodes.
BUDGETS = {
    "open and first frame, layout known": (200, 800),
    "memory added, MB": (40, 150),
    "pan step, median": (8, 8),
    "pan step, worst": (16, 16),
    "repaint with all in view": (4, 8),
    "zoom step, worst": (16, 25),
    "drag step of a node with wires": (5, 5),
    "add 100 nodes": (20, 20),
    "undo of adding 100 nodes": (20, 20),
    "delete 100 nodes": (20, 20),
    "undo of deleting 100 nodes": (20, 20),
    "start to a shown net": (1000, 2000),
    "layout": (90, 400),
    "shapes come in": (50, 50),
    "fold repeated blocks, longest wait": (50, 50),
    "edit of the folded net": (10, 20),
    "look into a block, longest wait": (50, 50),
    "unfold them, longest wait": (50, 50),
    "pan step with the map and 40 frames": (8, 8),
}


def timed(action: Callable[[], object]) -> float:
    """Milliseconds of processor time of one call: what it would take on a machine that does nothing else."""
    start = time.process_time()
    action()
    return (time.process_time() - start) * 1e3


def waited(action: Callable[[], object]) -> float:
    """Milliseconds of the window's thread alone."""
    start = time.thread_time()
    action()
    return (time.thread_time() - start) * 1e3


def memory() -> float:
    """Peak resident memory in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Bench:
    """One net on one canvas."""

    def __init__(self, app: QApplication, count: int) -> None:
        self.app = app
        self.count = count
        text = residual_net(count)
        self.document = Document(OpGraph.parse(text))
        self.document.registry.infos()
        self.figures: dict[str, float] = {}

    def paint(self) -> None:
        """Let Qt paint what has changed, as between two events of the user."""
        self.app.processEvents()

    def run(self) -> dict[str, float]:
        self.open()
        self.pan()
        self.zoom()
        self.drag()
        self.add()
        self.delete()
        self.shapes()
        self.fold()
        self.frames()
        self.close()
        return self.figures

    def close(self) -> None:
        self.view.close_document()
        self.view.close()
        self.document.close()

    def open(self) -> None:
        probe = CanvasView(self.document)
        nodes, edges = layout_inputs(probe.canvas)
        self.figures["layout"] = timed(lambda: lay_out(nodes, edges))
        result = lay_out(nodes, edges)
        for key, place in result.places.items():
            self.document.positions.place(key, *place)
        probe.close_document()
        probe.deleteLater()
        self.app.processEvents()
        before = memory()

        def show() -> None:
            self.view = CanvasView(self.document)
            self.view.resize(1600, 900)
            self.view.show()
            self.view.frame_start()
            self.paint()

        self.figures["open and first frame, layout known"] = timed(show)
        self.figures["memory added, MB"] = memory() - before

    def pan(self) -> None:
        view = self.view
        view.set_scale(1.0)
        view.centerOn(view.canvas.content_rect().center())
        self.paint()

        def step(index: int) -> float:
            sign = 1 if index // 30 % 2 else -1
            return timed(lambda: (view.scroll_by(12 * sign, 7 * sign), self.paint()))

        steps = [step(index) for index in range(120)]
        self.figures["pan step, median"] = statistics.median(steps)
        self.figures["pan step, worst"] = sorted(steps)[-2]

    def zoom(self) -> None:
        view = self.view
        view.frame()
        self.paint()
        self.figures["repaint with all in view"] = statistics.median(
            timed(self.view.viewport().repaint) for _ in range(20)
        )
        worst = []
        for round_ in range(2):
            factor = 1.15 if round_ == 0 else 1 / 1.15
            for _step in range(24):
                worst.append(timed(lambda factor=factor: (view.zoom_by(factor), self.paint())))
        self.figures["zoom step, worst"] = sorted(worst)[-2]

    def drag(self) -> None:
        view = self.view
        view.set_scale(1.0)
        item = max(view.canvas.nodes.values(), key=lambda each: min(4, len(each.edges)))
        view.centerOn(item.scene_body().center())
        self.paint()
        hands = Hands(view)
        start = view.mapFromScene(item.scene_body().center())
        hands.press(start)
        steps = [
            timed(lambda step=step: (hands.move(start + QPoint(4 * step, 3 * step)), self.paint()))
            for step in range(2, 60)
        ]
        hands.release(start)
        self.figures["drag step of a node with wires"] = statistics.median(steps)

    def add(self) -> None:
        """Paste layers in the middle of the view."""
        view, document = self.view, self.document
        text = document.graph.copy_fragment(document.graph.node_ids()[20:120])
        corner = view.mapToScene(view.viewport().rect().center())
        self.figures["add 100 nodes"] = timed(lambda: (paste(view.canvas, text, corner), self.paint()))
        self.figures["undo of adding 100 nodes"] = timed(lambda: (document.undo_stack.undo(), self.paint()))

    def delete(self) -> None:
        view, document = self.view, self.document
        ids = document.graph.node_ids()[20:120]
        document.selection.set(ids)
        document.selection.flush()
        self.paint()
        self.figures["delete 100 nodes"] = timed(lambda: (edits.delete_selected(view.canvas), self.paint()))
        self.figures["undo of deleting 100 nodes"] = timed(lambda: (document.undo_stack.undo(), self.paint()))

    def shapes(self) -> None:
        self.document.move_nodes({self.document.graph.node_ids()[0]: Point(0, 0)})
        self.figures["shapes come in"] = timed(lambda: (self.view.canvas.faces.refresh(), self.paint()))

    def fold(self) -> None:
        """Fold the net, look into a block, and unfold it again."""
        view, folding = self.view, self.view.canvas.folding
        self.figures["fold repeated blocks, longest wait"] = self.longest(lambda: fold_repeats(view))
        card = max(folding.cards.values(), key=lambda each: len(each.layers))
        inside = card.layers[len(card.layers) // 2]
        rename = partial(OpGraph.set_string, node=inside, path=("name",), value="renamed")
        self.figures["edit of the folded net"] = timed(lambda: self.document.apply("Rename", rename))
        self.document.undo_stack.undo()
        self.paint()
        look, leave = partial(folding.look_into, card.node_id), folding.leave
        self.figures["look into a block, longest wait"] = max(self.longest(look), self.longest(leave))
        self.figures["unfold them, longest wait"] = self.longest(lambda: fold_repeats(view))

    def longest(self, action: Callable[[], object]) -> float:
        """Milliseconds of the longest time for which the window does not answer while something is done."""
        waits = [waited(action)]
        idle = 0
        while idle < 5:
            waits.append(waited(self.paint))
            busy = self.document.jobs.busy or self.view.canvas.folding.seeking or self.view.canvas.leading.active
            idle = 0 if busy else idle + 1
        return max(waits)

    def frames(self) -> None:
        """Pan over frames, with the map open."""
        view, annotations = self.view, self.document.positions.annotations
        content = view.canvas.content_rect()
        rects = [(content.left(), content.top() + 150.0 * row, content.width() / 2, 120.0) for row in range(40)]
        annotations.set({row: Annotation(row, "frame", rect, f"Frame {row}") for row, rect in enumerate(rects, 1)})
        view.minimap.toggle()
        view.set_scale(1.0)
        view.centerOn(content.center())
        self.paint()
        steps = [timed(lambda: (view.scroll_by(12, 7), self.paint())) for _step in range(60)]
        self.figures["pan step with the map and 40 frames"] = statistics.median(steps)


def start_time(count: int) -> float:
    """Milliseconds of processor time from the interpreter's start to the first picture of a net in the window."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from app.start import make_application\n"
        "from app.theme import Theme\n"
        "from app.window.mainwindow import MainWindow\n"
        "from app.window.settings import WindowSettings\n"
        "from PySide6.QtCore import QSettings\n"
        "app = make_application()\n"
        "Theme.load('light').apply(app)\n"
        "ini = QSettings(sys.argv[2], QSettings.Format.IniFormat)\n"
        "window = MainWindow(WindowSettings(ini))\n"
        "window.files.open(Path(sys.argv[1]))\n"
        "window.show()\n"
        "while not window.canvas.is_placed: app.processEvents()\n"
        "window.canvas.viewport().repaint()\n"
        "print(time.process_time() * 1e3, flush=True)\n"
        "import os; os._exit(0)"
    )
    with tempfile.TemporaryDirectory() as folder:
        net = Path(folder) / "net.prototxt"
        net.write_text(residual_net(count))
        command = [sys.executable, "-c", code, str(net), str(Path(folder) / "settings.ini")]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main(counts: list[int]) -> int:
    """Run and print; return the exit status."""
    app = QApplication.instance() or QApplication([])
    Theme.load("light").apply(app)
    collector = CalmCollector()  # as in the editor when it runs
    Bench(app, 60).run()  # caches of fonts and icons are warm in a running editor
    status = 0
    for count in counts:
        figures = {"start to a shown net": start_time(count), **Bench(app, count).run()}
        for name, value in figures.items():
            budget = BUDGETS[name][0 if count <= 1000 else 1]
            verdict = "ok" if value <= budget else "over" if value <= 3 * budget else "FAILED"
            status |= verdict == "FAILED"
            print(f"{count:6} nodes  {name:38} {value:9.1f}   budget {budget:5}   {verdict}")
    collector.close()
    return int(status)


def beside_peers(counts: list[int], python: str) -> int:
    """Measure other node editors beside ours; return the exit status."""
    from tests.benchmarks.against import compare

    app = QApplication.instance() or QApplication([])
    Theme.load("light").apply(app)
    return compare(counts, python)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    peers = [argument.partition("=")[2] for argument in sys.argv[1:] if argument.startswith("--peers")]
    if peers:
        sys.exit(beside_peers(numbers or [100, 1000, 5000], peers[0] or sys.executable))
    sys.exit(main(numbers or [1000, 5000]))
