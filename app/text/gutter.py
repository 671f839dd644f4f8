"""The margin beside a text: line numbers, marks at mistakes, arrows that fold, and the bar of the selected layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF, QTextBlock
from PySide6.QtWidgets import QToolTip, QWidget

from app.qt import guard
from app.theme import GRID, Theme

if TYPE_CHECKING:
    from app.text.edit import NumberedEdit

__all__ = ["Gutter"]

_BAR = 3
_ARROW = 4 * GRID


class Gutter(QWidget):
    """The margin of an editor.

    Attributes
    ----------
    mistake_clicked : Signal(int)
        The mark of a mistake on this 0-based line was clicked.
    """

    mistake_clicked = Signal(int)

    def __init__(self, edit: NumberedEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        self.setObjectName("text.gutter")
        self.setAccessibleName("Line numbers")

    def fitting_width(self) -> int:
        """Return the width that the numbers of all lines need."""
        digits = max(3, len(str(self._edit.blockCount())))
        arrow = _ARROW if self._edit.folds else 0
        return self._edit.fontMetrics().horizontalAdvance("9") * digits + 5 * GRID + arrow

    @guard(default=QSize())
    def sizeHint(self) -> QSize:
        return QSize(self.fitting_width(), 0)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, edit = Theme.current(), self._edit
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), theme.color("surface"))
        painter.setFont(edit.font())
        wrong = edit.mistakes_by_line()
        current = edit.textCursor().blockNumber()
        right = self.width() - 2 * GRID - 1 - (_ARROW if edit.folds else 0)
        for block, rect in edit.visible_blocks():
            line = block.blockNumber()
            if edit.is_marked(line):
                painter.fillRect(QRectF(self.width() - _BAR, rect.top(), _BAR, rect.height()), theme.color("accent"))
            if line in wrong:
                _paint_mistake(painter, rect.center().y(), theme, is_error=wrong[line])
            painter.setPen(theme.color("text" if line == current else "text_muted"))
            numbers = QRectF(0, rect.top(), right, rect.height())
            painter.drawText(numbers, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line + 1))
            if edit.folds and edit.folding.opens(block):
                self._paint_arrow(painter, rect, theme, folded=edit.folding.is_folded(line))
        painter.end()

    def _paint_arrow(self, painter: QPainter, rect: QRectF, theme: Theme, *, folded: bool) -> None:
        x, y = self.width() - _BAR - _ARROW / 2 - 1, rect.center().y()
        points = [(-1.5, -3), (1.5, 0), (-1.5, 3)] if folded else [(-3, -1.5), (0, 1.5), (3, -1.5)]
        painter.setPen(QPen(theme.color("accent" if folded else "text_muted"), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF([QPointF(x + across, y + down) for across, down in points]))

    def _block_at(self, y: float) -> QTextBlock | None:
        return next((block for block, rect in self._edit.visible_blocks() if rect.top() <= y < rect.bottom()), None)

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        block = self._block_at(event.position().y())
        if block is None or event.button() != Qt.MouseButton.LeftButton:
            return
        edit, x = self._edit, event.position().x()
        if edit.folds and x >= self.width() - _ARROW - 2 * _BAR and edit.folding.opens(block):
            edit.folding.toggle(block)
        elif x < 3 * GRID and edit.mistakes_on(block.blockNumber()):
            self.mistake_clicked.emit(block.blockNumber())

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            block = self._block_at(event.pos().y())
            found = self._edit.mistakes_on(block.blockNumber()) if block is not None else []
            QToolTip.showText(event.globalPos(), "\n".join(each.text for each in found), self)
            return True
        return super().event(event)


def _paint_mistake(painter: QPainter, y: float, theme: Theme, *, is_error: bool) -> None:
    """Paint a disc for an error and a triangle for a warning: the shape says it, too."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("error" if is_error else "warning"))
    if is_error:
        painter.drawEllipse(QRectF(GRID, y - 3, 6, 6))
        return
    x = GRID + 3.0
    painter.drawPolygon(QPolygonF([QPointF(x, y - 4), QPointF(x + 4, y + 3), QPointF(x - 4, y + 3)]))
