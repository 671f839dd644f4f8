"""The editor of a repeated field of scalars: a comma list, and a line per entry on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.icons import icon
from app.properties.editors.choices import SingleEdit
from app.properties.editors.edits import ValueEdit
from app.properties.expressions import split_formulas
from app.properties.growing import Growing
from app.properties.values import join_list, split_list
from app.qt import key_text
from app.theme import GRID
from engine.schema import FieldInfo

__all__ = ["ListEdit", "small_button"]


def small_button(icon_name: str, tip: str, parent: QWidget, *, focusable: bool = True) -> QToolButton:
    """Return a flat icon button of the panel's size."""
    button = QToolButton(parent)
    button.setIcon(icon(icon_name, "text_muted"))
    button.setIconSize(QSize(14, 14))
    button.setFixedSize(QSize(5 * GRID, 5 * GRID))
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus if focusable else Qt.FocusPolicy.NoFocus)
    return button


class ListEdit(QWidget):
    """A comma list; its button unfolds one line per entry, with buttons to remove and to add.

    Emits ``list_committed(list of str)`` with the entries as typed, and ``move_asked(index, to)`` when one shall go up
    or down: by its button, or with Alt and the arrow keys in it.

    Parameters
    ----------
    info : FieldInfo
        The repeated field.
    make_entry : callable
        Makes the editor of one entry.
    """

    list_committed = Signal(list)
    move_asked = Signal(int, int)

    def __init__(self, info: FieldInfo, make_entry: Callable[[], SingleEdit], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._info = info
        self._make_entry = make_entry
        self._entries: list[str] = []
        self._editors: list[SingleEdit] = []
        self._listed: Sequence[str] = ()
        self.line = ValueEdit(self)
        self.line.committed.connect(self._commit_line)
        self._toggle = small_button("list", "One line per entry", self.line)
        self._toggle.setCursor(Qt.CursorShape.ArrowCursor)
        self._toggle.setMinimumHeight(0)
        self._toggle.setMaximumHeight(16777215)
        self._toggle.setCheckable(True)
        self.line.set_trailing(self._toggle)
        self._toggle.toggled.connect(self._unfold)
        self._list = QWidget(self)
        self._list.setVisible(False)
        self._lines = QVBoxLayout(self._list)
        self._lines.setContentsMargins(0, GRID, 0, 0)
        self._lines.setSpacing(GRID)
        self._add = small_button("plus", "Add an entry", self._list)
        self._add.clicked.connect(self._append)
        self._growing = Growing(self._make, self._list)
        self._lines.addWidget(self._growing.more)
        self._lines.addWidget(self._add)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.line)
        layout.addWidget(self._list)
        self.setFocusProxy(self.line)

    @property
    def pending(self) -> bool:
        """Whether something is typed that is not committed."""
        return self.line.pending

    @property
    def unfolded(self) -> bool:
        """Whether the entries stand below each other."""
        return self._toggle.isChecked()

    @property
    def entry_editors(self) -> Sequence[SingleEdit]:
        """The editors of the entries while they are unfolded."""
        return self._editors

    def show_entries(self, entries: Sequence[str] | None, *, default: str = "", mixed: bool = False) -> None:
        """Show the entries of the file; None where the field is absent."""
        self._entries = list(entries or ())
        text = None if entries is None else join_list(self._info, self._entries)
        self.line.show_value(text, default=default, mixed=mixed)
        self._toggle.setEnabled(not mixed)
        if self.unfolded:
            self._fill(self._entries)

    def set_invalid(self, invalid: bool) -> None:
        """Mark the typed text as one that cannot be written."""
        self.line.set_invalid(invalid)

    def _commit_line(self, typed: str) -> None:
        formulas = split_formulas(self._info, typed)
        self.list_committed.emit(split_list(self._info, typed) if formulas is None else formulas)

    def _unfold(self, unfolded: bool) -> None:
        if unfolded:
            self._growing.reset()
            self._fill(self._entries or [""])
            self._editors[0].setFocus(Qt.FocusReason.OtherFocusReason)
        self._list.setVisible(unfolded)

    def _fill(self, entries: Sequence[str]) -> None:
        self._listed = entries
        count = self._growing.count(len(entries))
        while len(self._editors) > count:
            self._editors.pop()
            item = self._lines.takeAt(len(self._editors))
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for editor, text in zip(self._editors, entries, strict=False):  # those further down are not made yet
            editor.show_value(text or None)
        self._make(count)

    def _make(self, count: int) -> None:
        """Make the lines that are missing."""
        for index in range(len(self._editors), count):
            self._add_line(index)
            self._editors[index].show_value(self._listed[index] or None)

    def _add_line(self, index: int) -> None:
        line = QWidget(self._list)
        editor = self._make_entry()
        editor.setAccessibleName(f"{self._info.name} {index + 1}")
        editor.committed.connect(lambda text: self._commit_entry(index, text))
        for key, by in ((Qt.Key.Key_Up, -1), (Qt.Key.Key_Down, 1)):
            shortcut = QShortcut(QKeySequence(Qt.Modifier.ALT | key), line)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(lambda by=by: self._move(index, index + by))
        up = small_button("caret-up", f"Move this entry up ({key_text('Alt+Up')})", line)
        up.setVisible(index > 0)
        up.clicked.connect(lambda: self._move(index, index - 1))
        remove = small_button("x", "Remove this entry", line)
        remove.clicked.connect(lambda: self._remove(index))
        layout = QHBoxLayout(line)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(editor, 1)
        layout.addWidget(up)
        layout.addWidget(remove)
        self._editors.append(editor)
        self._lines.insertWidget(index, line)

    def _commit_entry(self, index: int, text: str) -> None:
        entries = list(self._entries)
        entries[index : index + 1] = [text] if text.strip() else []
        self.list_committed.emit(entries)

    def _move(self, index: int, to: int) -> None:
        if 0 <= to < len(self._entries) and index < len(self._entries):
            self.move_asked.emit(index, to)
            if to < len(self._editors):
                self._editors[to].setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove(self, index: int) -> None:
        if index < len(self._entries):
            self.list_committed.emit(self._entries[:index] + self._entries[index + 1 :])
        else:
            self._fill(self._entries)

    def _append(self) -> None:
        self._fill([*self._entries, ""])
        self._growing.reach_end(lambda: self._editors[-1].setFocus(Qt.FocusReason.OtherFocusReason))
