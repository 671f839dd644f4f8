"""The menu that shows and changes the dialect of the net."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.qt import guard
from engine.schema import dialect_names, find_dialect

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["DialectMenu"]


class DialectMenu(QMenu):
    """Lists whose Caffe a net may be written for, with a mark at the one that it is read as.

    Parameters
    ----------
    document : callable
        Returns the document in view.
    """

    def __init__(self, document: Callable[[], Document], parent: QWidget | None = None) -> None:
        super().__init__("&Dialect", parent)
        self.setObjectName("window.menu.dialect")
        self.setToolTipsVisible(True)
        self._document = document
        self._names = QActionGroup(self)
        for name in dialect_names():
            action = self.addAction(find_dialect(name).title)
            action.setObjectName(f"window.action.dialect.{name}")
            action.setToolTip(f"Read the fields of the net as those of {find_dialect(name).title}")
            action.setCheckable(True)
            action.setData(name)
            self._names.addAction(action)
        self.addSeparator()
        self._guess = self.addAction("&As guessed")
        self._guess.setObjectName("window.action.dialect.guess")
        self._guess.setToolTip("Tell the dialect by what the net uses")
        self.triggered.connect(lambda action: self._document().set_dialect(action.data()))
        self.aboutToShow.connect(self.refresh)

    @guard
    def refresh(self) -> None:
        """Mark the dialect of the document in view."""
        document = self._document()
        for action in self._names.actions():
            action.setChecked(action.data() == document.dialect)
        self._guess.setEnabled(document.dialect_choice.chosen is not None)
        self._guess.setText(f"&As guessed: {find_dialect(document.dialect_choice.guess).title}")
