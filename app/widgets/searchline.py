"""The line in which what a list or a form shows is narrowed down."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from app.icons import icon

__all__ = ["search_line"]


def search_line(
    name: str, prompt: str, parent: QWidget | None = None, *, spoken: str = "", glass: bool = False
) -> QLineEdit:
    """Return an empty line to search with.

    Parameters
    ----------
    name : str
        Its object name.
    prompt : str
        Shown while it is empty.
    spoken : str
        What it is called where nobody sees it; the prompt, where that says it.
    glass : bool
        Show a magnifying glass at its left end.
    """
    line = QLineEdit(parent)
    line.setObjectName(name)
    line.setPlaceholderText(prompt)
    line.setAccessibleName(spoken or prompt)
    line.setClearButtonEnabled(True)
    if glass:
        line.addAction(icon("magnifying-glass", "text_muted"), QLineEdit.ActionPosition.LeadingPosition)
    return line
