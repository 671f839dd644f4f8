"""A first solver for a net that has none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.files import atomic_write
from engine.prototxt import quote

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["create_solver", "why_not"]

_ENDINGS = ("_train_test", "_train_val", "_train", "_net")


def why_not(document: Document) -> str:
    """Say why no solver can be written beside a net, or nothing."""
    return "" if document.path is not None else "Save the net first; its solver goes beside it."


def create_solver(document: Document) -> Path:
    """Write a solver with usual settings beside a net, under a name that is free, and return its path.

    Raises
    ------
    OSError
        When it cannot be written.
    ValueError
        When the net has no file yet.
    """
    from app.training.launch import default_solver_text

    if document.path is None:
        raise ValueError("the net has no file yet")
    stem = document.path.stem
    stem = next((stem.removesuffix(ending) for ending in _ENDINGS if stem.endswith(ending)), stem)
    number = 1
    while (path := document.path.with_name(f"{stem}_solver{number if number > 1 else ''}.prototxt")).exists():
        number += 1
    settings = [line for line in default_solver_text(document).splitlines() if not line.startswith("#")]
    text = "\n".join([f"net: {quote(document.path.name)}", *settings, ""])
    atomic_write(path, text.encode())
    return path
