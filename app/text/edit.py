"""The text widget: line numbers, colours, marked layers, underlined mistakes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextDocumentLayout, QPlainTextEdit, QTextEdit, QToolTip, QWidget

from app.qt import guard
from app.text.highlighter import Highlighter
from app.theme import GRID, Theme, monospace_font

__all__ = ["Mistake", "NumberedEdit", "PrototxtEdit"]

_BAR = 3


@dataclass(frozen=True, slots=True)
class Mistake:
    """A place to underline.

    Attributes
    ----------
    line, column : int
        1-based place; column 0 underlines the whole line.
    text : str
        What the tooltip says.
    is_error : bool
        An error, or else a warning.
    """

    line: int
    column: int
    text: str
    is_error: bool = True


class _Gutter(QWidget):
    def __init__(self, edit: NumberedEdit) -> None:
        super().__init__(edit)
        self._edit = edit

    @guard(default=QSize())
    def sizeHint(self) -> QSize:
        return QSize(self._edit.gutter_width(), 0)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._edit.paint_gutter(painter, event.rect())
        painter.end()


class NumberedEdit(QPlainTextEdit):
    """A text editor with line numbers, marked lines, underlined mistakes and found places.

    Attributes
    ----------
    indent : str
        What Tab inserts, and what a line after an opening one begins with.
    openers : tuple of str
        Ends of a line after which the next one is indented deeper.
    """

    indent = "  "
    openers: tuple[str, ...] = ("{", "[", "<")

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        document = QTextDocument(self)
        document.setDocumentLayout(QPlainTextDocumentLayout(document))
        document.setDefaultFont(monospace_font())
        document.setDocumentMargin(GRID)
        self.setDocument(document)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(monospace_font())
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance(" ") * len(self.indent))
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setStyleSheet("QPlainTextEdit { border: none; padding: 0; }")
        self.setCursorWidth(2)
        self._marks: list[tuple[int, int]] = []
        self._mistakes: list[Mistake] = []
        self._mistake_cursors: list[QTextCursor] = []
        self._searched = ""
        self._gutter = _Gutter(self)
        self._blocks = 1
        self.blockCountChanged.connect(self._fit_gutter)
        self.updateRequest.connect(self._scroll_gutter)
        self.cursorPositionChanged.connect(self._cursor_moved)
        document.contentsChange.connect(self._shift_marks)
        self._fit_gutter()

    # Marks and mistakes

    @property
    def marks(self) -> Sequence[tuple[int, int]]:
        """The marked lines, as first and last, 0-based."""
        return self._marks

    @property
    def mistakes(self) -> Sequence[Mistake]:
        """What is underlined."""
        return self._mistakes

    def set_marks(self, marks: Sequence[tuple[int, int]]) -> None:
        """Mark lines, each given as first and last, 0-based."""
        self._marks = sorted(marks)
        self.viewport().update()
        self._gutter.update()

    def set_mistakes(self, mistakes: Sequence[Mistake]) -> None:
        """Underline these places; they move with the text until the next call."""
        theme = Theme.current()
        self._mistakes, self._mistake_cursors = [], []
        selections = []
        for mistake in mistakes:
            block = self.document().findBlockByNumber(mistake.line - 1)
            if not block.isValid():
                continue
            selection = QTextEdit.ExtraSelection()
            text_format = QTextCharFormat()
            text_format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            text_format.setUnderlineColor(theme.color("error" if mistake.is_error else "warning"))
            selection.format = text_format
            cursor = _cursor_for(block, mistake.column)
            selection.cursor = cursor
            selections.append(selection)
            self._mistakes.append(mistake)
            self._mistake_cursors.append(cursor)
        self.setExtraSelections(selections)
        self._gutter.update()

    def set_searched(self, text: str) -> None:
        """Show every place of ``text`` in what is visible; none for an empty one."""
        if text != self._searched:
            self._searched = text
            self.viewport().update()

    def dress(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.set_mistakes(list(self._mistakes))
        self.viewport().update()

    def _shift_marks(self, position: int, removed: int, added: int) -> None:
        blocks = self.document().blockCount()
        delta, self._blocks = blocks - self._blocks, blocks
        if not delta or not self._marks:
            return
        line = self.document().findBlock(position).blockNumber()
        self._marks = [
            (first + delta if first > line else first, max(last + delta, first) if last >= line else last)
            for first, last in self._marks
        ]

    def line_of_cursor(self) -> int:
        """Return the 0-based line of the cursor."""
        return self.textCursor().blockNumber()

    def mistake_at(self, place: QPoint) -> str:
        """Return what is wrong at a place of the viewport; empty where nothing is."""
        cursor = self.cursorForPosition(place)
        at = cursor.position()
        return "\n".join(
            mistake.text
            for mistake, span in zip(self._mistakes, self._mistake_cursors, strict=True)
            if span.selectionStart() <= at <= span.selectionEnd() and span.blockNumber() == cursor.blockNumber()
        )

    # Painting

    def _visible_blocks(self) -> Iterator[tuple[QTextBlock, QRectF]]:
        block = self.firstVisibleBlock()
        offset = self.contentOffset()
        bottom = self.viewport().height()
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(offset)
            if rect.top() > bottom:
                return
            if block.isVisible():
                yield block, rect
            block = block.next()

    def _is_marked(self, line: int) -> bool:
        place = bisect_right(self._marks, (line, 1 << 30)) - 1
        return place >= 0 and self._marks[place][0] <= line <= self._marks[place][1]

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = Theme.current()
        painter = QPainter(self.viewport())
        current = self.textCursor().blockNumber()
        accent = _faint(theme.color("accent"), 20 if theme.is_dark else 14)
        for block, rect in self._visible_blocks():
            self._color(block)
            full = QRectF(0, rect.top(), self.viewport().width(), rect.height())
            if self._is_marked(block.blockNumber()):
                painter.fillRect(full, accent)
            if block.blockNumber() == current:
                painter.fillRect(full, _faint(theme.color("text_muted"), 22))
            if self._searched:
                self._paint_found(painter, block, rect, _faint(theme.color("warning"), 80))
        painter.end()
        super().paintEvent(event)

    def _color(self, block: QTextBlock) -> None:
        """Colour a block that is about to be painted."""

    def _paint_found(self, painter: QPainter, block: QTextBlock, rect: QRectF, color: QColor) -> None:
        text, wanted = block.text().lower(), self._searched.lower()
        place = text.find(wanted)
        line = block.layout().lineAt(0)
        while place >= 0 and line.isValid():
            left = _x(line.cursorToX(place))
            right = _x(line.cursorToX(place + len(wanted)))
            painter.fillRect(QRectF(rect.left() + left, rect.top(), right - left, rect.height()), color)
            place = text.find(wanted, place + len(wanted))

    def gutter_width(self) -> int:
        """Return the width of the line numbers."""
        digits = max(3, len(str(self.blockCount())))
        return self.fontMetrics().horizontalAdvance("9") * digits + 5 * GRID

    def paint_gutter(self, painter: QPainter, area: QRect) -> None:
        """Paint line numbers, the bar of the marked layers, and dots at mistakes."""
        theme = Theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(area, theme.color("surface"))
        painter.setFont(self.font())
        width = self._gutter.width()
        wrong = {
            span.blockNumber(): mistake.is_error
            for mistake, span in zip(reversed(self._mistakes), reversed(self._mistake_cursors), strict=True)
        }
        current = self.textCursor().blockNumber()
        for block, rect in self._visible_blocks():
            line = block.blockNumber()
            if self._is_marked(line):
                painter.fillRect(QRectF(width - _BAR, rect.top(), _BAR, rect.height()), theme.color("accent"))
            if line in wrong:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("error" if wrong[line] else "warning"))
                painter.drawEllipse(QRectF(GRID, rect.center().y() - 3, 6, 6))
            painter.setPen(theme.color("text" if line == current else "text_muted"))
            numbers = QRectF(0, rect.top(), width - 2 * GRID - 1, rect.height())
            painter.drawText(numbers, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line + 1))

    def _fit_gutter(self) -> None:
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)

    def _scroll_gutter(self, rect: QRect, dy: int) -> None:
        if dy:
            self._gutter.scroll(0, dy)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def _cursor_moved(self) -> None:
        self.viewport().update()
        self._gutter.update()

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), self.gutter_width(), inside.height()))

    # Keys and focus

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.viewport().mapFromGlobal(event.globalPos())
            text = self.mistake_at(place)
            if text:
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self._new_line()
        elif event.key() == Qt.Key.Key_Tab and not event.modifiers() and not self.textCursor().hasSelection():
            self.textCursor().insertText(self.indent)
        else:
            super().keyPressEvent(event)

    def _new_line(self) -> None:
        """Break the line and keep its indentation, one level more after one that opens something."""
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        indent = before[: len(before) - len(before.lstrip())]
        if before.rstrip().endswith(self.openers):
            indent += self.indent
        cursor.insertText("\n" + indent)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()


class PrototxtEdit(NumberedEdit):
    """A prototxt editor without an undo of its own.

    Attributes
    ----------
    undo_asked : Signal(bool)
        Ctrl+Z (False) or Ctrl+Y (True) was pressed: the document's history is meant.
    leaving : Signal()
        The focus leaves, or a shortcut with Ctrl is about to run: what is typed should be committed.
    """

    undo_asked = Signal(bool)
    leaving = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("text.edit")
        self.setAccessibleName("Prototxt")
        self.document().setUndoRedoEnabled(False)
        self._highlighter = Highlighter()

    def dress(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._highlighter.dress(theme)
        super().dress(theme)

    def _color(self, block: QTextBlock) -> None:
        if self._highlighter.color(block):
            self.document().markContentsDirty(block.position(), block.length())

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            modifiers = event.modifiers()
            if modifiers & Qt.KeyboardModifier.ControlModifier and event.key() != Qt.Key.Key_Control:
                self.leaving.emit()
        return super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_asked.emit(False)
        elif event.matches(QKeySequence.StandardKey.Redo) or (
            event.key() == Qt.Key.Key_Y and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        ):
            self.undo_asked.emit(True)
        else:
            super().keyPressEvent(event)

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.leaving.emit()


def _cursor_for(block: QTextBlock, column: int) -> QTextCursor:
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


def _faint(color: QColor, alpha: int) -> QColor:
    faint = QColor(color)
    faint.setAlpha(alpha)
    return faint


def _x(value: object) -> float:
    """Return the place of ``QTextLine.cursorToX``, which PySide6 gives alone or with the cursor."""
    return float(value[0]) if isinstance(value, tuple) else float(value)  # type: ignore[arg-type]
