"""Copies of the plugins that a run uses, so that it can be made again from its folder.

Below ``plugins/`` of the run, each folder of plugins is a folder of its own with its files in their places: modules
that were loaded, helpers among them, ``plugin.toml`` and messages. A net in the run's folder finds them there, as a
net finds the plugins of its project.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["changed_plugins", "record_plugins"]

_MANIFEST = "plugin.toml"
_DECLARATIONS = frozenset({".toml", ".proto"})
_SOURCES = frozenset({".py", ".yaml", ".yml"}) | _DECLARATIONS
_NO_SOURCES = frozenset({"node_modules", "venv"})
_BIGGEST_SOURCE = 1024 * 1024
_MOST_SOURCES = 2000
_OURS = ("engine", "nodes", "app")


def record_plugins(
    net: Any, copies: Path, *, folders: Sequence[Path] = (), base_dirs: Sequence[Path] = ()
) -> list[dict[str, str]]:
    """Copy the sources of plugins and return their paths and hashes.

    Parameters
    ----------
    net : Net
        Built, so that its plugins are loaded.
    copies : Path
        Where the copies go.
    folders : sequence of Path
        Plugin folders named by the user; they are copied whole, but for files larger than a megabyte and what is no
        source.
    base_dirs : sequence of Path
        The net's folders. What their plugins add to the messages is copied, used or not: the net's text is read by it.

    Returns
    -------
    list of dict
        For each file its ``path``, its ``copy`` relative to the run's folder, and its ``sha256``.
    """
    wanted: dict[Path, dict[Path, None]] = {}
    for root, files in (*_loaded(), *_ordinary(net), *_declared(folders, base_dirs)):
        of_root = wanted.setdefault(root, {})
        of_root.update(dict.fromkeys(files))
        if (root / _MANIFEST).is_file():
            of_root.update(dict.fromkeys(_sources(root, _DECLARATIONS)))
    for folder in folders:
        for path in _sources(folder.resolve(), _SOURCES):
            root = next((above for above in path.parents if above in wanted or (above / _MANIFEST).is_file()), folder)
            wanted.setdefault(root.resolve() if root == folder else root, {})[path] = None
    records, copied = [], set()
    for number, (root, of_root) in enumerate(item for item in wanted.items() if item[1]):
        for source in of_root:
            if source in copied or not source.is_file():
                continue
            copied.add(source)
            copy = copies / f"{number:02d}-{root.name or 'root'}" / source.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            records.append({"path": str(source), "copy": str(copy.relative_to(copies.parent)), "sha256": _hash(copy)})
    return records


def changed_plugins(records: Iterable[dict[str, str]]) -> list[str]:
    """Return the paths of recorded sources that are gone or not what they were."""
    return [record["path"] for record in records if _hash(Path(record["path"])) != record["sha256"]]


def _loaded() -> Iterator[tuple[Path, list[Path]]]:
    """Yield the folders of plugins that modules were loaded from, with the modules' files."""
    from engine.plugins.roots import plugin_finder

    for root in plugin_finder().roots():
        if root.stamps:
            yield root.folder, [path.resolve() for path in root.stamps if path.resolve().is_relative_to(root.folder)]


def _ordinary(net: Any) -> Iterator[tuple[Path, list[Path]]]:
    """Yield the places on ``sys.path`` of the net's layer classes that are not ours, with their files."""
    for name in dict.fromkeys(type(layer).__module__ for layer in net.layers):
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if file is None or name.partition(".")[0] in _OURS or name.startswith("netcanvas_plugins_"):
            continue
        path = Path(file).resolve()
        depth = name.count(".") + (path.name == "__init__.py")
        yield path.parents[min(depth, len(path.parents) - 1)], [path]


def _declared(folders: Sequence[Path], base_dirs: Sequence[Path]) -> Iterator[tuple[Path, list[Path]]]:
    """Yield the plugin folders that add to the messages and did not come with the product."""
    from engine.plugins import find_plugins

    for plugin in find_plugins(folders, base_dirs).folders:
        if plugin.fragment is not None and plugin.origin not in ("shipped", "installed"):
            yield plugin.path.resolve(), []


def _sources(folder: Path, suffixes: frozenset[str]) -> Iterator[Path]:
    """Yield the sources below a folder, leaving out what belongs to tools and to runs."""
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")) and name not in _NO_SOURCES)
        if "authkey" in files and "status.json" in files:
            folders.clear()
            continue
        for path in (Path(place, name) for name in sorted(files)):
            if path.suffix in suffixes and path.stat().st_size <= _BIGGEST_SOURCE and count < _MOST_SOURCES:
                count += 1
                yield path


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
