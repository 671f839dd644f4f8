"""What is painted behind and beside the letters: brackets that belong together, found places, what a fold hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QTextBlock, QTextCursor

from app.text.brackets import bracket_at, match_of
from app.theme import GRID, Theme

if TYPE_CHECKING:
    from app.text.edit import NumberedEdit

__all__ = ["FOUND_ALPHA", "cursor_for", "faint", "paint_brackets", "paint_found", "paint_rest"]

#: How much of its colour shows behind what is searched for, 0 to 255.
FOUND_ALPHA = 30


def paint_rest(edit: NumberedEdit, painter: QPainter, block: QTextBlock, rect: QRectF, theme: Theme) -> None:
    """Say behind a folded line what is hidden: the name of the layer, or that there is something."""
    left = rect.left() + edit.fontMetrics().horizontalAdvance(block.text()) + 3 * GRID
    painter.setFont(edit.font())
    painter.setPen(theme.color("text_muted"))
    box = QRectF(left, rect.top(), edit.viewport().width() - left, rect.height())
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, f"\u2026 {edit.hint_of(block)}")


def paint_brackets(edit: NumberedEdit, painter: QPainter, theme: Theme) -> None:
    """Frame the bracket at the cursor and the one that belongs to it; one without a partner in red."""
    here = bracket_at(edit.textCursor())
    if here is None:
        return
    other = match_of(*here)
    color = theme.color("accent" if other is not None else "error")
    painter.setPen(color)
    painter.setBrush(faint(color, 40))
    for block, column in ((here[0], here[1]), other or (here[0], here[1])):
        if not block.isVisible() or not block.layout().lineCount():
            continue
        line = block.layout().lineAt(0)
        rect = edit.blockBoundingGeometry(block).translated(edit.contentOffset())
        left, right = _x(line.cursorToX(column)), _x(line.cursorToX(column + 1))
        painter.drawRect(QRectF(rect.left() + left, rect.top() + 0.5, right - left, rect.height() - 1))


def paint_found(edit: NumberedEdit, painter: QPainter, block: QTextBlock, rect: QRectF, color: QColor) -> None:
    """Frame the places of a line that are searched for, tinted so lightly that they stay readable."""
    text, wanted = block.text().lower(), edit.searched.lower()
    place = text.find(wanted)
    if place < 0 or not block.layout().lineCount():  # a line that was not laid out yet has no parts to ask
        return
    line = block.layout().lineAt(0)
    painter.setPen(color)
    painter.setBrush(faint(color, FOUND_ALPHA))
    while place >= 0:
        left = _x(line.cursorToX(place))
        right = _x(line.cursorToX(place + len(wanted)))
        painter.drawRect(QRectF(rect.left() + left, rect.top() + 0.5, right - left, rect.height() - 1))
        place = text.find(wanted, place + len(wanted))


def cursor_for(block: QTextBlock, column: int) -> QTextCursor:
    """Return a cursor over the word at a column, or over the line's text."""
    text = block.text()
    start = min(max(column - 1, 0), len(text))
    if column <= 0 or not text[start:].strip():
        start = len(text) - len(text.lstrip())
        end = len(text.rstrip())
    else:
        start += len(text[start:]) - len(text[start:].lstrip())
        end = start
        while end < len(text) and (text[end].isalnum() or text[end] in "_.\"'"):
            end += 1
        end = max(end, start + 1)
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + start)
    cursor.setPosition(block.position() + min(end, len(text)), QTextCursor.MoveMode.KeepAnchor)
    return cursor


def faint(color: QColor, alpha: int) -> QColor:
    """Return a colour that lets through what is behind it; ``alpha`` is from 0 to 255."""
    seen = QColor(color)
    seen.setAlpha(alpha)
    return seen


def _x(value: object) -> float:
    """Return the place of ``QTextLine.cursorToX``, which PySide6 gives alone or with the cursor."""
    return float(value[0]) if isinstance(value, tuple) else float(value)  # type: ignore[arg-type]
