"""What the window says when a solver was written beside a net: where it is, and how to be rid of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["tell_new_solver"]


def tell_new_solver(window: MainWindow, document: Document, path: Path, text: bytes) -> None:
    """Say that a solver of a net was written, and offer to delete its file again.

    Parameters
    ----------
    window : MainWindow
        Shows the bar.
    document : Document
        The net.
    path : Path
        The solver.
    text : bytes
        What was written; a file that says something else by then stays.
    """
    delete = partial(_delete, window, document, path, text)
    bar = window.notify(f"The solver '{path.name}' was written beside the net.", "info", [("Delete it again", delete)])
    bar.keep()
    bar.leave_when(document.solver_changed, lambda: document.solver_path != path)


def _delete(window: MainWindow, document: Document, path: Path, text: bytes) -> None:
    opened = document.solver.opened
    try:
        if (opened is not None and opened.path == path and opened.modified) or path.read_bytes() != text:
            window.notify(f"The solver '{path.name}' was edited since and stays.", "warning")
            return
        if document.solver_path == path:
            document.set_solver(None)
        path.unlink()
    except OSError as error:
        window.notify(f"The solver '{path.name}' was not deleted: {error.strerror or error}", "error")
