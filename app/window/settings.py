"""What the window remembers between starts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

__all__ = ["WindowSettings"]

_MOST_RECENT, _MOST_KEPT = 10, 30
_LAYOUT_VERSION = 3
_MOST_COMMANDS = 8


class WindowSettings:
    """Typed access to the settings file.

    Parameters
    ----------
    settings : QSettings, optional
        Where to keep them; the user's own by default.
    """

    def __init__(self, settings: QSettings | None = None) -> None:
        self._settings = settings or QSettings("netcanvas", "netcanvas")

    @property
    def theme(self) -> str:
        """Name of the theme, or ``system``."""
        return str(self._settings.value("theme", "system"))

    @theme.setter
    def theme(self, name: str) -> None:
        self._settings.setValue("theme", name)

    @property
    def recent_files(self) -> list[Path]:
        """Files opened last, newest first; those that are gone are left out, and are there again when they are back."""
        return [Path(name) for name in self._names("recent_files") if os.path.isfile(name)][:_MOST_RECENT]

    def add_recent(self, path: Path) -> None:
        """Put a file to the top of the recent ones."""
        rest = (name for name in self._names("recent_files") if name != str(path))
        self._settings.setValue("recent_files", [str(path), *rest][:_MOST_KEPT])

    def clear_recent(self) -> None:
        """Forget the recent files."""
        self._settings.remove("recent_files")

    def is_trusted(self, folder: Path) -> bool:
        """Whether the user allowed code from a folder to run."""
        return str(folder) in self._names("trusted_folders")

    def trust(self, folder: Path) -> None:
        """Remember that code from a folder may run."""
        names = dict.fromkeys([*self._names("trusted_folders"), str(folder)])
        self._settings.setValue("trusted_folders", list(names))

    def distrust(self, folder: Path) -> None:
        """Forget that code from a folder may run."""
        names = [name for name in self._names("trusted_folders") if name != str(folder)]
        self._settings.setValue("trusted_folders", names)

    @property
    def plugin_folders(self) -> list[Path]:
        """Plugin folders that the user named; those that are gone are left out."""
        return [path for path in map(Path, self._names("plugin_folders")) if path.is_dir()]

    def set_plugin_folders(self, folders: Iterable[Path]) -> None:
        """Remember the plugin folders that the user named."""
        self._settings.setValue("plugin_folders", list(dict.fromkeys(map(str, folders))))

    @property
    def recent_commands(self) -> list[str]:
        """Names of the actions that were chosen last in the command palette, newest first."""
        return self._names("recent_commands")

    def add_recent_command(self, name: str) -> None:
        """Put an action to the top of the recent ones."""
        rest = (each for each in self.recent_commands if each != name)
        self._settings.setValue("recent_commands", [name, *rest][:_MOST_COMMANDS])

    @property
    def shortcuts(self) -> dict[str, tuple[str, ...]]:
        """Keys that the user changed, in portable notation, by the name of what they do."""
        self._settings.beginGroup("shortcuts")
        names = self._settings.childKeys()
        self._settings.endGroup()
        return {name: tuple(key for key in self._names(f"shortcuts/{name}") if key) for name in names}

    def set_shortcut(self, name: str, keys: Sequence[str] | None) -> None:
        """Remember the keys of an action; None goes back to its own."""
        if keys is None:
            self._settings.remove(f"shortcuts/{name}")
        else:
            self._settings.setValue(f"shortcuts/{name}", list(keys) or "")

    @property
    def tour_step(self) -> int:
        """The step at which the tour was left; 0 before it began."""
        return int(str(self._settings.value("tour_step", 0)))

    @tour_step.setter
    def tour_step(self, step: int) -> None:
        self._settings.setValue("tour_step", step)

    @property
    def layer_uses(self) -> str:
        """How often which layers were added; see :class:`app.window.habits.LayerHabits`."""
        return str(self._settings.value("layer_uses", ""))

    @layer_uses.setter
    def layer_uses(self, counts: str) -> None:
        self._settings.setValue("layer_uses", counts)

    def _names(self, key: str) -> list[str]:
        """A list of texts; a list of one is stored as a plain text by some backends."""
        stored = self._settings.value(key, [])
        if isinstance(stored, str):
            return [stored]
        return [str(each) for each in stored] if isinstance(stored, list | tuple) else []

    @property
    def geometry(self) -> QByteArray | None:
        """Place and size of the window."""
        value = self._settings.value("geometry")
        return value if isinstance(value, QByteArray) else None

    @property
    def dock_state(self) -> QByteArray | None:
        """Arrangement of the docks."""
        value = self._settings.value(f"docks/{_LAYOUT_VERSION}")
        return value if isinstance(value, QByteArray) else None

    @property
    def dock_sizes(self) -> dict[str, int]:
        """Widths and heights that the user gave to the docks, in pixels by side; see `app.window.docks.dockroom`."""
        pairs = (each.partition("=") for each in self._names("dock_sizes"))
        return {side: int(size) for side, _equal, size in pairs if size.isdecimal()}

    @dock_sizes.setter
    def dock_sizes(self, sizes: Mapping[str, int]) -> None:
        self._settings.setValue("dock_sizes", [f"{side}={size}" for side, size in sizes.items()])

    def restore_window(self, window: QMainWindow) -> None:
        """Give a window the place and arrangement it had; at first most of the screen, as far as it asks for that."""
        geometry, docks = self.geometry, self.dock_state
        if geometry is None or not window.restoreGeometry(geometry):
            screen = QGuiApplication.primaryScreen().availableSize()
            window.resize(window.sizeHint().boundedTo(screen * 0.95))
        if docks is not None:
            window.restoreState(docks)

    def save_window(self, geometry: QByteArray, dock_state: QByteArray) -> None:
        """Remember place and arrangement."""
        self._settings.setValue("geometry", geometry)
        self._settings.setValue(f"docks/{_LAYOUT_VERSION}", dock_state)
