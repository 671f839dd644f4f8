"""A window of its own beside the main window, which stops nothing."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QWidget

from app.qt import guard

__all__ = ["Sheet"]


class Sheet(QDialog):
    """A dialog that is used once: closing it, by Escape too, is its end.

    Attributes
    ----------
    is_closed : bool
        Whether it was closed; Qt may have taken it away since.
    """

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Dialog)
        self.setWindowTitle(title)
        self.setModal(False)
        self.is_closed = False

    @guard
    def closeEvent(self, event: QCloseEvent) -> None:
        self.is_closed = True
        self.deleteLater()
        super().closeEvent(event)

    @guard
    def reject(self) -> None:
        self.close()
