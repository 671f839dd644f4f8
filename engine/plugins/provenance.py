"""Whose code a Python layer is: found by looking at files, without running any of it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.plugins.failures import module_missing
from engine.plugins.project import search_order
from engine.plugins.roots import PluginRoot
from engine.resources import plugins_path, user_plugins_path

__all__ = ["is_missing", "missing_module", "module_file", "runs_without_trust"]


def module_file(
    module: str, plugin_paths: Sequence[Path | str] = (), base_dirs: Sequence[Path | str] = ()
) -> Path | None:
    """Return the file in a searched folder that a net's ``module`` means, or None; ``sys.path`` is not looked at."""
    return _find(module, plugin_paths, base_dirs)[1]


def is_missing(module: str, plugin_paths: Sequence[Path | str] = (), base_dirs: Sequence[Path | str] = ()) -> bool:
    """Return whether a net's ``module`` is nowhere: in no searched folder, and nothing of that name is importable."""
    top = module.partition(".")[0]
    if not top.isidentifier():
        return True
    if module_file(module, plugin_paths, base_dirs) is not None or top in sys.modules:
        return False
    try:
        return importlib.util.find_spec(top) is None  # of a name without dots: nothing is imported for it
    except (ImportError, ValueError):
        return False


def missing_module(module: str, plugin_paths: Sequence[Path | str], base_dirs: Sequence[Path | str]) -> str:
    """Return that a net's ``module`` was not found, and where, if it :func:`is_missing`; else an empty text."""
    if not module or not is_missing(module, plugin_paths, base_dirs):
        return ""
    before, after = search_order(plugin_paths, base_dirs)
    error = module_missing("", module, (*before, *after), (), {})
    return f"{error.detail} {error.next_step}"


def runs_without_trust(module: str, plugin_paths: Sequence[Path | str], base_dirs: Sequence[Path | str]) -> bool:
    """Return whether a net's Python layer is code that did not come with the net.

    It is where the first folder that has the module is one that the user named, the user's own, or shipped with the
    product. Such code may run before the net's folder is trusted, with nothing of that folder within its reach.

    Parameters
    ----------
    module : str
        As ``python_param`` spells it.
    plugin_paths, base_dirs : sequence of path
        As for :class:`engine.plugins.PluginProject`.
    """
    folder = _find(module, plugin_paths, base_dirs)[0]
    mine = [Path(path).resolve() for path in plugin_paths]
    mine += [user_plugins_path().resolve(), plugins_path().resolve()]
    return folder is not None and any(folder == place or place in folder.parents for place in mine)


def _find(
    module: str, plugin_paths: Sequence[Path | str], base_dirs: Sequence[Path | str]
) -> tuple[Path | None, Path | None]:
    before, after = search_order(plugin_paths, base_dirs)
    for folder in (*before, *after):
        file = PluginRoot(folder).locate(module) if module else None
        if file is not None:
            return folder, file
    return None, None
