"""The training panel: start, watch, pause, stop, and look at earlier runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.qt import announce, guard, key_text
from app.theme import Theme
from app.training import formats
from app.training.face import TrainingFace
from app.training.launch import Launch, obstacle, only_assumed, run_parents
from app.training.model import Notice, RunModel
from app.training.oldcode import OldCode
from app.training.oldnet import OldNet
from app.training.session import Opening, TrainingSession
from app.training.shelf import SessionShelf
from app.training.testnets import trained_in_its_place
from app.training.trust import trust_question
from engine.worker import RunFolder, TrainingProcess, snapshot_iteration

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["TrainingPanel"]


class TrainingPanel(TrainingFace):
    """Trains a document and shows how it goes.

    Parameters
    ----------
    document : Document, optional
        See :meth:`set_document`.

    Attributes
    ----------
    state_changed : Signal(str)
        State of the run that is shown: idle, waiting, running, paused, finished, stopped, failed or lost.
    folder_trusted : Signal(Path)
        The user allowed the code of a project folder, for the window to remember.
    neighbours : callable
        Returns the nets that are open beside the document, for its solver may test with one of them.
    """

    state_changed = Signal(str)
    folder_trusted = Signal(object)

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.neighbours: Callable[[], Sequence[Document]] = tuple
        self._document: Document | None = None
        self._session: TrainingSession | None = None
        self._shelf = SessionShelf(self)
        self._model = RunModel()
        self._told: Notice | None = None
        self._old_code = OldCode(self)
        self._old_net = OldNet(self)
        self._state = "idle"
        self._blocked = obstacle(self._document)
        self._connect()
        self._render()
        if document is not None:
            self.set_document(document)

    def _connect(self) -> None:
        self.train_action.triggered.connect(self.train)
        self.pause_action.triggered.connect(self.pause_or_resume)
        self.stop_action.triggered.connect(self.stop)
        self.snapshot_action.triggered.connect(self.take_snapshot)
        self.tell_action.triggered.connect(self.tell)
        self.runs.chosen.connect(self.open_run)
        self.runs.resumed.connect(self.resume_run)
        self.weights.asked.connect(self._ask_weights)
        self._shelf.ended.connect(self._ended_unseen)
        Theme.notifier().changed.connect(self._restyle)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.shutdown)

    # The document

    def set_document(self, document: Document | None) -> None:
        """Show another document: its solver, its runs. A run that was shown goes on unseen, until it is shown again."""
        old = self._document
        if old is not None:
            old.solver_changed.disconnect(self._solver_changed)
            old.path_changed.disconnect(self._path_changed)
            old.changed.disconnect(self._document_changed)
            if self._session is not None:
                self._put_aside(old, self._session)
        self._leave()
        self._document = document
        self.solver_box.set_document(document)
        self.weights.set_document(document)
        self.runs.set_parents(run_parents(document.path) if document is not None else ())
        if document is not None:
            document.solver_changed.connect(self._solver_changed)
            document.path_changed.connect(self._path_changed)
            document.changed.connect(self._document_changed)
            kept = self._shelf.take(document)
            if kept is not None:
                self.log.add(kept[1])
                self._take_up(kept[0])
                self._old_code.look(anew=True)
                self._old_net.look(document, anew=True)
            QTimer.singleShot(0, self, self._look_for_active_runs)
        self._blocked = obstacle(self._document)
        self._render()

    def forget(self, document: Document) -> None:
        """A document is closed; a run of it goes on."""
        self._shelf.drop(document)

    def _put_aside(self, document: Document, session: TrainingSession) -> None:
        self._session = None
        self._let_go(session)
        self._shelf.put(document, session, self.log.toPlainText())

    def _let_go(self, session: TrainingSession) -> None:
        session.changed.disconnect(self._render)
        session.tensor_came.disconnect(self.weights.show_reply)

    def _take_up(self, session: TrainingSession) -> None:
        session.changed.connect(self._render)
        session.tensor_came.connect(self.weights.show_reply)
        self._session, self._model = session, session.model

    def _ended_unseen(self, title: str, state: str) -> None:
        kind = "error" if state in ("failed", "lost") else "info"
        self.tell_window(Notice(kind, f"Training of '{title}': {state}."))

    def tell_window(self, notice: Notice) -> None:
        """Show a notice in the window's own bar."""
        notify = getattr(self.window(), "notify", None)
        if callable(notify):
            notify(notice.text, notice.kind)

    def unseen_runs(self) -> list[tuple[str, RunFolder]]:
        """Return the runs of documents out of view that are under way, with the titles of these."""
        return self._shelf.running()

    def _solver_changed(self) -> None:
        self.solver_box.refresh()
        self._document_changed()

    def _path_changed(self) -> None:
        self.solver_box.refresh()
        if self._document is not None:
            self.runs.set_parents(run_parents(self._document.path))

    @guard
    def _document_changed(self, _events: object = None) -> None:
        self._blocked = obstacle(self._document)
        self._old_net.look(self._document)
        self._render_actions()

    @guard
    def _look_for_active_runs(self) -> None:
        if self._session is not None:
            return
        active = self.runs.active_runs()
        if active:
            notice = Notice("info", f"Run '{active[0].name}' is still training.")
            self.say(notice, [("Attach", lambda: self.open_run(active[0]))])

    def say(self, notice: Notice, actions: Sequence[tuple[str, Callable[[], object]]]) -> None:
        """Show a notice here, and in the window's own bar while nobody sees this panel."""
        self.strip.show_notice(notice, actions)
        notify = getattr(self.window(), "notify", None)
        if callable(notify) and self.visibleRegion().isEmpty():
            notify(notice.text, notice.kind, list(actions))

    # Commands

    def train(self) -> None:
        """Start a new run of the document as it is now."""
        self.train_from()

    def train_from(self, *, weights: Path | None = None, snapshot: Path | None = None) -> None:
        """Start a new run of the document, from a ``.caffemodel`` or a ``.solverstate``; say what is in the way."""
        reason = "A training is under way. Stop it first." if self._model.live else self._blocked
        if self._document is None or reason:
            if weights or snapshot:  # else the button says it
                self.strip.show_notice(Notice("warning", reason))
            return

        def trusted(folder: Path) -> None:
            self.folder_trusted.emit(folder)
            self.train_from(weights=weights, snapshot=snapshot)

        trained = trained_in_its_place(self._document)
        if trained is not None:
            title = self._document.title
            text = f"The solver only tests with '{title}'. Open '{trained.name}', which it trains, and train that."
            self.strip.show_notice(Notice("warning", text))
            return
        question = trust_question(self._document, trusted)
        if question is not None:
            self.strip.show_notice(*question)
            return
        try:
            launch = replace(Launch.of(self._document, self.neighbours()), weights=weights, snapshot=snapshot)
        except (OSError, ValueError) as error:
            self.strip.show_notice(Notice("error", f"The solver cannot be read: {error}. Choose another one."))
            return
        assumed = only_assumed(self._document)
        self._show_session(launch.start)
        if assumed:
            self.strip.show_notice(Notice("info", assumed))

    def pause_or_resume(self) -> None:
        """Pause the run that is shown, or let it go on."""
        if self._session is not None:
            if self._model.state == "paused":
                self._session.resume()
            else:
                self._session.pause()

    def stop(self) -> None:
        """Stop the run that is shown; a second call ends it at once."""
        if self._session is not None:
            self._session.stop()

    def take_snapshot(self) -> None:
        """Save weights and solver state of the run that is shown."""
        if self._session is not None:
            self._session.snapshot()

    @guard
    def _ask_weights(self, layer: str) -> None:
        if self._session is not None:
            self._session.ask_weights(layer)

    def open_run(self, run: RunFolder) -> None:
        """Show a run; attach to it when it is under way."""
        self._show_session(lambda: (run, None))

    def resume_run(self, run: RunFolder) -> None:
        """Go on with a run from its last snapshot."""
        if self._model.live and self._session is not None and self._session.run == run:
            return

        def start() -> tuple[RunFolder, TrainingProcess]:
            return run, TrainingProcess.start(run, snapshot=run.last_snapshot())

        self._show_session(start)

    def plugins_edited(self) -> None:
        """Files of plugins were saved: a run that is under way does not use them, and that is said."""
        self._old_code.look()

    def shutdown(self) -> None:
        """Leave the run that is shown, which goes on, and end all threads of the panel."""
        self._leave()
        self._old_code.close()
        self._old_net.close()
        self._shelf.close()
        self.pictures.shutdown()

    @property
    def state(self) -> str:
        """State of the run that is shown; see :attr:`state_changed`."""
        return self._state

    @property
    def model(self) -> RunModel:
        """Facts and curves of the run that is shown."""
        return self._model

    @property
    def run(self) -> RunFolder | None:
        """The run that is shown."""
        return self._session.run if self._session else None

    # The session

    def _show_session(self, opening: Opening) -> None:
        self._leave()
        if self._document is not None:
            self._document.clear_node_errors()
        session = TrainingSession(opening, self)
        session.opened.connect(self.runs.refresh)
        self._take_up(session)
        session.start()
        self._render()

    def _leave(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            self._let_go(session)
            self._shelf.retire(session)
        self._model, self._told = RunModel(), None
        self.strip.show_notice(None)
        self.log.clear()

    # Showing

    @guard
    def _render(self) -> None:
        model = self._model
        self._render_actions()
        self.facts.show_model(model)
        self.log.add(model.take_text())
        self._render_pictures()
        if self._document is not None:
            self._document.live.updates.take(model.updates, model.updates_at, is_running=model.live)
        self.weights.show_state(model.state)
        self._render_notice()
        if model.state != self._state:
            self._state = model.state
            self.runs.refresh()
            self._state_message()
            announce(self, self.words)
            self.state_changed.emit(model.state)

    @property
    def words(self) -> str:
        """How the training goes, in one sentence."""
        figures = self.facts.words if self._model.state != "idle" else ""
        return ". ".join(filter(None, (self.chip.word, figures)))

    @guard
    def tell(self, _checked: bool = False) -> None:
        """Say how the training goes, in a message of the window."""
        notify = getattr(self.window(), "notify", None)
        if callable(notify):
            notify(f"{self.words}.", "info")

    def _render_actions(self) -> None:
        wish = self._session.wish if self._session else ""
        self._actions.show_state(self._model.state, wish, self._blocked)
        self.chip.show_state(self._model.state, wish)
        if self._model.state == "idle":
            key = key_text(self.train_action)
            key = key.replace("Return", "Enter")
            words = f"Press Train ({key})" if key else "Press Train"
            self.pictures.say(self._blocked or f"{words} to see loss and accuracy here.")

    def _render_pictures(self) -> None:
        if self.isVisible():
            self.pictures.show_model(self._model)

    def _render_notice(self) -> None:
        notice = self._model.notice
        if notice is None or notice is self._told:
            return
        self._told = notice
        assumed = only_assumed(self._document) if notice.kind == "error" and self._document is not None else ""
        if assumed:
            notice = replace(notice, text=f"{notice.text} {assumed}")
        self.strip.show_notice(notice, self._resume_actions())
        if notice.layer and self._document is not None:
            self._mark_node(self._document, notice)

    def _state_message(self) -> None:
        actions = self._resume_actions() if self._state == "stopped" else []
        if actions:
            text = f"Stopped at iteration {formats.count(self._model.iteration)}."
            self.strip.show_notice(Notice("info", text), actions)

    def _resume_actions(self) -> list[tuple[str, Callable[[], object]]]:
        session = self._session
        snapshot = session.snapshot_path if session is not None and not self._model.live else None
        if session is None or session.run is None or snapshot is None:
            return []
        run, iteration = session.run, formats.count(snapshot_iteration(snapshot))
        return [(f"Resume from {iteration}", lambda: self.resume_run(run))]

    def _mark_node(self, document: Document, notice: Notice) -> None:
        from engine.diagnostics import Diagnostic

        document.set_node_error(notice.layer, Diagnostic("run", "error", notice.text))

    @guard
    def _restyle(self, _theme: object) -> None:
        self.chip.restyle()
        self.pictures.restyle()

    @guard
    def showEvent(self, event: QShowEvent) -> None:
        """Bring up to date what is not kept so while nobody looks."""
        super().showEvent(event)
        self.solver_box.refresh()
        self._render_pictures()

    @guard
    def closeEvent(self, event: QCloseEvent) -> None:
        """Leave the run; it goes on."""
        self.shutdown()
        super().closeEvent(event)
