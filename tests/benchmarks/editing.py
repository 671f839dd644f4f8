"""How long the window is deaf while much of a big net is edited at once.

    python -m tests.benchmarks.editing [--blame] [--layers | --text] [LAYERS ...]

Like :mod:`tests.benchmarks.handling`, for what changes the net itself: cutting, pasting and duplicating a thousand
layers, deleting all, a long text that is pasted into the text pane, names that are replaced everywhere, and the steps
back and forth through all of these. Ends with status 1 when something holds the window up for three times the 50 ms of
the design.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from PySide6.QtGui import QGuiApplication, QTextCursor

from app.canvas.edits import edits
from app.text.pane import TextPane
from tests.benchmarks.nets import residual_net
from tests.benchmarks.opening import Figure, OpeningBench, as_installed, report
from tests.benchmarks.stalls import Blame

__all__ = ["EditingBench"]

_MANY = 1000


class EditingBench(OpeningBench):
    """The window with one big net and its text, and a user who edits much at once.

    Parameters
    ----------
    parts : collection of str
        What is done of ``--layers``, on the canvas, and ``--text``; all where it is empty.
    """

    def __init__(self, folder: Path, count: int, blame: Blame | None = None, parts: Collection[str] = ()) -> None:
        super().__init__(folder, count, blame)
        self._parts = parts

    def figures(self) -> Iterator[Figure]:
        """Do one thing after the other and yield what it cost."""
        self._measure("show the window with a small net", self._show)
        self._measure("open the net", lambda: self.window.files.open(self.net))
        self.window.show_panel("text")
        self._measure("show the text", lambda: None)
        for part, verbs in (("--layers", self._layer_verbs()), ("--text", self._text_verbs())):
            if part in (self._parts or (part,)):
                for what, action in verbs:
                    yield self._measure(what, action)

    def _layer_verbs(self) -> Iterator[tuple[str, Callable[[], object]]]:
        canvas, stack = self.window.canvas, self.window.document.undo_stack
        undo, redo = stack.undo, stack.redo
        yield "find a layer far down", lambda: self.window.document.selection.set([self._layer(0.9).id])
        yield f"select {_MANY}", self._select_many
        yield f"cut {_MANY}", canvas.cut
        yield "undo", undo
        yield "redo", redo
        yield f"paste {_MANY}", canvas.paste
        yield "undo", undo
        yield "redo", redo
        yield "undo both", lambda: (undo(), undo())
        yield "select them again", self._select_many
        yield f"duplicate {_MANY}", canvas.duplicate
        yield "undo", undo
        yield "duplicate, and undo at once", self._duplicate_and_undo
        yield "select all", canvas.select_all
        yield "delete all", lambda: edits.delete_selected(canvas.canvas)
        yield "undo", undo
        yield "redo", redo
        yield "undo, redo, undo at once", lambda: (undo(), redo(), undo())
        yield "copy all", self._copy_all
        yield "paste all", canvas.paste
        yield "undo", undo

    def _text_verbs(self) -> Iterator[tuple[str, Callable[[], object]]]:
        stack = self.window.document.undo_stack
        yield "replace names everywhere", self._replace_names
        yield "undo", stack.undo
        yield "redo", stack.redo
        yield "undo", stack.undo
        yield "paste a megabyte into the text", self._paste_text
        yield "undo", stack.undo
        yield "redo", stack.redo
        yield "undo", stack.undo

    @property
    def _pane(self) -> TextPane:
        found = self.window.panels["text"]
        assert isinstance(found, TextPane)
        return found

    def _settled(self) -> bool:
        pane, scene = self.window.panels.get("text"), self.window.canvas.canvas
        typed = isinstance(pane, TextPane) and self._is_busy(pane)
        return super()._settled() and scene.is_built and not scene.sweeper.active and not typed

    @staticmethod
    def _is_busy(pane: TextPane) -> bool:
        return pane.pending or pane.paster.active or pane.filler.active or pane.edit.isReadOnly()

    def _select_many(self) -> None:
        document = self.window.document
        ids = document.graph.node_ids()
        document.selection.set(ids[len(ids) // 3 : len(ids) // 3 + _MANY])
        document.selection.flush()

    def _duplicate_and_undo(self) -> None:
        self._select_many()
        self.window.canvas.duplicate()
        self.window.document.undo_stack.undo()

    def _copy_all(self) -> None:
        self.window.canvas.select_all()
        self.window.canvas.copy()

    def _replace_names(self) -> None:
        bar = self._pane.find_bar
        bar.open_replace()
        bar.line.setText('name: "')
        bar.replacement.setText('name: "my_')
        bar.replace_all()

    def _paste_text(self) -> None:
        pane = self._pane
        more = residual_net(8000).split("\n", 1)[1]
        for key in ("name", "bottom", "top"):
            more = more.replace(f'{key}: "', f'{key}: "second_')
        QGuiApplication.clipboard().setText(more[: more.rindex("layer {", 0, 2**20)])
        pane.edit.moveCursor(QTextCursor.MoveOperation.End)
        pane.edit.paste()


def main(arguments: list[str]) -> int:
    """Run and print; return the exit status."""
    failed = False
    with as_installed(arguments) as (folder, blame):
        for count in [int(each) for each in arguments if each.isdigit()] or [1000, 5000, 10_000]:
            parts = [each for each in arguments if each in ("--layers", "--text")]
            failed |= report(EditingBench(folder, count, blame, parts), count)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
