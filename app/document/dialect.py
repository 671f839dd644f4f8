"""The dialect of an open document: guessed from what the net uses, or chosen by the user."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.document.commands import Command
from engine import prototxt
from engine.schema import BVLC, find_dialect, guess_dialect, load_schema
from engine.sidecar import stored_dialect

if TYPE_CHECKING:
    from app.jobs import Jobs

__all__ = ["DialectChoice", "DialectCommand"]


class DialectChoice(QObject):
    """Whose Caffe a document is read as.

    Attributes
    ----------
    changed : Signal()
        Another dialect, or the same with another reason.
    guess : str
        What the net looks like; BVLC's until :meth:`look` has found out.
    chosen : str or None
        What the user chose.
    stored : str or None
        The choice that the file beside the net holds.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.guess = BVLC
        self.chosen: str | None = None
        self.stored: str | None = None

    @property
    def name(self) -> str:
        """The dialect that holds: the chosen one, or else the guess."""
        return self.chosen or self.guess

    @property
    def is_foreign(self) -> bool:
        """Whether the net is taken for one of a fork of Caffe."""
        return self.name != BVLC

    @property
    def words(self) -> str:
        """Whose it is, and whether that is a guess."""
        title = find_dialect(self.name).title
        return title if self.chosen or self.guess == BVLC else f"{title} (guessed)"

    def look(self, data: bytes, jobs: Jobs) -> None:
        """Guess anew, from the text of a net, in the document's thread."""

        def work() -> str:
            tree = prototxt.parse(data)
            name = guess_dialect(tree, "NetParameter").name
            deque(tree.taken_apart(), maxlen=0)  # it is as large as that of the document
            load_schema(name)  # so that the window need not wait for it
            return name

        jobs.submit("dialect", work, self._take_guess)

    def choose(self, name: str | None) -> None:
        """Read the document as a dialect from now on; None goes back to the guess."""
        if name != self.chosen:
            self.chosen = name
            self.changed.emit()

    def load(self, stored: str) -> None:
        """Take the choice from the text of the file beside the net."""
        self.stored = self.chosen = stored_dialect(stored)

    def _take_guess(self, name: str) -> None:
        if name != self.guess:
            self.guess = name
            if self.chosen is None:
                self.changed.emit()


class DialectCommand(Command):
    """Another choice of dialect."""

    def __init__(
        self, text: str, choice: DialectChoice, before: str | None, failed: Callable[[Exception], object]
    ) -> None:
        super().__init__(text, failed)
        self._choice = choice
        self._before, self._after = before, choice.chosen

    def _forward(self) -> None:
        self._choice.choose(self._after)

    def _back(self) -> None:
        self._choice.choose(self._before)
