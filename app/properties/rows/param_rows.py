"""The rows of a recognised ``param_str``: one a value, nested ones below theirs, and one to add a value."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.icons import icon
from app.properties.editors.choices import BoolEdit, SpellingEdit
from app.properties.editors.edits import ValueEdit
from app.properties.editors.lists import small_button
from app.properties.editors.number_edit import NumberEdit
from app.properties.rows.row import EDITOR_ROW, Row, object_name
from app.properties.snapshot import Path
from app.properties.style import GUTTER, INDENT, show_name
from app.properties.target import Target
from app.theme import GRID
from engine.param_edit import nested
from engine.param_str import ParamItem, ParamStr, read_value
from engine.plugins.param_schema import ParamField, ParamStrSchema

__all__ = ["AddRow", "Line", "ValueRow", "Written", "plan_lines"]

Place = tuple[str, ...]
_DEEPEST = 8


class Written(str):
    """A value that is written as it is typed, not put in quotes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the form.

    Attributes
    ----------
    place : tuple of str
        Keys from the outside in; for a line that adds, those of the list or mapping.
    owner : ParamStr
        The text that the value stands in.
    item : ParamItem or None
        The value; None where it is absent, and for a line that adds.
    field : ParamField or None
        What the plugin says of it.
    holds : bool
        Whether it has values of its own.
    adds : bool
        A line that adds a value to ``place``.
    obstacle : str
        Why it cannot be edited here.
    fault : str
        What is wrong with the value, before anything runs.
    """

    place: Place
    owner: ParamStr
    item: ParamItem | None = None
    field: ParamField | None = None
    holds: bool = False
    adds: bool = False
    obstacle: str = ""
    fault: str = ""

    @property
    def editor(self) -> str:
        """Kind of the editor: ``bool``, ``int``, ``float``, ``choice`` or ``text``."""
        value = self.item.value if self.item is not None else None
        field = self.field
        if field is not None and (self.item is None or _fits(value, field.kind)):
            if field.choices and field.kind in ("string", "int", "float"):
                return "choice"
            return field.kind if field.kind in ("bool", "int", "float") else "text"
        known = (("bool", bool), ("int", int), ("float", float))
        return next((name for name, kind in known if isinstance(value, kind)), "text")

    @property
    def shape(self) -> tuple[object, ...]:
        """What a row is made for; a line of another shape needs another row."""
        return self.place, self.adds, self.holds, self.field, self.owner.kind if self.adds else self.editor


def plan_lines(
    parsed: ParamStr, schema: ParamStrSchema | None, unfolded: Set[Place], faults: dict[str, str]
) -> Iterator[Line]:
    """Yield the lines of a form: what the schema knows, in its order, then what else there is."""
    last = {item.key: item for item in parsed.items}
    for field in schema.fields if schema is not None else ():
        yield from _lines(parsed, (field.name,), last.get(field.name), field, unfolded, faults.get(field.name, ""))
    for item in parsed.items:
        if schema is None or schema.field(item.key) is None or last[item.key] is not item:
            obstacle = "" if last[item.key] is item else "A later value of the same name counts."
            yield from _lines(parsed, (item.key,), item, None, unfolded, faults.get(item.key, ""), obstacle)
    if schema is None and parsed.kind != "number":
        yield Line((), parsed, adds=True)


def _lines(
    owner: ParamStr,
    place: Place,
    item: ParamItem | None,
    field: ParamField | None,
    unfolded: Set[Place],
    fault: str,
    obstacle: str = "",
) -> Iterator[Line]:
    inside = nested(owner, item) if item is not None and not obstacle and len(place) < _DEEPEST else None
    if item is not None and owner.kind == "flags" and not item.text:
        obstacle = "A flag without a value; take it out, or give it one, in the text."
    if item is not None and "\n" in item.text and not obstacle:
        obstacle = "Unfold it to edit its values, or edit the text."
    yield Line(place, owner, item, field, inside is not None, obstacle=obstacle, fault=fault)
    if inside is not None and place in unfolded:
        for each in inside.parsed.items:
            last = next(other for other in reversed(inside.parsed.items) if other.key == each.key)
            later = "" if last is each else "A later value of the same name counts."
            yield from _lines(inside.parsed, (*place, each.key), each, None, unfolded, "", later)
        yield Line(place, inside.parsed, adds=True)


class _NestedRow(Row):
    """A row that stands some levels deeper than its form, with its editor in the form's column."""

    def __init__(self, target: Target, path: Path, depth: int, level: int, parent: QWidget) -> None:
        super().__init__(target, path, depth, parent)
        self._level = level
        self._grid.setContentsMargins(GUTTER + level * INDENT, 0, 0, GRID)


class ValueRow(_NestedRow):
    """One value of a ``param_str``.

    Attributes
    ----------
    edited : Signal(object, object)
        The place and the new value; a :class:`Written` is a literal.
    removed : Signal(object)
        The entry shall be taken out.
    unfolded : Signal(object, bool)
        Its own values shall be shown or hidden.
    """

    edited = Signal(object, object)
    removed = Signal(object)
    unfolded = Signal(object, bool)
    reset_tip = "Take it out"

    def __init__(self, target: Target, path: Path, line: Line, depth: int, parent: QWidget) -> None:
        super().__init__(target, path, depth, len(line.place) - 1, parent)
        self.line = line
        name = line.place[-1] or "value"
        self.editor: Any = self._make_editor(line)
        self.editor.setObjectName(".".join((object_name(path), *line.place[:-1], name)))
        self.editor.setAccessibleName(name)
        self.editor.committed.connect(self._commit)
        show_name(self.label, name, line.field.unit if line.field else "")
        if line.field is not None:
            self.setToolTip(_help(line.field))
        self.toggle = small_button("caret-down", "Show its values", self) if line.holds else None
        if self.toggle is not None:
            self.toggle.setCheckable(True)
            self.toggle.setObjectName(f"{self.editor.objectName()}.values")
            self.toggle.toggled.connect(lambda shown: self.unfolded.emit(self.line.place, shown))
        self._place_with_toggle()
        self.show_line(line, folded=True)

    def _make_editor(self, line: Line) -> Any:
        kind = line.editor
        if kind == "bool":
            return BoolEdit(self)
        if kind == "choice" and line.field is not None:
            return SpellingEdit([str(choice) for choice in line.field.choices], self)
        if kind in ("int", "float"):
            return NumberEdit("int64" if kind == "int" else "double", self)
        return ValueEdit(self)

    def _place_with_toggle(self) -> None:
        if self.toggle is None:
            self.place_editor(self.editor)
            return
        box = QWidget(self)
        inner = QHBoxLayout(box)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(GRID)
        inner.addWidget(self.editor, 1)
        inner.addWidget(self.toggle)
        self.place_editor(box)
        self.setFocusProxy(self.editor)

    def show_line(self, line: Line, *, folded: bool) -> None:
        """Show a value of the same shape."""
        self.line = line
        item, field = line.item, line.field
        self.editor.setEnabled(not line.obstacle)
        if line.obstacle or field is None:
            self.setToolTip(line.obstacle)
        default = "" if field is None or field.default is None else _spell_default(field.default)
        if item is None:
            required = "required" if field is not None and field.required else ""
            self.editor.show_value(None, default=default or required)
        elif isinstance(item.value, bool):
            self.editor.show_value("true" if item.value else "false", default=default)
        else:
            shown = item.value if isinstance(item.value, str) else item.text
            self.editor.show_value(" ".join(shown.split("\n")) if "\n" in item.text else shown, default=default)
        if self.toggle is not None:
            self.toggle.blockSignals(True)
            self.toggle.setChecked(not folded)
            self.toggle.setIcon(icon("caret-down" if folded else "caret-up", "text_muted"))
            self.toggle.blockSignals(False)
        self.show_reset(item is not None and bool(item.key) and line.owner.kind != "number")
        self.diagnose(line.fault, is_error=True)

    def refresh(self) -> None:
        """The whole ``param_str`` is read by its form."""

    def clear(self) -> None:
        """Take the entry out."""
        self.removed.emit(self.line.place)

    def _commit(self, typed: str) -> None:
        item, field, place = self.line.item, self.line.field, self.line.place
        if field is not None and not typed.strip():
            if item is not None:
                self.removed.emit(place)
            self.say("")
        elif field is not None and field.kind == "string":
            self._offer(field, typed)
        elif field is not None and (item is None or _fits(item.value, field.kind)):
            self._offer(field, read_value(typed.strip()))
        elif item is not None and isinstance(item.value, bool):
            self.edited.emit(place, typed == "true" if typed else item.value)
        elif item is not None and isinstance(item.value, str):
            self.edited.emit(place, typed)
        elif item is not None and item.value is None:
            self.edited.emit(place, read_value(typed.strip()))
        elif item is not None and typed.strip() == item.text:
            self.say("")
        else:
            self.edited.emit(place, Written(typed.strip()))

    def _offer(self, field: ParamField, value: object) -> None:
        if fault := field.fault(value):
            self.say(fault)
            self.editor.set_invalid(True)
        elif self.line.item is not None and field.kind == "list":
            self.edited.emit(self.line.place, Written(self.editor.text().strip()))
        else:
            self.edited.emit(self.line.place, value)


class AddRow(_NestedRow):
    """A quiet button that unfolds into a name and a value; only a value for a list.

    Attributes
    ----------
    added : Signal(object, str, str)
        Place of the list or mapping, the name, and the value as typed.
    """

    added = Signal(object, str, str)

    def __init__(self, target: Target, path: Path, line: Line, depth: int, parent: QWidget) -> None:
        super().__init__(target, path, depth, len(line.place), parent)
        self.line = line
        self._is_list = line.owner.kind in ("list", "lines")
        name = ".".join((object_name(path), *line.place))
        self.name, self.value = QLineEdit(self), QLineEdit(self)
        for edit, word in ((self.name, "name"), (self.value, "value")):
            edit.setObjectName(f"{name}.add_{word}")
            edit.setAccessibleName(f"New {word}")
            edit.setPlaceholderText(word)
            edit.hide()
        tip = "Add an entry" if self._is_list else "Add a value"
        self.button = small_button("plus", tip, self)
        self.button.setIconSize(QSize(14, 14))
        self.button.setObjectName(f"{name}.add")
        self.button.clicked.connect(self._open)
        box = QWidget(self)
        inner = QHBoxLayout(box)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(GRID)
        for edit in (self.name, self.value):
            inner.addWidget(edit, 1)
        inner.addWidget(self.button)
        inner.addStretch(0)
        self._grid.addWidget(box, EDITOR_ROW, 2, Qt.AlignmentFlag.AlignTop)
        self.name.returnPressed.connect(self.value.setFocus)
        self.value.returnPressed.connect(self._add)

    def _open(self) -> None:
        if self.value.isVisible():
            self._add()
            return
        self.name.setVisible(not self._is_list)
        self.value.show()
        (self.value if self._is_list else self.name).setFocus(Qt.FocusReason.OtherFocusReason)

    def _add(self) -> None:
        if not self._is_list and not self.name.text().strip():
            self.say("Name the value first.")
            self.name.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.added.emit(self.line.place, self.name.text().strip(), self.value.text().strip())

    def settle(self) -> None:
        """Fold, ready for the next one."""
        for edit in (self.name, self.value):
            edit.clear()
            edit.hide()
        self.say("")

    def show_line(self, line: Line, *, folded: bool) -> None:
        """Add to the same list or mapping as it is now."""
        self.line = line

    def refresh(self) -> None:
        """Nothing of the file is shown here."""


def _fits(value: object, kind: str) -> bool:
    """Whether a value can be shown by the editor that a schema asks for."""
    if kind == "bool":
        return isinstance(value, bool)
    if kind in ("int", "float"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return True


def _spell_default(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _help(field: ParamField) -> str:
    low, high = field.minimum, field.maximum
    parts = [field.summary]
    if low is not None or high is not None:
        parts.append(
            f"From {low:g} " if high is None else f"Up to {high:g} " if low is None else f"{low:g} to {high:g} "
        )
    if field.choices:
        parts.append(f"One of {', '.join(map(str, field.choices))}.")
    if field.unit:
        parts.append(f"Unit: {field.unit}.")
    if field.required:
        parts.append("Required.")
    elif field.default is not None:
        parts.append(f"Default: {_spell_default(field.default)}.")
    return "\n".join(part.strip() for part in parts if part)
