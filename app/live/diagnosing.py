"""The diagnosis of an open document: made in slices, between which the window stays alive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QFileSystemWatcher, QObject

from app.qt import Debounce, guard

if TYPE_CHECKING:
    from app.document import Document
    from engine.diagnostics import Diagnosis, Diagnostic, SchemaMemo
    from engine.graph import Node, NodeId

__all__ = ["LiveDiagnosis", "SolverWatch"]

_PAUSE = 60
_SLICE = 0.008
_DIALECT_PAUSE = 700
#: What tells that a document may be written for another Caffe.
_STRANGE = frozenset({"field-unknown", "field-not-offered", "type-not-offered", "type-unknown", "word-unknown"})


class LiveDiagnosis:
    """What is wrong or doubtful in a document and in its solver.

    An edit throws away a diagnosis that is under way; the next one looks only at what is not known yet.

    Parameters
    ----------
    document : Document
    owner : QObject
        Has the timers.
    terms : callable
        Returns what :class:`engine.diagnostics.Diagnosis` needs beside the graph and the memory.
    told : callable
        Called when other things are found than before.

    Attributes
    ----------
    found : list of Diagnostic
        The newest findings, worst first.
    by_node : dict
        The same by layer.
    solver : SolverWatch
    """

    def __init__(
        self,
        document: Document,
        owner: QObject,
        terms: Callable[[], dict[str, Any]],
        told: Callable[[], object],
    ) -> None:
        self._document = document
        self._terms = terms
        self._told = told
        self.found: list[Diagnostic] = []
        self.by_node: dict[NodeId, list[Diagnostic]] = {}
        self.solver = SolverWatch(document, owner, self._join)
        self._net: list[Diagnostic] = []
        self._memo: SchemaMemo | None = None
        self._running: Diagnosis | None = None
        self._strange: frozenset[str] = frozenset()
        self._due = Debounce(self._begin, _PAUSE, owner)
        self._next = Debounce(self._go_on, 0, owner)
        self._dialect_due = Debounce(document.guess_dialect, _DIALECT_PAUSE, owner)

    @property
    def busy(self) -> bool:
        """Whether something is still to be looked at."""
        return self._running is not None or self._due.pending

    def trigger(self) -> None:
        """Look again, a moment after the last of these requests."""
        self._stop()
        self._due.trigger()

    def close(self) -> None:
        """Drop what is due."""
        self._stop()
        self._due.cancel()
        self._dialect_due.cancel()
        self.solver.close()

    def _stop(self) -> None:
        self._running = None
        self._next.cancel()

    def _begin(self) -> None:
        from engine.diagnostics import Diagnosis, SchemaMemo

        if self._memo is None:
            self._memo = SchemaMemo()
        self._running = Diagnosis(self._document.graph, memo=self._memo, **self._terms())
        self._go_on()

    def _go_on(self) -> None:
        running = self._running
        if running is None:
            return
        if running.is_stale:
            self.trigger()
        elif running.work(_SLICE):
            self._running = None
            self._finish(running.found)
        else:
            self._next.trigger()

    def _finish(self, found: list[Diagnostic]) -> None:
        assert self._memo is not None
        graph = self._document.graph
        self._look_for_dialect(found)
        self.solver.net_changed(tuple(graph.node(node) for node in sorted(self._memo.sources, key=graph.ordinal)))
        if found != self._net:
            self._net = found
            self._join()

    def _join(self) -> None:
        """Put what is told of the net and of the solver into one list."""
        ranks = ("error", "warning", "info")
        found = sorted([*self._net, *self.solver.found], key=lambda each: ranks.index(each.severity))
        if found == self.found:
            return
        self.found = found
        self.by_node = {}
        for each in found:
            for node in () if each.node is None else (each.node, *each.others):
                self.by_node.setdefault(node, []).append(each)
        self._told()

    def _look_for_dialect(self, found: list[Diagnostic]) -> None:
        """Guess the dialect anew where the net has other foreign words than before, and nobody has chosen one."""
        strange = frozenset(each.message for each in found if each.code in _STRANGE)
        guessed = self._document.dialect_choice
        if strange != self._strange or (guessed.is_foreign and self._memo is not None):
            self._strange = strange
            if guessed.chosen is None:
                self._dialect_due.trigger()


def _nobody() -> None:
    """Is told instead of those who are no more."""


class SolverWatch:
    """Holds the solver of a document against it, whenever one of the two changes.

    Parameters
    ----------
    document : Document
    owner : QObject
        Has the timer and the watcher of files.
    told : callable
        Called when other things are found than before.

    Attributes
    ----------
    found : list of Diagnostic
        What is told of the solver's file.
    """

    def __init__(self, document: Document, owner: QObject, told: Callable[[], object]) -> None:
        self._document = document
        self._owner = owner
        self._told = told
        self.found: list[Diagnostic] = []
        self._sources: tuple[Node, ...] | None = None
        self._files: QFileSystemWatcher | None = None
        self._due = Debounce(self._check, _PAUSE, owner)
        document.solver_changed.connect(self.refresh)
        document.solver.changed.connect(self.refresh)
        document.path_changed.connect(self.refresh)

    @guard
    def refresh(self) -> None:
        """Look again; the first look waits until the net is known."""
        if self._sources is not None:
            self._due.trigger()

    def net_changed(self, sources: tuple[Node, ...]) -> None:
        """Take the layers of the net that read nothing: all that a solver asks of it."""
        if sources != self._sources:
            self._sources = sources
            self._due.trigger()

    def close(self) -> None:
        """Drop what is due, and watch no file any more."""
        self._due.cancel()
        self._told = _nobody
        if self._files is not None:
            self._files.deleteLater()
            self._files = None

    @guard
    def _file_changed(self, _path: str) -> None:
        self._due.trigger()

    def _check(self) -> None:
        from engine.diagnostics import check_solver_file

        document = self._document
        solver, net = document.solver_path, document.path
        self._watch(solver)
        if solver is None:
            self._take([])
            return
        opened = {} if net is None else {net: self._sources or ()}

        edited = document.solver.opened
        text = bytes(edited.graph) if edited is not None and (edited.modified or edited.disk.gone) else None

        def work() -> list[Diagnostic]:
            return check_solver_file(solver, text, opened=opened)

        document.jobs.submit("solver", work, self._take)

    def _watch(self, solver: Path | None) -> None:
        """Watch the file; one that is written aside and renamed must be watched anew."""
        wanted = [str(solver)] if solver is not None and solver.is_file() else []
        if self._files is None:
            if not wanted:
                return
            self._files = QFileSystemWatcher(self._owner)
            self._files.fileChanged.connect(self._file_changed)
        if self._files.files() != wanted:
            if self._files.files():
                self._files.removePaths(self._files.files())
            if wanted:
                self._files.addPaths(wanted)

    def _take(self, found: list[Diagnostic]) -> None:
        if found != self.found:
            self.found = found
            self._told()
