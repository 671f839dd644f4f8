"""The bar that finds text in the pane, and replaces it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from app.icons import icon
from app.qt import announce, guard, key_text
from app.text.edit import NumberedEdit
from app.theme import GRID
from app.widgets.searchline import search_line

__all__ = ["FindBar"]

_LINE_END = "\u2029"
#: Commands of the text that are heard in the bar too.
_HEARD = frozenset(("text.find", "text.find_next", "text.find_previous", "text.replace"))


class FindBar(QWidget):
    """Finds as you type; Enter goes to the next place, Shift+Enter to the one before, Escape closes.

    Parameters
    ----------
    edit : NumberedEdit
        Where to look; it gets the commands that open the bar and go from place to place.
    """

    def __init__(self, edit: NumberedEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edit = edit
        self.setObjectName("text.find_bar")
        self.line = search_line("text.find", "Find", self, spoken="Find in text")
        self.line.textChanged.connect(self._typed)
        self.replacement = search_line("text.replacement", "Replace with", self)
        for line in (self.line, self.replacement):
            line.installEventFilter(self)
        self.count = QLabel(self)
        self.count.setProperty("muted", True)
        self.count.setMinimumWidth(18 * GRID)
        self.case = self._switch("Aa", "Match case")
        self.word = self._switch("W", "Whole words")
        self.regex = self._switch(".*", "Regular expression")
        top, options = QHBoxLayout(), QHBoxLayout()
        for widget in (self.case, self.word, self.regex, self.count):
            options.addWidget(widget)
        options.addStretch(1)
        self._add_steps(top)
        top.addWidget(self._button("x", "Close", self.close_bar, "Close (Esc)"))
        self._replace_row = QWidget(self)
        below = QHBoxLayout(self._replace_row)
        below.setContentsMargins(0, 0, 0, 0)
        self.replace_one = QPushButton("Replace", self)
        self.replace_one.setToolTip("Replace this place and go to the next (Enter)")
        self.replace_one.clicked.connect(self.replace)
        self.replace_all_button = QPushButton("All", self)
        self.replace_all_button.setToolTip("Replace all places, in one step")
        self.replace_all_button.clicked.connect(self.replace_all)
        below.addWidget(self.replace_one)
        below.addWidget(self.replace_all_button)
        grid = QGridLayout(self)
        grid.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        grid.setSpacing(GRID)
        grid.addWidget(self.line, 0, 0)
        grid.addLayout(top, 0, 1)
        grid.addLayout(options, 1, 0, 1, 2)
        grid.addWidget(self.replacement, 2, 0)
        grid.addWidget(self._replace_row, 2, 1)
        grid.setColumnStretch(0, 1)
        self._show_replace(False)
        self.hide()

    def _add_steps(self, row: QHBoxLayout) -> None:
        """Add what goes from place to place, as buttons and as commands of the text."""
        add = self._edit.add_command
        add("find", "Find", ("Ctrl+F",), self.open_bar)
        add("replace", "Replace\u2026", ("Ctrl+H",), self.open_replace)
        for name, words, key, slot, glyph, short in (
            ("find_previous", "Find the place before", "Shift+F3", self.find_previous, "caret-up", "Previous"),
            ("find_next", "Find the next place", "F3", self.find_next, "caret-down", "Next"),
        ):
            action = add(name, words, (key,), partial(self._step, slot))
            button = self._button(glyph, short, slot)
            action.changed.connect(partial(_say_key, button, action))
            _say_key(button, action)
            row.addWidget(button)

    def _step(self, step: Callable[[], object]) -> None:
        """Go to another place, or ask first what is looked for."""
        if self.line.text():
            step()
        else:
            self.open_bar()

    def _button(self, glyph: str, name: str, slot: Callable[[], object], tip: str = "") -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(glyph, "text_muted"))
        button.setIconSize(QSize(14, 14))
        button.setAutoRaise(True)
        button.setToolTip(tip)
        button.setAccessibleName(name)
        button.clicked.connect(slot)
        return button

    def _switch(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setCheckable(True)
        button.setProperty("toggle", True)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.toggled.connect(lambda _on: self._typed(self.line.text()))
        return button

    # Opening and closing

    def open_bar(self) -> None:
        """Show the bar with the selected word in it."""
        self._show_replace(False)
        self._open()

    def open_replace(self) -> None:
        """Show the bar with the line for what is written instead."""
        self._show_replace(not self._edit.isReadOnly())
        self._open()

    def _open(self) -> None:
        selected = self._edit.textCursor().selectedText()
        if selected and _LINE_END not in selected:
            self.line.setText(selected)
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()
        self._mark()
        self._tell()

    def _show_replace(self, shown: bool) -> None:
        self.replacement.setVisible(shown)
        self._replace_row.setVisible(shown)

    def close_bar(self) -> None:
        """Hide the bar and go back to the text."""
        self.hide()
        self._edit.set_searched("")
        self._edit.setFocus(Qt.FocusReason.OtherFocusReason)

    # Finding

    def pattern(self) -> re.Pattern[str] | None:
        """Return what is looked for; None for nothing, or for what is no regular expression."""
        text = self.line.text()
        if not text:
            return None
        source = text if self.regex.isChecked() else re.escape(text)
        source = rf"\b(?:{source})\b" if self.word.isChecked() else source
        flags = re.MULTILINE | (re.NOFLAG if self.case.isChecked() else re.IGNORECASE)
        try:
            return re.compile(source, flags)
        except re.error:
            return None

    def find_next(self) -> None:
        """Select the next place, from the start again after the last."""
        self._find(backward=False)

    def find_previous(self) -> None:
        """Select the place before, from the end again before the first."""
        self._find(backward=True)

    def _text(self) -> str:
        return self._edit.document().toRawText().replace(_LINE_END, "\n")

    def _spans(self) -> list[tuple[int, int]]:
        """Return the places of what is looked for in the text, in characters; empty matches are none."""
        pattern = self.pattern()
        if pattern is None:
            return []
        return [match.span() for match in pattern.finditer(self._text()) if match.group()]

    def _typed(self, text: str) -> None:
        self._mark()
        cursor = self._edit.textCursor()
        cursor.setPosition(cursor.selectionStart())
        self._edit.setTextCursor(cursor)
        self.find_next()

    def _mark(self) -> None:
        plain = not (self.case.isChecked() or self.word.isChecked() or self.regex.isChecked())
        self._edit.set_searched(self.line.text() if plain else "")

    def _find(self, *, backward: bool) -> None:
        spans, text = self._spans(), self._text()
        if spans:
            cursor = self._edit.textCursor()
            start, end = _index(text, cursor.selectionStart()), _index(text, cursor.selectionEnd())
            later = [each for each in spans if each[0] >= end and each != (start, start)]
            earlier = [each for each in spans if each[1] <= start]
            chosen = (earlier[-1] if earlier else spans[-1]) if backward else (later[0] if later else spans[0])
            self._select(text, *chosen)
        self._tell(spans)

    def _select(self, text: str, start: int, end: int) -> None:
        cursor = self._edit.textCursor()
        cursor.setPosition(_unit(text, start))
        cursor.setPosition(_unit(text, end), QTextCursor.MoveMode.KeepAnchor)
        self._edit.setTextCursor(cursor)
        self._edit.ensureCursorVisible()

    def _tell(self, spans: list[tuple[int, int]] | None = None) -> None:
        """Say how many places there are, and which of them is selected."""
        self._say(self._counted(self._spans() if spans is None else spans))

    def _say(self, words: str) -> None:
        self.count.setText(words)
        self.line.setAccessibleDescription(words)
        if words:
            announce(self.line, words)

    def _counted(self, spans: list[tuple[int, int]]) -> str:
        if not self.line.text():
            return ""
        if self.pattern() is None:
            return "no such pattern"
        if not spans:
            return "not found"
        cursor = self._edit.textCursor()
        here = _index(self._text(), cursor.selectionStart())
        place = next((number for number, each in enumerate(spans, 1) if each[0] == here), 0)
        at = cursor.hasSelection() and place
        return f"{place} of {len(spans)}" if at else f"{len(spans)} found"

    # Replacing

    def replace(self) -> None:
        """Replace the selected place, if it is one, and go to the next."""
        pattern, cursor = self.pattern(), self._edit.textCursor()
        if pattern is None:
            return
        text = self._text()
        match = pattern.match(text, _index(text, cursor.selectionStart()))
        if match is not None and cursor.hasSelection() and match.end() == _index(text, cursor.selectionEnd()):
            instead = self._instead(match)
            if instead is None:
                return
            cursor.insertText(instead)
            self._edit.setTextCursor(cursor)
        self.find_next()

    def replace_all(self) -> None:
        """Replace all places, in one step."""
        pattern, text = self.pattern(), self._text()
        matches = [match for match in pattern.finditer(text) if match.group()] if pattern is not None else []
        if not matches:
            self._tell()
            return
        places = []
        shift, until = 0, 0  # how many more units than characters there are up to the last place
        for match in matches:
            instead = self._instead(match)
            if instead is None:
                return
            start = match.start() + shift + _surplus(text[until : match.start()])
            until, shift = match.end(), start - match.start() + _surplus(match.group())
            places.append((start, until + shift, instead))
        cursor = self._edit.textCursor()
        cursor.beginEditBlock()
        for start, end, instead in reversed(places):  # only they: to put what lies between in anew takes far longer
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(instead)
        cursor.endEditBlock()
        self._say(f"{len(matches)} replaced")

    def _instead(self, match: re.Match[str]) -> str | None:
        """Return what is written for a match, or None where the groups that it names do not exist."""
        text = self.replacement.text()
        if not self.regex.isChecked():
            return text
        try:
            return match.expand(text)
        except (re.error, IndexError):
            self._say("no such group")
            return None

    def _heard(self, event: QEvent) -> QAction | None:
        """Return the command of the text that a key stands for here too."""
        command = self._edit.command_for(event) if isinstance(event, QKeyEvent) else None
        return command if command is not None and command.objectName() in _HEARD else None

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and self._heard(event) is not None:
            event.accept()  # while the keyboard is here, the key is the text's
            return True
        return super().event(event)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the keys of commands before a line types what they write."""
        command = self._heard(event) if event.type() == QEvent.Type.KeyPress else None
        if command is not None:
            command.trigger()
        return command is not None

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = self._heard(event)
        if command is not None:
            command.trigger()
        elif event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.replacement.hasFocus():
                self.replace()
            elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.find_previous()
            else:
                self.find_next()
        else:
            super().keyPressEvent(event)


@guard
def _say_key(button: QToolButton, action: QAction) -> None:
    key = key_text(action)
    button.setToolTip(f"{button.accessibleName()} ({key})" if key else button.accessibleName())


def _surplus(text: str) -> int:
    """Return how many more of Qt's UTF-16 units than characters a text has."""
    return 0 if text.isascii() else _unit(text, len(text)) - len(text)


def _unit(text: str, index: int) -> int:
    """Return the place in Qt's UTF-16 units of a character."""
    return index if text.isascii() else len(text[:index].encode("utf-16-le", "surrogatepass")) // 2


def _index(text: str, unit: int) -> int:
    """Return the character at a place in Qt's UTF-16 units."""
    if text.isascii():
        return unit
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * unit].decode("utf-16-le", "surrogatepass"))
