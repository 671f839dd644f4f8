"""Dragging on the name of a number: the value follows, everything that depends on it too, and release is one step."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.properties.values import INTEGER_RANGES, step_number
from app.qt import guard, keeps_key
from engine.schema import FieldInfo

__all__ = ["ScrubLabel", "scrubbed"]

_PIXELS_A_STEP = 5


def scrubbed(info: FieldInfo, texts: Sequence[str], steps: int, *, fine: bool = False) -> list[str]:
    """Return the values of a number field after a drag.

    Whole numbers move by one unit of their second digit, so that 20 goes to 21 and 500 to 510; others as
    :func:`~app.properties.values.step_number` moves them. ``fine`` goes ten times finer, or by one. What counts
    something stays at 1 or more, and what was not below 0 does not go there.

    Parameters
    ----------
    info : FieldInfo
        A field of numbers.
    texts : sequence of str
        Where the drag began; empty where the field is absent, which begins at the default.
    steps : int
        How far it was dragged.
    fine : bool
        Whether Shift is held.
    """
    start = list(texts) or [info.default_text if re.match(r"[-+.\d]", info.default_text) else "0"]
    return [_moved(info, text, steps, fine) for text in start]


def _moved(info: FieldInfo, text: str, steps: int, fine: bool) -> str:
    if info.kind not in INTEGER_RANGES:
        moved = step_number(info.kind, _finer(text) if fine else text, steps)
        return "0" if moved.startswith("-") and not text.startswith("-") else moved
    begin = int(step_number(info.kind, text, 0))
    unit = 1 if fine else 10 ** max(len(str(abs(begin))) - 2, 0)
    moved = step_number(info.kind, text, steps * unit)
    least = 1 if begin > 0 and info.default_text != "0" else 0
    return str(max(int(moved), least)) if begin >= 0 else moved


def _finer(text: str) -> str:
    mantissa, mark, exponent = text.rstrip("fF").partition("e")
    return f"{mantissa}{'0' if '.' in mantissa else '.0'}{mark}{exponent}"


class _KeyClaim(QObject):
    """Keeps the keys of a drag from the window's shortcuts: none of them may edit while it does."""

    def __init__(self, label: QLabel) -> None:
        super().__init__(label)
        label.installEventFilter(self)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return keeps_key(event)


class ScrubLabel(QLabel):
    """The name of a number field; dragging it sideways changes the number.

    A drag begins after the distance that the system asks for, so that a click changes nothing; Escape takes it back.

    Parameters
    ----------
    moved : callable
        Told by how many steps, and whether finely; counts from where the drag began.
    ended : callable
        Told whether the drag is kept.
    """

    def __init__(
        self, moved: Callable[[int, bool], object], ended: Callable[[bool], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._moved = moved
        self._ended = ended
        self._pressed: QPointF | None = None
        self._steps: tuple[int, bool] | None = None
        self._keys: _KeyClaim | None = None
        self.setCursor(Qt.CursorShape.SizeHorCursor)

    @property
    def is_scrubbing(self) -> bool:
        """Whether a drag is going on."""
        return self._steps is not None

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.globalPosition()
            event.accept()
        elif self.is_scrubbing:
            self._end(keep=False)
        else:
            super().mousePressEvent(event)

    @guard
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            return
        distance = event.globalPosition().x() - self._pressed.x()
        if not self.is_scrubbing:
            if abs(distance) < QApplication.startDragDistance():
                return
            self.grabKeyboard()
            self._keys = _KeyClaim(self)
        fine = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        steps = (int(distance / _PIXELS_A_STEP), fine)
        if steps != self._steps:
            self._steps = steps
            self._moved(*steps)

    @guard
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._end(keep=True)

    @guard
    def hideEvent(self, event: QHideEvent) -> None:
        self._end(keep=False)
        super().hideEvent(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.is_scrubbing and event.key() == Qt.Key.Key_Escape:
            self._end(keep=False)
        elif not self.is_scrubbing:
            super().keyPressEvent(event)

    def _end(self, *, keep: bool) -> None:
        was, self._steps, self._pressed = self._steps, None, None
        if was is not None:
            self.releaseKeyboard()
            if self._keys is not None:
                self.removeEventFilter(self._keys)
                self._keys.deleteLater()
                self._keys = None
            self._ended(keep)
