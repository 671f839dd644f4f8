"""The file beside a net that holds what belongs to the net, but not into its text."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from engine.schema import dialect_names

__all__ = ["read_dialect", "sidecar_path", "stored_dialect"]

_log = logging.getLogger(__name__)


def sidecar_path(path: Path) -> Path:
    """Return the file that holds places, view and dialect of a net."""
    return path.with_name(path.name + ".canvas.json")


def read_dialect(net: Path) -> str | None:
    """Return the dialect that the user chose for a net; None where none is written down, or it cannot be read."""
    try:
        return stored_dialect(sidecar_path(net).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def stored_dialect(text: str) -> str | None:
    """Return the dialect that the text of such a file names; None if it names none that exists."""
    try:
        name: object = json.loads(text).get("dialect")
    except (ValueError, AttributeError):
        return None  # told when the places are read
    if isinstance(name, str) and name in dialect_names():
        return name
    if name is not None:
        _log.warning("The dialect %r in the layout file is not known and is ignored.", name)
    return None
