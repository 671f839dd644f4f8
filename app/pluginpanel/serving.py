"""What the list of plugins asks of those who serve it, whoever they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from app.document import Document
    from engine.inspection import LayerListing
    from engine.plugins import PluginFolder

__all__ = ["FolderMemory", "PluginService"]


class PluginService(Protocol):
    """Knows what may run, and does what the buttons of the list say.

    Attributes
    ----------
    is_safe : bool
        Whether the program was started without plugins.
    """

    is_safe: bool

    @property
    def document(self) -> Document:
        """The document that is shown."""

    @property
    def listings(self) -> Mapping[Path, LayerListing]:
        """What loading the modules of a folder gave, where that was tried."""

    def may_run(self, folder: PluginFolder) -> bool:
        """Whether the code of a plugin folder may run."""

    def set_trusted(self, folder: PluginFolder, trusted: bool) -> None:
        """Allow, or no longer allow, the code of a plugin folder to run."""

    def remove(self, folder: PluginFolder) -> None:
        """Forget a folder that the user named."""

    def reload(self) -> None:
        """Look at all plugins again."""

    def convert(self, places: list[Path]) -> None:
        """Show what a conversion to Python 3 would change."""

    def show_code(self, file: Path, line: int = 0) -> None:
        """Show a source file."""

    def open_folder(self, folder: Path) -> None:
        """Show a folder in the system's file manager."""


class FolderMemory(Protocol):
    """Remembers folders from one start to the next."""

    @property
    def plugin_folders(self) -> Sequence[Path]:
        """Plugin folders that the user named."""

    def set_plugin_folders(self, folders: Iterable[Path]) -> None:
        """Remember them."""

    def is_trusted(self, folder: Path) -> bool:
        """Whether the user allowed code from a folder to run."""

    def trust(self, folder: Path) -> None:
        """Remember that code from a folder may run."""

    def distrust(self, folder: Path) -> None:
        """Forget that code from a folder may run."""
