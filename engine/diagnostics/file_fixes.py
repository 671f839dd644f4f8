"""Fixes of paths that lead nowhere: what is called alike where the file was looked for."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path as FilePath

from engine.diagnostics.records import QuickFix
from engine.graph import Node, OpGraph, Path

__all__ = ["file_fixes"]

# So alike, as difflib counts it, must two names be; and so many entries of a folder are looked at.
_ALIKE, _MOST_ENTRIES = 0.75, 2000
_MOST_FIXES = 2
_FOLDERS: frozenset[Path] = frozenset({("data_param", "source")})
_EITHER: frozenset[Path] = frozenset({("layer", "source")})


def file_fixes(node: Node, path: Path, written: str, folders: Sequence[FilePath]) -> tuple[QuickFix, ...]:
    """Return fixes that name what is called alike, the most alike first; nothing is opened.

    It is looked for in the folder that the path names, below each of the searched folders, and in these themselves.

    Parameters
    ----------
    node : Node
        The layer that names the file.
    path : Path
        Its field.
    written : str
        What stands there.
    folders : sequence of Path
        The searched folders.
    """
    named = FilePath(written)
    found: dict[str, str] = {}
    for place, prefix in _places(named, folders):
        for name in _names(place, path):
            found.setdefault((prefix / name).as_posix(), name)
    alike = _alike(found, named.name)
    ranked = sorted(alike, key=lambda each: alike[each], reverse=True)
    return tuple(_use(node, path, each) for each in ranked[:_MOST_FIXES])


def _places(named: FilePath, folders: Sequence[FilePath]) -> Iterator[tuple[FilePath, FilePath]]:
    """Yield folders to look into, and what a path to something in each begins with."""
    if named.is_absolute():
        yield named.parent, named.parent
    else:
        for folder in folders:
            yield folder / named.parent, named.parent
    for folder in folders:
        yield folder, FilePath()


def _names(place: FilePath, path: Path) -> list[str]:
    """Return the names of what is in a folder and may stand in a field; none where it cannot be read."""
    try:
        with os.scandir(place) as entries:
            return [
                each.name
                for each in islice(entries, _MOST_ENTRIES)
                if path in _EITHER or each.is_dir() == (path in _FOLDERS)
            ]
    except (OSError, ValueError):
        return []


def _alike(found: Mapping[str, str], wanted: str) -> dict[str, float]:
    """Return which paths end in a name like the wanted one, and how alike it is; most are told at a glance."""
    matcher = difflib.SequenceMatcher(b=wanted.lower())
    alike: dict[str, float] = {}
    for path, name in found.items():
        matcher.set_seq1(name.lower())
        if all(ratio() >= _ALIKE for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)):
            alike[path] = matcher.ratio()
    return alike


def _use(node: Node, path: Path, written: str) -> QuickFix:
    def use(target: OpGraph) -> None:
        target.set_string(node.id, path, written)

    return QuickFix(f"Use '{written}'", use)
