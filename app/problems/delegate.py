"""How a row of the list looks: its sentence on two lines where one is too short, its quick fix as a small button."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.qt import guard
from app.theme import GRID, Theme

__all__ = ["FixDelegate", "MessageDelegate"]

_WIDEST = 55 * GRID
_PADDING = 3 * GRID


class MessageDelegate(QStyledItemDelegate):
    """Gives the rows the height of one line, or of two.

    Attributes
    ----------
    lines : int
        What the rows have room for.
    """

    lines = 1

    @guard(default=QSize(0, 28))
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        plain = _without_text(option)
        return QSize(plain.decorationSize.width(), self.lines * option.fontMetrics.lineSpacing() + _PADDING)


class FixDelegate(QStyledItemDelegate):
    """Paints the text of a cell as a button; an empty cell stays empty."""

    @guard
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, _without_text(option), QModelIndex())
        text = str(index.data() or "")
        if not text:
            return
        theme = Theme.current()
        rect = QRectF(option.rect).adjusted(GRID, 3, -GRID, -3)
        spare = max(0.0, rect.height() - option.fontMetrics.height() - _PADDING + 6) / 2  # of a row of two lines
        rect.adjust(0, spare, 0, -spare)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent" if hover else "border"), 1))
        painter.setBrush(theme.color("surface_alt"))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(theme.color("accent"))
        painter.setFont(option.font)
        room = rect.adjusted(2 * GRID, 0, -2 * GRID, 0)
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, shown)
        painter.restore()

    @guard(default=QSize(0, 28))
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        text = str(index.data() or "")
        width = option.fontMetrics.horizontalAdvance(text) + 7 * GRID if text else 0
        return QSize(min(width, _WIDEST), max(7 * GRID, option.fontMetrics.height() + 3 * GRID))


def _without_text(option: QStyleOptionViewItem) -> QStyleOptionViewItem:
    plain = QStyleOptionViewItem(option)
    plain.text = ""
    return plain
