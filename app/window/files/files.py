"""Opening, saving and closing, with every question they raise."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.document import Document
from app.document.netfile import is_same_file
from app.document.solverfile import is_solver, names_net, net_of_solver
from app.qt import guard
from app.slices import Slices
from app.solver.inline import inline_field, take_net_out
from app.window.files.diskmerge import DiskMerge
from app.window.files.foreign import ForeignFiles
from app.window.files.missing import MissingFiles
from app.window.files.reading import BIG_FILE, SLOW_FILE, Cancelled, read_slow_net
from app.window.files.savequestion import ask_to_leave
from app.window.files.saving import SaveFlow, why_not_saved
from app.window.files.solverfollow import SolverFollow
from app.window.files.weightsnet import belongs_elsewhere, open_net_of_weights
from app.wording import counted
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow
    from app.window.page import DocumentPage

__all__ = ["FileFlow"]

_NETS = frozenset((".prototxt", ".pbtxt", ".txt"))
_DATABASES = ("data.mdb", "CURRENT")
_TEXTS = frozenset((".prototxt", ".pbtxt"))
#: So many files that are dropped together are opened at once, and with more than that many it is asked first.
_FEW, _MANY = 4, 20
_FILTER = "Nets and solvers (*.prototxt *.pbtxt *.txt);;Weights, with their net (*.caffemodel);;All files (*)"


class FileFlow(QObject):
    """What the File menu does.

    Parameters
    ----------
    window : MainWindow
        Shows the document and asks the questions.

    Attributes
    ----------
    disk : DiskMerge
        What happens when another program changes a file.
    missing : MissingFiles
        What happens when another program takes a file away.
    saving : SaveFlow
        How it is saved.
    foreign : ForeignFiles
        What is said of files that cannot be edited here.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.disk = DiskMerge(window)
        self.missing = MissingFiles(window)
        self.saving = SaveFlow(window)
        self.foreign = ForeignFiles(window)
        SolverFollow(window)
        self._waiting: deque[Path] = deque()
        self._opening = Slices(self)
        window.closing.connect(self._opening.cancel)
        window.document_left.connect(self.disk.forget)

    def new(self) -> None:
        """Begin an empty net."""
        page = self._window.tabs.current
        if page.document.is_untouched:
            page.leave_welcome()
            page.setFocus()
        else:
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
            if path.is_dir():
                window.notify(f"'{path.name}' is a folder. Name a net or a solver in it.", "error")
                return False
            if belongs_elsewhere(path, window.document):
                return self.open_net_of(path)
            if self.foreign.take(path):
                return False
            solver = path if is_solver(path) else None
            net = net_of_solver(path) if solver else path
            if net is None:
                return self._open_alone(path)
            if self._show_open(net, solver):
                return True
            content = read_slow_net(net, window) if self._is_slow(net) else None
            if content is not None and self._show_open(net, solver):  # the user was faster
                return True
            document = Document.open(net, content=content)
        except Cancelled:
            return False
        except NetcanvasError as error:
            window.notify(str(error), "error")
            return False
        except OSError as error:
            window.notify(_why_not_read(path, error), "error")
            return False
        if solver is not None:
            document.set_solver(solver)
        window.show_document(document)
        if solver is not None:
            window.show_panel("solver")
        self._say_where_no_layers_are(document, net.name)
        window.settings.add_recent(net)
        return True

    def _say_where_no_layers_are(self, document: Document, name: str) -> None:
        """Say so where a file is empty, or cannot be read as a net: an empty canvas alone looks like a new net."""
        graph, window = document.graph, self._window
        if not graph.text.strip("\0 \t\r\n"):
            bar = window.notify(f"'{name}' is empty. Check that it was downloaded or saved completely.", "warning")
            bar.leave_when(document.changed, lambda: len(document.graph) > 0)
        elif not len(graph) and graph.problems:
            first = graph.problems[0]
            text = f"'{name}' holds no layers. Line {first.line}: {first.message[:1].lower()}{first.message[1:]}"
            bar = window.notify(text, "warning", [("Show the text", partial(window.show_panel, "text"))])
            bar.leave_when(document.changed, lambda: len(document.graph) > 0)

    def open_net_of(self, weights: Path) -> bool:
        """Open the net that a weights file holds, as one that is saved nowhere yet; return whether that worked."""
        try:
            return open_net_of_weights(self._window, weights)
        except Cancelled:
            return False
        except (NetcanvasError, OSError) as error:
            self._window.notify(_why_not_read(weights, error) if isinstance(error, OSError) else str(error), "error")
            return False

    def _is_slow(self, net: Path) -> bool:
        """Whether reading a file would hold up a window that somebody looks at."""
        return net.stat().st_size >= (SLOW_FILE if self._window.isVisible() else BIG_FILE)

    def _open_alone(self, solver: Path) -> bool:
        """Show a solver without its net, which is not there."""
        window = self._window
        alone = (page for page in window.tabs.pages() if page.document.path is None)
        page = next((page for page in alone if page.document.solver_path == solver), None)
        if page is None:
            document = Document.new()
            document.label = f"Net of {solver.name}"
            document.set_solver(solver)
            window.show_document(document)
        else:
            window.show_document(page.document)
        window.show_panel("solver")
        document = window.document
        held = document.solver.open()
        if held is not None and inline_field(held) is not None and not len(document.graph):
            text = f"'{solver.name}' holds its net itself. Put it into a file of its own to see and edit it."
            window.notify(text, "info", [("Put the net into a file", partial(self._take_out, document))]).keep()
        else:
            window.notify(_without_net(solver), "error" if names_net(solver) else "info")
        window.settings.add_recent(solver)
        return True

    def _take_out(self, document: Document) -> None:
        """Put the net of a solver into a file beside it."""
        solver = document.solver.open()
        if solver is None:
            return
        try:
            path = take_net_out(document, solver)
        except (NetcanvasError, OSError, ValueError) as error:
            reason = why_not_saved(solver.path, error) if isinstance(error, OSError) else str(error)
            self._window.notify(reason, "error")
            return
        self._window.settings.add_recent(path)
        text = f"The net is in '{path.name}', and the solver names it; save to keep that, or undo it in the solver."
        self._window.notify(text, "info", [("Save", self.save)])

    def _show_open(self, net: Path, solver: Path | None) -> bool:
        """Go to the tab of a file that is open already; return whether it is."""
        page = self.page_with(net)
        if page is None:
            return False
        if solver is not None:
            page.document.set_solver(solver)
        self._window.show_document(page.document)
        if solver is not None:
            self._window.show_panel("solver")
        self._window.settings.add_recent(net)
        return True

    def page_with(self, net: Path) -> DocumentPage | None:
        """Return the tab in which a file is open, by whatever path, or None."""
        for page in self._window.tabs.pages():
            path = page.document.path
            if path is not None and is_same_file(path, net):
                return page
        return None

    def open_dropped(self, names: Sequence[str]) -> None:
        """Open what was dropped on the window."""
        paths = [Path(name) for name in names if name and "\0" not in name]  # no file has such a name
        folders = [path for path in paths if os.path.isdir(path)]
        # What belongs to a net is told over it, and so after it is open.
        files = sorted((path for path in paths if path not in folders), key=lambda path: path.suffix not in _NETS)
        if len(files) > _MANY:
            choices = [(f"Open all {len(files)}", partial(self._open_all, files))]
            choices += [(f"Open the first {_MANY}", partial(self._open_all, files[:_MANY]))]
            self._window.notify(f"{len(files)} files were dropped. Each net gets a tab.", "info", choices).keep()
        else:
            self._open_all(files)
        for folder in folders:
            if any((folder / name).is_file() for name in _DATABASES):
                text = f"'{folder.name}' is a database. A Data layer reads it: name it there as source."
                self._window.notify(text, "warning")
            elif nets := _nets_in(folder):
                text = f"'{folder.name}' has {counted(len(nets), 'file')} with nets or solvers, and no code of layers."
                label = "Open it" if len(nets) == 1 else f"Open all {len(nets)}"
                self._window.notify(text, "info", [(label, partial(self._open_all, nets))]).keep()
            else:
                self._window.plugins.offer(folder)

    def _open_all(self, files: Sequence[Path]) -> None:
        """Open files; many of them one after the other, and the window answers in between."""
        if len(files) <= _FEW:
            for file in files:
                self.open(file)
            return
        self._waiting.extend(files)
        if not self._opening.active:
            self._opening.start(self._open_waiting())

    def _open_waiting(self) -> Iterator[None]:
        while self._waiting:
            self.open(self._waiting.popleft())
            self._window.statusBar().showMessage(f"{len(self._waiting)} more files to open" if self._waiting else "")
            yield

    def reload(self) -> None:
        """Read the file again, as a step that can be undone."""
        self.disk.reload(self._window.document)

    def save(self) -> bool:
        """Save the net to the file it came from, and its solver; return whether all is saved."""
        return self.saving.save()

    def save_as(self) -> bool:
        """Ask for a name and save."""
        return self.saving.save_as()

    def may_leave_all(self) -> bool:
        """Ask about each document with changes; return whether all may go away."""
        self._window.commit_edits()
        return all(self.may_leave(page.document) for page in self._window.tabs.pages())

    def may_leave(self, document: Document) -> bool:
        """Show a document and ask about its unsaved changes; return whether it may go away."""
        if document is self._window.document:
            self._window.commit_edits()
        if not document.unsaved:
            return True
        self._window.show_document(document)
        return ask_to_leave(self._window, "window.save_question", document.title, self.save)

    def ask_disk(self) -> None:
        """Look at the disk as :meth:`look_at_disk` does, where the threads of the nets find news on it.

        A disk that is slow to answer, as over a network, keeps nobody but those threads.
        """
        shown = self._window.document
        for document in [page.document for page in self._window.tabs.pages()]:
            document.jobs.submit("look at disk", _disk_news(document), partial(self._disk_answered, document))
        shown.live.shaping.look_for_data()

    @guard
    def _disk_answered(self, document: Document, news: bool) -> None:
        if not news and not self.disk.has_asked(document):
            return
        self.missing.look(document)
        if document is self._window.document:
            self.disk.look(document)
            self._window.look_at_solver()

    def look_at_disk(self) -> None:
        """Notice what other programs did to the file of the net in view, once a change, and which files are gone."""
        for page in self._window.tabs.pages():
            self.missing.look(page.document)
        self.disk.look(self._window.document)
        self._window.document.live.shaping.look_for_data()
        self._window.look_at_solver()


def _nets_in(folder: Path) -> list[Path]:
    """Return the nets and solvers of a folder without code; none where it cannot be read."""
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return []
    code = (path.suffix == ".py" or path.name == "plugin.toml" or (path / "__init__.py").is_file() for path in inside)
    return [] if any(code) else [path for path in inside if path.suffix in _TEXTS and path.is_file()]


def _disk_news(document: Document) -> Callable[[], bool]:
    """Return what asks, in any thread, whether the files of a net are others than they were."""
    solver = document.solver.opened
    files = [(document.disk, document.path), *([(solver.disk, solver.path)] if solver is not None else [])]
    return lambda: any(path is not None and state.is_news(path) for state, path in files)


def _why_not_read(path: Path, error: OSError) -> str:
    """Say why a file was not opened, and what to do."""
    if isinstance(error, FileNotFoundError):
        where = f" in '{path.parent}'" if path.parent.is_dir() else f", nor is its folder '{path.parent}'"
        return f"'{path.name}' is not there{where}. Open it from where it is now."
    if isinstance(error, PermissionError):
        return f"'{path.name}' may not be read by you. Check its permissions."
    return f"'{path.name}' cannot be read: {error.strerror or error}. Check the file and its disk."


def _without_net(solver: Path) -> str:
    """Say why a solver is shown without a net."""
    if not names_net(solver):
        return f"'{solver.name}' names no net by a path, so it is shown alone."
    from engine.diagnostics import check_solver_file  # with much behind it that the first picture need not wait for

    errors = [each for each in check_solver_file(solver) if each.severity == "error"]
    if not errors:
        return f"'{solver.name}' is a solver, but the net that it names was not found beside it or above."
    return f"'{solver.name}', line {errors[0].line}: {errors[0].message} {errors[0].next_step}"
