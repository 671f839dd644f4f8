"""The editor of a Python layer's ``param_str``: a form where the text is recognised, and always the text itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QButtonGroup, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from app.properties.editors.lists import small_button
from app.properties.editors.textbox import TextBox
from app.properties.literals import changed_span, splice_literal
from app.properties.rows.param_rows import AddRow, Line, ValueRow, Written, plan_lines
from app.properties.rows.row import object_name
from app.properties.snapshot import Path
from app.properties.style import GUTTER, RESET_WIDTH, muted_html
from app.properties.target import Target
from app.theme import GRID
from engine.errors import CheckError, NetcanvasError
from engine.param_edit import add_value, remove_value, replace_value, schema_faults
from engine.param_str import parse_param_str, read_value, spelled
from engine.param_values import as_typed
from engine.plugins.param_schema import ParamStrSchema
from engine.prototxt import quote, unquote
from engine.schema import FieldInfo

__all__ = ["ParamStrRow"]

_KIND_NAMES = {
    "number": "a number",
    "list": "a list",
    "json": "JSON",
    "dict": "a Python dict",
    "pairs": "Python pairs",
    "yaml": "YAML",
    "lines": "YAML",
    "flags": "flags",
}
_NO_FORM = "The text is in no form that is known: JSON, YAML, a dict, flags"


class ParamStrRow(QWidget):
    """``param_str`` as a form or as text; an edit changes only the bytes of the value it is about.

    Where the layer's plugin declares what it may hold, the form offers all of that and says what is wrong.

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
        self._unfolded: set[tuple[str, ...]] = set()
        self._parsed = parse_param_str("")
        self._schema: ParamStrSchema | None = None
        self.rows: list[ValueRow | AddRow] = []
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
        self._unfolded.clear()
        self.text.revert()
        self._say("")
        self.refresh()

    def refresh(self) -> None:
        """Show what the file says now."""
        state = self.target.state(self.path)
        source = "" if state.mixed or state.written is None else unquote(state.written)
        self._parsed = parsed = parse_param_str(source)
        self._schema = None if state.mixed else getattr(self.target, "param_schema", None)
        self.text.show_text(source)
        self.text.setPlaceholderText("several values" if state.mixed else "")
        self.reset.setVisible(state.is_set)
        has_form = bool(parsed.items) or parsed.kind in ("json", "list")
        has_form = has_form or (parsed.kind == "empty" and self._schema is not None)
        self.form_button.setEnabled(has_form)
        self.form_button.setToolTip("Edit value by value" if has_form else _NO_FORM)
        as_text = self._prefers_text or not has_form
        (self.text_button if as_text else self.form_button).setChecked(True)
        self.text.setVisible(as_text)
        self._form.setVisible(not as_text)
        kind = _KIND_NAMES.get(parsed.kind, "")
        self._kind.setText(f"as {kind}" if kind and not as_text else "")
        faults = schema_faults(self._schema, parsed) if self._schema is not None else {}
        self._show_lines(list(plan_lines(parsed, self._schema, self._unfolded, faults)) if has_form else [])
        self._say(" ".join(faults.values()) if as_text else "")

    def _show_lines(self, lines: list[Line]) -> None:
        if [row.line.shape for row in self.rows] != [line.shape for line in lines]:
            self._make_rows(lines)
        for row, line in zip(self.rows, lines, strict=True):
            row.show_line(line, folded=line.place not in self._unfolded)

    def _make_rows(self, lines: list[Line]) -> None:
        """Make the rows anew, with the keyboard where it was."""
        focused = QApplication.focusWidget()
        name = focused.objectName() if focused is not None and self._form.isAncestorOf(focused) else ""
        for old in self.rows:
            for inside in old.findChildren(QWidget):
                inside.setObjectName("")
            old.hide()
            old.deleteLater()
        self.rows = [self._make_row(line) for line in lines]
        for row in self.rows:
            self._lines.addWidget(row)
            row.show()  # what is not in view yet cannot have the keyboard
            again = row.findChild(QWidget, name) if name else None
            if again is not None:
                again.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make_row(self, line: Line) -> ValueRow | AddRow:
        if line.adds:
            adder = AddRow(self.target, self.path, line, self._depth, self._form)
            adder.added.connect(self._add)
            return adder
        row = ValueRow(self.target, self.path, line, self._depth, self._form)
        row.edited.connect(self._commit_item)
        row.removed.connect(self._remove)
        row.unfolded.connect(self._unfold)
        return row

    def matches(self, words: str) -> bool:
        """Whether the field's name, help or a key contains the words of a search."""
        keys = [item.key.lower() for item in self._parsed.items]
        keys += [field.name.lower() for field in self._schema.fields] if self._schema is not None else []
        return words in self.info.name or words in self.info.doc.lower() or any(words in key for key in keys)

    # Writing

    def _choose(self, text: bool) -> None:
        self._prefers_text = text
        self.refresh()

    def _unfold(self, place: tuple[str, ...], shown: bool) -> None:
        (self._unfolded.add if shown else self._unfolded.discard)(place)
        self.refresh()

    def _row_at(self, place: tuple[str, ...], *, adds: bool = False) -> Any:
        return next((row for row in reversed(self.rows) if row.line.place == place and row.line.adds == adds), None)

    def _commit_item(self, place: tuple[str, ...], value: object) -> None:
        row, parsed = self._row_at(place), self._parsed

        def edit() -> str:
            line = row.line
            if line.item is None:
                return add_value(parsed, place, value)
            style = line.owner.style
            is_typed = isinstance(value, Written)
            text = as_typed(str(value), style) if is_typed else spelled(value, style, like=line.item.text)
            changed = replace_value(parsed, place, text)
            became_text = isinstance(value, Written) and isinstance(read_value(text), str)
            kept = isinstance(line.item.value, str)
            if parse_param_str(changed).kind != parsed.kind or (became_text and not kept):
                like = line.item.text or "true"
                raise CheckError(f"{place[-1] or 'value'}: a value like {like} is expected, got '{text}'.")
            return changed

        if not self._try(row, edit):
            row.editor.set_invalid(True)

    def _remove(self, place: tuple[str, ...]) -> None:
        self._try(self._row_at(place), lambda: remove_value(self._parsed, place))

    def _add(self, place: tuple[str, ...], name: str, typed: str) -> None:
        row = self._row_at(place, adds=True)
        if self._try(row, lambda: add_value(self._parsed, (*place, name), read_value(typed))):
            row = self._row_at(place, adds=True)
            if row is not None:
                row.settle()

    def _try(self, row: Any, edit: Callable[[], str]) -> bool:
        """Write what an edit makes of the text; what refuses it is said at the row."""
        try:
            self._write(edit())
        except NetcanvasError as error:
            row.say(str(error))
            return False
        row.say("")
        self.refresh()
        return True

    def _commit_text(self, typed: str) -> None:
        self._attempt(lambda: self._write(typed))

    def _write(self, wanted: str) -> None:
        """Write the part of the text that differs, and leave the spelling of the rest."""
        written = self.target.state(self.path).written
        if written is None:
            self.target.write(self.path, quote(wanted))
            return
        new = splice_literal(written, *changed_span(self._parsed.source, wanted))
        if new != written:
            self.target.replace_value(self.path, written, new, f"Edit {self.info.name}")

    def _attempt(self, edit: Callable[[], object]) -> None:
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
