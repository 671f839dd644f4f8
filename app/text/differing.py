"""How two texts differ, and what becomes of two edits of one text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from app.text.mirror import BLOCK_END, LineChange, TextMirror, same_ends

__all__ = ["both", "differing_lines", "replace_each", "replace_lines", "units"]


def both(mirror: TextMirror, raw: str, theirs: str) -> str:
    """Return the text with what is typed and what the graph changed meanwhile; where both touch, what is typed."""
    ours = mirror.merge(raw)
    base, mine, other = mirror.lines, TextMirror(ours).lines, TextMirror(theirs)
    first, last = _span(base, mine)
    their_first, their_last = _span(base, other.lines)
    if their_last <= first:
        shift = len(other.lines) - len(base)
    elif their_first >= last:
        shift = 0
    else:
        return ours
    shown = [*other.lines]
    shown[first + shift : last + shift] = mine[first : len(mine) - (len(base) - last)]
    return other.merge(BLOCK_END.join(shown))


def _span(old: list[str], new: list[str]) -> tuple[int, int]:
    shortest = min(len(old), len(new))
    first = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    tail = next((i for i in range(shortest - first) if old[-1 - i] != new[-1 - i]), shortest - first)
    return first, len(old) - tail


def units(text: str) -> int:
    """Return the length of a text in Qt's UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def differing_lines(change: LineChange, old: Sequence[str], most: int) -> list[int] | None:
    """Return which of the lines that give way to as many others do differ.

    Parameters
    ----------
    change : LineChange
    old : sequence of str
        All lines before it.
    most : int
        Up to how many are worth being replaced one by one.

    Returns
    -------
    list of int or None
        0-based lines; None where there are more, or lines came or went.
    """
    if len(change.lines) != change.last - change.first:
        return None
    pairs = enumerate(zip(old[change.first : change.last], change.lines, strict=True), change.first)
    found = [place for place, (before, now) in pairs if before != now]
    return found if len(found) <= most else None


def replace_each(edit: QPlainTextEdit, change: LineChange, places: Sequence[int]) -> None:
    """Replace some lines in the widget, each by the one that stands there after a change."""
    document = edit.document()
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for place in places:
        block = document.findBlockByNumber(place)
        cursor.setPosition(block.position())
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(change.lines[place - change.first])
    cursor.endEditBlock()


def replace_lines(edit: QPlainTextEdit, change: LineChange) -> None:
    """Replace lines in the widget; cursor and view stay where they are."""
    bar = edit.verticalScrollBar()
    top = edit.cursorForPosition(QPoint(0, 0)).block()
    at_top = bar.value() == 0
    document = edit.document()
    cursor = QTextCursor(document)
    lines = list(change.lines)
    if change.last < document.blockCount():
        start = document.findBlockByNumber(change.first).position()
        end = document.findBlockByNumber(change.last).position()
        new = "".join(f"{line}\n" for line in lines)
    else:
        first = document.findBlockByNumber(change.first)
        start = first.position() - 1 if change.first else 0
        start = start if first.isValid() else document.characterCount() - 1
        end = document.characterCount() - 1
        new = "".join(f"\n{line}" for line in lines) if change.first else "\n".join(lines)
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    old = cursor.selectedText().replace("\u2029", "\n")
    head, tail = same_ends(old, new)
    cursor.setPosition(start + units(old[:head]))
    cursor.setPosition(end - units(old[len(old) - tail :]), QTextCursor.MoveMode.KeepAnchor)
    cursor.insertText(new[head : len(new) - tail])
    if top.isValid() and not at_top:
        bar.setValue(top.firstLineNumber())
