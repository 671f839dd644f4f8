"""The question whether code that came with a net may run, in the window."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["TrustFlow"]

_BAR = "window.bar.trust"
_MOST_MODULES = 3


class TrustFlow(QObject):
    """Asks once a document, in a bar, and keeps the answer; a refusal leaves what the text says.

    Parameters
    ----------
    window : MainWindow
        Shows the bar, and remembers which folders are trusted.

    Attributes
    ----------
    trusted : Signal(Path)
        The user trusts a folder from now on.
    """

    trusted = Signal(object)

    def __init__(self, window: MainWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window

    def ask(self) -> None:
        """Ask about the document in view, when it has plugin code that came with it and nobody answered yet."""
        document = self._window.document
        plugins = document.live.plugins
        waiting = plugins.waiting()
        if document.path is None or plugins.asked or not waiting:
            return
        plugins.asked = True
        count = "1 layer has its" if len(waiting) == 1 else f"{len(waiting)} layers have their"
        bar = self._window.notify(
            f"{count} code in '{document.path.parent.name}'{_named(document)}. It runs only if you trust it; until "
            f"then shapes stay unknown.{_further(document)}",
            "warning",
            [("Trust", partial(self.allow, document.path.parent))],
        )
        bar.setObjectName(_BAR)

    def allow(self, folder: Path | None = None) -> None:
        """Trust the code of a folder, the shown net's own by default, to run; all its open nets come alive."""
        path = self._window.document.path
        folder = folder or (path.parent if path is not None else None)
        if folder is not None:
            self._window.settings.trust(folder)
            self.trusted.emit(folder)
            self._set(folder, True)

    def refuse(self, folder: Path) -> None:
        """No longer allow the code of a folder to run."""
        self._window.settings.distrust(folder)
        self._set(folder, False)

    def _set(self, folder: Path, trusted: bool) -> None:
        for page in self._window.tabs.pages():
            document = page.document
            if document.path is None or document.path.parent != folder:
                continue
            for bar in page.bars.bars():
                if bar.objectName() == _BAR:
                    bar.dismiss()
            document.live.trusted = trusted
            document.live.find_plugins()
            document.live.refresh()


def _further(document: Document) -> str:
    """Return which plugin folders outside of the net's own folder belong to its project, as a sentence."""
    folder = document.path.parent if document.path is not None else Path()
    places = {
        str(each.path.parent if each.path.parent.name == "plugins" else each.path)
        for each in document.live.plugins.folders
        if each.origin == "project" and not each.path.is_relative_to(folder)
    }
    return f" Plugins in {' and '.join(sorted(places))} are then trusted, too." if places else ""


def _named(document: Document) -> str:
    """Return the files that the code is in, as part of a sentence."""
    names = list(dict.fromkeys(file.name for file in document.live.plugins.loose))
    return f" ({', '.join(names)})" if 0 < len(names) <= _MOST_MODULES else ""
