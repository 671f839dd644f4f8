"""What can be done with a training: actions for buttons, menu, toolbar and keyboard alike."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget

from app.icons import icon
from app.qt import guard, key_text

__all__ = ["ActionButton", "TrainingActions"]


class TrainingActions(QObject):
    """Train, pause or resume, stop, snapshot; each says in its tooltip why it cannot be done now.

    Attributes
    ----------
    train, pause, stop, snapshot, tell : QAction
        Their ``triggered`` signals are for the panel to connect.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.train = self._make("train", "Train", "play", ["Ctrl+Return", "Ctrl+Enter", "F5"])
        self.pause = self._make("pause", "Pause", "pause", ["F6"])
        self.stop = self._make("stop", "Stop", "stop", ["Shift+F5"])
        self.snapshot = self._make("snapshot", "Snapshot", "camera", [])
        self.tell = self._make("tell", "Say how it goes", "info", ["Shift+F6"])
        self._set(self.tell, "", "Tell iteration, loss and time left in a message")
        for action in self.all():
            parent.addAction(action)
        self.show_state("idle", "", "")

    def all(self) -> tuple[QAction, ...]:
        """All actions in the order of their buttons."""
        return (self.train, self.pause, self.stop, self.snapshot)

    def _make(self, name: str, text: str, glyph: str, keys: list[str]) -> QAction:
        action = QAction(icon(glyph), text, self)
        action.setObjectName(f"training.{name}")
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        return action

    def show_state(self, state: str, wish: str, obstacle: str) -> None:
        """Enable what can be done.

        Parameters
        ----------
        state : str
            State of the run that is shown, ``idle`` for none.
        wish : str
            ``pause``, ``resume`` or ``stop`` when the run was asked for it and has not done it yet.
        obstacle : str
            Why the document cannot be trained, or empty.
        """
        live = state in ("waiting", "running", "paused")
        going = state in ("running", "paused")
        starting = "The training is starting." if state == "waiting" else "Nothing is training."
        key = key_text(self.stop)
        under_way = f"Training is under way. Stop it first{f' ({key})' if key else ''}."
        self._set(self.train, under_way if live else obstacle, "Train this net")
        paused = state == "paused"
        self.pause.setText("Resume" if paused else "Pause")
        self.pause.setIcon(icon("play" if paused else "pause"))
        waiting = {"pause": "It pauses after this iteration.", "stop": "It stops after this iteration."}
        reason = starting if not going else waiting.get(wish, "")
        self._set(self.pause, reason, "Go on" if paused else "Wait after this iteration")
        stopping = wish == "stop" and live
        self.stop.setText("Stop now" if stopping else "Stop")
        help_text = "End it at once, without a snapshot" if stopping else "End the training and take a snapshot"
        self._set(self.stop, "" if live else "Nothing is training.", help_text)
        self._set(self.snapshot, "" if going else starting, "Save weights and solver state, and go on")

    def _set(self, action: QAction, reason: str, help_text: str) -> None:
        action.setEnabled(not reason)
        keys = key_text(action)
        action.setToolTip(reason or (f"{help_text} ({keys})" if keys else help_text))
        action.setStatusTip(reason or help_text)


class ActionButton(QPushButton):
    """A push button that shows an action."""

    def __init__(self, action: QAction, parent: QWidget | None = None, *, primary: bool = False) -> None:
        super().__init__(parent)
        self._action = action
        self.addAction(action)
        self._compact = False
        self._own_icon = icon("play", "accent_text") if primary else None  # the action's is made for plain ground
        self._lead = "\u2009" if primary else ""  # its bold text would touch the icon
        self.setObjectName(f"{action.objectName()}_button")
        if primary:
            self.setProperty("primary", True)
        action.changed.connect(self._mirror)
        self.clicked.connect(action.trigger)
        self._mirror()

    def set_compact(self, compact: bool) -> None:
        """Show the icon only."""
        if compact != self._compact:
            self._compact = compact
            self.setStyleSheet("QPushButton { padding: 5px 7px; }" if compact else "")
            self._mirror()

    @guard
    def _mirror(self) -> None:
        action = self._action
        self.setIcon(self._own_icon or action.icon())
        self.setText("" if self._compact else f"{self._lead}{action.text()}")
        self.setAccessibleName(action.text())
        self.setToolTip(action.toolTip())
        self.setEnabled(action.isEnabled())
