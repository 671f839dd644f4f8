"""Forms made from the schema: the fields of a message, messages inside it, and repeated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.properties.editors.filler_view import FillerView
from app.properties.editors.lists import small_button
from app.properties.expressions import is_number_kind
from app.properties.growing import Growing
from app.properties.messages import RAW_MESSAGES, Diagnoses, diagnosis_of, field_matches, summarise
from app.properties.rows.field_row import FieldRow
from app.properties.rows.number_row import NumberRow
from app.properties.rows.param_str import ParamStrRow
from app.properties.rows.row import Row, object_name
from app.properties.rows.unknown import RawRow, UnknownRow
from app.properties.section import Section
from app.properties.snapshot import Entry, Path, Snapshot
from app.properties.style import GUTTER, INDENT
from app.properties.target import Target
from app.slices import Slices
from app.theme import GRID
from engine.errors import NetcanvasError
from engine.schema import FieldInfo

__all__ = ["FIRST_ROWS", "MessageForm", "NestedMessage", "RepeatedMessages"]

_NEW_ENTRY = {"include": "{ phase: TRAIN }", "exclude": "{ phase: TEST }", "param": "{ lr_mult: 1 }"}
#: Rows of a form that are made at once.
FIRST_ROWS = 10
#: Entries of a repeated message that a search opens: all have the same fields.
_MOST_OPENED = 4


class MessageForm(QWidget):
    """The fields of one message, below each other.

    Parameters
    ----------
    target : Target
        What is edited.
    message : str
        Message type.
    fields : sequence of FieldInfo
        Fields to show.
    base : tuple
        Path to the message.
    depth : int
        Nesting.
    show_unknown : bool
        Whether fields that the schema does not know are listed.
    at_once : int
        Rows that are made now; the others follow in slices that are not felt, or with :meth:`complete`.
    """

    def __init__(
        self,
        target: Target,
        message: str,
        fields: Sequence[FieldInfo],
        base: Path,
        depth: int = 0,
        *,
        show_unknown: bool = True,
        at_once: int = FIRST_ROWS,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.target = target
        self.base = base
        self._message = message
        self._depth = depth
        self._show_unknown = show_unknown
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(INDENT if depth else 0, GRID if depth == 0 else 0, 0, GRID)
        self._layout.setSpacing(0)
        self.parts: list[Part] = []
        self._unknown: dict[Path, UnknownRow] = {}
        self._words = ""
        self._found: Diagnoses = {}
        self._rest = list(fields)
        self._slices = Slices(self)
        self._add_rows(at_once)
        if self._rest:
            self._slices.start(self._steps())
        self._picture: FillerView | None = None
        if message == "FillerParameter":
            self._picture = FillerView(target, base, self)
            self._layout.insertWidget(0, self._picture)
        self._sync_unknown()

    def _steps(self) -> Iterator[None]:
        """Make the rows that are not seen at once, one a step."""
        while self._rest:
            self._add_rows(1)
            yield

    def complete(self) -> None:
        """Make all rows now."""
        self._slices.finish()

    def _add_rows(self, count: int) -> None:
        made, self._rest = self._rest[:count], self._rest[count:]
        for info in made:
            part = self._make(info)
            self._layout.insertWidget(self._layout.count() - len(self._unknown), part)
            self.parts.append(part)
            if self._found:
                self._diagnose_part(part, self._found)
            if self._words:
                part.setVisible(self._matches(part, self._words))

    def _make(self, info: FieldInfo) -> Part:
        path = (*self.base, info.name)
        if info.kind != "message":
            if (self._message, info.name) == ("PythonParameter", "param_str"):
                return ParamStrRow(self.target, info, path, self._depth, self)
            make = NumberRow if is_number_kind(info.kind) else FieldRow
            return make(self.target, self._message, info, path, self._depth, self)
        if info.message_type in RAW_MESSAGES:
            return RawRow(self.target, info, path, self._depth, self)
        if info.repeated:
            return RepeatedMessages(self.target, info, path, self._depth + 1, self)
        return NestedMessage(self.target, info, path, self._depth + 1, self)

    def bind(self, target: Target) -> None:
        """Edit another target of the same kind."""
        self.target = target
        for part in (*self.parts, *self._unknown.values()):
            part.bind(target)
        self._sync_unknown()
        self.show_shapes()

    def refresh(self) -> None:
        """Show what the file says now."""
        self._sync_unknown()
        for part in (*self.parts, *self._unknown.values()):
            part.refresh()
        self.show_shapes()

    def show_shapes(self) -> None:
        """Show what depends on the shapes of the layer's parameters."""
        if self._picture is not None:
            self._picture.show_target(self.target)
        for part in self.parts:
            if isinstance(part, NestedMessage) and isinstance(part.body, MessageForm):
                part.body.show_shapes()

    def diagnose(self, found: Diagnoses) -> None:
        """Show what the diagnosis says about each field, by path."""
        self._found = found
        for part in (*self.parts, *self._unknown.values()):
            self._diagnose_part(part, found)

    def _diagnose_part(self, part: Part, found: Diagnoses) -> None:
        if isinstance(part, NestedMessage | RepeatedMessages):
            part.diagnose(found)
        elif isinstance(part, Row):
            text, is_error = diagnosis_of(found, part.path, below=True)
            part.diagnose(text, is_error=is_error)

    def search(self, words: str) -> bool:
        """Show only fields that match; return whether there is one. Everything for empty words."""
        self._words = words
        if words:
            self.complete()
        found = False
        for part in (*self.parts, *self._unknown.values()):
            shown = self._matches(part, words) or not words
            part.setVisible(shown)
            found |= shown
        return found

    def _matches(self, part: QWidget, words: str) -> bool:
        if isinstance(part, NestedMessage | RepeatedMessages):
            return part.search(words)
        return part.matches(words)  # type: ignore[attr-defined, no-any-return]

    def _sync_unknown(self) -> None:
        if not self._show_unknown:
            return
        known = {info.name for info in self.target.schema.describe(self._message).fields}
        wanted: list[Path] = []
        for name, entries in self.target.group(self.base).fields.items():
            if name not in known:
                many = len(entries) > 1
                wanted += [(*self.base, name, i) if many else (*self.base, name) for i in range(len(entries))]
        for path in [path for path in self._unknown if path not in wanted]:
            row = self._unknown.pop(path)
            row.hide()
            row.deleteLater()
        for path in wanted:
            if path not in self._unknown:
                self._unknown[path] = UnknownRow(self.target, path, self._depth, self)
                self._layout.addWidget(self._unknown[path])


class NestedMessage(Section):
    """A message inside a message: folded, with its value in few words."""

    def __init__(self, target: Target, info: FieldInfo, path: Path, depth: int, parent: QWidget | None = None) -> None:
        self.target = target
        self.info = info
        self.path = path
        super().__init__(info.name, self._form, depth=depth, parent=parent)
        self._nesting = depth
        self.header.setToolTip(info.doc)
        self.header.setObjectName(object_name(path))
        self.reset = small_button("arrow-counter-clockwise", "Reset to default", self.header, focusable=False)
        self.reset.clicked.connect(self._clear)
        self.header.add_button(self.reset)
        self.refresh()

    def _form(self) -> MessageForm:
        message = self.info.message_type or ""
        return MessageForm(self.target, message, self.target.schema.describe(message).fields, self.path, self._nesting)

    def bind(self, target: Target) -> None:
        """Edit another target of the same kind."""
        self.target = target
        if isinstance(self.body, MessageForm):
            self.body.bind(target)
        self.refresh()

    def refresh(self) -> None:
        """Show what the file says now."""
        state = self.target.state(self.path)
        summary = summarise(
            self.target.schema, self.info.message_type or "", self.target.group(self.path), present=state.is_set
        )
        self.header.describe("several values" if state.mixed else summary, is_set=state.is_set and not state.mixed)
        self.reset.setVisible(state.is_set)
        if isinstance(self.body, MessageForm):
            self.body.refresh()

    def diagnose(self, found: Diagnoses) -> None:
        """Mark the header where something inside is wrong."""
        self.header.warn(*diagnosis_of(found, self.path, below=True))
        if isinstance(self.body, MessageForm):
            self.body.diagnose(found)

    def search(self, words: str) -> bool:
        """Open for the fields that match; return whether there is one."""
        schema = self.target.schema
        own = words in self.info.name.lower()
        inside = field_matches(schema, self.info, words)
        self.force_open(bool(words) and inside and not own)
        if isinstance(self.body, MessageForm):
            self.body.search("" if own else words)
        return inside

    def _clear(self) -> None:
        try:
            self.target.clear(self.path)
        except NetcanvasError as error:
            self.header.warn(str(error), True)


class RepeatedMessages(QWidget):
    """A section for each entry of a repeated message, and a button that adds one."""

    def __init__(self, target: Target, info: FieldInfo, path: Path, depth: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.target = target
        self.info = info
        self.path = path
        self._depth = depth
        self.sections: list[Section] = []
        self._entries: Sequence[Entry] = ()
        self._found: Diagnoses = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._growing = Growing(self._fill, self)
        self._growing.more.setObjectName(object_name((*path, "more")))
        self._layout.addWidget(self._growing.more)
        self.add = QPushButton(f"Add {info.name}", self)
        self.add.setObjectName(object_name((*path, "add")))
        self.add.setProperty("quiet", True)
        self.add.setToolTip(info.doc)
        self.add.clicked.connect(self._append)
        line = QHBoxLayout()
        line.setContentsMargins(GUTTER, 0, 0, GRID)
        line.addWidget(self.add)
        line.addStretch(1)
        self._layout.addLayout(line)
        self.refresh()

    def bind(self, target: Target) -> None:
        """Edit another target of the same kind."""
        self.target = target
        self._growing.reset()
        for section in self.sections:
            if isinstance(section.body, MessageForm):
                section.body.bind(target)
        self.refresh()

    def refresh(self) -> None:
        """Show what the file says now; entries come and go."""
        state = self.target.state(self.path)
        self._entries = () if state.mixed else state.entries
        self.add.setEnabled(not state.mixed)
        self.add.setToolTip("The selected layers differ; edit them one by one." if state.mixed else self.info.doc)
        count = self._growing.count(len(self._entries))
        while len(self.sections) > count:
            section = self.sections.pop()
            self._layout.removeWidget(section)
            section.hide()
            section.deleteLater()
        for index, section in enumerate(self.sections):
            self._describe(index)
            if isinstance(section.body, MessageForm):
                section.body.refresh()
        self._fill(count)

    def _fill(self, count: int) -> None:
        """Make the sections that are missing."""
        for index in range(len(self.sections), count):
            self._add_section(index)
            self._describe(index)
            self._diagnose(index)

    def _describe(self, index: int) -> None:
        group = self._entries[index].group or Snapshot()
        summary = summarise(self.target.schema, self.info.message_type or "", group, present=True)
        header = self.sections[index].header
        header.describe(summary, is_set=True)
        header.setObjectName(object_name((*self.path, index)))

    def diagnose(self, found: Diagnoses) -> None:
        """Mark the entries in which something is wrong."""
        self._found = found
        for index in range(len(self.sections)):
            self._diagnose(index)

    def _diagnose(self, index: int) -> None:
        section = self.sections[index]
        section.header.warn(*diagnosis_of(self._found, (*self.path, index), below=True))
        if isinstance(section.body, MessageForm):
            section.body.diagnose(self._found)

    def search(self, words: str) -> bool:
        """Open the first entries for the fields that match; return whether there is one."""
        own = words in self.info.name.lower()
        inside = field_matches(self.target.schema, self.info, words)
        for index, section in enumerate(self.sections):
            section.force_open(bool(words) and inside and not own and index < _MOST_OPENED)
            if isinstance(section.body, MessageForm):
                section.body.search("" if own else words)
        return inside

    def _add_section(self, index: int) -> None:
        path = (*self.path, index)
        section = Section(f"{self.info.name} {index + 1}", self._form_maker(path), depth=self._depth, parent=self)
        section.header.setToolTip(self.info.doc)
        if index:
            up = small_button("caret-up", f"Move {self.info.name} {index + 1} up", section.header)
            up.setObjectName(object_name((*path, "up")))
            up.clicked.connect(lambda: self._attempt(lambda: self.target.move(path, index - 1)))
            section.header.add_button(up)
        remove = small_button("x", f"Remove {self.info.name} {index + 1}", section.header)
        remove.setObjectName(object_name((*path, "remove")))
        remove.clicked.connect(lambda: self._remove(index))
        section.header.add_button(remove)
        self.sections.append(section)
        self._layout.insertWidget(index, section)

    def _form_maker(self, path: Path) -> Callable[[], MessageForm]:
        message = self.info.message_type or ""

        def make() -> MessageForm:
            return MessageForm(self.target, message, self.target.schema.describe(message).fields, path, self._depth)

        return make

    def _append(self) -> None:
        self._attempt(lambda: self.target.append(self.path, _NEW_ENTRY.get(self.info.name, "{}")))
        if self._entries:
            self._growing.reach_end(self._open_last)

    def _open_last(self) -> None:
        self.sections[-1].set_open(True)
        self.sections[-1].header.setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove(self, index: int) -> None:
        self._attempt(lambda: self.target.clear((*self.path, index)))

    def _attempt(self, edit: Callable[[], None]) -> None:
        try:
            edit()
        except NetcanvasError as error:
            self.add.setToolTip(str(error))
        self.refresh()


#: A row of a form, or what stands for a message in it.
Part = FieldRow | NestedMessage | RepeatedMessages | UnknownRow | ParamStrRow
