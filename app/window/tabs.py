"""The open documents, each in a tab."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QStackedWidget, QTabBar, QToolButton, QVBoxLayout, QWidget

from app.document import Document
from app.icons import icon
from app.qt import guard
from app.window.page import DocumentPage

__all__ = ["DocumentTabs"]

_DOT = "\u25cf "
_LEAST_WIDTH = 132  # a tab keeps so much to tell it by; what has no room then is scrolled to


class DocumentTabs(QWidget):
    """A bar of tabs and the page of the current one; there is always one.

    Attributes
    ----------
    current_changed : Signal()
        Another page is shown.
    close_asked : Signal(DocumentPage)
        The user wants a tab gone.
    """

    current_changed = Signal()
    close_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = _TabBar(self)
        self.bar.setObjectName("window.tabs")
        self.bar.setAccessibleName("Open nets")
        self.bar.currentChanged.connect(self._bar_changed)
        self.bar.middle_clicked.connect(lambda index: self.close_asked.emit(self._page_at(index)))
        self._stack = QStackedWidget(self)
        self._pages: dict[str, DocumentPage] = {}
        self._shown: DocumentPage | None = None
        self._close_tip = "Close"
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.bar)
        box.addWidget(self._stack, 1)

    # The pages

    @property
    def current(self) -> DocumentPage:
        """The page that is shown."""
        assert self._shown is not None, "the window always has a page"
        return self._shown

    def pages(self) -> list[DocumentPage]:
        """All pages, in the order of their tabs."""
        return [self._page_at(index) for index in range(self.bar.count())]

    def page_of(self, document: Document) -> DocumentPage | None:
        """The page of a document, or None."""
        return self._pages.get(document.identity)

    def add(self, page: DocumentPage, at: int | None = None) -> None:
        """Add a tab at the end, or at a place, without showing it."""
        document = page.document
        self._name(document)
        self._pages[document.identity] = page
        self._stack.addWidget(page)
        index = self.bar.count() if at is None else at
        was_blocked = self.bar.blockSignals(True)
        index = self.bar.insertTab(index, "")
        self.bar.setTabData(index, document.identity)
        self.bar.setTabButton(index, QTabBar.ButtonPosition.RightSide, self._close_button(page))
        if self._shown is not None:
            self.bar.setCurrentIndex(self._index_of(self._shown))
        self.bar.blockSignals(was_blocked)
        document.modified_changed.connect(self.refresh)
        document.path_changed.connect(self.refresh)
        self.refresh()

    def show_page(self, page: DocumentPage) -> None:
        """Bring a page to the front."""
        self.bar.setCurrentIndex(self._index_of(page))
        self._bar_changed()

    def take(self, page: DocumentPage) -> None:
        """Remove a tab; the page is the caller's to close. Show another one first."""
        index = self._index_of(page)
        del self._pages[page.document.identity]
        if page is self._shown:
            self._shown = None
        self.bar.removeTab(index)
        self._stack.removeWidget(page)
        page.document.modified_changed.disconnect(self.refresh)
        page.document.path_changed.disconnect(self.refresh)
        self.refresh()

    def step(self, by: int) -> None:
        """Show the tab so many to the right, around the end."""
        self.bar.setCurrentIndex((self.bar.currentIndex() + by) % self.bar.count())

    def move_current(self, by: int) -> None:
        """Move the tab that is shown so many places to the right, as far as there are any."""
        here = self.bar.currentIndex()
        there = min(max(here + by, 0), self.bar.count() - 1)
        if there != here:
            self.bar.moveTab(here, there)

    def say_close_key(self, key: str) -> None:
        """Show another key for closing in the tooltips."""
        self._close_tip = f"Close ({key})" if key else "Close"
        for button in self.bar.findChildren(QToolButton, "window.tab_close"):
            button.setToolTip(self._close_tip)

    def _page_at(self, index: int) -> DocumentPage:
        return self._pages[str(self.bar.tabData(index))]

    def _index_of(self, page: DocumentPage) -> int:
        wanted = page.document.identity
        return next(index for index in range(self.bar.count()) if self.bar.tabData(index) == wanted)

    @guard
    def _bar_changed(self, _index: int = 0) -> None:
        page = self._page_at(self.bar.currentIndex())
        if page is not self._shown:
            self._shown = page
            self._stack.setCurrentWidget(page)
            self.current_changed.emit()

    # Their names

    def _name(self, document: Document) -> None:
        """Give a net without a file a label that no other open one has."""
        taken = {page.document.label for page in self._pages.values() if page.document.path is None}
        label, number = document.label, 1
        while document.path is None and label in taken:
            number += 1
            label = f"{document.label} {number}"
        document.label = label

    @guard
    def refresh(self, _modified: object = None) -> None:
        """Show names and marks as they are."""
        documents = [page.document for page in self.pages()]
        names = Counter(document.title for document in documents)
        for index, document in enumerate(documents):
            name = document.title
            if document.path is not None and names[name] > 1:
                name = f"{name} \u2013 {document.path.parent.name}"
            dot = _DOT if document.unsaved else ""
            self.bar.setTabText(index, f"{dot}{name}".replace("&", "&&"))
            where = str(document.path) if document.path else "Not saved yet"
            self.bar.setTabToolTip(index, f"{where}{', changed' if document.unsaved else ''}")
            self.bar.setAccessibleTabName(index, f"{name}{', changed' if document.unsaved else ''}")

    def _close_button(self, page: DocumentPage) -> QToolButton:
        button = QToolButton()
        button.setObjectName("window.tab_close")
        button.setAutoRaise(True)
        button.setIcon(icon("x", "text_muted"))
        button.setIconSize(QSize(12, 12))
        button.setToolTip(self._close_tip)
        button.setAccessibleName("Close tab")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda _checked=False: self.close_asked.emit(page))
        return button


class _TabBar(QTabBar):
    """Closes a tab on a middle click."""

    middle_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)  # they all end alike
        self.setDrawBase(False)
        self._pressed = -1

    @guard(default=QSize(_LEAST_WIDTH, 32))
    def minimumTabSizeHint(self, index: int) -> QSize:
        whole = self.tabSizeHint(index)
        return QSize(min(whole.width(), _LEAST_WIDTH), whole.height())

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.MiddleButton:
            self._pressed = self.tabAt(event.position().toPoint())
            event.accept()
            return
        super().mousePressEvent(event)

    @guard
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.MiddleButton:
            index, self._pressed = self._pressed, -1
            if index >= 0 and index == self.tabAt(event.position().toPoint()):
                self.middle_clicked.emit(index)
            event.accept()
            return
        super().mouseReleaseEvent(event)
