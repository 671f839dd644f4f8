"""Files that go away under an open net: said in a bar, and kept as unsaved until they are back."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject

from app.jobs import Jobs
from app.qt import Debounce, guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["TAKEN_BAR", "DiskWatch", "MissingFiles"]

_BAR = "window.bar.gone"
#: Said where a net was not saved because a folder has its file's name; goes with the folder.
TAKEN_BAR = "window.bar.taken"
#: Programs that write a file anew take it away first; that is no news.
_SETTLED_MS = 400
#: Seconds that the window waits for a disk when it is closed.
_PATIENCE = 1.0


class MissingFiles(QObject):
    """Tells which open nets lost their files.

    Parameters
    ----------
    window : MainWindow
        Where it is said.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def look(self, document: Document) -> None:
        """Look for the file of a net, and for that of its solver, and say what is news."""
        solver = document.solver.opened
        if solver is not None and solver.disk.look_for(solver.path):
            solver.modified_changed.emit(solver.modified)
        path, page = document.path, self._window.tabs.page_of(document)
        if path is None or page is None or not document.disk.look_for(path):
            return
        document.modified_changed.emit(document.modified)
        for bar in page.bars.bars():
            if bar.objectName() == _BAR or (bar.objectName() == TAKEN_BAR and not document.disk.taken):
                bar.dismiss()
        if document.disk.gone:
            text, actions = self._question(document)
            page.bars.add(text, "warning", actions).setObjectName(_BAR)

    def _question(self, document: Document) -> tuple[str, list[tuple[str, Callable[[], object]]]]:
        window, path = self._window, document.path
        assert path is not None
        elsewhere: list[tuple[str, Callable[[], object]]] = [
            ("Save as\u2026", partial(window.files.save_as)),
            ("Close", partial(self._close, document)),
        ]
        if os.path.isdir(path):
            return f"'{path.name}' is the name of a folder by now. Save the net under another.", elsewhere
        if not os.path.isdir(path.parent):
            text = f"'{path.name}' is no longer there, and neither is its folder '{path.parent}'."
            return f"{text} Save it elsewhere to keep it.", elsewhere
        again = ("Save it again", partial(window.files.save))
        moved = document.disk.moved_to(path)
        if moved is None or window.files.page_with(moved) is not None:
            return f"'{path.name}' is no longer there. Save it again to keep it.", [again, *elsewhere]
        text = f"'{path.name}' is called '{moved.name}' by now."
        return text, [(f"Work on '{moved.name}'", partial(document.follow_file, moved)), again, *elsewhere]

    def _close(self, document: Document) -> None:
        page = self._window.tabs.page_of(document)
        if page is not None:
            self._window.close_page(page)


class DiskWatch(QObject):
    """Has the window look at the disk when something happens in the folders of the open nets.

    It is a help only: where the system cannot tell, the window still looks whenever it is come back to. What of the
    files is there is asked in a thread: a disk may be slow to answer.

    Parameters
    ----------
    window : MainWindow
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._watcher: QFileSystemWatcher | None = None
        self._closed = False
        self._jobs = Jobs(self)
        self._due = Debounce(window.files.ask_disk, _SETTLED_MS, self)
        window.document_added.connect(self._added)
        window.document_left.connect(lambda _document: self._follow())
        window.closing.connect(self.close)

    @guard
    def _added(self, document: Document) -> None:
        document.path_changed.connect(self._follow)
        document.solver_changed.connect(self._follow)
        self._follow()

    @guard
    def _follow(self) -> None:
        """Watch the folders and the files of the nets that are open now, as soon as the disk says which are there."""
        documents = [page.document for page in self._window.tabs.pages()]
        paths = {path for each in documents for path in (each.path, each.solver_path) if path is not None}
        asked = sorted({str(each) for path in paths for each in (path.parent, path)})
        self._jobs.submit("watch", lambda: {each for each in asked if os.path.exists(each)}, self._watch)

    @guard
    def _watch(self, wanted: set[str]) -> None:
        if self._watcher is None:
            if not wanted or self._closed:
                return
            self._watcher = QFileSystemWatcher(self)
            self._watcher.fileChanged.connect(self._seen)
            self._watcher.directoryChanged.connect(self._seen)
        known = {*self._watcher.files(), *self._watcher.directories()}
        if known - wanted:
            self._watcher.removePaths(sorted(known - wanted))
        if wanted - known:
            self._watcher.addPaths(sorted(wanted - known))

    @guard
    def _seen(self, _path: str) -> None:
        self._follow()  # a file that was written anew is another to the system
        self._due.trigger()

    @guard
    def close(self) -> None:
        """Watch nothing any more."""
        self._closed = True
        self._due.cancel()
        self._jobs.close(_PATIENCE)
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.deleteLater()
