"""Saving a net with its solver, and what is in the way of it: said in a sentence, with the next step."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.document import ChangedOnDiskError
from app.document.netfile import LayoutNotSavedError, is_same_file
from app.window.files.missing import TAKEN_BAR
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["SaveFlow", "why_not_saved"]

_FILTER = "Nets and solvers (*.prototxt *.pbtxt *.txt);;All files (*)"
_EDQUOT = getattr(errno, "EDQUOT", -1)  # not on every system
_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

Choices = Sequence[tuple[str, Callable[[], object]]]


class SaveFlow(QObject):
    """Saves the net in view, with every question that raises.

    Parameters
    ----------
    window : MainWindow
        Shows the document and asks the questions.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def save(self) -> bool:
        """Save the net to the file it came from, and its solver; return whether all is saved."""
        document = self._window.document
        self._window.commit_edits()
        if document.solver.modified and not document.modified and not document.disk.gone:
            return self._save_solvers(document)
        if document.path is None:
            return self.save_as()
        return self._save(document.path)

    def save_as(self) -> bool:
        """Ask for a name and save."""
        document = self._window.document
        start = str(document.path or "net.prototxt")
        name, _filter = QFileDialog.getSaveFileName(self._window, "Save the net", start, _FILTER)
        return bool(name) and self._save(Path(name).absolute(), force=True)

    def overwrite(self) -> bool:
        """Save over whatever the file holds by now, be it marked as read-only."""
        path = self._window.document.path
        return path is not None and self._save(path, force=True, always=True)

    def _save(self, path: Path, *, force: bool = False, always: bool = False) -> bool:
        """Save the net in view; ``force`` is for changes of others, ``always`` for a file marked as read-only."""
        window, document = self._window, self._window.document
        refused = self._why_not_there(document, path)
        if refused:
            window.notify(refused, "error", [("Save as\u2026", self.save_as)])
            return False
        if not always and _is_read_only(path):
            again = partial(self._save, path, force=force, always=True)
            text = f"'{path.name}' is marked as read-only. Overwrite it all the same, or save under another name."
            window.notify(text, "warning", [("Overwrite", again), ("Save as\u2026", self.save_as)])
            return False
        try:
            document.save(path, force=force)
        except ChangedOnDiskError as error:
            self._ask_what_holds(document, error)
            return False
        except LayoutNotSavedError as error:
            window.notify(str(error), "warning")
        except (NetcanvasError, OSError) as error:
            again = partial(self._save, path, force=force, always=always)
            choices: Choices = [("Try again", again), ("Save as\u2026", self.save_as)]
            bar = window.notify(why_not_saved(path, error), "error", choices)
            if path == document.path and os.path.isdir(path):
                bar.setObjectName(TAKEN_BAR)
            return False
        window.settings.add_recent(path)
        window.files.disk.forget(document)
        window.files.look_at_disk()
        if not self._save_solvers(document):
            return False
        window.statusBar().showMessage("Saved", 2500)
        return True

    def _why_not_there(self, document: Document, path: Path) -> str:
        """Say why a net must not go to a file, or nothing."""
        other = self._window.files.page_with(path)
        if other is not None and other.document is not document:
            return f"'{other.document.title}' is open in another tab. Choose another name, or close that tab first."
        for page in self._window.tabs.pages():
            solver = page.document.solver_path
            if solver is not None and is_same_file(solver, path):
                return f"'{path.name}' is the solver of '{page.document.title}'. Choose another name for the net."
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            return f"'{path}' is a device or a pipe, and keeps no net. Choose another name."
        return ""

    def _ask_what_holds(self, document: Document, error: ChangedOnDiskError) -> None:
        """Say that the file is another by now; offer what keeps both changes first."""
        choices: list[tuple[str, Callable[[], object]]] = []
        if document.modified:
            choices.append(("Merge\u2026", partial(self._window.files.disk.ask, document)))
        choices += [("Overwrite", self.overwrite), ("Reload", self._window.files.reload)]
        self._window.notify(error.message, "warning", [*choices, ("Save as\u2026", self.save_as)])

    def _save_solvers(self, document: Document, *, force: bool = False) -> bool:
        """Save what was changed of the solvers of a net; return whether all is saved."""
        again = partial(self._save_solvers, document, force=True)
        for solver in document.solver.unsaved():
            choices: Choices = [("Try again", again)]
            try:
                solver.save(force=force)
            except ChangedOnDiskError as error:
                text, kind, choices = error.message, "warning", [("Overwrite", again), ("Reload", solver.reload)]
            except (NetcanvasError, OSError) as error:
                text, kind = why_not_saved(solver.path, error), "error"
            else:
                self._window.statusBar().showMessage("Saved", 2500)
                continue
            self._window.notify(text, kind, choices)
            return False
        return True


def why_not_saved(path: Path, error: NetcanvasError | OSError) -> str:
    """Say why a file was not written, and what to do, in words and not in the system's."""
    if isinstance(error, NetcanvasError):
        return f"'{path.name}' was not saved: {error}"
    folder = path.parent
    if os.path.isdir(path):
        return f"'{path.name}' was not saved: there is a folder of that name in '{folder}'. Choose another name."
    if os.path.islink(path) and not os.path.exists(path):
        target = os.readlink(path)
        return f"'{path.name}' was not saved: it is a link to '{target}', which leads nowhere. Choose another name."
    if not os.path.isdir(folder):
        return f"'{path.name}' was not saved: its folder '{folder}' is not there. Choose another place."
    known = {
        errno.EACCES: f"you may not write in '{folder}'. Choose another place.",
        errno.EPERM: f"you may not write in '{folder}'. Choose another place.",
        errno.EROFS: f"the disk of '{folder}' is read-only. Choose another place.",
        errno.ENOSPC: f"the disk of '{folder}' is full. Free some space and try again, or choose another place.",
        _EDQUOT: f"your share of the disk of '{folder}' is used up. Free some space and try again.",
        errno.ENAMETOOLONG: "its name is too long for the disk. Choose a shorter one.",
        errno.EIO: f"the disk of '{folder}' does not answer as it should. Choose another place.",
    }.get(error.errno or 0, f"{error.strerror or error}. Choose another place.")
    return f"'{_shortened(path.name)}' was not saved: {known}"


def _shortened(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:60]}\u2026{name[-19:]}"


def _is_read_only(path: Path) -> bool:
    """Whether a file is there and marked as one that nobody is to write; our way of writing would not ask it."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(mode) and (not mode & _ANY_WRITE or not os.access(path, os.W_OK))
