"""Fields that the schema does not know: kept, shown as text, flagged."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.properties.editors.edits import ValueEdit
from app.properties.rows.row import Row, object_name
from app.properties.snapshot import Path
from app.properties.style import muted_html
from app.properties.target import Target
from engine.errors import CheckError, NetcanvasError, PrototxtError
from engine.prototxt import Scalar, parse_value
from engine.schema import FieldInfo

__all__ = ["RawRow", "UnknownRow", "check_raw"]


def check_raw(name: str, text: str) -> str:
    """Return ``text`` if it is one scalar as prototxt spells it.

    Raises
    ------
    CheckError
        It is not; the message is one sentence.
    """
    try:
        value = parse_value(text)
    except PrototxtError:
        value = None
    if not isinstance(value, Scalar):
        raise CheckError(f'{name}: one value as prototxt spells it is expected, such as 3, true or "text".')
    return value.text


class UnknownRow(Row):
    """A field as text; a message shows in one line and is edited in the text pane."""

    reset_tip = "Remove this field"

    def __init__(self, target: Target, path: Path, depth: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(target, path, depth, parent)
        self.name = str(path[-2] if isinstance(path[-1], int) else path[-1])
        self.label.setText(muted_html(self.name, ""))
        self.editor = ValueEdit(self)
        self.editor.setObjectName(object_name(path))
        self.editor.setAccessibleName(self.name)
        self.editor.committed.connect(self.commit)
        self.place_editor(self.editor)
        self.setToolTip(f"{self.name} is not in the schema. It is kept as it is and saved back.")
        self.refresh()

    def refresh(self) -> None:
        """Show what the file says now."""
        state = self.target.state(self.path)
        entry = state.entries[-1] if state.entries else None
        if entry is None:
            return
        self.editor.setReadOnly(entry.group is not None)
        self.editor.show_value(" ".join(entry.text.split()) if entry.group else entry.text, mixed=state.mixed)
        self.show_reset(True)
        if not self.editor.pending:
            self.say("Not in the schema; kept as text.", hint=True)

    def commit(self, typed: str) -> None:
        """Write the text of the value as it is typed."""
        if typed == self.target.state(self.path).written:
            self.say("")
            self.refresh()
            return
        try:
            text = check_raw(self.name, typed)
        except NetcanvasError as error:
            self.say(str(error))
            self.editor.set_invalid(True)
            return
        self.attempt(lambda: self.target.write(self.path, text))

    def matches(self, words: str) -> bool:
        """Whether the field's name contains the words of a search."""
        return words in self.name.lower()


class RawRow(UnknownRow):
    """A field whose value is too large for a form; shown in one line, and only where it is present."""

    def __init__(self, target: Target, info: FieldInfo, path: Path, depth: int, parent: QWidget | None = None) -> None:
        super().__init__(target, path, depth, parent)
        self.setToolTip(info.doc)

    def refresh(self) -> None:
        """Show how much there is."""
        entries = self.target.state(self.path).entries
        self.setVisible(bool(entries))
        self.show_reset(bool(entries))
        self.editor.setReadOnly(True)
        self.editor.show_value(f"{len(entries)} in the text" if entries else None)
