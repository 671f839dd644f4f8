"""Texts with places to fill in: written at the cursor, then Tab goes from place to place."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

__all__ = ["Snippets", "slot"]

_OPEN, _CLOSE = "\x01", "\x02"
_SLOT = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")


def slot(text: str = "") -> str:
    """Return the mark of a place to fill in, with what stands there at first."""
    return f"{_OPEN}{text}{_CLOSE}"


class Snippets:
    """Writes snippets into an editor, and knows the places that are still to be filled in.

    Parameters
    ----------
    edit : QPlainTextEdit
    indent : str
        What a level of indentation is.
    """

    def __init__(self, edit: QPlainTextEdit, indent: str) -> None:
        self._edit = edit
        self._indent = indent
        self._places: list[QTextCursor] = []

    @property
    def active(self) -> bool:
        """Whether Tab goes to a place to fill in."""
        return bool(self._places)

    def insert(self, cursor: QTextCursor, text: str) -> None:
        """Write a snippet in the place of a cursor's selection, and go to its first place to fill in."""
        line = cursor.block().text()
        here = line[: len(line) - len(line.lstrip())]
        text = text.replace("\n", f"\n{here}").replace("\t", self._indent)
        start = cursor.selectionStart()
        spans, plain, end = [], "", 0
        for match in _SLOT.finditer(text):
            plain += text[end : match.start()]
            spans.append((len(plain), len(plain) + len(match[1])))
            plain += match[1]
            end = match.end()
        plain += text[end:]
        cursor.insertText(plain)
        places = []
        for first, last in spans:
            place = QTextCursor(cursor.document())
            place.setPosition(start + first)
            place.setPosition(start + last, QTextCursor.MoveMode.KeepAnchor)
            places.append(place)
        if len(places) > 1 or not self._places:
            self._places = places
        else:
            self._places = places + self._places
        if places:
            self.go_on()
        else:
            self._edit.setTextCursor(cursor)

    def go_on(self) -> None:
        """Go to the next place to fill in; after the last one the snippet is done."""
        if self._places:
            self._edit.setTextCursor(self._places.pop(0))
            self._edit.ensureCursorVisible()

    def end(self) -> None:
        """Forget the places that are left."""
        self._places = []
