"""A list of layer types: model roles and the delegate that paints a row."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.layerpicture import layer_mark
from app.qt import guard
from app.theme import Theme
from app.widgets.choicepopup import draw_marked

__all__ = ["CATEGORY", "HEADER", "KIND", "LETTERS", "PICTURE", "REASON", "SUMMARY", "TYPE", "TypeDelegate"]

TYPE = Qt.ItemDataRole.UserRole + 1
CATEGORY = Qt.ItemDataRole.UserRole + 2
SUMMARY = Qt.ItemDataRole.UserRole + 3
LETTERS = Qt.ItemDataRole.UserRole + 4
HEADER = Qt.ItemDataRole.UserRole + 5
REASON = Qt.ItemDataRole.UserRole + 6
KIND = Qt.ItemDataRole.UserRole + 7
PICTURE = Qt.ItemDataRole.UserRole + 8

_ROW, _TALL_ROW, _HEADER_ROW = 28, 44, 28


class TypeDelegate(QStyledItemDelegate):
    """Paint a plugin's picture or the category's icon, the type with the matched letters bold, and what it does.

    Parameters
    ----------
    summaries : bool
        Show the sentence on a second line.
    """

    def __init__(self, parent: object = None, *, summaries: bool) -> None:
        super().__init__(parent)  # type: ignore[arg-type]
        self._summaries = summaries

    @guard(default=QSize(0, 28))
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        height = _HEADER_ROW if index.data(HEADER) else _TALL_ROW if self._summaries else _ROW
        line = QFontMetrics(QApplication.font()).height()
        return QSize(120, max(height, (2 if height == _TALL_ROW else 1) * line + 8))

    @guard
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter.save()
        if index.data(HEADER):
            self._paint_header(painter, option.rect, str(index.data(HEADER)))
        else:
            self._paint_type(painter, option, index)
        painter.restore()

    def _paint_header(self, painter: QPainter, rect: QRect, text: str) -> None:
        theme = Theme.current()
        font = QFont(QApplication.font())
        font.setWeight(QFont.Weight.DemiBold)
        font.setPointSizeF(font.pointSizeF() * 0.92)
        painter.setFont(font)
        painter.setPen(theme.color("text_muted"))
        painter.drawText(rect.adjusted(12, 6, -8, 0), Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_type(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = Theme.current()
        rect: QRect = option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        ground = theme.color("selection" if selected else "surface_alt" if hovered else "surface")
        if selected or hovered:
            painter.fillRect(rect, ground)
        category = str(index.data(CATEGORY))
        color = theme.color("selection_text") if selected else theme.category(category)
        ratio = painter.device().devicePixelRatioF()
        pixmap = layer_mark(index.data(PICTURE), category, 18, ratio, color, ground)
        painter.drawPixmap(QPointF(rect.left() + 12, rect.center().y() - 8.5), pixmap)
        left = rect.left() + 40
        metrics = QFontMetrics(QApplication.font())
        tall = self._summaries and bool(index.data(SUMMARY))
        base = rect.top() + (6 if tall else (rect.height() - metrics.height()) // 2) + metrics.ascent()
        painter.setPen(theme.color("selection_text" if selected else "text"))
        name = metrics.elidedText(str(index.data(TYPE)), Qt.TextElideMode.ElideRight, rect.right() - left - 8)
        draw_marked(painter, left, base, name, frozenset(index.data(LETTERS) or ()))
        detail = str(index.data(REASON) or (index.data(SUMMARY) if self._summaries else "") or "")
        if detail:
            font = QFont(QApplication.font())
            font.setPointSizeF(font.pointSizeF() * 0.9)
            painter.setFont(font)
            painter.setPen(theme.color("selection_text" if selected else "text_muted"))
            text = QFontMetrics(font).elidedText(detail, Qt.TextElideMode.ElideRight, rect.right() - left - 8)
            painter.drawText(left, base + metrics.height() + 1, text)
