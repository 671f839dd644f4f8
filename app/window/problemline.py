"""Going to where a problem is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["show_line"]


def show_line(window: MainWindow, line: int, column: int) -> None:
    """Go to a line of the text that a problem names, and to the layer that is selected with it."""
    if "text" in window.panels:
        window.show_panel("text")
        window.panels["text"].reveal_line(line, column)
    selection = window.document.selection
    selection.flush()
    if selection.last is not None:
        window.canvas.reveal(selection.last)
