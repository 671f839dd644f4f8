"""A net that gets another file, and its solver, which names the old one: said, and mended where the user wants it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.document.netfile import is_same_file
from app.qt import guard
from app.solver.shelf import SolverShelf
from engine.errors import NetcanvasError
from engine.paths import resolve, search_folders
from engine.prototxt import Scalar, parse

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["SolverFollow", "name_in_solver", "named_elsewhere"]

_FIELDS = ("net", "train_net")


class SolverFollow(QObject):
    """Says so when the solver of a net does not name the file that the net has by now; has nets share open solvers.

    Parameters
    ----------
    window : MainWindow
        Where it is said.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._shelf = SolverShelf(self)
        window.document_added.connect(self._added)

    @guard
    def _added(self, document: Document) -> None:
        document.path_changed.connect(partial(self._moved, document))
        document.solver.join(self._shelf)

    @guard
    def _moved(self, document: Document) -> None:
        solver, net = document.solver_path, document.path
        page = self._window.tabs.page_of(document)
        found = named_elsewhere(document)
        if found is None or solver is None or net is None or page is None:
            return
        field, written = found
        page.bars.add(
            f"The solver '{solver.name}' still names '{written}'. Here it trains '{net.name}'; elsewhere it would not.",
            "warning",
            [(f"Have it name '{net.name}'", partial(self._name, document, field))],
        )

    def _name(self, document: Document, field: str) -> None:
        """Write the file of the net into its solver, as a step that can be undone there; saving is the user's."""
        solver, net = document.solver_path, document.path
        if solver is not None and net is not None:
            path = _seen_from(solver.parent, net)
            if name_in_solver(self._window, document, f"Name {net.name}", field, path):
                self._window.status.showMessage(f"'{solver.name}' names '{net.name}'; save to keep it", 5000)


def name_in_solver(window: MainWindow, document: Document, text: str, field: str, path: str) -> bool:
    """Write a path into a field of the solver of a net, as a step that can be undone there; say what is in the way.

    Parameters
    ----------
    window : MainWindow
        Where that is said.
    text : str
        What the step is called.

    Returns
    -------
    bool
        Whether it is written.
    """
    solver = document.solver.open()
    if solver is None:
        window.notify(document.solver.problem or "The solver is not there any more.", "error")
        return False
    try:
        solver.apply(text, lambda graph: graph.set_string(None, (field,), path))
    except NetcanvasError as error:
        window.notify(str(error), "error")
        return False
    return True


def named_elsewhere(document: Document) -> tuple[str, str] | None:
    """Return the field with which the solver of a net names another file, and that file as it is written there.

    None where it names this one, or none at all. A path that leads nowhere from here counts as this file's, if it ends
    in its name.
    """
    solver, net, text = document.solver_path, document.path, document.solver_text
    if solver is None or net is None or text is None:
        return None
    root, first = parse(text.encode("utf-8", "surrogateescape")).root, None
    for field in (*_FIELDS, "test_net"):
        entry = root.get(field)
        written = entry.value.as_str() if entry is not None and isinstance(entry.value, Scalar) else None
        if not written:
            continue
        found = resolve(written, search_folders(solver.parent))
        if is_same_file(found.path, net) if found.found else Path(written).name == net.name:
            return None
        if first is None and field in _FIELDS:
            first = field, written
    return first


def _seen_from(folder: Path, net: Path) -> str:
    """Return a net's path as a solver in a folder writes it: relative where they are near, so that both can move."""
    if not net.is_relative_to(folder) and not folder.is_relative_to(net.parent):
        return str(net)
    return Path(os.path.relpath(net, folder)).as_posix()
