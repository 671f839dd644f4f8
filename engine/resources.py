"""Where the shipped files lie: beside the packages in a checkout, inside ``app`` in an installed wheel."""

from __future__ import annotations

from pathlib import Path

import platformdirs

__all__ = ["plugins_path", "resource_path", "user_data_path", "user_plugins_path"]


def _shipped(folder: str) -> Path:
    root = Path(__file__).resolve().parent.parent
    for place in (root / folder, root / "app" / folder):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"The shipped folder '{folder}' is missing. Reinstall Netcanvas.")


def resource_path(name: str = "") -> Path:
    """Return the path of a shipped resource.

    Parameters
    ----------
    name : str
        Path below ``resources/`` with forward slashes, such as ``"examples/lenet"``.
    """
    return _shipped("resources") / name


def plugins_path() -> Path:
    """Return the folder of the plugins shipped with the product."""
    return _shipped("plugins")


def user_data_path() -> Path:
    """Return the folder for this user's examples, runs and recovery files, making it when missing."""
    path = platformdirs.user_data_path("netcanvas", appauthor=False)
    path.mkdir(parents=True, exist_ok=True)
    return path


def user_plugins_path() -> Path:
    """Return the folder of this user's own plugins; it need not exist."""
    return platformdirs.user_data_path("netcanvas", appauthor=False) / "plugins"
