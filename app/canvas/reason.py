"""The sentence at the pointer: why something does not go here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel

if TYPE_CHECKING:
    from app.canvas.view import CanvasView

__all__ = ["ReasonLabel"]

_REACH = 80


class ReasonLabel(QLabel):
    """Stands beside the pointer while a gesture points at what does not fit, and for a while after its end."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view.viewport())
        self.setObjectName("canvas.reason")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setWordWrap(False)
        self.hide()
        self._view = view
        self._kept_at: QPoint | None = None

    def say(self, text: str, position: QPoint, *, refused: bool = True, stays: bool = False) -> None:
        """Show a sentence at a place of the viewport; an empty one takes it away.

        Parameters
        ----------
        refused : bool
            Whether it cannot be done; else it had better not.
        stays : bool
            After the end of the gesture, until the pointer goes away or something else is done.
        """
        self._kept_at = position if stays and text else None
        self.setVisible(bool(text))
        if not text:
            return
        theme = self._view.canvas.style_set.theme
        border = theme.color("error" if refused else "warning").name()
        self.setStyleSheet(
            f"background: {theme.color('surface').name()}; color: {theme.color('text').name()};"
            f"border: 1px solid {border}; border-radius: 4px; padding: 4px 8px;"
        )
        self.setText(text)
        self.adjustSize()
        limit = self._view.viewport().rect()
        x = min(position.x() + 16, limit.right() - self.width())
        y = position.y() + 20
        if y + self.height() > limit.bottom():
            y = position.y() - 12 - self.height()
        self.move(max(0, x), max(0, y))

    def leave(self, position: QPoint | None = None) -> None:
        """Take a sentence away that stayed, once the pointer is far from where it belongs; at once without a place."""
        kept = self._kept_at
        if kept is not None and (position is None or (position - kept).manhattanLength() > _REACH):
            self.say("", kept)
