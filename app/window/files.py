"""Opening, saving and closing, with every question they raise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.document import ChangedOnDiskError, Document
from app.solverfile import is_solver, net_of_solver
from app.window.reading import BIG_FILE, Cancelled, read_big_net
from engine.diagnostics import check_solver_file
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["FileFlow"]

_FILTER = "Nets and solvers (*.prototxt *.pbtxt *.txt);;All files (*)"


class FileFlow(QObject):
    """What the File menu does.

    Parameters
    ----------
    window : MainWindow
        Shows the document and asks the questions.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._asked_about_disk: Path | None = None

    def new(self) -> None:
        """Begin an empty net."""
        if self.may_leave():
            self._window.show_document(Document.new())

    def open_dialog(self) -> None:
        """Ask for a file and open it."""
        path = self._window.document.path
        start = str(path.parent) if path else ""
        name, _filter = QFileDialog.getOpenFileName(self._window, "Open a net", start, _FILTER)
        if name:
            self.open(Path(name))

    def open(self, path: Path) -> bool:
        """Open a net, or the net of a solver; return whether that worked. Errors are shown in a bar."""
        window = self._window
        path = Path(path).absolute()
        try:
            solver = path if is_solver(path) else None
            net = net_of_solver(path) if solver else path
            if net is None:
                window.notify(_without_net(path), "error")
                return False
            content = read_big_net(net, window) if net.stat().st_size >= BIG_FILE else None
            document = Document.open(net, content=content)
        except Cancelled:
            return False
        except NetcanvasError as error:
            window.notify(str(error), "error")
            return False
        except OSError as error:
            window.notify(f"'{path.name}' cannot be read: {error.strerror or error}.", "error")
            return False
        if not self.may_leave():
            document.close()
            return False
        if solver is not None:
            document.set_solver(solver)
        window.show_document(document)
        window.settings.add_recent(net)
        return True

    def open_dropped(self, names: Sequence[str]) -> None:
        """Open what was dropped on the window."""
        paths = [Path(name) for name in names]
        files = [path for path in paths if path.is_file()]
        if files:
            if self.open(files[0]) and len(files) > 1:
                self._window.notify(f"{len(files)} files were dropped; one net is open at a time: '{files[0].name}'.")
        elif paths:
            self._window.notify("Plugin folders are found beside the net, in a folder called 'plugins'.", "info")

    def reload(self) -> None:
        """Read the file again, as a step that can be undone."""
        document = self._window.document
        if document.path is None:
            return
        self._window.commit_edits()
        try:
            document.reload()
        except (NetcanvasError, OSError) as error:
            self._window.notify(f"'{document.path.name}' cannot be read again: {error}", "error")
            return
        self._window.statusBar().showMessage("Reloaded; Undo brings back what was here", 5000)

    def save(self) -> bool:
        """Save to the file the net came from; return whether it is saved."""
        if self._window.document.path is None:
            return self.save_as()
        return self._save(None, force=False)

    def save_as(self) -> bool:
        """Ask for a name and save."""
        document = self._window.document
        start = str(document.path or "net.prototxt")
        name, _filter = QFileDialog.getSaveFileName(self._window, "Save the net", start, _FILTER)
        return bool(name) and self._save(Path(name), force=True)

    def _save(self, path: Path | None, *, force: bool) -> bool:
        window = self._window
        try:
            window.document.save(path, force=force)
        except ChangedOnDiskError as error:
            window.notify(
                error.message,
                "warning",
                [
                    ("Overwrite", lambda: self._save(None, force=True)),
                    ("Reload", self.reload),
                    ("Save as\u2026", self.save_as),
                ],
            )
            return False
        except (NetcanvasError, OSError) as error:
            window.notify(f"The net was not saved: {error}", "error", [("Save as\u2026", self.save_as)])
            return False
        if window.document.path is not None:
            window.settings.add_recent(window.document.path)
        window.statusBar().showMessage("Saved", 2500)
        return True

    def may_leave(self) -> bool:
        """Ask about unsaved changes; return whether the document may go away."""
        document = self._window.document
        self._window.commit_edits()
        if not document.modified:
            return True
        box = QMessageBox(self._window)
        box.setObjectName("window.save_question")
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Netcanvas")
        box.setText(f"Save changes to {document.title}?")
        box.setInformativeText("Otherwise they are lost.")
        buttons = QMessageBox.StandardButton
        box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
        box.setDefaultButton(buttons.Save)
        answer = box.exec()
        box.deleteLater()
        if answer == buttons.Save:
            return self.save()
        return bool(answer == buttons.Discard)

    def look_at_disk(self) -> None:
        """Notice a file that another program changed, once a change."""
        document = self._window.document
        if document.path is None or not document.changed_on_disk():
            self._asked_about_disk = None
        elif self._asked_about_disk != document.path:
            self._asked_about_disk = document.path
            self._window.notify(
                f"'{document.title}' was changed by another program.", "warning", [("Reload", self.reload)]
            )


def _without_net(solver: Path) -> str:
    """Say what is wrong with a solver whose net was not found."""
    errors = [each for each in check_solver_file(solver) if each.severity == "error"]
    if not errors:
        return f"'{solver.name}' is a solver, but the net that it names was not found beside it or above."
    return f"'{solver.name}', line {errors[0].line}: {errors[0].message} {errors[0].next_step}"
