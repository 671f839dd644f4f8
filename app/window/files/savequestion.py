"""The question before something goes away that is not saved."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QWidget

from app.icons import icon_pixmap
from app.theme import Theme

__all__ = ["ask_to_leave"]


def ask_to_leave(parent: QWidget, name: str, what: str, save: Callable[[], bool]) -> bool:
    """Ask whether to save, to throw away or to stay; return whether it may go away.

    Parameters
    ----------
    name : str
        Object name of the question.
    what : str
        What has changes, as the question names it.
    save : callable
        Saves, and returns whether that worked.
    """
    box = QMessageBox(parent)
    box.setObjectName(name)
    box.setIconPixmap(icon_pixmap("floppy-disk", Theme.current().color("accent"), 32, parent.devicePixelRatioF()))
    box.setWindowTitle("Netcanvas")
    box.setText(f"Save changes to {what}?")
    box.setInformativeText("Otherwise they are lost.")
    buttons = QMessageBox.StandardButton
    box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
    box.setDefaultButton(buttons.Save)
    answer = box.exec()
    box.deleteLater()
    return save() if answer == buttons.Save else answer == buttons.Discard
