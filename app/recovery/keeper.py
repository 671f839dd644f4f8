"""Keeps what is not saved of all open documents, and offers what a crash left."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.document import Document
from app.document.placement import read_view
from app.jobs import Jobs
from app.qt import guard
from app.recovery.soon import Soon
from app.recovery.store import Kept, KeptCode, KeptSolver, Leftover, RecoveryStore
from engine.errors import NetcanvasError
from engine.graph import OpGraph

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["RecoveryKeeper", "restore_into", "restored"]

_MOST_NAMES = 3

_log = logging.getLogger(__name__)


class RecoveryKeeper(QObject):
    """Writes a recovery file after every command, in a thread, and removes it when the document is saved or closed.

    Code of plugins that is edited in the window is kept so too.

    Parameters
    ----------
    window : MainWindow
        Whose documents are kept, and where the question after a crash is asked.
    store : RecoveryStore
        Where they are kept.

    Attributes
    ----------
    written : Signal(str)
        The recovery file of the document of this identity is up to date.
    code_written : Signal()
        What is kept of code is up to date.
    looked : Signal(int)
        So many documents and source files were found that a crash left, and are offered.
    """

    written = Signal(str)
    code_written = Signal()
    looked = Signal(int)

    def __init__(self, window: MainWindow, store: RecoveryStore) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._jobs = Jobs(self)
        self._watches: dict[str, _Watch] = {}
        self._left: list[Leftover] = []
        self._code_due = Soon(self._keep_code, self)
        window.plugins.code.edited.connect(self._code_due.trigger)
        for page in window.tabs.pages():
            self._add(page.document)
        window.document_added.connect(self._add)
        window.document_left.connect(self._remove)
        window.closing.connect(self.close)
        window.restore_asked.connect(lambda: self.look(again=True))

    # Keeping

    @guard
    def _add(self, document: Document) -> None:
        self._watches[document.identity] = _Watch(document, self._keep, self._forget)

    @guard
    def _remove(self, document: Document) -> None:
        watch = self._watches.pop(document.identity, None)
        if watch is not None:
            watch.close()
            identity = document.identity
            self._jobs.submit(identity, lambda: self._store.remove(identity), lambda _none: None, self._failed)

    def _keep(self, document: Document) -> None:
        write = _capture(document)
        identity = document.identity
        self._jobs.submit(
            identity, lambda: self._store.write(write()), lambda _none: self.written.emit(identity), self._failed
        )

    def _forget(self, document: Document) -> None:
        identity = document.identity
        self._jobs.submit(
            identity, lambda: self._store.remove(identity), lambda _none: self.written.emit(identity), self._failed
        )

    def _keep_code(self) -> None:
        code = self._window.plugins.code.unsaved
        self._jobs.submit(
            "code", lambda: self._store.write_code(code), lambda _none: self.code_written.emit(), self._failed
        )

    def _failed(self, error: Exception) -> None:
        _log.warning("The recovery file was not written: %s", error)
        self._window.status.showMessage(f"Unsaved changes cannot be kept for a crash: {error}", 8000)

    @guard
    def close(self) -> None:
        """The program ends as it should: nothing is kept of it. What was offered and not answered can be asked for.

        Where nobody could be asked about what is not saved, that is kept for the next start.
        """
        keeps = self._window.keeps_unsaved
        kept = [write() for write in self._unsaved()] if keeps else []
        code = self._window.plugins.code.unsaved if keeps else ()
        self._code_due.cancel()
        for watch in self._watches.values():
            watch.close()
        self._watches.clear()
        if self._jobs.close():
            self._store.close()
            self._write_all(kept, code)
            self._store.leave()
        self._put_aside()

    @guard
    def keep_now(self) -> None:
        """Write what is not saved before anything else is done: the program may be ended any moment."""
        self._window.commit_edits()
        self._write_all([write() for write in self._unsaved()], self._window.plugins.code.unsaved)

    def _unsaved(self) -> list[Callable[[], Kept]]:
        documents = [watch.document for watch in self._watches.values()]
        return [_capture(document) for document in documents if document.unsaved]

    def _write_all(self, kept: Iterable[Kept], code: Sequence[KeptCode]) -> None:
        try:
            self._store.write_code(code)
            for each in kept:
                self._store.write(each)
        except OSError as error:
            self._failed(error)

    # After a crash

    def look(self, *, again: bool = False) -> None:
        """Look for what a crash left, and offer it in a bar.

        Parameters
        ----------
        again : bool
            Also what was offered before; then it is said too when there is nothing.
        """
        self._put_aside()
        self._jobs.submit("look", lambda: self._store.leftovers(offered=again), partial(self._offer, again))

    def _offer(self, again: bool, found: list[Leftover]) -> None:
        self._left = found
        names = [name for left in found for name in left.names]
        if names:
            listed = ", ".join(names[:_MOST_NAMES]) + (", \u2026" if len(names) > _MOST_NAMES else "")
            bar = self._window.notify(
                f"Netcanvas did not end as it should, but kept unsaved changes to {listed}.",
                "warning",
                [("Restore", self.restore), ("Discard", self.discard)],
            )
            bar.dismissed.connect(self._put_aside)
        elif again:
            self._window.notify("There are no unsaved changes to restore.", "info")
        self.looked.emit(len(names))

    def restore(self) -> None:
        """Open what was found, each in a tab, with its changes as a step that can be undone."""
        left, self._left = self._left, []
        for each in left:
            each.mark_offered()  # before it is opened: what crashes the program is not offered for ever
            documents = [self._open(kept) for kept in each.kept]
            for code in each.code:
                self._window.plugins.code.restore(code)
            whole = [document for document in documents if document is not None]
            self._take_over(each, [_capture(document) for document in whole], all_of_it=len(whole) == len(documents))

    def _open(self, kept: Kept) -> Document | None:
        page = self._window.files.page_with(kept.path) if kept.path is not None else None
        try:
            if page is None:
                document = restored(kept)
            else:
                document = page.document
                restore_into(document, kept)
        except (NetcanvasError, OSError) as error:
            self._window.notify(f"'{kept.title}' cannot be restored: {error}", "error")
            return None
        self._window.show_document(document)
        return document

    def _take_over(self, left: Leftover, kept: list[Callable[[], Kept]], *, all_of_it: bool) -> None:
        """Keep what was restored among our own files, and only then let go of the old ones."""
        code = self._window.plugins.code.unsaved

        def work() -> None:
            self._store.write_code(code)
            for each in kept:
                self._store.write(each())
            if all_of_it:
                left.discard()
            else:
                left.release()

        self._jobs.submit(f"take over {left.folder}", work, lambda _none: None, self._failed)

    def discard(self) -> None:
        """Remove what was found."""
        left, self._left = self._left, []
        for each in left:
            each.discard()

    def _put_aside(self) -> None:
        """The question was closed without an answer: it is not asked again, but nothing is removed."""
        left, self._left = self._left, []
        for each in left:
            each.mark_offered()
            each.release()


class _Watch(QObject):
    """Asks for the recovery file of one document: soon after a change, and not much later while changes go on."""

    def __init__(
        self, document: Document, keep: Callable[[Document], None], forget: Callable[[Document], None]
    ) -> None:
        super().__init__()
        self.document = document
        self._keep, self._forget = keep, forget
        self._due = Soon(self._write, self)
        document.undo_stack.indexChanged.connect(self._changed)
        document.modified_changed.connect(self._changed)

    def close(self) -> None:
        self._due.cancel()
        self.document.undo_stack.indexChanged.disconnect(self._changed)
        self.document.modified_changed.disconnect(self._changed)

    @guard
    def _changed(self, _value: object = None) -> None:
        self._due.trigger()

    def _write(self) -> None:
        (self._keep if self.document.unsaved else self._forget)(self.document)


def _capture(document: Document) -> Callable[[], Kept]:
    """Copy what is to be kept; the function that is returned puts it together, in any thread."""
    data, layout = bytes(document.graph), document.capture_sidecar()
    identity, title, path, on_disk = document.identity, document.title, document.path, document.disk.digest
    modified = document.modified
    solvers = tuple(
        KeptSolver(solver.path, bytes(solver.graph), solver.disk.digest) for solver in document.solver.unsaved()
    )
    return lambda: Kept(identity, title, path, data, layout(data), on_disk, modified, solvers)


def restored(kept: Kept) -> Document:
    """Return a document with the changes that were kept, unsaved; its file's content is one undo away.

    Raises
    ------
    FileFormatError, OSError
        When the file is there and cannot be read.
    """
    if kept.path is not None and kept.path.is_file():
        document = Document.open(kept.path)
        # What the file holds by now may be somebody else's: saving asks before it overwrites that.
        document.disk.expect(kept.on_disk)
    else:
        document = Document(OpGraph.parse(b""), kept.path)
        document.label = kept.title
    restore_into(document, kept)
    return document


def restore_into(document: Document, kept: Kept) -> None:
    """Give an open document what was kept of it, as a step that can be undone."""
    if bytes(document.graph) != kept.text:
        document.apply("Restore unsaved changes", lambda graph: graph.replace_text(kept.text))
    elif kept.modified:
        document.undo_stack.resetClean()
    for solver in kept.solvers:
        document.set_solver(solver.path)
        document.solver.restore(solver.path, solver.text, solver.on_disk)
    if kept.layout:
        document.positions.load_json(document.graph.nodes(), kept.layout, kept.text)
        document.dialect_choice.load(kept.layout)
        document.assumptions.load(kept.layout)
        document.set_view(read_view(kept.layout))
