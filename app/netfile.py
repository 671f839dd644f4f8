"""Reading the file of a net."""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine.errors import FileFormatError

__all__ = ["digest", "read_net_file"]

_BIGGEST_NET = 2**31


def read_net_file(path: Path) -> bytes:
    """Read a file that holds text no longer than a net can be.

    Raises
    ------
    FileFormatError
        When it is larger, or no text.
    OSError
        When it cannot be read.
    """
    size = path.stat().st_size
    if size > _BIGGEST_NET:
        raise FileFormatError(
            f"'{path.name}' has {size / 2**20:.0f} MB, more than a net description can have.",
            next_step="Weights (.caffemodel) are chosen in the training panel, not opened.",
        )
    data = path.read_bytes()
    if b"\0" in data:
        raise FileFormatError(
            f"'{path.name}' is a binary file; expected prototxt text.",
            next_step="Weights (.caffemodel) are chosen in the training panel, not opened.",
        )
    return data


def digest(data: bytes) -> str:
    """Return what tells one content of a file from another."""
    return hashlib.sha256(data).hexdigest()
