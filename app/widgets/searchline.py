"""The line in which what a list or a form shows is narrowed down."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from app.icons import icon

__all__ = ["name_clear_button", "search_line"]


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
    name_clear_button(line)
    if glass:
        mark = line.addAction(icon("magnifying-glass", "text_muted"), QLineEdit.ActionPosition.LeadingPosition)
        mark.setToolTip(spoken or prompt)
        mark.setText(spoken or prompt)
    return line


def name_clear_button(line: QWidget) -> None:
    """Say what the button does with which Qt has a line cleared."""
    for button in line.findChildren(QToolButton):
        button.setAccessibleName("Clear")
        button.setToolTip("Clear")
