"""The plugin folders that the user named, and the watch over all that the open net uses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal

from app.qt import Debounce, guard

if TYPE_CHECKING:
    from app.pluginpanel.serving import FolderMemory
    from engine.plugins import FilesChanged, PluginFolder, PluginWatcher

__all__ = ["PluginShelf"]

_PAUSE = 60


class PluginShelf(QObject):
    """Remembers plugin folders and whether they are trusted, and tells when a file of one is saved.

    Parameters
    ----------
    settings : FolderMemory
        Where they are remembered.

    Attributes
    ----------
    changed : Signal()
        Folders were added or taken away, or their trust was.
    edited : Signal()
        Files of plugins were saved, added or removed.
    """

    changed = Signal()
    edited = Signal()
    _heard = Signal(object)

    def __init__(self, settings: FolderMemory, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._watcher: PluginWatcher | None = None
        self._places: QFileSystemWatcher | None = None
        self._watched: tuple[Path, ...] = ()
        self._due = Debounce(self.edited.emit, _PAUSE, self)
        self._heard.connect(self._files_changed)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders that the user named."""
        return tuple(self._settings.plugin_folders)

    @property
    def trusted(self) -> tuple[Path, ...]:
        """Those of them whose code may run."""
        return tuple(folder for folder in self.folders if self._settings.is_trusted(folder))

    def add(self, folder: Path) -> None:
        """Remember a folder and trust it."""
        self._settings.trust(folder)
        self._settings.set_plugin_folders([*self.folders, folder])
        self.changed.emit()

    def trust(self, folder: Path, trusted: bool) -> None:
        """Allow, or no longer allow, the code of a folder to run."""
        (self._settings.trust if trusted else self._settings.distrust)(folder)
        self.changed.emit()

    def remove(self, folder: Path) -> None:
        """Forget a folder; its files stay."""
        self._settings.distrust(folder)
        self._settings.set_plugin_folders([each for each in self.folders if each != folder])
        self.changed.emit()

    # Watching

    def watch(self, folders: Iterable[PluginFolder], loose: Iterable[Path], places: Iterable[Path]) -> None:
        """Watch plugin folders, single files, and places where new plugin folders may come."""
        wanted = tuple(each.path for each in folders if each.origin not in ("shipped", "installed"))
        if wanted != self._watched:
            self._watched = wanted
            if self._watcher is None:
                from engine.plugins import PluginWatcher

                self._watcher = PluginWatcher(self._heard.emit, wanted)
                self._watcher.start()
            else:
                self._watcher.watch(wanted)
        self._watch_paths([*loose, *places])

    def _watch_paths(self, paths: Iterable[Path]) -> None:
        wanted = {str(path) for path in paths if path.exists()}
        if self._places is None:
            if not wanted:
                return
            self._places = QFileSystemWatcher(self)
            self._places.fileChanged.connect(self._path_changed)
            self._places.directoryChanged.connect(self._path_changed)
        known = {*self._places.files(), *self._places.directories()}
        if known - wanted:
            self._places.removePaths(sorted(known - wanted))
        if wanted - known:
            self._places.addPaths(sorted(wanted - known))

    @guard
    def _path_changed(self, _path: str) -> None:
        self._due.trigger()

    @guard
    def _files_changed(self, _found: FilesChanged) -> None:
        self._due.cancel()
        self.edited.emit()

    def close(self) -> None:
        """Watch nothing any more."""
        self._due.cancel()
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        if self._places is not None:
            self._places.deleteLater()
            self._places = None
