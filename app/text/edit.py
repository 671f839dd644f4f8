"""The text widget: line numbers, colours, marked layers, underlined mistakes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import (
    QAction,
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

from app.qt import announce, guard
from app.text.brackets import bracket_at, close_by_itself, delete_pair, match_of
from app.text.folding import Folding
from app.text.gutter import Gutter
from app.text.lineedits import duplicate_lines, move_lines, toggle_comment
from app.text.painting import cursor_for, faint, paint_brackets, paint_found, paint_rest
from app.theme import GRID, Theme, monospace_font

if TYPE_CHECKING:
    from engine.diagnostics import QuickFix

__all__ = ["Mistake", "NumberedEdit"]

_CLOSING = "}])"


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
    fix : engine.diagnostics.QuickFix or None
        An edit that mends it.
    more_fixes : tuple of engine.diagnostics.QuickFix
        Others that do.
    """

    line: int
    column: int
    text: str
    is_error: bool = True
    fix: QuickFix | None = None
    more_fixes: tuple[QuickFix, ...] = ()


class NumberedEdit(QPlainTextEdit):
    """A text editor with line numbers, marked lines, underlined mistakes and found places.

    Attributes
    ----------
    indent : str
        What Tab inserts, and what a line after an opening one begins with.
    openers : tuple of str
        Ends of a line after which the next one is indented deeper.
    folds : bool
        Whether what stands between brackets can be folded.
    """

    indent = "  "
    openers: tuple[str, ...] = ("{", "[", "<")
    folds = False

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
        self.searched = ""
        self.gutter = Gutter(self)
        self._blocks = 1
        self.blockCountChanged.connect(self._fit_gutter)
        self.updateRequest.connect(self._scroll_gutter)
        self.cursorPositionChanged.connect(self._cursor_moved)
        document.contentsChange.connect(self._shift_marks)
        self.folding = Folding(self, self.gutter.update)
        self._fit_gutter()
        self._add_commands()

    # Commands

    def add_command(
        self, name: str, text: str, keys: Sequence[str], slot: Callable[[], object], *, edits: bool = False
    ) -> QAction:
        """Add something that keys do while the keyboard is here, before what the window does at the same keys.

        What ``edits`` does nothing while the text is to be read only.
        """
        action = QAction(text, self)
        action.setObjectName(f"text.{name}")
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda _checked=False: None if edits and self.isReadOnly() else slot())
        self.addAction(action)
        return action

    def command_for(self, event: QKeyEvent) -> QAction | None:
        """Return what the keys of an event do here, or None."""
        if not event.text() and event.key() >= Qt.Key.Key_Shift and event.key() <= Qt.Key.Key_ScrollLock:
            return None
        keys = QKeySequence(event.keyCombination())
        return next((each for each in self.actions() if keys in each.shortcuts()), None)

    def _add_commands(self) -> None:
        add = self.add_command
        add("comment", "Toggle comment", ("Ctrl+/", "Ctrl+Shift+/"), partial(toggle_comment, self), edits=True)
        add("line_up", "Move line up", ("Alt+Up",), partial(move_lines, self, False), edits=True)
        add("line_down", "Move line down", ("Alt+Down",), partial(move_lines, self, True), edits=True)
        add("duplicate", "Duplicate line", ("Ctrl+D", "Alt+Shift+Down"), partial(duplicate_lines, self), edits=True)
        add("bracket", "Go to the other bracket", ("Ctrl+Shift+\\", "Ctrl+|", "Ctrl+Shift+|"), self.go_to_bracket)
        add("help", "Say what is meant or wrong at the cursor", ("F1",), self.show_help)
        if not self.folds:
            return
        add("fold", "Fold", ("Ctrl+Shift+[", "Ctrl+{", "Ctrl+Shift+{"), self.fold_here)
        add("unfold", "Unfold", ("Ctrl+Shift+]", "Ctrl+}", "Ctrl+Shift+}"), self.unfold_here)
        add("fold_all", "Fold all layers", ("Ctrl+Alt+[",), self.folding.fold_all)
        add("unfold_all", "Unfold all", ("Ctrl+Alt+]",), self.folding.unfold_all)

    def go_to_bracket(self) -> None:
        """Put the cursor at the bracket that belongs to the one at the cursor."""
        here = bracket_at(self.textCursor())
        other = None if here is None else match_of(*here)
        if other is not None:
            self.folding.reveal(other[0])
            cursor = self.textCursor()
            cursor.setPosition(other[0].position() + other[1])
            self.setTextCursor(cursor)

    def fold_here(self) -> None:
        """Fold the message around the cursor; one that is folded already, the one around that."""
        block = self.folding.around(self.textCursor().block())
        if block is not None and self.folding.is_folded(block.blockNumber()):
            block = self.folding.around(block.previous())
        if block is not None:
            self.folding.fold(block)

    def unfold_here(self) -> None:
        """Unfold what the line of the cursor opens."""
        self.folding.unfold(self.textCursor().block())

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
        self.gutter.update()

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
            cursor = cursor_for(block, mistake.column)
            selection.cursor = cursor
            selections.append(selection)
            self._mistakes.append(mistake)
            self._mistake_cursors.append(cursor)
        self.setExtraSelections(selections)
        self.gutter.update()

    def set_searched(self, text: str) -> None:
        """Show every place of ``text`` in what is visible; none for an empty one."""
        if text != self.searched:
            self.searched = text
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

    def mistakes_by_line(self) -> dict[int, bool]:
        """Return the 0-based lines where something is wrong, and whether that is an error."""
        return {
            span.blockNumber(): mistake.is_error
            for mistake, span in zip(reversed(self._mistakes), reversed(self._mistake_cursors), strict=True)
        }

    def is_marked(self, line: int) -> bool:
        """Whether a 0-based line is marked."""
        place = bisect_right(self._marks, (line, 1 << 30)) - 1
        return place >= 0 and self._marks[place][0] <= line <= self._marks[place][1]

    def mistakes_on(self, line: int) -> list[Mistake]:
        """Return what is wrong on a 0-based line."""
        pairs = zip(self._mistakes, self._mistake_cursors, strict=True)
        return [mistake for mistake, span in pairs if span.blockNumber() == line]

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

    def visible_blocks(self) -> Iterator[tuple[QTextBlock, QRectF]]:
        """Yield the lines in view and where they are in the viewport."""
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

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = Theme.current()
        painter = QPainter(self.viewport())
        current = self.textCursor().blockNumber()
        accent = faint(theme.color("accent"), 20 if theme.is_dark else 14)
        for block, rect in self.visible_blocks():
            self.color_block(block)
            full = QRectF(0, rect.top(), self.viewport().width(), rect.height())
            if self.is_marked(block.blockNumber()):
                painter.fillRect(full, accent)
            if block.blockNumber() == current:
                painter.fillRect(full, faint(theme.color("text_muted"), 22))
            if self.searched:
                paint_found(self, painter, block, rect, theme.color("warning"))
            if self.folding.is_folded(block.blockNumber()):
                paint_rest(self, painter, block, rect, theme)
        paint_brackets(self, painter, theme)
        painter.end()
        super().paintEvent(event)

    def hint_of(self, block: QTextBlock) -> str:
        """Return what to say of the text that a folded line hides."""
        return "}"

    def color_block(self, block: QTextBlock) -> None:
        """Colour a block that is about to be painted."""

    def _fit_gutter(self) -> None:
        self.setViewportMargins(self.gutter.fitting_width(), 0, 0, 0)

    def _scroll_gutter(self, rect: QRect, dy: int) -> None:
        if dy:
            self.gutter.scroll(0, dy)
        else:
            self.gutter.update(0, rect.y(), self.gutter.width(), rect.height())

    def _cursor_moved(self) -> None:
        block = self.textCursor().block()
        if not block.isVisible() and not self.folding.working:
            self.folding.reveal(block)
        self.viewport().update()
        self.gutter.update()

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self.gutter.setGeometry(QRect(inside.left(), inside.top(), self.gutter.fitting_width(), inside.height()))

    # Keys and focus

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.viewport().mapFromGlobal(event.globalPos())
            QToolTip.showText(event.globalPos(), self.tip_at(place), self)
            return True
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self.command_for(event):
            event.accept()  # while the keyboard is here, the key is this editor's
            return True
        return super().event(event)

    def tip_at(self, place: QPoint) -> str:
        """Return what a tooltip says at a place of the viewport; empty for none."""
        return self.mistake_at(place)

    def show_help(self) -> None:
        """Say at the cursor what a pointer there would be told."""
        at = self.cursorRect()
        text = self.tip_at(at.center()) or "Nothing is known of the word at the cursor."
        QToolTip.showText(self.viewport().mapToGlobal(at.bottomRight()), text, self)
        announce(self, text)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = self.command_for(event)
        if command is not None:
            command.trigger()
        elif self.isReadOnly():
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self._new_line()
        elif self._pairs(event):
            pass
        elif event.key() == Qt.Key.Key_Tab and not event.modifiers() and not self.textCursor().hasSelection():
            self.textCursor().insertText(self.indent)
        else:
            super().keyPressEvent(event)

    def _pairs(self, event: QKeyEvent) -> bool:
        """Close a bracket or a text by itself, or delete both of an empty pair; return whether that was done."""
        if event.key() == Qt.Key.Key_Backspace and not event.modifiers():
            return delete_pair(self)
        return len(event.text()) == 1 and event.text() in "{}[]()\"'" and close_by_itself(self, event.text())

    def _new_line(self) -> None:
        """Break the line and keep its indentation, one level more after one that opens something."""
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        indent = before[: len(before) - len(before.lstrip())]
        if before.rstrip().endswith(self.openers):
            indent += self.indent
        after = cursor.block().text()[cursor.positionInBlock() :].lstrip()
        own = before[: len(before) - len(before.lstrip())]
        opened = len(indent) > len(own) and after[:1] and after[0] in _CLOSING
        cursor.beginEditBlock()
        cursor.insertText("\n" + indent)
        if opened:  # what closes goes to a line of its own
            place = cursor.position()
            cursor.insertText("\n" + own)
            cursor.setPosition(place)
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
