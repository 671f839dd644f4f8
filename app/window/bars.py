"""Bars that say something without stopping the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QElapsedTimer, QSize, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from app.icons import icon
from app.qt import announce, guard
from app.theme import Theme
from app.wording import breakable

__all__ = ["InfoArea", "InfoBar", "Question"]

_ICONS = {"info": "info", "warning": "warning", "error": "warning-circle"}
_ROLES = {"info": "accent", "warning": "warning", "error": "error"}
_QUIET_AFTER = 8000
_MOST, _MOST_BESIDE = 3, 3
#: Letters of the text in a line that buttons beside it leave at least, and pixels of what else is there.
_LEAST_LETTERS, _AROUND = 32, 84
_ROOMY = 10_000
#: For so many milliseconds after one bar pushed others down, a click may have been meant for what was there before.
_STEADY_AFTER = 400

Actions = Sequence[tuple[str, Callable[[], object]]]


@dataclass(frozen=True, slots=True)
class Question:
    """Something that is asked in a bar.

    Attributes
    ----------
    text : str
        What is asked.
    actions : sequence of (label, callable)
        The answers; where something is to be typed, the first is given that text.
    value : str or None
        What stands in the field to begin with; None without a field.
    """

    text: str
    actions: Sequence[tuple[str, Callable[..., object]]]
    value: str | None = None


class _Answer(QPushButton):
    """A button of a bar; a press that comes just when the bars have moved does nothing."""

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        bar = self.parentWidget()
        area = bar.parentWidget() if bar is not None else None
        if isinstance(area, InfoArea) and not area.is_steady:
            event.accept()
            return
        super().mousePressEvent(event)


class InfoBar(QFrame):
    """One message with its actions.

    Parameters
    ----------
    kind : str
        ``info``, ``warning`` or ``error``; information goes away by itself, the others stay until closed.
    actions : sequence of (label, callable)
        Each is a button; pressing it closes the bar.

    Attributes
    ----------
    dismissed : Signal()
        It was closed without an answer.
    """

    dismissed = Signal()

    def __init__(self, text: str, kind: str, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(f"window.bar.{kind}")
        self.kind = kind
        self.text = text
        self.setAccessibleName(text)
        self._icon = QLabel()
        label = QLabel(breakable(text))
        label.setObjectName("window.bar.text")
        label.setAccessibleName(text)  # without the places where it may break
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._box = box = QHBoxLayout()
        box.setSpacing(8)
        box.addWidget(self._icon)
        box.addWidget(label, 1)
        self._rows = rows = QVBoxLayout(self)
        rows.setContentsMargins(12, 6, 8, 6)
        rows.addLayout(box)
        self._answers = QHBoxLayout()
        self._answers.setSpacing(8)
        self._is_beside = False
        rows.addLayout(self._answers)
        self._add_buttons(actions)
        close = QToolButton()
        close.setIcon(icon("x", "text_muted"))
        close.setIconSize(QSize(16, 16))
        close.setAutoRaise(True)
        close.setToolTip("Close (Esc)")
        close.setAccessibleName("Close message")
        close.clicked.connect(self.dismiss)
        box.addWidget(close)
        self._dress(Theme.current())
        Theme.notifier().changed.connect(self._dress)
        self._label = label
        self._is_over: Callable[[], bool] = lambda: False
        self._place_answers(_ROOMY)
        self._timer = QTimer(self)  # of its own, so that it ends with the bar
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        if kind == "info":
            self._timer.start(_QUIET_AFTER)

    def _add_buttons(self, actions: Actions) -> None:
        for name, act in actions:
            button = _Answer(name)
            button.setObjectName(f"window.bar.action.{name}")
            button.clicked.connect(lambda _checked=False, act=act: self._act(act))
            self._answers.addWidget(button)

    def _place_answers(self, width: int) -> None:
        """Put the buttons beside the text, or below it: many of them, or where they leave it too little room."""
        metrics, count = self._label.fontMetrics(), self._answers.count()
        least = min(metrics.horizontalAdvance(self.text), _LEAST_LETTERS * metrics.averageCharWidth())
        beside = 0 < count <= _MOST_BESIDE and width - self._answers.sizeHint().width() - _AROUND >= least
        if beside != self._is_beside:
            self._is_beside = beside
            (self._rows if beside else self._box).removeItem(self._answers)
            self._answers.setParent(None)
            if beside:
                self._box.insertLayout(self._box.count() - 1, self._answers)
            else:
                self._rows.addLayout(self._answers)
                self._rows.setAlignment(self._answers, Qt.AlignmentFlag.AlignRight)

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_answers(event.size().width())

    def keep(self) -> None:
        """Do not go away by itself: something is still going on."""
        self._timer.stop()

    def leave_when(self, signal: SignalInstance, is_over: Callable[[], bool] = lambda: True) -> None:
        """Go away when a signal comes and what the bar says does not hold any more."""
        self._is_over = is_over
        signal.connect(self._look)

    @guard
    def _look(self, *_what: object) -> None:
        if not self.isHidden() and self._is_over():
            self.dismiss()

    def put_field(self, field: QLineEdit) -> None:
        """Have something typed before the buttons; Enter is the first of these, and Escape closes the bar."""
        self._box.insertWidget(2, field, 1)
        self.setFocusProxy(field)
        button = self.findChild(QPushButton)
        if button is not None:
            field.returnPressed.connect(button.click)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def say(self, text: str) -> None:
        """Say how far it has come."""
        self._label.setText(breakable(text))
        self._label.setAccessibleName(text)
        self.setAccessibleName(text)

    def _act(self, act: Callable[[], object]) -> None:
        self._leave()
        act()

    def dismiss(self) -> None:
        """Take the bar away."""
        self._leave()
        self.dismissed.emit()

    def _leave(self) -> None:
        area, focus = self.parentWidget(), QApplication.focusWidget()
        if isinstance(area, InfoArea) and focus is not None and self.isAncestorOf(focus):
            area.focus_left.emit()
        self.hide()
        self.deleteLater()

    @guard
    def _dress(self, theme: Theme) -> None:
        role = _ROLES[self.kind]
        back = theme.mix(role, "surface", 0.14).name()
        self.setStyleSheet(
            f"InfoBar {{ background: {back}; border: none; border-bottom: 1px solid {theme.color('border').name()};"
            f" border-left: 3px solid {theme.color(role).name()}; }}"
        )
        self._icon.setPixmap(icon(_ICONS[self.kind], role).pixmap(18, 18))


class InfoArea(QWidget):
    """The bars, newest above; the same message is never shown twice.

    Attributes
    ----------
    resized : Signal(int)
        How high all bars together are now, in pixels.
    focus_left : Signal()
        The bar that had the keyboard goes away.
    """

    resized = Signal(int)
    focus_left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("window.bars")
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(0)
        self._bars: list[InfoBar] = []
        self._pushed = QElapsedTimer()

    @property
    def is_steady(self) -> bool:
        """Whether the bars have been where they are for long enough to aim at them."""
        return not self._pushed.isValid() or self._pushed.elapsed() >= _STEADY_AFTER

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit(self.height() if self.bars() else 0)

    def bars(self) -> list[InfoBar]:
        """Bars in view, newest first."""
        self._bars = [bar for bar in self._bars if isValid(bar) and not bar.isHidden()]
        return list(self._bars)

    def add(self, text: str, kind: str = "info", actions: Actions = ()) -> InfoBar:
        """Show a message."""
        for bar in self.bars():
            if bar.text == text and bar.kind == kind:
                bar.dismiss()
        if self.bars():
            self._pushed.start()
        bar = InfoBar(text, kind, actions, self)
        self._box.insertWidget(0, bar)
        announce(self, text if kind == "info" else f"{kind.capitalize()}: {text}")
        self._bars.insert(0, bar)  # before it takes room, which is told
        bar.show()
        for old in self.bars()[_MOST:]:
            old.dismiss()
        return bar

    def ask(self, question: Question) -> InfoBar:
        """Ask something; it stays until it is answered or closed."""
        if question.value is None:
            bar = self.add(question.text, "info", question.actions)
            bar.keep()
            return bar
        field = QLineEdit(question.value)
        field.setObjectName("window.bar.field")
        field.setAccessibleName(question.text)
        (label, accept), *others = question.actions
        bar = self.add(question.text, "info", [(label, lambda: accept(field.text())), *others])
        bar.keep()
        bar.put_field(field)
        field.show()
        field.selectAll()
        field.setFocus()
        return bar

    def dismiss_newest(self) -> None:
        """Take the bar at the top away."""
        for bar in self.bars()[:1]:
            bar.dismiss()

    def clear(self) -> None:
        """Take all bars away."""
        for bar in self.bars():
            bar.dismiss()
