"""Choosing what the net in view is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu

from app.compare import sources
from app.compare.revisions import Revision, list_revisions
from app.jobs import Jobs
from app.qt import guard
from app.window.actions.actions import TIP, enable
from app.window.keys.shortcuts import COMPARE

if TYPE_CHECKING:
    from app.compare.sources import Other
    from app.document import Document
    from app.window.mainwindow import MainWindow
    from engine.worker import RunFolder

__all__ = ["CompareFlow"]

_FILTER = "Nets (*.prototxt *.pbtxt *.txt);;All files (*)"
_NO_FILE = "The net has no file yet: save it first."
_PATIENCE = 0.5

Entry = tuple[str, str, Callable[[], object]]


class CompareFlow(QObject):
    """The menu of what to compare with, and the comparison in the window.

    Parameters
    ----------
    window : MainWindow

    Attributes
    ----------
    menu : QMenu
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._jobs = Jobs(self)
        self.menu = QMenu("Compare &with", window)
        self.menu.setObjectName("window.menu.compare")
        self.menu.setToolTipsVisible(True)
        self._saved = self._action(
            "saved", "The &saved file", "Show what was changed since it was saved", self.with_file
        )
        self._file = self._action("file", "&Another file\u2026", "Show what differs from another file", self.ask_file)
        self._close = self._action("close", "&Close the comparison", "Back to the canvas", self.close)
        self.menu.insertSeparator(self._close)
        self.revisions = self._submenu("revisions", "&Revision in git", self._fill_revisions)
        self.runs = self._submenu("runs", "&Net of a run", self._fill_runs)
        self.open_nets = self._submenu("nets", "&Open net", self._fill_nets)
        self.menu.aboutToShow.connect(self.refresh)
        window.refreshed.connect(self.refresh)
        window.closing.connect(lambda: self._jobs.close(_PATIENCE))

    def _action(self, name: str, text: str, tip: str, act: Callable[[], object]) -> QAction:
        action = self.menu.addAction(text)
        action.setObjectName(f"window.action.compare_{name}")
        action.setToolTip(tip)
        action.setProperty(TIP, tip)
        action.triggered.connect(lambda _checked=False: act())
        return action

    def _submenu(self, name: str, title: str, fill: Callable[[], object]) -> QMenu:
        menu = QMenu(title, self.menu)
        menu.setObjectName(f"window.menu.compare_{name}")
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(fill)
        self.menu.insertMenu(self._close, menu)
        return menu

    @guard
    def refresh(self) -> None:
        """Say what cannot be done, and why."""
        page = self._window.tabs.current
        enable(self._saved, "" if page.document.path is not None else _NO_FILE)
        enable(self._close, "" if page.comparison is not None else "Nothing is compared.")

    # Comparing

    def show(self, document: Document, other: Other) -> None:
        """Show a net that is open beside another."""
        from app.compare.view import CompareView

        page = self._window.tabs.page_of(document)
        if page is None:
            return
        self._window.commit_edits()
        view = CompareView(document, other, page)
        view.told.connect(page.bars.add)
        self._window.keys.shortcuts.adopt(view.actions(), COMPARE)
        page.show_comparison(view)
        view.show()

    def with_file(self) -> None:
        """Compare the net in view with its saved file."""
        self.with_file_of(self._window.document)

    def with_file_of(self, document: Document) -> None:
        """Compare a net with what its file holds now."""
        if document.path is not None:
            self.show(document, sources.saved_file(document))

    def with_run(self, run: RunFolder) -> None:
        """Compare the net in view with the one that a run was started with."""
        self.show(self._window.document, sources.run_of(run))

    def with_path(self, path: Path) -> None:
        """Compare the net in view with another file."""
        self.show(self._window.document, sources.file_of(path))

    def ask_file(self) -> None:
        """Ask for another file and compare with it."""
        path = self._window.document.path
        start = str(path.parent) if path is not None else ""
        name, _filter = QFileDialog.getOpenFileName(self._window, "Compare with a net", start, _FILTER)
        if name:
            self.with_path(Path(name))

    def close(self) -> None:
        """Go back to the canvas."""
        self._window.tabs.current.leave_comparison()

    # Lists

    @guard
    def _fill_revisions(self) -> None:
        document = self._window.document
        path = document.path
        if path is None:
            _say(self.revisions, _NO_FILE)
            return

        def entry(revision: Revision) -> Entry:
            text = f"{revision.date}  {revision.subject[:60]}".replace("&", "&&")
            tip = f"{revision.commit[:12]}, {revision.author}"
            return text, tip, partial(self.show, document, sources.revision_of(path, revision))

        self._fill_later(self.revisions, partial(list_revisions, path), entry, "")

    @guard
    def _fill_runs(self) -> None:
        document = self._window.document

        def work() -> Sequence[RunFolder]:
            from engine.worker import list_runs, run_parents

            return list_runs(run_parents(document.path))[:40]

        def entry(run: RunFolder) -> Entry:
            return run.name.replace("&", "&&"), str(run.path), partial(self.show, document, sources.run_of(run))

        self._fill_later(self.runs, work, entry, "No runs yet. Each training is kept.")

    @guard
    def _fill_nets(self) -> None:
        document = self._window.document
        others = [page.document for page in self._window.tabs.pages() if page.document is not document]
        entries = [
            (
                each.title.replace("&", "&&"),
                str(each.path or "Not saved yet"),
                lambda each=each: self.show(document, sources.open_net(each)),
            )
            for each in others
        ]
        _fill(self.open_nets, entries, "No other net is open.")

    def _fill_later(
        self, menu: QMenu, work: Callable[[], Sequence[Any]], entry: Callable[[Any], Entry], empty: str
    ) -> None:
        _say(menu, "Looking\u2026")
        self._jobs.submit(
            menu.objectName(),
            work,
            lambda found: _fill(menu, [entry(each) for each in found], empty),
            lambda error: _say(menu, str(error)),
        )


def _fill(menu: QMenu, entries: Sequence[Entry], empty: str) -> None:
    if not entries:
        _say(menu, empty)
        return
    menu.clear()
    for text, tip, act in entries:
        action = menu.addAction(text)
        action.setToolTip(tip)
        action.triggered.connect(lambda _checked=False, act=act: act())


def _say(menu: QMenu, words: str) -> None:
    """Show one line that cannot be chosen."""
    menu.clear()
    action = menu.addAction(words)
    action.setEnabled(False)
    action.setToolTip(words)
