"""The code of plugins in the window: opening it, errors at its lines, and making a new layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.jobs import Jobs
from app.palette.entries import python_kind
from app.qt import guard
from app.recovery.store import KeptCode
from app.window.files.savequestion import ask_to_leave
from app.window.keys.shortcuts import TEXT
from engine.errors import NetcanvasError
from engine.resources import user_plugins_path

if TYPE_CHECKING:
    from app.document import Document
    from app.pluginpanel.sourcefile import SourceFile
    from app.window.mainwindow import MainWindow
    from app.window.plugins.pluginflow import PluginFlow
    from engine.graph import NodeId
    from engine.plugins.scaffold import NewLayer

__all__ = ["CodeFlow"]

#: Seconds that the window waits for a disk when it is closed.
_PATIENCE = 1.0


class CodeFlow(QObject):
    """What the window does about the code of layers.

    Parameters
    ----------
    window : MainWindow
    flow : PluginFlow
        Knows the plugins and loads them anew.

    Attributes
    ----------
    edited : Signal()
        There is other code that is not saved; see :attr:`unsaved`.
    """

    edited = Signal()

    def __init__(self, window: MainWindow, flow: PluginFlow) -> None:
        super().__init__(flow)
        self._window = window
        self._flow = flow
        self._pane: Any = None
        self._jobs = Jobs(self)
        self._wizard: Any = None
        self._new: tuple[Document, tuple[str, str]] | None = None

    def take_pane(self, pane: Any) -> None:
        """Serve the code editor."""
        self._pane = pane
        pane.saved.connect(lambda _path: self._flow.reload())
        pane.edited.connect(self.edited)
        pane.edit_made.connect(lambda edit: self._window.keys.shortcuts.adopt(edit.actions(), TEXT))

    # Code

    def show(self, file: Path, line: int = 0) -> None:
        """Show a source file, and a line of it."""
        if self._pane is None:
            self._window.load_panels()
        fault = self._pane.open(file, line)
        if fault:
            self._window.notify(fault, "error")
            return
        self._window.show_panel("code")
        self.refresh()
        if self._pane.edit is not None:
            self._pane.edit.setFocus()

    @property
    def unsaved(self) -> tuple[KeptCode, ...]:
        """Code with changes that are not saved."""
        if self._pane is None:
            return ()
        return tuple(KeptCode(path, held.data, text) for path, (held, text) in self._pane.unsaved_texts.items())

    def restore(self, kept: KeptCode) -> None:
        """Show code with the changes that were kept, not saved."""
        if self._pane is None:
            self._window.load_panels()
        self._pane.restore(kept.path, kept.held, kept.text)
        self._window.show_panel("code")

    def show_node(self, node: NodeId) -> None:
        """Show the code of a Python layer, or say that there is none."""
        from app.live.plugins import python_name
        from engine.paths import search_folders
        from engine.plugins.provenance import module_file

        document = self._window.document
        module, name = python_name(document.graph, node)
        known = document.live.python_layers.get((module, name))
        if known is not None:
            self.show(known.file, known.line)
            return
        folders = search_folders(document.path.parent if document.path else None)
        file = module_file(module, document.plugin_paths, folders)
        if file is None:
            self._window.notify(f"There is no file of the module '{module}' in the searched folders.", "warning")
        else:
            self.show(file)

    def refresh(self) -> None:
        """Mark the lines at which plugins failed, and take over what changed on disk."""
        if self._pane is None:
            return
        from app.pluginpanel.sheets import place_in

        found: dict[Path, list[tuple[int, str]]] = {}
        errors = [shapes.error for shapes in self._window.document.shapes.values() if shapes.error is not None]
        errors += [each.error for listing in self._flow.listings.values() for each in listing.failures]
        for error in errors:
            file, line = place_in(error)
            if file and line:
                found.setdefault(Path(file), []).append((line, str(error)))
        self._jobs.submit("code on disk", self._pane.ask_for_news(), self._take_news)
        self._pane.set_errors(found)

    @guard
    def _take_news(self, found: Sequence[SourceFile]) -> None:
        if self._pane is not None:
            self._pane.take_news(found)

    def may_leave(self) -> bool:
        """Ask about code that is not saved; return whether the window may go away."""
        unsaved = self._pane.unsaved if self._pane is not None else []
        if not unsaved:
            return True
        names = ", ".join(path.name for path in unsaved)
        return ask_to_leave(self._window, "window.save_code_question", names, self._pane.save_all)

    # New layers

    def new_layer(self) -> None:
        """Ask what a new Python layer is."""
        from app.pluginpanel.wizard import LayerWizard

        if self._flow.is_safe:
            self._window.notify("This is safe mode: no plugin is loaded. Start without --safe to make one.", "warning")
            return
        if self._wizard is not None and not self._wizard.is_closed:
            self._wizard.raise_()
            self._wizard.activateWindow()
            return
        path = self._window.document.path
        folder = path.parent / "plugins" if path is not None else user_plugins_path()
        self._wizard = LayerWizard(folder, self._window)
        self._wizard.finished_with.connect(partial(self._make, folder))
        self._wizard.show()

    def _make(self, folder: Path, new: NewLayer) -> None:
        from engine.plugins.scaffold import write_scaffold

        try:
            made = write_scaffold(folder, new)
        except (NetcanvasError, OSError) as error:
            self._window.notify(f"The layer was not made: {error}", "error")
            return
        self._wizard.close()
        self._new = (self._window.document, (new.module, new.name))
        self.show(made / f"{new.module}.py")
        self._flow.reload()

    @guard
    def plugins_seen(self) -> None:
        """Put the layer that was just made on the canvas."""
        if self._new is None:
            return
        document, name = self._new
        if name in document.live.python_layers and document is self._window.document:
            self._new = None
            self._window.canvas.add_layer(python_kind(*name))

    def close(self) -> None:
        """Close what is open."""
        self._jobs.close(_PATIENCE)
        if self._wizard is not None and not self._wizard.is_closed:
            self._wizard.close()
