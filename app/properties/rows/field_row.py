"""The row of a scalar field, repeated or not."""

from __future__ import annotations

from pathlib import Path as FilePath

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QLabel, QMenu, QWidget

from app.properties.editors.choices import BoolEdit, EnumEdit, SingleEdit, SpellingEdit, known_spellings
from app.properties.editors.edits import PathEdit, ValueEdit
from app.properties.editors.lists import ListEdit
from app.properties.editors.number_edit import NumberEdit
from app.properties.expressions import is_number_kind
from app.properties.rows.row import Row, object_name
from app.properties.snapshot import Path
from app.properties.style import show_name
from app.properties.target import FieldState, Target
from app.properties.values import default_text, display_text, prototxt_text, split_list
from app.qt import Debounce, guard
from engine.errors import NetcanvasError
from engine.paths import resolve, search_folders
from engine.schema import FieldInfo

__all__ = ["FieldRow"]

_PREFIXES = frozenset({"snapshot_prefix", "file_name"})
_PATH_FIELDS = _PREFIXES | {"source", "mean_file", "root_folder", "net", "train_net", "test_net", "weights"}
_CHECK_PAUSE_MS = 350


class FieldRow(Row):
    """The row of a scalar field, repeated or not.

    Parameters
    ----------
    target : Target
        What is edited.
    message : str
        Message type that the field belongs to.
    info : FieldInfo
        The field.
    path : tuple
        Where it stands.
    depth : int
        Nesting of the form.
    """

    def __init__(
        self, target: Target, message: str, info: FieldInfo, path: Path, depth: int = 0, parent: QWidget | None = None
    ) -> None:
        super().__init__(target, path, depth, parent, label=self._make_label())
        self.info = info
        show_name(self.label, info.name, info.unit)
        self.setToolTip(info.doc)
        self.editor = self._make_editor(message)
        self.editor.setObjectName(object_name(path))
        self.editor.setAccessibleName(info.name)
        self.place_editor(self.editor)
        if isinstance(self.editor, ListEdit):
            self.editor.list_committed.connect(self.commit_list)
            self.editor.move_asked.connect(self._move_entry)
        else:
            self.editor.committed.connect(self.commit)
        self._check: Debounce | None = None
        line = self.line
        if line is not None:
            line.setObjectName(object_name(path))
            line.setAccessibleName(info.name)
            line.textEdited.connect(self._typed)
        if line is not self.editor and line is not None:
            self.editor.setObjectName(object_name(path) + ".editor")
        self.refresh()

    def _make_label(self) -> QLabel | None:
        return None

    @property
    def line(self) -> ValueEdit | None:
        """The line editor in which text is typed, where there is one."""
        if isinstance(self.editor, ValueEdit):
            return self.editor
        line = getattr(self.editor, "line", None)
        return line if isinstance(line, ValueEdit) else None

    def _make_editor(self, message: str) -> SingleEdit | ListEdit:
        if self.info.repeated:
            return ListEdit(self.info, lambda: self._make_single(message), self)
        return self._make_single(message)

    def _make_single(self, message: str) -> SingleEdit:
        info = self.info
        if info.kind == "bool":
            return BoolEdit(self)
        if info.kind == "enum":
            return EnumEdit(info, self)
        if is_number_kind(info.kind):
            return NumberEdit(info.kind, self)
        spellings = known_spellings(message, info.name)
        if spellings:
            return SpellingEdit(spellings, self)
        if self._is_path:
            return PathEdit(self._relative, lambda: str(self.target.folder or ""), self)
        return ValueEdit(self)

    @guard
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        reset = menu.addAction(self.reset_tip, self.clear)
        reset.setEnabled(self.target.state(self.path).is_set)
        reset.setToolTip("Take it out of the text" if reset.isEnabled() else "The text does not set it.")
        menu.addAction("Copy name", self._copy_name)
        menu.addAction("Copy value", self._copy_value)
        menu.popup(event.globalPos())

    def _copy_name(self) -> None:
        QGuiApplication.clipboard().setText(self.info.name)

    def _copy_value(self) -> None:
        QGuiApplication.clipboard().setText(self.target.state(self.path).written or self.info.default_text)

    # Reading

    def refresh(self) -> None:
        """Show what the file says now."""
        state = self.target.state(self.path)
        default = default_text(self.info)
        pending = self.editor.pending
        if isinstance(self.editor, ListEdit):
            shown = [display_text(self.info, entry.text) for entry in state.entries]
            self.editor.show_entries(shown or None, default=default, mixed=state.mixed)
        else:
            text = None if state.written is None else display_text(self.info, state.written)
            self.editor.show_value(text, default=default, mixed=state.mixed)
        self.show_reset(state.is_set)
        self.setToolTip(self.info.doc + (f"\n{self.info.name} is deprecated." if self.info.deprecated else ""))
        if pending and self.editor.pending:
            return
        problem = self._written_problem(state)
        if problem:
            self.say(problem)
            self.editor.set_invalid(True)
        else:
            self._say_path(state)
        self._describe()

    def _show_message(self) -> None:
        super()._show_message()
        self._describe()

    def _describe(self) -> None:
        """Tell screen readers of the editor what colours, bold letters and the line below it say to others."""
        state = self.target.state(self.path)
        said = self.message.text() if "message" in self.__dict__ else ""
        stands = "differs between the layers" if state.mixed else "set" if state.is_set else "default"
        text = ". ".join(each.rstrip(".") for each in (said, stands, self.info.doc) if each)
        (self.line or self.editor).setAccessibleDescription(text)

    def bind(self, target: Target) -> None:
        """Edit another target of the same kind; what was typed for the old one goes."""
        if self._check is not None:
            self._check.cancel()
        if self.line is not None:
            self.line.revert()
        super().bind(target)

    def _written_problem(self, state: FieldState) -> str:
        for entry in () if state.mixed else state.entries:
            if entry.group is not None:
                return f"{self.info.name}: one value is expected, the text has a message."
            try:
                self._to_text(display_text(self.info, entry.text), entry.text)
            except NetcanvasError as error:
                return str(error)
        return ""

    def _say_path(self, state: FieldState) -> None:
        """Say where a path leads, in the tooltip and, where it is not plain to see, under the field."""
        if not self._is_path or state.mixed or not state.entries or self.info.name in _PREFIXES:
            self.say("")
            return
        folders = search_folders(self.target.folder)
        written = [display_text(self.info, entry.text) for entry in state.entries]
        # Caffe takes several weights in one text, with commas between them.
        names = [name.strip() for text in written for name in (text.split(",") if self._is_weights else [text])]
        found = [resolve(name, folders) for name in names if name]
        lines = [f"{'Found' if each.found else 'Not found'}: {each.path}" for each in found]
        self.setToolTip("\n".join([self.info.doc, *lines]))
        missing = [each.written for each in found if not each.found]
        if missing:
            which = f"'{missing[0]}' was not" if len(found) > 1 else "Not"
            self.say(f"{which} found from the file's folder upwards.", hint=True)
        else:
            self.say("\n".join(f"Found at {_shown_path(each.path)}" for each in found), quiet=True)

    @property
    def _is_path(self) -> bool:
        return self.info.name in _PATH_FIELDS and self.info.kind == "string"

    @property
    def _is_weights(self) -> bool:
        return self.info.name == "weights"

    # Writing

    def commit(self, typed: str) -> None:
        """Write what was typed into one value; nothing typed takes the field out."""
        state = self.target.state(self.path)
        if not typed.strip():
            if state.is_set:
                self.clear()
            else:
                self._settle()
            return
        shown = None if state.written is None or state.mixed else display_text(self.info, state.written)
        if typed == shown:
            self._settle()
            return
        try:
            text = self._typed_text(typed, state.written)
        except NetcanvasError as error:
            self._refuse(str(error))
            return
        if not self.attempt(lambda: self.target.write(self.path, text)):
            self.editor.set_invalid(True)

    def commit_list(self, entries: list[str]) -> None:
        """Write the entries of a repeated field; none takes the field out."""
        state = self.target.state(self.path)
        written = [entry.text for entry in state.entries]
        try:
            texts = [
                written[index]
                if index < len(written) and display_text(self.info, written[index]) == typed
                else self._typed_text(typed, written[index] if index < len(written) else None)
                for index, typed in enumerate(entries)
            ]
        except NetcanvasError as error:
            self._refuse(str(error))
            return
        if texts == written and not state.mixed:
            self._settle()
        elif not texts:
            self.clear()
        elif not self.attempt(lambda: self.target.write_list(self.path, texts)):
            self.editor.set_invalid(True)

    def _move_entry(self, index: int, to: int) -> None:
        self.attempt(lambda: self.target.move((*self.path, index), to))

    def _typed_text(self, typed: str, written: str | None) -> str:
        """Return what is written for what was typed; ``written`` stands there now."""
        return self._to_text(typed, written)

    def _to_text(self, typed: str, written: str | None) -> str:
        numbers = {str(choice.number) for choice in self.info.choices}
        if self.info.kind == "enum" and typed in numbers:
            return typed
        if self.info.kind == "bool" and typed in ("t", "True", "1", "f", "False", "0"):
            return typed
        return prototxt_text(self.info, typed, written=written)

    def _settle(self) -> None:
        self.say("")
        if self.line is not None:
            self.line.revert()
        self.refresh()

    def _refuse(self, problem: str) -> None:
        self.say(problem)
        self.editor.set_invalid(True)

    def _typed(self) -> None:
        self.editor.set_invalid(False)
        if self.says_problem:
            self.say("")
        if self._check is None:
            self._check = Debounce(self._check_typed, _CHECK_PAUSE_MS, self)
        self._check.trigger()

    def _check_typed(self) -> None:
        line = self.line
        if line is None or not line.pending:
            return
        typed = line.text()
        try:
            for part in self._parts(typed):
                self._typed_text(part, None)
        except NetcanvasError as error:
            self._refuse(str(error))

    def _parts(self, typed: str) -> list[str]:
        if self.info.repeated:
            return split_list(self.info, typed)
        return [typed] if typed.strip() else []

    def _relative(self, chosen: str) -> str:
        folder = self.target.folder
        if folder is None:
            return chosen
        path = FilePath(chosen)
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else chosen

    def matches(self, words: str) -> bool:
        """Whether the field's name or help contains the words of a search."""
        return words in self.info.name.lower() or words in self.info.doc.lower()


def _shown_path(path: FilePath) -> str:
    home = FilePath.home()
    shown = f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)
    return shown.replace("/", "/\u200b")  # it may break where a folder ends
