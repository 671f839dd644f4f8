"""How large letters are: sizes that are made for the usual ones grow with those that the system asks for."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

__all__ = ["letter_scale"]

#: Height of a line in the letters that sizes are made for.
_LINE = 16


def letter_scale(widget: QWidget) -> float:
    """Return how much larger the letters of a widget are than those that sizes are made for; at least 1."""
    return max(widget.fontMetrics().height() / _LINE, 1.0)
