"""The sessions of documents that are open but not in view: their trainings go on, and what they tell is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.qt import guard

if TYPE_CHECKING:
    from app.document import Document
    from app.training.session import TrainingSession
    from engine.worker import RunFolder

__all__ = ["SessionShelf"]


@dataclass(slots=True)
class _Kept:
    session: TrainingSession
    log: str
    title: str
    was_live: bool
    watch: object


class SessionShelf(QObject):
    """Keeps sessions by their documents, and lets those end that nobody wants any more.

    Attributes
    ----------
    ended : Signal(str, str)
        The training of a document that is not in view ended: title of the document, and the state.
    """

    ended = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: dict[str, _Kept] = {}
        self._retired: list[TrainingSession] = []

    def put(self, document: Document, session: TrainingSession, log: str) -> None:
        """Keep the session of a document that goes out of view, with its log as it is shown."""
        watch = partial(self._changed, document.identity)
        self._kept[document.identity] = _Kept(session, log, document.title, session.model.live, watch)
        session.changed.connect(watch)

    def take(self, document: Document) -> tuple[TrainingSession, str] | None:
        """Return what was kept of a document that comes into view; it is the caller's again."""
        kept = self._kept.pop(document.identity, None)
        if kept is None:
            return None
        kept.session.changed.disconnect(kept.watch)
        return kept.session, kept.log

    def drop(self, document: Document) -> None:
        """Let go of the session of a document that is closed; its run goes on."""
        found = self.take(document)
        if found is not None:
            self.retire(found[0])

    def retire(self, session: TrainingSession) -> None:
        """Leave a run without waiting for the thread that listens to it."""
        session.leave()
        for each in [each for each in self._retired if each.is_over]:
            self._retired.remove(each)
            each.deleteLater()
        self._retired.append(session)

    def running(self) -> list[tuple[str, RunFolder]]:
        """Return the runs of documents out of view that are under way, with the titles of these."""
        kept = self._kept.values()
        return [(each.title, each.session.run) for each in kept if each.session.run and each.session.model.live]

    def close(self) -> None:
        """Leave all runs and wait for the threads."""
        sessions = [*self._retired, *(kept.session for kept in self._kept.values())]
        self._retired, self._kept = [], {}
        for session in sessions:
            session.leave()
        for session in sessions:
            session.close()
            session.deleteLater()

    @guard
    def _changed(self, identity: str) -> None:
        kept = self._kept.get(identity)
        if kept is None:
            return
        model = kept.session.model
        if kept.was_live and not model.live:
            self.ended.emit(kept.title, model.state)
        kept.was_live = model.live
