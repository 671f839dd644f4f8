"""Blocks that the user keeps: prototxt files in a folder of the user's, offered in the palette under "My blocks"."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

from app.wording import counted
from engine.errors import NetcanvasError
from engine.files import atomic_write
from engine.graph import OpGraph
from engine.registry import LayerInfo
from engine.resources import user_data_path

__all__ = [
    "CATEGORY",
    "TemplateEntry",
    "remove_template",
    "rename_template",
    "save_template",
    "template_entries",
    "template_name",
    "template_of",
    "templates_path",
]

CATEGORY = "My blocks"
_PREFIX = "template:"
_SUFFIX = ".prototxt"
_LARGEST = 4_000_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TemplateEntry(LayerInfo):
    """A kept block as the palette shows it.

    Attributes
    ----------
    kind : str
        What the palette hands on when it is chosen; see :func:`template_of`.
    """

    kind: str = ""


def templates_path() -> Path:
    """Return the folder of the kept blocks; it need not exist."""
    return user_data_path() / "blocks"


def template_entries() -> tuple[TemplateEntry, ...]:
    """Return what is kept, by name; what cannot be read is left out."""
    folder = templates_path()
    files = sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []
    return tuple(entry for path in files if (entry := _entry(path)) is not None)


def _entry(path: Path) -> TemplateEntry | None:
    try:
        if path.stat().st_size > _LARGEST:
            return None
        types = [node.type for node in OpGraph.parse(path.read_bytes()).nodes() if not node.virtual]
    except (OSError, NetcanvasError) as error:
        _log.warning("The block '%s' cannot be read: %s", path.stem, error)
        return None
    if not types:
        return None
    kinds = ", ".join(dict.fromkeys(types))
    return TemplateEntry(
        path.stem,
        CATEGORY,
        f"{counted(len(types), 'layer')}: {kinds}",
        kind=_PREFIX + path.stem,
        tops=("top",),
        bottoms=("bottom",),
    )


def template_name(kind: str) -> str | None:
    """Return the name of the block that an entry of the palette means; None for another entry."""
    return kind.removeprefix(_PREFIX) if kind.startswith(_PREFIX) else None


def template_of(kind: str) -> tuple[str, str] | None:
    """Return name and text of the block that an entry of the palette means; None for another entry.

    Raises
    ------
    OSError
        When the block is gone.
    """
    name = template_name(kind)
    return None if name is None else (name, (templates_path() / f"{name}{_SUFFIX}").read_text(encoding="utf-8"))


def save_template(name: str, text: str | bytes) -> str:
    """Keep layers under a name; one that is taken gets a number. Return the name.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    folder = templates_path()
    folder.mkdir(parents=True, exist_ok=True)
    free = _free_name(_file_name(name))
    atomic_write(folder / f"{free}{_SUFFIX}", text.encode() if isinstance(text, str) else text)
    return free


def rename_template(name: str, wanted: str) -> str:
    """Give a kept block another name; one that is taken gets a number, and no file is written over. Return the name.

    Raises
    ------
    OSError
        When the block is gone, or its file cannot be renamed.
    """
    base = _file_name(wanted)
    if base == name:
        return name
    path = templates_path() / f"{name}{_SUFFIX}"
    if not path.is_file():
        raise FileNotFoundError(f"The block '{name}' is gone from '{path.parent}'.")
    free = _free_name(base)
    path.rename(path.with_name(f"{free}{_SUFFIX}"))
    return free


def remove_template(name: str) -> bytes:
    """Take a kept block away and return what was kept, for :func:`save_template` to bring back.

    Raises
    ------
    OSError
        When its file cannot be removed.
    """
    path = templates_path() / f"{name}{_SUFFIX}"
    kept = path.read_bytes()
    path.unlink()
    return kept


def _file_name(name: str) -> str:
    return re.sub(r"[^\w .-]+", "_", name).strip(" .") or "Block"


def _free_name(base: str) -> str:
    """Return a name under which nothing is kept yet."""
    free, number = base, 2
    while (templates_path() / f"{free}{_SUFFIX}").exists():
        free, number = f"{base} {number}", number + 1
    return free
