"""One run of one node editor over one graph: ours, or another one that Python programs build on.

    python -m tests.benchmarks.peers EDITOR GRAPH.json

The same graph, at the same places, in a window of the same size; each editor is driven by its own verbs, and by the
events that a user's hand makes. Prints one line of JSON a figure as soon as it is known, so that a run that is cut
short has told what it found. Needs nothing of ours but for our own editor, so that another Python may run it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.benchmarks.editors import EDITORS, Editor, Graph, NodeEditor

__all__ = ["FIGURES"]

#: What is measured, in this order; times in milliseconds of processor time.
FIGURES = ("open", "memory, MB", "pan step", "zoom step, worst", "drag step", "delete 100", "undo of it")
_DELETED = slice(20, 120)


class _Run:
    """Measures one editor."""

    def __init__(self, app: Any, editor: Editor, graph: Graph, *, aloud: bool) -> None:
        self.app, self.editor, self.graph, self.aloud = app, editor, graph, aloud

    def timed(self, action: Callable[[], object]) -> float:
        """Milliseconds of processor time of something and of the painting that follows."""
        start = time.process_time()
        action()
        self.app.processEvents()
        return (time.process_time() - start) * 1e3

    def all(self) -> None:
        """Measure and print everything."""
        editor, graph = self.editor, self.graph
        editor.prepare(graph)
        self.app.processEvents()
        before = _memory()
        self.tell("open", self.timed(lambda: editor.open(graph)))
        self.tell("memory, MB", _memory() - before)
        place = graph["middle"]
        editor.look_at(place)
        self.app.processEvents()
        steps = [self.timed(lambda step=step: editor.pan(*_there_and_back(step))) for step in range(60)]
        self.tell("pan step", statistics.median(steps))
        turns = [self.timed(lambda turn=turn: self.wheel(turn)) for turn in (120,) * 6 + (-120,) * 12 + (120,) * 6]
        self.tell("zoom step, worst", sorted(turns)[-2])
        self.tell("drag step", self.drag(place))
        numbers = range(len(graph["nodes"]))[_DELETED]
        self.tell("delete 100", self.timed(lambda: editor.delete(numbers)))
        if editor.can_undo:
            self.tell("undo of it", self.timed(editor.undo))
        editor.close()

    def tell(self, name: str, value: float) -> None:
        if self.aloud:
            print(json.dumps([name, round(value, 2)]), flush=True)

    def wheel(self, turn: int) -> None:
        """Turn the wheel over the middle of the view; with Ctrl where that is what zooms."""
        from PySide6.QtCore import QPoint, QPointF, Qt
        from PySide6.QtGui import QWheelEvent

        port = self.editor.view.viewport()
        at = QPointF(port.rect().center())
        keys = Qt.KeyboardModifier
        held = keys.ControlModifier if isinstance(self.editor, NodeEditor) else keys.NoModifier
        where = QPointF(port.mapToGlobal(at.toPoint()))
        phase, none = Qt.ScrollPhase.NoScrollPhase, Qt.MouseButton.NoButton
        self.app.sendEvent(port, QWheelEvent(at, where, QPoint(), QPoint(0, turn), none, held, phase, False))

    def drag(self, number: int) -> float:
        """Drag a node with its wires; return the median step."""
        from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
        from PySide6.QtGui import QMouseEvent

        view = self.editor.view
        item = self.editor.card(number)
        self.editor.look_at(number)
        self.app.processEvents()
        body = item.boundingRect()
        grip = QPointF(body.center().x(), body.top() + min(body.height() / 2, 24.0))
        start = view.mapFromScene(item.mapToScene(grip))
        before = item.scenePos()
        assert view.viewport().rect().contains(start), "the node is not in view"

        def mouse(kind: QEvent.Type, at: QPoint, button: Any, buttons: Any) -> None:
            where = QPointF(view.viewport().mapToGlobal(at))
            none = Qt.KeyboardModifier.NoModifier
            self.app.sendEvent(view.viewport(), QMouseEvent(kind, QPointF(at), where, button, buttons, none))

        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        mouse(QEvent.Type.MouseButtonPress, start, left, left)
        steps = []
        for step in range(1, 60):
            at = start + QPoint(4 * step, 3 * step)
            steps.append(self.timed(lambda at=at: mouse(QEvent.Type.MouseMove, at, none, left)))
        moved = item.scenePos() != before
        mouse(QEvent.Type.MouseButtonRelease, start + QPoint(236, 177), left, none)
        self.app.processEvents()
        assert moved, "the node was not dragged"
        return statistics.median(steps[2:])


def _there_and_back(step: int) -> tuple[int, int]:
    sign = 1 if step // 30 % 2 else -1
    return 12 * sign, 7 * sign


def _memory() -> float:
    """Resident memory in MB; the most that there was where the system does not tell what there is."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(name: str, graph: Path) -> None:
    """Measure one editor, and print its version first.

    A small net goes first: in an editor that runs, fonts and icons are there already.
    """
    from PySide6.QtWidgets import QApplication

    print(json.dumps(["version", version(name)]), flush=True)
    app = QApplication([])
    read = json.loads(graph.read_text())
    _Run(app, EDITORS[name](), read["small"], aloud=False).all()
    _Run(app, EDITORS[name](), read, aloud=True).all()
    sys.stdout.flush()
    os._exit(0)  # some editors crash when they go


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
