"""How long the window is deaf while much of a big net is handled at once.

    python -m tests.benchmarks.handling [--blame] [--only=WORDS] [LAYERS ...]

Like :mod:`tests.benchmarks.opening`, for what is done to the picture of a net: folding, laying out, selecting and
moving all of it, copying a thousand layers, the heat-map, the views. Ends with status 1 when something holds the window
up for three times the 50 ms of the design.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.canvas.edits import aligning, edits, foldedits
from app.canvas.scene.heat import MEASURES
from engine.graph import ALL, DEPLOY, View
from tests.benchmarks.opening import Figure, OpeningBench, as_installed, report
from tests.benchmarks.stalls import Blame

__all__ = ["HandlingBench"]

_MANY = 1000


class HandlingBench(OpeningBench):
    """The window with one big net, and a user who does much at once.

    Parameters
    ----------
    only : str
        Where it is not empty, only what has it in its name is measured; all is done.
    """

    def __init__(self, folder: Path, count: int, blame: Blame | None = None, only: str = "") -> None:
        super().__init__(folder, count, blame)
        self._only = only
        self._held = self._end = QPoint()

    def figures(self) -> Iterator[Figure]:
        """Do one thing after the other and yield what it cost."""
        window = self.window
        self._measure("show the window with a small net", self._show)
        self._measure("open the net", lambda: window.files.open(self.net))
        for what, action in self._verbs():
            figure = self._measure(what, action)
            if self._only in what:
                yield figure

    def _verbs(self) -> Iterator[tuple[str, Callable[[], object]]]:
        canvas, document = self.window.canvas, self.window.document
        scene = canvas.canvas
        undo, redo = document.undo_stack.undo, document.undo_stack.redo
        yield from self._folding()
        yield "select all", canvas.select_all
        yield "move all by a key", lambda: QTest.keyClick(canvas.viewport(), Qt.Key.Key_Right)
        yield "undo that", undo
        yield "drag all, press", lambda: self._drag(press=True)
        yield "drag all, first step", lambda: self._drag(40)
        yield "drag all, next step", lambda: self._drag(60)
        yield "drag all, release", lambda: self._drag(release=True)
        yield "undo the drag", undo
        yield "select nothing", document.selection.clear
        yield "rubber band over all, press", lambda: self._band(press=True)
        yield "rubber band over all, half", lambda: self._band(0.5)
        yield "rubber band over all, whole", lambda: self._band(1.0)
        yield "rubber band over all, release", lambda: self._band(release=True)
        yield "delete all", lambda: edits.delete_selected(scene)
        yield "undo deleting all", undo
        yield "redo deleting all", redo
        yield "undo deleting all again", undo
        self._select_many(_MANY)
        yield f"align {_MANY}", lambda: aligning.align(scene, "left")
        yield "undo aligning", undo
        yield f"distribute {_MANY}", lambda: aligning.distribute(scene, across=True)
        yield "undo distributing", undo
        yield f"straighten {_MANY}", lambda: aligning.straighten(scene)
        yield "undo straightening", undo
        yield f"copy {_MANY}", canvas.copy
        yield f"paste {_MANY}", canvas.paste
        yield "undo pasting", undo
        self._select_many(_MANY)
        yield f"put {_MANY} into a block", lambda: foldedits.collapse(canvas)
        yield "take the block apart", lambda: foldedits.collapse(canvas)
        yield "undo that, twice", lambda: (undo(), undo())
        yield "select nothing again", document.selection.clear
        yield "lay out", canvas.arrange_all
        yield "undo laying out", undo
        for measure in MEASURES[:3]:
            yield f"heat-map: {measure.name}", lambda name=measure.name: canvas.show_heat(name)
        yield "heat-map off", lambda: canvas.show_heat("")
        document.selection.set([self._layer(0.5).id])
        document.selection.flush()
        yield "follow blobs", lambda: canvas.do("trace")
        yield "follow them no more", lambda: canvas.do("trace")
        yield "find a layer", canvas.find_layer
        yield "find a layer, type a letter", lambda: QTest.keyClicks(canvas.finder.search, "c")
        yield "find a layer, type another", lambda: QTest.keyClicks(canvas.finder.search, "o")
        yield "find a layer, leave", canvas.finder.hide
        yield "look at the deploy net", lambda: document.set_view(View(DEPLOY))
        yield "look at all again", lambda: document.set_view(View(ALL))
        yield "hide the map", lambda: canvas.do("minimap")
        yield "show the map", lambda: canvas.do("minimap")
        yield "see the whole net", canvas.frame
        yield "see it at 100 %", lambda: canvas.do("actual_size")
        for kind in ("svg", "pdf", "png"):
            yield (
                f"draw it as {kind}",
                lambda kind=kind: canvas.draw_to(str(self.net.with_suffix(f".{kind}")), "paper", 0.5),
            )
        yield "copy it as an image", canvas.copy_picture

    def _folding(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield what folds and unfolds; the net is unfolded then."""
        canvas, stack = self.window.canvas, self.window.document.undo_stack
        if not foldedits.is_folded(self.window.document):
            yield "fold, for the first time", canvas.fold_repeats
        largest = max(canvas.canvas.folding.cards.values(), key=lambda card: len(card.layers))
        yield "select a folded block", lambda: self.window.document.selection.set(largest.ids)
        yield "select nothing after it", self.window.document.selection.clear
        yield "look into a block", lambda: canvas.canvas.folding.look_into(largest.node_id)
        yield "leave the block", canvas.canvas.folding.leave
        yield "unfold all", canvas.fold_repeats
        yield "undo unfolding", stack.undo
        yield "redo unfolding", stack.redo
        yield "fold all", canvas.fold_repeats
        yield "undo folding", stack.undo
        yield "redo folding", stack.redo
        yield "unfold all again", canvas.fold_repeats

    def _settled(self) -> bool:
        canvas = self.window.canvas
        return super()._settled() and not canvas.is_drawing and canvas.canvas.is_built

    def _select_many(self, count: int) -> None:
        document = self.window.document
        ids = document.graph.node_ids()
        document.selection.set(ids[len(ids) // 3 : len(ids) // 3 + count])
        document.selection.flush()

    def _drag(self, by: int = 0, *, press: bool = False, release: bool = False) -> None:
        """Drag what is selected by the layer in the middle of the view."""
        canvas = self.window.canvas
        if press:
            item = canvas.canvas.nodes[self._layer(0.5).id]
            canvas.centerOn(item)
            self._held = canvas.mapFromScene(item.scene_body().center())
        self._mouse(self._held + QPoint(by, by), press=press, release=release)

    def _band(self, share: float = 0.0, *, press: bool = False, release: bool = False) -> None:
        """Draw a box over a part of the net."""
        canvas = self.window.canvas
        area = canvas.viewport().rect()
        if press:
            canvas.frame()
            self._held = area.topLeft() + QPoint(2, 2)
        elif not release:
            self._end = self._held + QPoint(round(area.width() * share) - 5, round(area.height() * share) - 5)
        self._mouse(self._held if press else self._end, press=press, release=release)

    def _mouse(self, position: QPoint, *, press: bool, release: bool) -> None:
        viewport, left, none = self.window.canvas.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        if press:
            QTest.mousePress(viewport, left, none, position)
        elif release:
            QTest.mouseRelease(viewport, left, none, position)
        else:
            QTest.mouseMove(viewport, position)


def main(arguments: list[str]) -> int:
    """Run and print; return the exit status."""
    only = next((each.removeprefix("--only=") for each in arguments if each.startswith("--only=")), "")
    failed = False
    with as_installed(arguments) as (folder, blame):
        for count in [int(each) for each in arguments if each.isdigit()] or [1000, 5000, 10_000]:
            failed |= report(HandlingBench(folder, count, blame, only), count)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
