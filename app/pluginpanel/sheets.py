"""Sheets beside the window's work: the whole of an error, and what a conversion from Python 2 would change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.qt import guard
from app.theme import GRID, Theme, monospace_font
from app.widgets.sheet import Sheet
from app.wording import counted
from engine.errors import LayerError, NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId
    from engine.plugins import ConversionPlan

__all__ = ["ConversionSheet", "ErrorSheet", "error_text", "place_in", "whole_error"]

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def error_text(error: NetcanvasError) -> str:
    """Return an error with its next step and the plugin's own traceback, as one copies it."""
    parts = [str(error)]
    traceback = error.traceback_text if isinstance(error, LayerError) else ""
    if traceback.strip():
        parts.append(traceback.strip())
    return "\n\n".join(parts)


def place_in(error: NetcanvasError) -> tuple[str, int]:
    """Return file and line of an error of plugin code; ``("", 0)`` where none is known."""
    file, line = getattr(error, "file", ""), getattr(error, "line", 0)
    if file:
        return str(file), int(line)
    found = _FRAME.findall(error.traceback_text if isinstance(error, LayerError) else "")
    return (found[-1][0], int(found[-1][1])) if found else ("", 0)


def whole_error(document: Document, node: NodeId) -> tuple[str, str, int]:
    """Return all that is known of what is wrong at a node, and file and line of its plugin's code."""
    texts: list[str] = []
    file, line = "", 0
    shapes = document.shapes.get(node)
    if shapes is not None and shapes.error is not None:
        texts.append(error_text(shapes.error))
        file, line = place_in(shapes.error)
    for text in document.problems_of(node)[1]:
        if not any(text.split(".")[0] in known for known in texts):
            texts.append(text)
    return "\n\n".join(texts), file, line


class _TextSheet(Sheet):
    """Text that may be long, over buttons."""

    def __init__(self, title: str, text: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self.resize(760, 420)
        self.text = QPlainTextEdit(text)
        self.text.setReadOnly(True)
        self.text.setFont(monospace_font())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(title)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(2 * GRID)
        self._buttons.addStretch(1)
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        self._box.setSpacing(2 * GRID)
        self._box.addWidget(self.text, 1)
        self._box.addLayout(self._buttons)

    def _button(self, text: str, name: str, *, primary: bool = False) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(f"plugins.sheet.{name}")
        button.setProperty("primary", primary)
        button.setAutoDefault(primary)
        self._buttons.addWidget(button)
        return button


class ErrorSheet(_TextSheet):
    """An error in full, to read and to copy.

    Attributes
    ----------
    code_asked, convert_asked : Signal()
        The code at the error shall be shown; the file shall be converted from Python 2.
    """

    code_asked = Signal()
    convert_asked = Signal()

    def __init__(self, title: str, text: str, file: str, parent: QWidget) -> None:
        super().__init__(title, text or "There is no error here.", parent)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        if file and "Python 2" in text:
            convert = self._button("Convert to Python 3\u2026", "convert")
            convert.clicked.connect(self.convert_asked)
        if file:
            self._button("Go to the code", "code").clicked.connect(self.code_asked)
        copy = self._button("Copy", "copy", primary=True)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self._button("Close", "close").clicked.connect(self.close)


class _DiffColors(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        Theme.notifier().changed.connect(self._dress)

    @guard
    def _dress(self, _theme: Theme) -> None:
        self.rehighlight()

    @guard
    def highlightBlock(self, text: str) -> None:
        role = {"+": "ok", "-": "error", "@": "accent"}.get(text[:1])
        if role is not None:
            text_format = QTextCharFormat()
            text_format.setForeground(Theme.current().color(role))
            self.setFormat(0, len(text), text_format)


class ConversionSheet(_TextSheet):
    """What a conversion to Python 3 would change, before it is done.

    Attributes
    ----------
    accepted_plan : Signal()
        The user wants it.
    """

    accepted_plan = Signal()

    def __init__(self, plan: ConversionPlan, parent: QWidget) -> None:
        super().__init__("Convert to Python 3", plan.diff or "Nothing can be converted.", parent)
        self._colors = _DiffColors(self.text.document())
        self.note = QLabel(_notes(plan), self)
        self.note.setWordWrap(True)
        self.note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._box.insertWidget(0, self.note)
        self._button("Cancel", "close").clicked.connect(self.close)
        apply = self._button("Convert", "apply", primary=True)
        apply.setEnabled(len(plan.failures) < len(plan.files))
        apply.clicked.connect(self._accept)

    def _accept(self) -> None:
        self.accepted_plan.emit()
        self.close()


def _notes(plan: ConversionPlan) -> str:
    good = len(plan.files) - len(plan.failures)
    lines = [
        f"{counted(good, 'file')} would be changed as below. "
        "Nothing is written yet; the old text is kept beside each file, and the conversion can be undone."
    ]
    lines += [f"'{each.path.name}' cannot be converted: {each.error}" for each in plan.failures]
    for each in plan.files:
        if each.divisions:
            places = ", ".join(map(str, each.divisions[:8]))
            lines.append(f"'{each.path.name}': look at the divisions of lines {places}; Python 2 rounded them down.")
    return "\n".join(lines)
