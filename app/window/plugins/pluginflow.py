"""Plugins in the window: dropping a folder, trusting it, watching it, and what is wrong with it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel

from app.jobs import Jobs
from app.palette.entries import palette_entries
from app.pluginpanel.shelf import PluginShelf
from app.qt import guard
from app.window.plugins.codeflow import CodeFlow
from app.window.plugins.faultflow import FaultFlow
from app.window.plugins.trustflow import TrustFlow
from engine.errors import NetcanvasError
from engine.paths import search_folders

if TYPE_CHECKING:
    from app.document import Document
    from app.window.canvas_area import CanvasArea
    from app.window.mainwindow import MainWindow
    from engine.graph import NodeId
    from engine.inspection import InspectionClient, LayerListing
    from engine.plugins import AppliedConversion, ConversionPlan, PluginFolder

__all__ = ["PluginFlow"]

_MOST_NAMES = 4


class PluginFlow(QObject):
    """What the window does about plugins.

    Parameters
    ----------
    window : MainWindow
        Shows the bars and the panels.

    Attributes
    ----------
    shelf : PluginShelf
        The folders that the user named.
    listings : dict of Path to LayerListing
        What loading the modules of a folder gave, where that was tried.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._panel: Any = None
        self._client: InspectionClient | None = None
        self._jobs = Jobs(self)
        self._sheets: list[Any] = []
        self._stale: set[str] = set()
        self.listings: dict[Path, LayerListing] = {}
        self.code = CodeFlow(window, self)
        self.faults = FaultFlow(window, self)
        self.trust = TrustFlow(window, self)
        self.trust.trusted.connect(self.faults.expect)
        self.shelf = PluginShelf(window.settings, self)
        self.shelf.changed.connect(self._shelf_changed)
        self.shelf.edited.connect(self._edited)
        self.is_safe = _is_safe()
        if self.is_safe:
            mark = QLabel("Safe mode: no plugins")
            mark.setObjectName("window.safe_mode")
            mark.setToolTip("Started with --safe: only what comes with Netcanvas is used, and no plugin's code runs.")
            window.status.addPermanentWidget(mark)

    @property
    def document(self) -> Document:
        """The document that is shown."""
        return self._window.document

    def attach(self, document: Document, canvas: CanvasArea) -> None:
        """Give a document that is shown the plugins it may use, and serve its canvas."""
        canvas.new_layer_asked.connect(self.code.new_layer)
        canvas.error_asked.connect(self.show_error)
        canvas.code_asked.connect(self.code.show_node)
        canvas.trust_asked.connect(self.trust.allow)
        document.shapes_changed.connect(self._shapes_changed)
        if document.path is not None:
            document.live.trusted = self._window.settings.is_trusted(document.path.parent)
        document.live.plugins.use(self.shelf.trusted)
        document.plugins_changed.connect(self._plugins_seen)

    def document_shown(self) -> None:
        """Follow to another document that is open: what is trusted may have changed while it was not in view."""
        document = self.document
        trusted = document.path is not None and self._window.settings.is_trusted(document.path.parent)
        changed = document.live.plugins.use(self.shelf.trusted)
        if document.identity in self._stale:
            self._stale.discard(document.identity)
            document.live.plugins_edited()
        if changed or (trusted and not document.live.trusted):
            document.live.trusted = document.live.trusted or trusted
            document.live.find_plugins()
        self.trust.ask()
        self._window.palette_panel.set_infos(palette_entries(document), document.live.plugins.pictures)
        if self._panel is not None:
            self._panel.refresh()

    def take_panel(self, panel: Any) -> None:
        """Serve the panel that lists plugins."""
        self._panel = panel
        panel.flow = self
        panel.shown.connect(self.check)
        panel.refresh()
        self._check_if_seen()

    # Trust

    def offer(self, folder: Path) -> None:
        """Ask, in a bar, whether a folder with plugins shall be used."""
        if self.is_safe:
            self._window.notify("This is safe mode: no plugin is loaded. Start without --safe to use it.", "warning")
            return
        folder = folder.resolve()

        def work() -> tuple[list[PluginFolder], list[str]]:
            from engine.plugins import find_plugins

            found = [each for each in find_plugins([folder]).folders if each.origin == "named"]
            names = [entry.type for each in found for entry in each.manifest.types]
            return found, [*names, *(layer.name for each in found for layer in each.layers)]

        self._jobs.submit(f"offer {folder}", work, lambda result: self._offer(folder, *result))

    def _offer(self, folder: Path, found: list[PluginFolder], names: list[str]) -> None:
        window = self._window
        errors = [each.error for each in found if each.error is not None]
        names = list(dict.fromkeys(names))
        if not names:
            nothing = f"'{folder.name}' has no layers: no class in it derives from caffe.Layer."
            window.notify(str(errors[0]) if errors else nothing, "error" if errors else "warning")
        elif folder in self.shelf.trusted:
            self.reload()
            window.notify(f"'{folder.name}' is among the plugins already; it was loaded anew.", "info")
        else:
            listed = ", ".join(names[:_MOST_NAMES]) + (", \u2026" if len(names) > _MOST_NAMES else "")
            count = "1 layer" if len(names) == 1 else f"{len(names)} layers"
            window.notify(
                f"Plugin folder '{folder.name}' has {count}: {listed}. Its code runs only if you trust it.",
                "warning",
                [("Trust", partial(self._add, folder))],
            )

    def _add(self, folder: Path) -> None:
        self.faults.expect(folder)
        self.shelf.add(folder)

    def set_trusted(self, folder: PluginFolder, trusted: bool) -> None:
        """Allow, or no longer allow, the code of a plugin folder to run."""
        if trusted:
            self.faults.expect(folder.path)
        if not folder.needs_trust:
            self.shelf.trust(self._named(folder.path), trusted)
        elif self.document.path is not None:
            (self.trust.allow if trusted else self.trust.refuse)(self.document.path.parent)

    def _named(self, path: Path) -> Path:
        """Return the folder that the user named, which may hold the plugin folder."""
        return next((each for each in self.shelf.folders if each == path or each in path.parents), path)

    def remove(self, folder: PluginFolder) -> None:
        """Forget a folder that the user named."""
        self.shelf.remove(self._named(folder.path))

    # What changes

    @guard
    def _shelf_changed(self) -> None:
        live = self.document.live
        live.plugins.use(self.shelf.trusted)
        live.find_plugins()
        live.refresh()
        if self._panel is not None:
            self._panel.refresh()

    @guard
    def _edited(self) -> None:
        self.faults.awaited.clear()
        self.document.live.plugins_edited()
        others = {page.document.identity for page in self._window.tabs.pages()}
        self._stale = others - {self.document.identity}
        self.code.refresh()
        self.listings.clear()
        self._check_if_seen()

    @guard
    def _shapes_changed(self) -> None:
        self.code.refresh()
        self.faults.look()
        if self._panel is not None and self._panel.isVisible():
            self._panel.refresh()

    def show_code(self, file: Path, line: int = 0) -> None:
        """Show a source file in the code editor."""
        self.code.show(file, line)

    def reload(self) -> None:
        """Look at all plugins again, as after an edit."""
        self._edited()

    @guard
    def _plugins_seen(self) -> None:
        document = self.document
        self._window.palette_panel.set_infos(palette_entries(document), document.live.plugins.pictures)
        self._watch()
        self.trust.ask()
        self.code.plugins_seen()
        if self._panel is not None:
            self._panel.refresh()
        self._check_if_seen()

    def _watch(self) -> None:
        """Watch what any open net uses: one that is not in view may be training, and is seen again."""
        documents = [page.document for page in self._window.tabs.pages()]
        folders = [each for document in documents for each in document.live.plugins.folders]
        loose = [each for document in documents for each in document.live.plugins.loose]
        places: list[Path] = []
        for document in documents:
            folder = document.path.parent if document.path is not None else None
            places += [base / "plugins" for base in search_folders(folder)]
            if document.live.plugins.missing and folder is not None:
                places.append(folder)  # where such a module is put, most likely
        self.shelf.watch({each.path: each for each in folders}.values(), loose, places)

    # What is wrong

    def choose(self, path: Path) -> None:
        """Choose the plugin in a folder in the panel, where that was made."""
        if self._panel is not None:
            self._panel.refresh()
            self._panel.choose(path)

    def _check_if_seen(self) -> None:
        if self.faults.awaited or (self._panel is not None and self._panel.isVisible()):
            self.check()

    @guard
    def check(self) -> None:
        """Load the modules of trusted folders in an inspection process, and tell what fails."""
        document = self.document
        trusted = [each for each in document.live.plugins.folders if self.may_run(each) and each.origin != "shipped"]
        for each in trusted:
            if each.layers and each.path not in self.listings:
                self._jobs.submit(f"check {each.path}", partial(self._list, each.path), self._checked, _pass)

    def _list(self, path: Path) -> tuple[Path, LayerListing]:
        from engine.inspection import InspectionClient

        self._client = self._client or InspectionClient()
        return path, self._client.list_layers(path)

    def may_run(self, folder: PluginFolder) -> bool:
        """Whether the code of a plugin folder may run."""
        if folder.refused or self.is_safe:
            return folder.origin == "shipped" and not folder.refused
        return not folder.needs_trust or self.document.live.trusted

    def _checked(self, found: tuple[Path, LayerListing]) -> None:
        path, listing = found
        self.listings[path] = listing
        self.code.refresh()
        self.faults.look()
        if self._panel is not None:
            self._panel.refresh()

    def show_error(self, node: NodeId) -> None:
        """Show all that is known of what is wrong at a node, to read and to copy."""
        from app.pluginpanel.sheets import ErrorSheet, whole_error

        name = self.document.graph.node(node).name
        text, file, line = whole_error(self.document, node)
        sheet = ErrorSheet(f"Layer '{name}'", text, file, self._window)
        sheet.code_asked.connect(lambda: self.code.show(Path(file), line))
        sheet.convert_asked.connect(lambda: self.convert([Path(file)]))
        self._open(sheet)

    def _open(self, sheet: Any) -> None:
        self._sheets = [each for each in self._sheets if not each.is_closed]
        self._sheets.append(sheet)
        sheet.show()

    # Python 2

    def convert(self, places: list[Path]) -> None:
        """Show what a conversion to Python 3 would change; nothing is written before the user says so."""

        def work() -> ConversionPlan:
            from engine.plugins import plan_conversion

            return plan_conversion(places)

        self._jobs.submit(
            "convert", work, self._show_conversion, lambda error: self._window.notify(str(error), "error")
        )

    def _show_conversion(self, plan: ConversionPlan) -> None:
        from app.pluginpanel.sheets import ConversionSheet

        if not plan.files:
            self._window.notify("There is no Python 2 code to convert.", "info")
            return
        sheet = ConversionSheet(plan, self._window)
        sheet.accepted_plan.connect(lambda: self._convert(plan))
        self._open(sheet)

    def _convert(self, plan: ConversionPlan) -> None:
        from engine.plugins import apply_conversion

        try:
            applied = apply_conversion(plan)
        except (NetcanvasError, OSError) as error:
            self._window.notify(f"Nothing was converted: {error}", "error")
            return
        count = "1 file was" if len(applied.files) == 1 else f"{len(applied.files)} files were"
        self._window.notify(
            f"{count} converted to Python 3. The old text is beside each, in a file ending in .python2.",
            "warning",
            [("Undo", partial(self._undo_conversion, applied))],
        )
        self.reload()

    def _undo_conversion(self, applied: AppliedConversion) -> None:
        try:
            applied.undo()
        except (NetcanvasError, OSError) as error:
            self._window.notify(str(error), "error")
        self.reload()

    # Ending

    @staticmethod
    def open_folder(folder: Path) -> None:
        """Show a folder in the system's file manager."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def close(self) -> None:
        """End the watch and what runs."""
        self.shelf.close()
        self.code.close()
        for sheet in self._sheets:
            if not sheet.is_closed:
                sheet.close()
        if self._client is not None:
            self._client.close()
        self._jobs.close()


def _pass(_error: Exception) -> None:
    """A look that was cut short by the end of the window tells nothing."""


def _is_safe() -> bool:
    from engine.plugins import is_safe_mode

    return is_safe_mode()
