"""Edits of whole lines: remark signs on and off, lines up, down and twice. Each is one step of the widget's history."""

from __future__ import annotations

from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

__all__ = ["duplicate_lines", "move_lines", "toggle_comment"]

_MARK = "#"


def toggle_comment(edit: QPlainTextEdit) -> None:
    """Put a remark sign before the lines of the selection, or take it off where all of them have one."""
    cursor = edit.textCursor()
    first, last = _blocks(cursor)
    blocks = [block for block in _between(first, last) if block.text().strip()]
    if not blocks:
        return
    commented = all(block.text().lstrip().startswith(_MARK) for block in blocks)
    indent = min(_indent(block) for block in blocks)
    cursor.beginEditBlock()
    for block in blocks:
        place = QTextCursor(block)
        if commented:
            start = _indent(block)
            length = 2 if block.text()[start + 1 : start + 2] == " " else 1
            place.setPosition(block.position() + start)
            place.setPosition(block.position() + start + length, QTextCursor.MoveMode.KeepAnchor)
            place.removeSelectedText()
        else:
            place.setPosition(block.position() + indent)
            place.insertText(f"{_MARK} ")
    cursor.endEditBlock()


def move_lines(edit: QPlainTextEdit, down: bool) -> None:
    """Exchange the lines of the selection with the one above or below them; the selection goes along."""
    cursor = edit.textCursor()
    first, last = _blocks(cursor)
    other = last.next() if down else first.previous()
    if not other.isValid():
        return
    text = other.text()
    shift = len(text.encode("utf-16-le", "surrogatepass")) // 2 + 1
    anchor, position = cursor.anchor(), cursor.position()
    cursor.beginEditBlock()
    start, end = first.position(), last.position() + last.length() - 1
    if down:
        _cut(cursor, end, other.position() + other.length() - 1)
        cursor.setPosition(start)
        cursor.insertText(text + "\n")
    else:
        _cut(cursor, other.position(), start)
        cursor.setPosition(end - shift)
        cursor.insertText("\n" + text)
        shift = -shift
    cursor.endEditBlock()
    cursor.setPosition(anchor + shift)
    cursor.setPosition(position + shift, QTextCursor.MoveMode.KeepAnchor)
    edit.setTextCursor(cursor)


def duplicate_lines(edit: QPlainTextEdit) -> None:
    """Write the lines of the selection once more below; the cursor goes to the copy."""
    cursor = edit.textCursor()
    first, last = _blocks(cursor)
    start, end = first.position(), last.position() + last.length() - 1
    anchor, position = cursor.anchor(), cursor.position()
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    text = cursor.selectedText()
    cursor.setPosition(end)
    cursor.insertText("\n" + text.replace("\u2029", "\n"))
    shift = end - start + 1
    cursor.setPosition(anchor + shift)
    cursor.setPosition(position + shift, QTextCursor.MoveMode.KeepAnchor)
    edit.setTextCursor(cursor)


def _blocks(cursor: QTextCursor) -> tuple[QTextBlock, QTextBlock]:
    """Return the first and the last line of a selection; one at whose beginning it ends is not part of it."""
    document = cursor.document()
    first = document.findBlock(cursor.selectionStart())
    last = document.findBlock(cursor.selectionEnd())
    if last != first and last.position() == cursor.selectionEnd():
        last = last.previous()
    return first, last


def _between(first: QTextBlock, last: QTextBlock) -> list[QTextBlock]:
    found = [first]
    while found[-1] != last and found[-1].next().isValid():
        found.append(found[-1].next())
    return found


def _indent(block: QTextBlock) -> int:
    text = block.text()
    return len(text) - len(text.lstrip())


def _cut(cursor: QTextCursor, start: int, end: int) -> None:
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()
