"""What the window says when a plugin that was trusted a moment ago cannot be used."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from shiboken6 import isValid

if TYPE_CHECKING:
    from app.pluginpanel.facts import PluginFacts
    from app.window.bars import InfoBar
    from app.window.mainwindow import MainWindow
    from app.window.plugins.pluginflow import PluginFlow

__all__ = ["FaultFlow"]

_LONGEST = 320


class FaultFlow(QObject):
    """Tells, in a bar, why code fails that the user trusted; later faults are for the panel of plugins to show.

    Parameters
    ----------
    window : MainWindow
        Shows the bars.
    flow : PluginFlow
        Knows the plugins, and does what the buttons say.

    Attributes
    ----------
    awaited : set of Path
        Folders that were trusted, of which nothing was told yet.
    """

    def __init__(self, window: MainWindow, flow: PluginFlow) -> None:
        super().__init__(flow)
        self._window = window
        self._flow = flow
        self._told: tuple[Path, InfoBar] | None = None
        self.awaited: set[Path] = set()

    def expect(self, folder: Path) -> None:
        """Tell what fails in a folder that is trusted from now on."""
        self.awaited.add(folder)

    def look(self) -> None:
        """Tell what is known to fail by now, and take back what does not hold any more."""
        if not self.awaited and self._told is None:
            return
        from app.pluginpanel.facts import all_facts

        faults = [each for each in all_facts(self._flow.document, self._flow) if each.severity == "error"]
        if self._told is not None and all(each.path != self._told[0] for each in faults):
            bar, self._told = self._told[1], None
            if isValid(bar) and not bar.isHidden():
                bar.dismiss()
        for fault in faults:
            is_tried = fault.path in self._flow.listings or not fault.folder.layers
            if is_tried and fault.trusted and fault.can_trust and self._is_awaited(fault):
                self._tell(fault)
                return

    def _is_awaited(self, fault: PluginFacts) -> bool:
        path = self._flow.document.path
        in_project = fault.folder.needs_trust and path is not None and path.parent in self.awaited
        return in_project or any(fault.path.is_relative_to(folder) for folder in self.awaited)

    def _tell(self, fault: PluginFacts) -> None:
        self.awaited.clear()
        actions = [("Show", partial(self.show, fault.path))]
        if fault.is_python2:
            convert = partial(self._flow.convert, list(fault.sources))
            actions.insert(0, ("Convert to Python 3\u2026", convert))
        text = f"'{fault.name}' is trusted, but its code fails: {_reason(fault)}"
        self._told = fault.path, self._window.notify(text, "error", actions)
        self._flow.choose(fault.path)

    def show(self, path: Path) -> None:
        """Show a plugin, with all that is wrong with it, in the panel."""
        self._window.show_panel("plugins")
        self._flow.choose(path)


def _reason(fault: PluginFacts) -> str:
    """Return the first of what is wrong, in one line, with files named from the plugin's folder."""
    error = fault.error.replace(f"{fault.path}{os.sep}", "")
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    told = lines[1] if len(lines) > 1 and lines[0].startswith("Module ") else lines[0] if lines else ""
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST].rstrip()}\u2026"
