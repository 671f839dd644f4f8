"""Relative paths in prototxt files.

Caffe reads them against the working directory. People open nets from anywhere, so a path that is not found there is
looked for beside the file that names it, then in that folder's ancestors; what was tried can always be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ResolvedPath", "resolve", "search_folders"]


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """Outcome of a look-up.

    Attributes
    ----------
    written : str
        The path as the file spells it.
    path : Path
        The existing path that was found, or the first candidate when none exists.
    found : bool
        Whether ``path`` exists.
    tried : tuple of Path
        Every candidate, in the order of the search.
    """

    written: str
    path: Path
    found: bool
    tried: tuple[Path, ...]


def search_folders(folder: Path | None) -> tuple[Path, ...]:
    """Return the folders to search: the working directory, ``folder``, then the ancestors of ``folder``."""
    folders = [Path.cwd()]
    if folder is not None:
        folder = folder.resolve()
        folders += [folder, *folder.parents]
    return tuple(dict.fromkeys(folders))


def resolve(written: str, folders: Sequence[Path] | Iterable[Path] = ()) -> ResolvedPath:
    """Find the file or folder that a prototxt names.

    Parameters
    ----------
    written : str
        The path as written; ``~`` is expanded.
    folders : sequence of Path
        Folders to search in order, usually from :func:`search_folders`; the working directory when empty.
    """
    path = _expanded(Path(written))
    if path.is_absolute():
        candidates: tuple[Path, ...] = (path,)
    else:
        candidates = tuple(folder / path for folder in (tuple(folders) or (Path.cwd(),)))
    for candidate in candidates:
        if _exists(candidate):
            return ResolvedPath(written, candidate, True, candidates)
    return ResolvedPath(written, candidates[0], False, candidates)


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # nobody of that name is known here
        return path


def _exists(path: Path) -> bool:
    """Whether there is such a file; a name that no file can have, or in a folder that may not be read, is none."""
    try:
        return path.exists()
    except OSError:
        return False
