"""What can be done to the net in view, and what the title says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shiboken6 import isValid

from app.qt import guard
from app.window.actions.actions import enable

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["ActionStates"]


class ActionStates:
    """Enables the actions of a window, or has them say why not.

    Parameters
    ----------
    window : MainWindow
    """

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    @guard
    def tabs_changed(self) -> None:
        """Tell whether there are other nets to go to."""
        reason = "" if len(self._window.tabs.pages()) > 1 else "Nothing else is open."
        for name in ("next_tab", "previous_tab", "tab_left", "tab_right"):
            enable(self._window.actions_by_name[name], reason)

    @guard
    def title_changed(self, _value: object = None) -> None:
        """Show the name of the net, and whether it is to be saved."""
        window, document = self._window, self._window.document
        mode = " (safe mode)" if window.plugins.is_safe else ""
        path = document.path
        window.setWindowFilePath(str(path) if path else "")
        window.setWindowTitle(f"{document.title}[*] \u2013 Netcanvas{mode}")
        window.setWindowModified(document.unsaved)
        save = window.actions_by_name["save"]
        key = save.shortcut().toString()
        reason = f"Nothing to save: nothing was changed{f' ({key})' if key else ''}."
        enable(save, "" if document.unsaved or path is None else reason)

    @guard
    def undo_changed(self, _value: object = None) -> None:
        """Name what would be undone and redone."""
        stack = self._window.document.undo_stack
        if not isValid(stack):  # it tells of its own end when everything ends at once, as with the display
            return
        for name, can, text in (
            ("undo", stack.canUndo(), stack.undoText()),
            ("redo", stack.canRedo(), stack.redoText()),
        ):
            action = self._window.actions_by_name[name]
            action.setEnabled(can)
            key = action.shortcut().toString()
            action.setText(f"{name.capitalize()} {text}".strip())
            tip = f"{name.capitalize()} {text}" if can else f"Nothing to {name}"
            action.setToolTip(f"{tip} ({key})" if key else tip)

    @guard
    def selection_changed(self) -> None:
        """Tell what needs a selection."""
        reason = "" if self._window.document.selection.node_ids else "Nothing is selected: click a layer first."
        for name in ("cut", "copy", "duplicate", "dissolve", "frame"):
            enable(self._window.actions_by_name[name], reason)
