"""Renaming and deleting the blocks that the user keeps in the palette."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.palette.templates import remove_template, rename_template, save_template
from app.qt import guard
from app.window.bars import Question

if TYPE_CHECKING:
    from app.palette import PalettePanel
    from app.window.mainwindow import MainWindow

__all__ = ["KeptBlocks"]


class KeptBlocks(QObject):
    """Does to kept blocks what the palette asks for; a bar asks for the name, or brings back what was deleted.

    Parameters
    ----------
    window : MainWindow
        Shows the bars.
    palette : PalettePanel

    Attributes
    ----------
    changed : Signal()
        Others are kept, or under other names.
    """

    changed = Signal()

    def __init__(self, window: MainWindow, palette: PalettePanel) -> None:
        super().__init__(window)
        self._window = window
        palette.rename_asked.connect(self.ask_name)
        palette.removal_asked.connect(self.remove)

    @guard
    def ask_name(self, name: str) -> None:
        """Ask for another name of a block."""
        question = Question(f"Rename the block '{name}'", [("Rename", partial(self.rename, name))], name)
        self._window.tabs.current.bars.ask(question)

    def rename(self, name: str, wanted: str) -> None:
        """Rename a block; under a name that is taken it gets a number, which is said."""
        if not wanted.strip():
            return
        try:
            got = rename_template(name, wanted.strip())
        except OSError as error:
            self._window.notify(f"The block was not renamed: {error.strerror or error}", "error")
        else:
            if got not in (name, wanted.strip()):
                self._window.notify(f"The block is called '{got}' now.", "info")
        self.changed.emit()

    @guard
    def remove(self, name: str) -> None:
        """Delete a block; the bar that says so can bring it back."""
        try:
            kept = remove_template(name)
        except OSError as error:
            self._window.notify(f"The block was not deleted: {error.strerror or error}", "error")
        else:
            undo = partial(self._bring_back, name, kept)
            self._window.notify(f"The block '{name}' was deleted.", "info", [("Undo", undo)]).keep()
        self.changed.emit()

    def _bring_back(self, name: str, kept: bytes) -> None:
        try:
            save_template(name, kept)
        except OSError as error:
            self._window.notify(f"The block was not written again: {error.strerror or error}", "error")
        self.changed.emit()
