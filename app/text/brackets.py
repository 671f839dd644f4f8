"""Brackets: which belong together, and those that close by themselves while typing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

__all__ = ["PAIRS", "bracket_at", "brackets_of", "close_by_itself", "delete_pair", "match_of"]

PAIRS = {"{": "}", "[": "]", "(": ")"}
_CLOSERS = {close: open_ for open_, close in PAIRS.items()}
_QUOTES = "\"'"
#: What is no bracket: remarks and texts; and the brackets.
_SIGN = re.compile(r"""#.*|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|(?P<bracket>[{}\[\]()])""")
#: So many lines are searched for the other bracket; a message of more is nobody's to see at once.
_MOST_LINES = 3000


def brackets_of(line: str) -> list[tuple[int, str]]:
    """Return column and sign of the brackets of a line, without those in texts and remarks."""
    return [(match.start(), match.group()) for match in _SIGN.finditer(line) if match["bracket"]]


def bracket_at(cursor: QTextCursor) -> tuple[QTextBlock, int, str] | None:
    """Return the bracket right or left of a cursor: its line, its column and its sign."""
    block, column = cursor.block(), cursor.positionInBlock()
    found = dict(brackets_of(block.text()))
    for place in (column, column - 1):
        if place in found:
            return block, place, found[place]
    return None


def match_of(block: QTextBlock, column: int, sign: str) -> tuple[QTextBlock, int] | None:
    """Return line and column of the bracket that belongs to one, or None where none is near."""
    forward = sign in PAIRS
    depth = 0
    for line, place, other in _signs(block, column, forward):
        depth += 1 if (other in PAIRS) == forward else -1
        if depth == 0:
            fits = PAIRS.get(sign) == other or _CLOSERS.get(sign) == other
            return (line, place) if fits else None
    return None


def _signs(block: QTextBlock, column: int, forward: bool) -> Iterator[tuple[QTextBlock, int, str]]:
    line = block
    for _ in range(_MOST_LINES):
        found = brackets_of(line.text())
        if line == block:
            found = [each for each in found if (each[0] >= column if forward else each[0] <= column)]
        for place, sign in found if forward else reversed(found):
            yield line, place, sign
        line = line.next() if forward else line.previous()
        if not line.isValid():
            return


def close_by_itself(edit: QPlainTextEdit, sign: str) -> bool:
    """Type a bracket or a quote with the one that closes it, or step over one that is there; return whether done."""
    cursor = edit.textCursor()
    text, column = cursor.block().text(), cursor.positionInBlock()
    after = text[column : column + 1]
    if not cursor.hasSelection() and after == sign and (sign in _CLOSERS or sign in _QUOTES):
        cursor.movePosition(QTextCursor.MoveOperation.Right)
        edit.setTextCursor(cursor)
        return True
    close = PAIRS.get(sign) or (sign if sign in _QUOTES else "")
    if not close or _in_words(text[:column], sign):
        return False
    if cursor.hasSelection():
        return _surround(edit, cursor, sign, close)
    if after.strip() and after not in _CLOSERS:
        return False
    cursor.insertText(sign + close)
    cursor.movePosition(QTextCursor.MoveOperation.Left)
    edit.setTextCursor(cursor)
    return True


def _surround(edit: QPlainTextEdit, cursor: QTextCursor, sign: str, close: str) -> bool:
    inside = cursor.selectedText()
    if "\u2029" in inside:
        return False
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    cursor.insertText(sign + inside + close)
    cursor.setPosition(start + 1)
    cursor.setPosition(end + 1, QTextCursor.MoveMode.KeepAnchor)
    edit.setTextCursor(cursor)
    return True


def _in_words(before: str, sign: str) -> bool:
    """Whether a place is in a text or a remark, or a quote would end a word and not begin a text."""
    if sign in _QUOTES and before[-1:].isalnum():
        return True
    last = None
    for match in _SIGN.finditer(before):
        last = match
    if last is None or last["bracket"] or last.end() < len(before):
        return False
    word = last.group()
    return word[0] == "#" or len(word) == 1 or word[-1] != word[0]


def delete_pair(edit: QPlainTextEdit) -> bool:
    """Delete both of an empty pair around the cursor; return whether it was one."""
    cursor = edit.textCursor()
    text, column = cursor.block().text(), cursor.positionInBlock()
    pair = text[column - 1 : column + 1] if column else ""
    if cursor.hasSelection() or len(pair) < 2 or not (PAIRS.get(pair[0]) == pair[1] or pair in ('""', "''")):
        return False
    cursor.movePosition(QTextCursor.MoveOperation.Left)
    cursor.deleteChar()
    cursor.deleteChar()
    return True
