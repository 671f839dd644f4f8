"""Small helpers around Qt that the whole application shares."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar, overload

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAction, QDropEvent, QKeySequence
from PySide6.QtWidgets import QWidget

__all__ = [
    "Debounce",
    "accept_copy",
    "announce",
    "blocked",
    "fault_logger",
    "guard",
    "keeps_key",
    "key_text",
    "tab_order_after",
]

P = ParamSpec("P")
T = TypeVar("T")

#: Faults caught by :func:`guard` are logged here with their traceback; the tests listen and fail.
fault_logger = logging.getLogger("netcanvas.app.fault")


@overload
def guard(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def guard(*, default: T) -> Callable[[Callable[P, T]], Callable[P, T]]: ...


def guard(function: Callable[P, T] | None = None, /, *, default: object = None) -> object:
    """Keep an exception of a paint or event override out of Qt.

    PySide6 prints such an exception and goes on with a painter left open. A guarded override logs it with its
    traceback to :data:`fault_logger` and returns ``default``.

    Parameters
    ----------
    default : object
        What the override returns after a fault; False for ``event`` and ``eventFilter``.
    """

    def decorate(wrapped: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(wrapped)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return wrapped(*args, **kwargs)
            except Exception:
                fault_logger.exception("Fault in %s", wrapped.__qualname__)
                return default  # type: ignore[return-value]

        return guarded

    return decorate(function) if function is not None else decorate


@contextmanager
def blocked(*objects: QObject) -> Iterator[None]:
    """Keep the signals of ``objects`` back for the length of a ``with`` block."""
    blockers = [QSignalBlocker(each) for each in objects]
    try:
        yield
    finally:
        for blocker in blockers:
            blocker.unblock()


def accept_copy(event: QDropEvent) -> None:
    """Take what is dragged here as a copy: a program that is told of a move may delete its file."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


def announce(widget: QWidget, text: str) -> None:
    """Have a screen reader say something that is no widget's name: what was selected, what a message says."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


def keeps_key(event: QEvent) -> bool:
    """Keep a key from the window's shortcuts, for an editor that takes them all; False for what is no such question."""
    if event.type() != QEvent.Type.ShortcutOverride:
        return False
    event.accept()
    return True


def tab_order_after(first: QWidget, inside: QWidget) -> None:
    """Have the tabulator go from ``first`` through what is ``inside`` of another widget, in the order of its making."""
    before = first
    for each in inside.findChildren(QWidget):
        if each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.window() is first.window():  # lists of choices are not
            QWidget.setTabOrder(before, each)
            before = each


class Debounce(QObject):
    """Call ``function`` once, ``milliseconds`` after the last of a burst of triggers.

    Parameters
    ----------
    function : callable
        What to call, without arguments.
    milliseconds : int
        Quiet time to wait for; 0 waits for the end of the current event.
    parent : QObject, optional
        Owner; the timer dies with it.
    """

    def __init__(self, function: Callable[[], object], milliseconds: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._function = function
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(milliseconds)
        self._timer.timeout.connect(self._fire)

    @property
    def pending(self) -> bool:
        """Whether a call is due."""
        return self._timer.isActive()

    def set_interval(self, milliseconds: int) -> None:
        """Wait for another quiet time from now on."""
        if milliseconds != self._timer.interval():
            self._timer.setInterval(milliseconds)

    def trigger(self) -> None:
        """Ask for a call; earlier requests that have not fired are taken back."""
        self._timer.start()

    def flush(self) -> None:
        """Make the due call now; without one, do nothing."""
        if self._timer.isActive():
            self._timer.stop()
            self._fire()

    def cancel(self) -> None:
        """Take back the due call."""
        self._timer.stop()

    @guard
    def _fire(self) -> None:
        self._function()


def key_text(keys: QAction | QKeySequence | str) -> str:
    """Return the first key of an action, or a key, as the system writes it; empty for none."""
    sequence = keys.shortcut() if isinstance(keys, QAction) else QKeySequence(keys)
    return sequence.toString(QKeySequence.SequenceFormat.NativeText)
