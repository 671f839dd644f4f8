"""The built-in code editor: the files of plugins, with colours, line numbers, and errors at their lines."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.pluginpanel.keys import CODE_KEYS
from app.pluginpanel.sourcefile import SourceFile, newer_files
from app.properties.editors.lists import small_button
from app.qt import Debounce, guard, key_text
from app.text.edit import Mistake, NumberedEdit
from app.text.findbar import FindBar
from app.text.python_colors import PythonColors
from app.theme import GRID, Theme

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["CodeEdit", "CodePane"]

_PAUSE = 300
_EMPTY = "No code is open. Choose a plugin and press Code, or make a layer: Net, New Python layer."


class CodeEdit(NumberedEdit):
    """One file of Python code.

    Attributes
    ----------
    save_asked : Signal()
        The keys for it were pressed.
    save_action : QAction
    """

    save_asked = Signal()
    indent = "    "
    openers = (":", "(", "[", "{")

    def __init__(self, source: SourceFile, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("code.edit")
        self.setAccessibleName(source.path.name)
        self.source = source
        self._colors = PythonColors(self.document())
        ((name, text, keys),) = CODE_KEYS
        self.save_action = self.add_command(name, text, keys, self.save_asked.emit)
        self.save_action.setObjectName(f"code.{name}")
        self.show_source(source)

    def show_source(self, source: SourceFile) -> None:
        """Show what a file holds; the place in it stays."""
        self.source = source
        line = self.line_of_cursor()
        self.setPlainText(source.text)
        self.document().setModified(False)
        self.go_to(line + 1)

    def put_text(self, text: str) -> None:
        """Put another text in place of this one, as a step that can be undone."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)

    @property
    def text(self) -> str:
        """The text as it would be saved."""
        return self.document().toRawText().replace("\u2029", "\n")

    @property
    def modified(self) -> bool:
        """Whether there is something to save."""
        return self.document().isModified()

    def go_to(self, line: int) -> None:
        """Put the cursor at the beginning of a line, counted from 1."""
        block = self.document().findBlockByNumber(max(line - 1, 0))
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            keys = QKeySequence.StandardKey
            if any(event.matches(key) for key in (keys.Undo, keys.Redo)) or _is_redo(event):
                event.accept()  # they are this editor's while it has the keyboard
                return True
        return super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_redo(event):
            self.redo()
        elif event.key() == Qt.Key.Key_Backspace and not event.modifiers() and self._dedent():
            pass
        else:
            super().keyPressEvent(event)

    def _dedent(self) -> bool:
        """Take a whole level of indentation away where only that stands before the cursor."""
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        if cursor.hasSelection() or not before or before.strip() or len(before) % len(self.indent):
            return False
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(self.indent))
        cursor.removeSelectedText()
        return True


class CodePane(QWidget):
    """The open source files, one in view.

    Attributes
    ----------
    saved : Signal(Path)
        A file was written.
    edit_made : Signal(CodeEdit)
        A file got its editor.
    edited : Signal()
        Something may have to be saved that had not, or the other way round.
    """

    saved = Signal(object)
    edit_made = Signal(object)
    edited = Signal()

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("code.pane")
        self._edits: dict[Path, CodeEdit] = {}
        self._bars: dict[Path, FindBar] = {}
        self._errors: dict[Path, list[Mistake]] = {}
        self.files = QComboBox(self)
        self.files.setObjectName("code.files")
        self.files.setAccessibleName("Open files")
        self.files.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.files.activated.connect(lambda row: self.open(self.files.itemData(row)))
        self.save_button = QPushButton("Save", self)
        self.save_button.setObjectName("code.save")
        self.save_button.clicked.connect(self.save)
        self._close = small_button("x", "Close this file", self)
        self._close.clicked.connect(self._close_current)
        head = QHBoxLayout()
        head.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        head.setSpacing(GRID)
        head.addWidget(self.files, 1)
        head.addWidget(self.save_button)
        head.addWidget(self._close)
        self._empty = QLabel(_EMPTY, self)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setProperty("muted", True)
        self._empty.setMargin(4 * GRID)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._empty)
        self.message = QLabel(self)
        self.message.setObjectName("code.message")
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.message.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(head)
        box.addWidget(self._pages, 1)
        box.addWidget(self.message)
        self._check_due = Debounce(self._check, _PAUSE, self)
        Theme.notifier().changed.connect(self._dress)
        self._tell()

    @guard
    def _dress(self, theme: Theme) -> None:
        for edit in self._edits.values():
            edit.dress(theme)

    # Files

    @property
    def edit(self) -> CodeEdit | None:
        """The editor in view."""
        page = self._pages.currentWidget()
        return page.findChild(CodeEdit) if page is not self._empty and page is not None else None

    @property
    def unsaved(self) -> list[Path]:
        """Files with changes that are not saved."""
        return list(self.unsaved_texts)

    @property
    def unsaved_texts(self) -> dict[Path, tuple[SourceFile, str]]:
        """Files with changes that are not saved: what each held, and its text by now."""
        return {path: (edit.source, edit.text) for path, edit in self._edits.items() if edit.modified}

    def open(self, path: Path, line: int = 0) -> str:
        """Show a file, and a line of it counted from 1; return why it cannot be, or an empty text."""
        path = Path(path).absolute()
        if path not in self._edits:
            try:
                self._add(SourceFile.read(path))
            except OSError as error:
                return f"'{path}' cannot be read: {error.strerror or error}."
        edit = self._edits[path]
        self._bring(edit)
        if line:
            edit.go_to(line)
        return ""

    def _bring(self, edit: CodeEdit) -> None:
        page = edit.parentWidget()
        if page is not None:
            self._pages.setCurrentWidget(page)
        self.setFocusProxy(edit)
        self._tell()
        self._check_due.trigger()

    def restore(self, path: Path, held: bytes, text: str) -> None:
        """Show a file with changes that are not saved, as a step that can be undone.

        Parameters
        ----------
        path : Path
        held : bytes
            What the file held when it was edited; where it holds something else, saving asks first.
        """
        if path not in self._edits:
            self._add(SourceFile.of(path, held))
        edit = self._edits[path]
        if edit.text != text:
            edit.put_text(text)
        self._bring(edit)

    def _add(self, source: SourceFile) -> None:
        page = QWidget(self)
        edit = CodeEdit(source, page)
        bar = FindBar(edit, page)
        edit.save_asked.connect(self.save)
        edit.save_action.changed.connect(self._tell)
        edit.textChanged.connect(self._check_due.trigger)
        edit.textChanged.connect(self.edited)
        edit.modificationChanged.connect(self._tell)
        edit.modificationChanged.connect(lambda _modified: self.edited.emit())
        edit.cursorPositionChanged.connect(self._say)
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(bar)
        box.addWidget(edit, 1)
        self._edits[source.path], self._bars[source.path] = edit, bar
        self._pages.addWidget(page)
        self.files.addItem("", source.path)
        self.edit_made.emit(edit)

    def save(self) -> bool:
        """Write the file in view; return whether that worked."""
        edit = self.edit
        return edit is None or self._save(edit)

    def save_all(self) -> bool:
        """Write all files with changes; return whether that worked."""
        saved = [self._save(edit) for edit in self._edits.values() if edit.modified]
        return all(saved)

    def _save(self, edit: CodeEdit) -> bool:
        path = edit.source.path
        try:
            if path.is_file() and path.read_bytes() != edit.source.data and edit.modified:
                edit.source = SourceFile(path, path.read_bytes(), edit.source.encoding, edit.source.ends)
                self.message.setText(f"'{path.name}' was changed by another program. Save again to overwrite that.")
                return False
            edit.source = edit.source.write(edit.text)
        except (OSError, UnicodeEncodeError) as error:
            self.message.setText(f"'{path.name}' was not saved: {error}")
            return False
        edit.document().setModified(False)
        self._tell()
        self.saved.emit(path)
        return True

    def ask_for_news(self) -> Callable[[], list[SourceFile]]:
        """Return what reads, in any thread, the files that have no changes here; for :meth:`take_news`."""
        shown = [edit.source for edit in self._edits.values() if not edit.modified]
        return partial(newer_files, shown)

    def take_news(self, found: Sequence[SourceFile]) -> None:
        """Show what other programs wrote into files, where nobody typed meanwhile."""
        for source in found:
            edit = self._edits.get(source.path)
            if edit is not None and not edit.modified and source.data != edit.source.data:
                edit.show_source(source)

    def _close_current(self) -> None:
        edit = self.edit
        if edit is None:
            return
        if edit.modified:
            self.message.setText("There are changes. Save them, or undo them, before closing the file.")
            return
        path = edit.source.path
        page = edit.parentWidget()
        del self._edits[path], self._bars[path]
        self.files.removeItem(self.files.findData(path))
        if page is not None:
            self._pages.removeWidget(page)
            page.deleteLater()
        self._tell()

    # Errors

    def set_errors(self, errors: Mapping[Path, Sequence[tuple[int, str]]]) -> None:
        """Mark lines at which plugin code failed: by file, the lines counted from 1 and what to say."""
        self._errors = {
            path: [Mistake(line, 0, text) for line, text in found if line] for path, found in errors.items()
        }
        self._check()

    def _check(self) -> None:
        """Underline what is no Python, and where the code failed."""
        edit = self.edit
        if edit is None:
            return
        slip = syntax_mistake(edit.text)
        failed = [] if slip is not None or edit.modified else self._errors.get(edit.source.path, [])
        edit.set_mistakes([slip] if slip is not None else failed)
        self._say()

    def _tell(self, _modified: object = None) -> None:
        for row in range(self.files.count()):
            path: Path = self.files.itemData(row)
            edit = self._edits[path]
            self.files.setItemText(row, f"{path.parent.name}/{path.name}{' *' if edit.modified else ''}")
            self.files.setItemData(row, str(path), Qt.ItemDataRole.ToolTipRole)
        edit_here = self.edit
        shown = edit_here is not None
        self.files.setVisible(shown)
        self.save_button.setVisible(shown)
        self._close.setVisible(shown)
        self._pages.setVisible(True)
        if edit_here is not None:
            self.files.setCurrentIndex(self.files.findData(edit_here.source.path))
            self.save_button.setEnabled(edit_here.modified)
            key = key_text(edit_here.save_action)
            self.save_button.setToolTip("Save the file; its layers are loaded anew" + (f" ({key})" if key else ""))
        self._say()

    def _say(self) -> None:
        """Say what is wrong at the cursor's line, or else the first thing that is."""
        edit = self.edit
        found = list(edit.mistakes) if edit is not None else []
        here = [each for each in found if edit is not None and each.line == edit.line_of_cursor() + 1]
        each = next(iter(here or found), None)
        self.message.setText(f"Line {each.line}: {each.text}" if each is not None else "")
        self.message.setVisible(each is not None)


def syntax_mistake(text: str) -> Mistake | None:
    """Return where a text stops being Python, or None; nothing of it is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return Mistake(error.lineno or 1, error.offset or 0, error.msg or "not valid Python")
    except (ValueError, RecursionError, MemoryError) as error:
        return Mistake(1, 0, str(error))
    return None


def _is_redo(event: QKeyEvent) -> bool:
    control_y = event.key() == Qt.Key.Key_Y and event.modifiers() == Qt.KeyboardModifier.ControlModifier
    return event.matches(QKeySequence.StandardKey.Redo) or control_y
