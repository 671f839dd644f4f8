"""The editor of a Python layer's ``param_str``: a form where the text is recognised, and always the text itself."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from app.properties.choices import BoolEdit
from app.properties.edits import NumberEdit, ValueEdit, is_undo_key, settles_shortcut
from app.properties.lists import small_button
from app.properties.literals import changed_span, splice_literal
from app.properties.row import Row, object_name
from app.properties.snapshot import Path
from app.properties.style import GUTTER, RESET_WIDTH, muted_html
from app.properties.target import Target
from app.qt import guard
from app.theme import GRID, monospace_font
from engine.errors import CheckError, NetcanvasError
from engine.param_str import ParamItem, ParamStr, parse_param_str
from engine.prototxt import quote, unquote
from engine.schema import FieldInfo

__all__ = ["ParamStrRow", "TextBox"]

_KIND_NAMES = {
    "number": "a number",
    "list": "a list",
    "json": "JSON",
    "dict": "a Python dict",
    "pairs": "Python pairs",
    "yaml": "YAML",
    "flags": "flags",
}
_FEWEST_LINES, _MOST_LINES = 3, 12


class TextBox(QPlainTextEdit):
    """Several lines of text that are committed with Ctrl+Enter or when the focus leaves."""

    committed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = ""
        self.setFont(monospace_font())
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.textChanged.connect(self._fit)
        self._fit()

    @property
    def pending(self) -> bool:
        """Whether something is typed that is not committed."""
        return self.toPlainText() != self._shown

    def show_text(self, text: str) -> None:
        """Show the text of the file; what is typed and not committed stays while the file's is the same."""
        if text == self._shown and self.pending:
            return
        self._shown = text
        if self.toPlainText() != text:
            self.setPlainText(text)

    def commit(self) -> None:
        """Hand on what is typed, if it differs from the file."""
        if self.pending:
            self.committed.emit(self.toPlainText())

    def revert(self) -> None:
        """Put back what the file says."""
        self.setPlainText(self._shown)

    def _fit(self) -> None:
        lines = min(max(self.blockCount(), _FEWEST_LINES), _MOST_LINES)
        self.setFixedHeight(lines * QFontMetrics(self.font()).lineSpacing() + 4 * GRID)

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        return settles_shortcut(event, self.pending) or super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if is_undo_key(event) and not self.pending:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and control:
            self.commit()
        elif event.key() == Qt.Key.Key_Escape and self.pending:
            self.revert()
        else:
            super().keyPressEvent(event)

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.commit()


class _ItemRow(Row):
    """One value of a recognised ``param_str``."""

    edited = Signal(int, object)

    def __init__(self, target: Target, path: Path, index: int, item: ParamItem, depth: int, parent: QWidget) -> None:
        super().__init__(target, path, depth, parent)
        self.index = index
        self.item = item
        self.editor: Any
        if isinstance(item.value, bool):
            self.editor = BoolEdit(self)
        elif isinstance(item.value, int | float):
            self.editor = NumberEdit("int64" if isinstance(item.value, int) else "double", self)
        else:
            self.editor = ValueEdit(self)
        self.editor.setObjectName(f"{object_name(path)}.{item.key or 'value'}")
        self.editor.setAccessibleName(item.key or "value")
        self.editor.committed.connect(self._commit)
        self.label.setText(muted_html(item.key or "value", ""))
        self.place_editor(self.editor)
        self.show_item(item, "")

    @property
    def shape(self) -> tuple[str, type]:
        """What the row was made for; another key or kind of value needs another row."""
        return self.item.key, type(self.item.value)

    def show_item(self, item: ParamItem, obstacle: str) -> None:
        """Show a value with the same key and kind; ``obstacle`` says why it cannot be edited here, if so."""
        self.item = item
        self.editor.setEnabled(not obstacle)
        self.setToolTip(obstacle)
        if isinstance(item.value, bool):
            self.editor.show_value("true" if item.value else "false")
        else:
            self.editor.show_value(item.value if isinstance(item.value, str) else item.text)

    def refresh(self) -> None:
        """The whole ``param_str`` is read by its row."""

    def _commit(self, typed: str) -> None:
        if isinstance(self.item.value, bool):
            self.edited.emit(self.index, typed == "true" if typed else self.item.value)
        elif isinstance(self.item.value, str):
            self.edited.emit(self.index, typed)
        elif typed.strip() == self.item.text:
            self.say("")
        else:
            self.edited.emit(self.index, _Written(typed.strip()))


class _Written(str):
    """A value that is written as it is typed, not put in quotes."""

    __slots__ = ()


class ParamStrRow(QWidget):
    """``param_str`` as a form or as text; an edit changes only the bytes of the value it is about.

    Parameters
    ----------
    target : Target
        What is edited.
    info : FieldInfo
        The field ``param_str``.
    path : tuple
        Where it stands.
    depth : int
        Nesting of the form.
    """

    def __init__(self, target: Target, info: FieldInfo, path: Path, depth: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.target = target
        self.info = info
        self.path = path
        self._depth = depth
        self._prefers_text = False
        self._parsed = parse_param_str("")
        self.rows: list[_ItemRow] = []
        self.text = TextBox(self)
        self.text.setObjectName(object_name(path))
        self.text.setAccessibleName(info.name)
        self.text.committed.connect(self._commit_text)
        self._form = QWidget(self)
        self._lines = QVBoxLayout(self._form)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(0)
        self._message = QLabel(self)
        self._message.setWordWrap(True)
        self._message.setProperty("problem", True)
        self._message.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, GRID)
        layout.setSpacing(2)
        layout.addLayout(self._head())
        layout.addWidget(self._form)
        boxed = QVBoxLayout()
        boxed.setContentsMargins(GUTTER, 0, RESET_WIDTH + GRID, 0)
        boxed.addWidget(self.text)
        boxed.addWidget(self._message)
        layout.addLayout(boxed)
        self.setToolTip(info.doc)
        self.refresh()

    def _head(self) -> QHBoxLayout:
        label = QLabel(muted_html(self.info.name, ""), self)
        self._kind = QLabel(self)
        self._kind.setProperty("muted", True)
        self.form_button = self._mode_button("Form", "Edit value by value")
        self.text_button = self._mode_button("Text", "Edit the text as it is")
        self._modes = QButtonGroup(self)
        self._modes.addButton(self.form_button)
        self._modes.addButton(self.text_button)
        self.text_button.clicked.connect(lambda: self._choose(True))
        self.form_button.clicked.connect(lambda: self._choose(False))
        self.reset = small_button("arrow-counter-clockwise", "Reset to default", self, focusable=False)
        self.reset.clicked.connect(lambda: self._attempt(lambda: self.target.clear(self.path)))
        line = QHBoxLayout()
        line.setContentsMargins(GUTTER, 0, 0, 0)
        line.setSpacing(GRID)
        line.addWidget(label)
        line.addSpacing(GRID)
        line.addWidget(self._kind, 1)
        line.addWidget(self.form_button)
        line.addWidget(self.text_button)
        line.addWidget(self.reset)
        return line

    def _mode_button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(True)
        button.setObjectName(f"{object_name(self.path)}.{text.lower()}_view")
        button.setMinimumHeight(6 * GRID)
        return button

    # Reading

    def bind(self, target: Target) -> None:
        """Edit another target of the same kind."""
        self.target = target
        self.text.revert()
        self._say("")
        self.refresh()

    def refresh(self) -> None:
        """Show what the file says now."""
        state = self.target.state(self.path)
        source = "" if state.mixed or state.written is None else unquote(state.written)
        self._parsed = parse_param_str(source)
        self.text.show_text(source)
        self.text.setPlaceholderText("several values" if state.mixed else "")
        self.reset.setVisible(state.is_set)
        has_form = bool(self._parsed.items)
        self.form_button.setEnabled(has_form)
        self.form_button.setToolTip(
            "Edit value by value" if has_form else "The text is in no form that is known: JSON, YAML, a dict, flags"
        )
        as_text = self._prefers_text or not has_form
        (self.text_button if as_text else self.form_button).setChecked(True)
        self.text.setVisible(as_text)
        self._form.setVisible(not as_text)
        kind = _KIND_NAMES.get(self._parsed.kind, "")
        self._kind.setText(f"as {kind}" if kind and not as_text else "")
        if has_form:
            self._show_items(self._parsed)

    def _show_items(self, parsed: ParamStr) -> None:
        shapes = [(item.key, type(item.value)) for item in parsed.items]
        if [row.shape for row in self.rows] != shapes:
            for row in self.rows:
                row.hide()
                row.deleteLater()
            self.rows = [
                _ItemRow(self.target, self.path, index, item, self._depth, self._form)
                for index, item in enumerate(parsed.items)
            ]
            for row in self.rows:
                self._lines.addWidget(row)
                row.edited.connect(self._commit_item)
        for row, item in zip(self.rows, parsed.items, strict=True):
            obstacle = "" if parsed.item(item.key) is item else "A later value of the same name counts."
            if parsed.kind == "flags" and not item.text:
                obstacle = "A flag without a value; take it out, or give it one, in the text."
            row.show_item(item, obstacle)

    def matches(self, words: str) -> bool:
        """Whether the field's name, help or a key contains the words of a search."""
        keys = (item.key.lower() for item in self._parsed.items)
        return words in self.info.name or words in self.info.doc.lower() or any(words in key for key in keys)

    # Writing

    def _choose(self, text: bool) -> None:
        self._prefers_text = text
        self.refresh()

    def _commit_item(self, index: int, value: object) -> None:
        row, parsed = self.rows[index], self._parsed
        item = parsed.items[index]
        try:
            text = str(value) if isinstance(value, _Written) else parsed.spell(item.key, value)
            changed = parsed.replace(item.key, text)
            again = parse_param_str(changed)
            became_text = isinstance(value, _Written) and isinstance(again.items[index].value, str)
            if again.kind != parsed.kind or became_text:
                like = item.text or "true"
                raise CheckError(f"{item.key or 'value'}: a value like {like} is expected, got '{text}'.")
            self._write(item.start, item.end, changed[item.start : len(changed) - (len(parsed.source) - item.end)])
        except NetcanvasError as error:
            row.say(str(error))
            row.editor.set_invalid(True)
            return
        row.say("")
        self.refresh()

    def _commit_text(self, typed: str) -> None:
        start, end, text = changed_span(self._parsed.source, typed)
        self._attempt(lambda: self._write(start, end, text))

    def _write(self, start: int, end: int, text: str) -> None:
        written = self.target.state(self.path).written
        if written is None:
            self.target.write(self.path, quote(text))
            return
        new = splice_literal(written, start, end, text)
        if new != written:
            self.target.replace_value(self.path, written, new, f"Edit {self.info.name}")

    def _attempt(self, edit: Any) -> None:
        try:
            edit()
        except NetcanvasError as error:
            self._say(str(error))
            return
        self._say("")
        self.refresh()

    def _say(self, problem: str) -> None:
        self._message.setText(problem)
        self._message.setVisible(bool(problem))
