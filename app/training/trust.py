"""The question whether code of a project may run, before the first training that would run it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.training.model import Notice

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["trust_question"]


def trust_question(
    document: Document, allowed: Callable[[Path], object]
) -> tuple[Notice, list[tuple[str, Callable[[], object]]]] | None:
    """Return what to ask, and the button that answers; None where nothing is to be asked.

    Parameters
    ----------
    allowed : callable
        Called with the project's folder once the user has allowed its code.
    """
    has_code = any(node.type == "Python" for node in document.graph.nodes()) or bool(document.live.plugins.waiting())
    if document.path is None or document.live.trusted or not has_code:
        return None
    folder = document.path.parent

    def allow() -> None:
        document.live.trusted = True
        document.live.refresh()
        allowed(folder)

    text = f"Training runs the Python layers of this net with their code from '{folder.name}'. Do you trust it?"
    return Notice("warning", text), [("Trust and train", allow)]
