"""The list of what could be typed, with what the chosen one means beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QListWidget, QListWidgetItem, QWidget

from app.qt import announce
from app.text.candidates import Candidate
from app.theme import GRID, Theme, monospace_font

__all__ = ["CompletionPopup"]

_ROWS, _DOC_WIDTH = 10, 64 * GRID
_WIDEST = 110 * GRID


class CompletionPopup(QFrame):
    """A list that never takes the keyboard.

    Attributes
    ----------
    accepted : Signal()
        An entry was clicked.
    """

    accepted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("text.completion")
        self.setAccessibleName("Completions")
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.Box)
        self.found: Sequence[Candidate] = ()
        self.list = QListWidget(self)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFont(monospace_font())
        self.list.setUniformItemSizes(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(lambda _item: self.accepted.emit())
        self.list.currentRowChanged.connect(self._tell)
        self.doc = QLabel(self)
        self.doc.setWordWrap(True)
        self.doc.setTextFormat(Qt.TextFormat.PlainText)
        self.doc.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.doc.setFixedWidth(_DOC_WIDTH)
        self.doc.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        box = QHBoxLayout(self)
        box.setContentsMargins(1, 1, 1, 1)
        box.setSpacing(0)
        box.addWidget(self.list, 1)
        box.addWidget(self.doc)

    @property
    def current(self) -> Candidate | None:
        """The chosen entry."""
        row = self.list.currentRow()
        return self.found[row] if 0 <= row < len(self.found) else None

    def show_found(self, found: Sequence[Candidate], below: QRect) -> None:
        """Show entries, the first of them chosen, below a rectangle of the screen or, without room, above it."""
        if found != self.found:
            self.found = found
            self._fill()
        self.list.setCurrentRow(0)
        metrics = QFontMetrics(self.list.font())
        width = max((metrics.horizontalAdvance(self._line(each)) for each in found[:60]), default=0)
        rows = min(len(found), _ROWS)
        row_height = max(self.list.sizeHintForRow(0), metrics.height())
        size = QSize(min(width + 10 * GRID, _WIDEST) + _DOC_WIDTH, max(rows * row_height + 6, 24 * GRID))
        self._dress()
        self.resize(size)
        self.move(_fitting(below, size))
        if not self.isVisible():
            self.show()

    def move_choice(self, by: int) -> None:
        """Choose another entry: the ends are joined for single steps."""
        count = len(self.found)
        row = self.list.currentRow() + by
        row = row % count if abs(by) == 1 else min(max(row, 0), count - 1)
        self.list.setCurrentRow(row)

    def _fill(self) -> None:
        self.list.clear()
        for each in self.found:
            item = QListWidgetItem(self._line(each))
            item.setToolTip(each.doc)
            self.list.addItem(item)

    @staticmethod
    def _line(each: Candidate) -> str:
        return f"{each.text}  {each.detail}" if each.detail else each.text

    def _tell(self, _row: int) -> None:
        chosen = self.current
        self.doc.setText("" if chosen is None else chosen.doc or chosen.detail)
        edit = self.parentWidget()
        if chosen is not None and edit is not None:  # where the keyboard stays
            announce(edit, ". ".join(filter(None, (chosen.text, chosen.detail, chosen.doc))))

    def _dress(self) -> None:
        theme = Theme.current()
        names = {name: theme.color(name).name() for name in ("surface_alt", "border", "text", "text_muted")}
        self.setStyleSheet(
            f"#text\\.completion {{ background: {names['surface_alt']}; border: 1px solid {names['border']}; }}"
            f"QListWidget {{ background: {names['surface_alt']}; color: {names['text']}; }}"
            f"QLabel {{ color: {names['text_muted']}; border-left: 1px solid {names['border']}; }}"
        )


def _fitting(below: QRect, size: QSize) -> QPoint:
    """Return where a rectangle of a size stands below another one, or above, within the screen."""
    screen = QGuiApplication.screenAt(below.center()) or QGuiApplication.primaryScreen()
    room = screen.availableGeometry()
    x = max(min(below.left(), room.right() - size.width()), room.left())
    y = below.bottom() + 2
    if y + size.height() > room.bottom():
        y = below.top() - size.height() - 2
    return QPoint(x, y)
