"""A list that opens over the window, with a field to search it."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QVBoxLayout,
    QWidget,
)

from app.qt import announce, guard
from app.widgets.letters import letter_scale

__all__ = ["ChoicePopup", "draw_marked"]


class ChoicePopup(QFrame):
    """A search field, the list of what fits and a note below; Enter takes the chosen row, Escape none.

    A subclass says what fits, in :meth:`fill`, and what taking a row does, in :meth:`take`.

    Parameters
    ----------
    name : str
        Object name; those of the field and of the list are made from it.
    model : QAbstractItemModel
        What is listed; the popup owns it.
    width : int
        In pixels, more with large letters; the height is that of what is found.
    page : int
        How many rows the keys for a page go.
    """

    def __init__(self, name: str, model: QAbstractItemModel, width: int, page: int, parent: QWidget | None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName(name)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._width, self._page = width, page
        self.search = QLineEdit()
        self.search.setObjectName(f"{name}_search")
        self.view = QListView()
        self.view.setObjectName(f"{name}_list")
        model.setParent(self)
        self.view.setModel(model)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setProperty("flat", True)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.note = QLabel()
        self.note.setProperty("muted", True)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.setSpacing(6)
        box.addWidget(self.search)
        box.addWidget(self.view)
        box.addWidget(self.note)
        self.search.textChanged.connect(self._refill)
        self.search.returnPressed.connect(lambda: self._chosen(self.view.currentIndex()))
        self.search.installEventFilter(self)
        self.view.clicked.connect(self._chosen)

    def fill(self, pattern: str) -> int:
        """Put what fits a pattern into the model and a word into the note; return how high the list is to be."""
        raise NotImplementedError

    def take(self, index: QModelIndex) -> None:
        """Do what a row stands for."""
        raise NotImplementedError

    def open_at(self, corner: QPoint) -> None:
        """Open with an empty field, the upper left corner at a point of the screen."""
        self.search.clear()
        self._refill()
        self.move(corner)
        self.show()
        self.search.setFocus(Qt.FocusReason.PopupFocusReason)

    @property
    def wide(self) -> int:
        """How wide it is, in pixels; no wider than the screen."""
        return min(round(self._width * letter_scale(self)), self.screen().availableSize().width())

    def sizeHint(self) -> QSize:
        """As high as what is found needs."""
        layout = self.layout()
        return QSize(self.wide, layout.sizeHint().height() if layout is not None else 0)

    @guard
    def _refill(self, _text: str = "") -> None:
        height = self.fill(self.search.text())
        model = self.view.model()
        self.view.setVisible(model.rowCount() > 0)
        self.view.setFixedHeight(height)
        if model.rowCount():
            self.view.setCurrentIndex(model.index(0, 0))
        layout = self.layout()
        if layout is not None:
            layout.activate()  # or the old least size would still hold
        self.resize(self.sizeHint())
        self._tell()

    def _tell(self) -> None:
        """Say which row would be taken: the keyboard stays in the field."""
        index = self.view.currentIndex()
        words = index.data(Qt.ItemDataRole.AccessibleTextRole) or index.data() if index.isValid() else self.note.text()
        self.search.setAccessibleDescription(str(words or ""))
        if self.isVisible():
            announce(self.search, self.search.accessibleDescription())

    @guard
    def _chosen(self, index: QModelIndex) -> None:
        if index.isValid():
            self.take(index)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            page = self._page
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: page, Qt.Key.Key_PageUp: -page}
            step = steps.get(Qt.Key(event.key()))
            model = self.view.model()
            if step is not None and model.rowCount():
                row = min(model.rowCount() - 1, max(0, self.view.currentIndex().row() + step))
                self.view.setCurrentIndex(model.index(row, 0))
                self._tell()
                return True
        return super().eventFilter(watched, event)


def draw_marked(painter: QPainter, x: int, base: int, text: str, marked: frozenset[int]) -> None:
    """Draw a text on a base line, in the application's font, with the letters that matched in bold."""
    plain = QFont(QApplication.font())
    bold = QFont(plain)
    bold.setWeight(QFont.Weight.Bold)
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and (end in marked) == (start in marked):
            end += 1
        font = bold if start in marked else plain
        painter.setFont(font)
        painter.drawText(x, base, text[start:end])
        x += QFontMetrics(font).horizontalAdvance(text[start:end])
        start = end
