"""The keys of everything that has keys: what they are, which the user changed, and what collides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from shiboken6 import isValid

from app.canvas.keys import CANVAS_KEYS
from app.compare.keys import COMPARE_KEYS
from app.pluginpanel.keys import CODE_KEYS
from app.qt import key_text
from app.window.actions.actions import say_key

if TYPE_CHECKING:
    from app.window.settings import WindowSettings

__all__ = ["CANVAS", "COMPARE", "CURVES", "PROBLEMS", "PROPERTIES", "SOLVER", "TEXT", "Shortcut", "Shortcuts", "native"]

CANVAS = "Canvas"
#: Keys of the text hold while the keyboard is in it, whatever they do elsewhere.
TEXT = "Text"
#: Keys of these hold while the keyboard is in them, and so must not be keys of the menus.
COMPARE, CURVES, PROBLEMS, PROPERTIES, SOLVER = "Comparison", "Curves", "Problems", "Properties", "Solver"
_PARTS = (COMPARE, CURVES, PROBLEMS, PROPERTIES, SOLVER)
_SELDOM_THERE = ("compare", COMPARE_KEYS, COMPARE), ("code", CODE_KEYS, TEXT)

Keys = tuple[str, ...]


@dataclass(slots=True)
class Shortcut:
    """Something that keys do.

    Attributes
    ----------
    name : str
        What it is stored under.
    text, group : str
        What it is called, and where it belongs: a menu, a panel, or the canvas.
    default, keys : tuple of str
        Its own keys and those in use, in portable notation.
    """

    name: str
    text: str
    group: str
    default: Keys
    keys: Keys
    apply: Callable[[Keys], object]

    @property
    def is_changed(self) -> bool:
        """Whether the user gave it other keys."""
        return self.keys != self.default


class Shortcuts(QObject):
    """All shortcuts of a window; changes hold at once and are remembered.

    Attributes
    ----------
    changed : Signal(str)
        The shortcut of this name has other keys.
    canvas_changed : Signal(dict)
        Keys of the canvas by name, for canvases that are open.
    """

    changed = Signal(str)
    canvas_changed = Signal(dict)

    def __init__(self, settings: WindowSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._stored = settings.shortcuts
        self._entries: dict[str, Shortcut] = {}
        self._actions: dict[str, list[QAction]] = {}
        for name, text, keys in CANVAS_KEYS:
            self._add(f"canvas.{name}", text, CANVAS, keys, self._tell_canvases)
        for part, table, group in _SELDOM_THERE:
            for name, text, keys in table:
                self._add(f"{part}.{name}", text, group, keys, partial(self._give, f"{part}.{name}"))

    # What there is

    def entries(self) -> list[Shortcut]:
        """All shortcuts, by group; those that have keys of their own before those that have none."""
        seldom = {group for _part, _table, group in _SELDOM_THERE}
        return sorted(
            self._entries.values(), key=lambda each: (each.group in seldom, each.group == CANVAS, not each.default)
        )

    def __getitem__(self, name: str) -> Shortcut:
        return self._entries[name]

    def adopt(self, actions: Iterable[QAction], group: str) -> None:
        """Take actions in; those that the user changed get their keys.

        An action is known by its object name; one without a name is left out. Several of one name have the same keys.
        """
        for action in actions:
            name = action.objectName()
            if not name or action.isSeparator() or action.menu() is not None:
                continue
            if name not in self._entries:
                keys = tuple(key.toString() for key in action.shortcuts())
                text = action.text().partition("\t")[0].replace("&", "").rstrip("\u2026")
                self._add(name, text, group, keys, partial(self._give, name))
            there = self._actions.setdefault(name, [])
            if action not in there:
                there.append(action)
                if self._entries[name].is_changed:
                    _give(action, self._entries[name].keys)

    def _give(self, name: str, keys: Keys) -> None:
        """Give all actions of a name their keys; those that are gone are forgotten."""
        self._actions[name] = [each for each in self._actions.get(name, ()) if isValid(each)]
        for action in self._actions[name]:
            _give(action, keys)

    def _add(self, name: str, text: str, group: str, default: Keys, apply: Callable[[Keys], object]) -> None:
        entry = Shortcut(name, text, group, default, self._stored.get(name, default), apply)
        self._entries[name] = entry
        if name not in self._stored:  # what the user gave to another before this was there stays that one's
            entry.keys = tuple(key for key in default if not self._is_given_away(name, key))
        if entry.is_changed:
            apply(entry.keys)

    @property
    def canvas_keys(self) -> dict[str, Keys]:
        """Keys of the canvas by the names of ``app.canvas.keys.CANVAS_KEYS``."""
        return {each.name.removeprefix("canvas."): each.keys for each in self._entries.values() if each.group == CANVAS}

    def _tell_canvases(self, _keys: Keys) -> None:
        self.canvas_changed.emit(self.canvas_keys)

    def is_canvas(self, entry: Shortcut) -> bool:
        """Whether only the canvas hears its keys."""
        return entry.group == CANVAS

    def is_text(self, entry: Shortcut) -> bool:
        """Whether only the text hears its keys."""
        return entry.group == TEXT

    def _is_given_away(self, name: str, key: str) -> bool:
        if not self._stored:  # as at most starts
            return False
        other = self.conflict(name, key)
        return other is not None and other.name in self._stored

    # Changing

    def conflict(self, name: str, key: str) -> Shortcut | None:
        """Return what else has a key, or None; an empty key is nobody's, and the text has keys of its own."""
        wanted, group = QKeySequence(key).toString(), self._entries[name].group
        for entry in self._entries.values():
            if not _meet(entry.group, group):
                continue
            if entry.name != name and wanted and wanted in (QKeySequence(each).toString() for each in entry.keys):
                return entry
        return None

    def set_keys(self, name: str, keys: Sequence[str]) -> None:
        """Give something other keys; whoever had one of them loses it."""
        keys = tuple(dict.fromkeys(keys))
        for key in keys:
            while (other := self.conflict(name, key)) is not None:
                wanted = QKeySequence(key).toString()
                self._set(other, tuple(each for each in other.keys if QKeySequence(each).toString() != wanted))
        self._set(self._entries[name], keys)

    def reset(self, name: str) -> None:
        """Give something its own keys again; whoever has one of them by now loses it."""
        self.set_keys(name, self._entries[name].default)

    def reset_all(self) -> None:
        """Give everything its own keys again."""
        for entry in self._entries.values():
            if entry.is_changed:
                self._set(entry, entry.default)

    def _set(self, entry: Shortcut, keys: Keys) -> None:
        if keys == entry.keys:
            return
        entry.keys = keys
        self._settings.set_shortcut(entry.name, keys if entry.is_changed else None)
        entry.apply(keys)
        self.changed.emit(entry.name)


def _meet(one: str, other: str) -> bool:
    """Whether keys of two groups can be heard at the same place."""
    if TEXT in (one, other) or (one in _PARTS and other in (*_PARTS, CANVAS)) or (other in _PARTS and one == CANVAS):
        return one == other
    return True


def native(keys: Iterable[str]) -> str:
    """Return keys as the system writes them."""
    return ", ".join(key_text(key) for key in keys)


def _give(action: QAction, keys: Keys) -> None:
    """Give an action keys, and correct what its tooltips say about them."""
    old = key_text(action)
    action.setShortcuts([QKeySequence(key) for key in keys])
    say_key(action, key_text(action), old)
