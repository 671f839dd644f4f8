"""Which keys something may have: some are needed to type and to move, and some stay another thing in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence

from app.window.keys.shortcuts import CURVES

if TYPE_CHECKING:
    from app.window.keys.shortcuts import Shortcut, Shortcuts

__all__ = ["refusal", "remark"]

_Key, _Modifier = Qt.Key, Qt.KeyboardModifier
_ARROWS = frozenset((_Key.Key_Left, _Key.Key_Right, _Key.Key_Up, _Key.Key_Down))
#: Keys that lists, fields and buttons need as they are.
_MOVING = _ARROWS | {
    *(_Key.Key_Return, _Key.Key_Enter, _Key.Key_Escape, _Key.Key_Tab, _Key.Key_Backtab),
    *(_Key.Key_Space, _Key.Key_Backspace, _Key.Key_Delete),
}
#: Keys that are gestures of the canvas and never reach its table.
_GESTURES = _ARROWS | {_Key.Key_Tab, _Key.Key_Backtab, _Key.Key_Space}
_Standard = QKeySequence.StandardKey
_IN_FIELDS = (_Standard.Undo, _Standard.Redo, _Standard.Copy, _Standard.Cut, _Standard.Paste, _Standard.SelectAll)


def refusal(shortcuts: Shortcuts, entry: Shortcut, key: str) -> str:
    """Say why something cannot have a key, or nothing.

    Parameters
    ----------
    shortcuts : Shortcuts
    entry : Shortcut
        What wants it.
    key : str
        In portable notation; empty for none.
    """
    combination = _combination(key)
    if combination is None:
        return ""
    bare = not combination.keyboardModifiers() & ~_Modifier.ShiftModifier
    code = combination.key()
    if entry.group == CURVES:
        return ""  # nothing is written there, and nothing else moves
    if shortcuts.is_canvas(entry):
        if bare and code in _GESTURES:
            return "The canvas needs this key for its gestures. Take another, or add Ctrl or Alt."
        return ""
    if bare and (code in _MOVING or (shortcuts.is_text(entry) and _is_typed(code))):
        return "This key is needed to type and to move. Take another, or add Ctrl or Alt."
    return ""


def remark(shortcuts: Shortcuts, entry: Shortcut, key: str) -> str:
    """Say where a key stays something else, or nothing."""
    combination = _combination(key)
    if combination is None or shortcuts.is_canvas(entry) or entry.group == CURVES:
        return ""
    wanted = QKeySequence(combination)
    if shortcuts.is_text(entry):
        return ""
    for other in shortcuts.entries():
        if shortcuts.is_text(other) and wanted in map(QKeySequence, other.keys):
            return f"In the text it stays '{other.text}'."
    if any(wanted in QKeySequence.keyBindings(each) for each in _IN_FIELDS):
        return "Where text is written it keeps its usual meaning."
    if not combination.keyboardModifiers() & ~_Modifier.ShiftModifier and _is_typed(combination.key()):
        return "Where text is written it is typed."
    return ""


def _combination(key: str) -> QKeyCombination | None:
    sequence = QKeySequence(key)
    first: QKeyCombination | None = sequence[0] if sequence.count() else None  # type: ignore[index]
    return first


def _is_typed(code: Qt.Key) -> bool:
    """Whether a key alone writes something."""
    return code < _Key.Key_Escape
