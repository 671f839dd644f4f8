"""The command palette and the shortcuts of a window: what there is, gathered from its menus and its canvas."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from app.canvas.keys import CANVAS_KEYS
from app.qt import guard, key_text
from app.window.actions.actions import say_key
from app.window.keys.commandpalette import Command, CommandPalette
from app.window.keys.shortcuts import CANVAS, Shortcuts, native

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["KeyFlow"]

#: Actions of the window that a key of the canvas stands for, and the name of that.
_ON_CANVAS = {
    "add": "add",
    "delete": "delete",
    "dissolve": "dissolve",
    "find": "find",
    "fit": "frame",
    "frame": "frame_selection",
    "actual_size": "actual_size",
    "zoom_in": "zoom_in",
    "zoom_out": "zoom_out",
    "note": "note",
    "minimap": "minimap",
}
_NO_COMMANDS = ("escape", "menu")
#: Actions that come and go with the document; keys cannot be kept for them.
_PASSING = ("window.stage.", "window.level.")


class KeyFlow(QObject):
    """What the window does about keys.

    Parameters
    ----------
    window : MainWindow

    Attributes
    ----------
    shortcuts : Shortcuts
    palette : CommandPalette
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.shortcuts = Shortcuts(window.settings, self)
        self.palette = CommandPalette(window)
        self.palette.chosen.connect(window.settings.add_recent_command)
        self.shortcuts.canvas_changed.connect(self._canvas_changed)
        self.shortcuts.changed.connect(self._key_changed)
        window.document_added.connect(self._added)

    def adopt_menus(self) -> None:
        """Take in the actions of all menus, as many as there are by now."""
        for action, group in _menu_actions(self._window.menuBar()):
            if not action.objectName().startswith(_PASSING):
                self.shortcuts.adopt([action], group)
            say_key(action, key_text(action))
        self._key_changed("window.action.close_tab")
        self._show_hints()

    # The canvas

    @guard
    def _added(self, document: Document) -> None:
        page = self._window.tabs.page_of(document)
        if page is not None:
            page.canvas.key_of = self.key_of
            page.canvas.keys.set_keys(self.shortcuts.canvas_keys)

    @guard
    def _canvas_changed(self, keys: dict[str, tuple[str, ...]]) -> None:
        for page in self._window.tabs.pages():
            page.canvas.keys.set_keys(keys)
        self._show_hints()

    def _show_hints(self) -> None:
        """Show at actions of the window which key of the canvas stands for them."""
        keys = self.shortcuts.canvas_keys
        for name, on_canvas in _ON_CANVAS.items():
            action = self._window.actions_by_name[name]
            if not action.shortcut().isEmpty():
                continue
            text, _tab, old = action.text().partition("\t")
            hint = native(keys[on_canvas][:1])
            action.setText(f"{text}\t{hint}" if hint else text)
            say_key(action, hint, old)

    def key_of(self, name: str) -> str:
        """Return the key of a canvas's or a window's action as the system writes it; empty where it has none."""
        keys = self.shortcuts.canvas_keys.get(name)
        if keys is None:
            return key_text(self._window.actions_by_name[name])
        return native(keys[:1])

    @guard
    def _key_changed(self, name: str) -> None:
        if name == "window.action.close_tab":
            self._window.tabs.say_close_key(self.key_of("close_tab"))
        elif name == "window.action.fold":
            for page in self._window.tabs.pages():
                page.canvas.keys_changed.emit()

    # The palette

    def commands(self) -> list[Command]:
        """Everything that can be done now or at other times."""
        found: dict[str, Command] = {}
        for action, group in _menu_actions(self._window.menuBar()):
            name = action.objectName()
            text, _tab, hint = action.text().partition("\t")
            if not name or name in found or not text or name == "window.action.commands":
                continue
            keys = key_text(action) or hint
            reason = "" if action.isEnabled() else action.toolTip() or "It cannot be done now."
            found[name] = Command(name, _plain(text), group, keys, reason, action.trigger)
        covered = {*_ON_CANVAS.values(), *_NO_COMMANDS}
        for name, text, _default in CANVAS_KEYS:
            if name not in covered:
                keys = native(self.shortcuts[f"canvas.{name}"].keys[:1])
                run = partial(self._on_canvas, name)
                found[f"canvas.{name}"] = Command(f"canvas.{name}", text, CANVAS, keys, "", run)
        return list(found.values())

    def _on_canvas(self, name: str) -> None:
        self._window.canvas.setFocus()
        self._window.canvas.do(name)

    @guard
    def open_palette(self) -> None:
        """Open the command palette in the upper middle of the window."""
        middle = self._window.tabs
        at = middle.mapToGlobal(QPoint(middle.width() // 2, 48))
        self.palette.ask(self.commands(), self._window.settings.recent_commands, at)

    @guard
    def open_page(self) -> None:
        """Open the page on which shortcuts are changed."""
        from app.window.keys.shortcutpage import ShortcutPage

        page = self._window.findChild(ShortcutPage)
        if page is None or not page.isVisible():
            self.adopt_menus()
            page = ShortcutPage(self.shortcuts, self._window)
        page.show()
        page.raise_()
        page.search.setFocus()


def _menu_actions(bar: QMenuBar) -> Iterator[tuple[QAction, str]]:
    """Go through the actions of all menus with the titles of these."""
    for top in bar.actions():
        menu = top.menu()
        if isinstance(menu, QMenu):
            yield from _actions_in(menu, _plain(top.text()))


def _actions_in(menu: QMenu, group: str) -> Iterator[tuple[QAction, str]]:
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from _actions_in(inner, _plain(inner.title()) or group)
        elif not action.isSeparator():
            yield action, group


def _plain(text: str) -> str:
    """Return the text of an action without the marks of a menu."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("\u2026")
