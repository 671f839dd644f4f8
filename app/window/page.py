"""One tab of the window: a document on its canvas, with the messages about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.document import Document
from app.qt import guard
from app.window.assuming import Assuming
from app.window.bars import InfoArea
from app.window.canvas_area import CanvasArea
from app.window.closing.remains import Dismantling, Remains

if TYPE_CHECKING:
    from app.compare.view import CompareView
    from app.window.start.welcome import WelcomePage

__all__ = ["DocumentPage"]


class DocumentPage(QWidget):
    """A document in the window; it owns the document, and ends it with :meth:`close_document`.

    Attributes
    ----------
    arranged : Signal()
        The net has its first places and is painted.
    welcome : WelcomePage or None
        What is shown instead of an empty canvas; see :meth:`show_welcome`.
    comparison : CompareView or None
        The net beside another, over the canvas; see :meth:`show_comparison`.
    """

    arranged = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("window.page")
        self.document = document
        document.setParent(self)
        self.canvas = CanvasArea(document, self, slowly=True)
        self.bars = InfoArea(self)
        self.assuming = Assuming(self)
        self.welcome: WelcomePage | None = None
        self.comparison: CompareView | None = None
        self._begun = False
        self._dismantling = Dismantling(self)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.addWidget(self.canvas, 0, 0)
        # Over the canvas, which must not jump under the pointer when a message comes or goes.
        self._grid.addWidget(self.bars, 0, 0, Qt.AlignmentFlag.AlignTop)
        self.bars.raise_()
        self.bars.resized.connect(self.canvas.set_top_room)
        self.bars.focus_left.connect(self.setFocus)
        self.setFocusProxy(self.canvas)
        self.canvas.arranged.connect(self.arranged)
        document.changed.connect(self.leave_welcome)

    def begin(self) -> bool:
        """Arrange the net when it is shown for the first time; return whether this was that time."""
        first, self._begun = not self._begun, True
        if first:
            self.canvas.show()
            self._grid.activate()
            self.canvas.arrange_at_start()
        return first

    def show_welcome(self, welcome: WelcomePage) -> None:
        """Show a page over the canvas until something is done to the net."""
        self.leave_welcome()
        self.welcome = welcome
        self._grid.addWidget(welcome, 0, 0)
        self.bars.resized.connect(welcome.set_top_room)
        welcome.set_top_room(self.bars.height() if self.bars.bars() else 0)
        welcome.raise_()
        self.bars.raise_()
        self.setFocusProxy(welcome)

    @guard
    def leave_welcome(self, _events: object = None) -> None:
        """Show the canvas."""
        welcome, self.welcome = self.welcome, None
        if welcome is not None:
            self.setFocusProxy(self.canvas)
            self._grid.removeWidget(welcome)
            welcome.hide()
            welcome.deleteLater()

    def show_comparison(self, comparison: CompareView) -> None:
        """Show the net beside another, over the canvas, until that is closed."""
        self.leave_welcome()
        self.leave_comparison()
        self.comparison = comparison
        self._grid.addWidget(comparison, 0, 0)
        self._grid.removeWidget(self.bars)
        self._grid.addWidget(self.bars, 1, 0)  # below, for above are the buttons
        self.setFocusProxy(comparison)
        comparison.closed.connect(self.leave_comparison)
        comparison.setFocus()

    @guard
    def leave_comparison(self) -> None:
        """Show the canvas again."""
        comparison, self.comparison = self.comparison, None
        if comparison is not None:
            self.setFocusProxy(self.canvas)
            for widget in (comparison, self.bars):
                self._grid.removeWidget(widget)
            self._grid.addWidget(self.bars, 0, 0, Qt.AlignmentFlag.AlignTop)
            self.bars.raise_()
            comparison.hide()
            self._dismantling.take(Remains(comparison))
            comparison.close_comparison()
            comparison.deleteLater()
            self.canvas.setFocus()

    def close_document(self) -> None:
        """End what works for the document; the page is of no use after that."""
        self.leave_comparison()
        self._dismantling.close()  # who ends the page takes all of it apart
        self.canvas.close_document()
        self.document.close()
