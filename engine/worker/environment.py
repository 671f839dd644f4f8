"""What a run was made with: versions, machine, and the sources of its plugins."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import engine

__all__ = ["changed_plugins", "describe_machine", "record_plugins"]

_PACKAGES = ("numpy", "protobuf", "lmdb", "h5py")
_SOURCE_SUFFIXES = frozenset({".py", ".toml", ".proto", ".yaml", ".yml"})
_NO_SOURCES = frozenset({"node_modules", "venv"})
_BIGGEST_SOURCE = 1024 * 1024
_MOST_SOURCES = 2000


def describe_machine() -> dict[str, Any]:
    """Return versions and machine as JSON values."""
    versions = {"netcanvas": engine.__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "executable": sys.executable,
        "platform": platform.platform(),
        "host": platform.node(),
        "cpu_count": os.cpu_count(),
    }


def record_plugins(files: Sequence[Path], folders: Sequence[Path], copies: Path) -> list[dict[str, str]]:
    """Copy the sources of plugins and return their paths and hashes.

    Parameters
    ----------
    files : sequence of Path
        Sources of the layers in use.
    folders : sequence of Path
        Plugin folders; files larger than a megabyte and anything that is no source are left out.
    copies : Path
        Where the copies go, one numbered folder for each folder of sources.
    """
    sources = dict.fromkeys([*files, *(path.resolve() for folder in folders for path in _sources(folder))])
    numbers: dict[Path, int] = {}
    records = []
    for source in sources:
        number = numbers.setdefault(source.parent, len(numbers))
        copy = copies / f"{number}-{source.parent.name}" / source.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        records.append({"path": str(source), "copy": str(copy.relative_to(copies.parent)), "sha256": _hash(copy)})
    return records


def changed_plugins(records: Iterable[dict[str, str]]) -> list[str]:
    """Return the paths of recorded sources that are gone or not what they were."""
    return [record["path"] for record in records if _hash(Path(record["path"])) != record["sha256"]]


def _sources(folder: Path) -> Iterator[Path]:
    """Yield the sources below a folder, leaving out what belongs to tools and to runs."""
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")) and name not in _NO_SOURCES)
        if "authkey" in files and "status.json" in files:
            folders.clear()
            continue
        for path in (Path(place, name) for name in sorted(files)):
            if path.suffix in _SOURCE_SUFFIXES and path.stat().st_size <= _BIGGEST_SOURCE and count < _MOST_SOURCES:
                count += 1
                yield path


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
