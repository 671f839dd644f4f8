"""The frame of a row: label, place for the editor, reset, and the sentence that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QGridLayout, QLabel, QSizePolicy, QToolButton, QWidget

from app.properties.editors.lists import small_button
from app.properties.snapshot import Path
from app.properties.style import GAP, GUTTER, RESET_WIDTH, editor_left, is_stacked
from app.properties.target import Target
from app.qt import guard
from app.theme import GRID
from app.wording import breakable
from engine.errors import NetcanvasError

__all__ = ["EDITOR_ROW", "Row", "asks_for_help", "object_name"]

#: Row of the grid in which the editor stands; above it there is room for the label, below it for messages and help.
EDITOR_ROW = 1
_INSET = 6
_UNBOUND = 16777215  # Qt's own word for no limit


def object_name(path: Path) -> str:
    """Return the name under which tests and helpers find the editor of a field."""
    return "properties." + ".".join(str(step) for step in path)


class Row(QWidget):
    """The frame of a row: label, editor, reset button, message.

    With large letters and little width, the label stands above the editor.

    Parameters
    ----------
    target : Target
        What is edited.
    path : tuple
        Where the field stands.
    depth : int
        Nesting of the form.
    label : QLabel, optional
        What shows the field's name; a plain label by default.
    """

    reset_tip = "Reset to default"

    def __init__(
        self, target: Target, path: Path, depth: int, parent: QWidget | None = None, *, label: QLabel | None = None
    ) -> None:
        super().__init__(parent)
        self.target = target
        self.path = path
        self._depth = depth
        self.label = label or QLabel()
        self.label.setParent(self)
        self.label.setWordWrap(True)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(GUTTER, 0, 0, GRID)
        self._grid.setHorizontalSpacing(0)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(2, 1)
        self._grid.setColumnMinimumWidth(3, RESET_WIDTH + GRID)
        self._grid.setRowMinimumHeight(EDITOR_ROW, 7 * GRID)
        self._stacked = False
        self._place_label()
        self._said = ("", "problem")
        self._diagnosis = ("", "problem")

        self._help: QLabel | None = None

    # Reset and message are made when they are first needed: a panel has many rows, and most never show either.

    @cached_property
    def reset(self) -> QToolButton:
        """The button that takes the field out of the text."""
        button = small_button("arrow-counter-clockwise", self.reset_tip, self, focusable=False)
        button.setFixedHeight(7 * GRID)
        button.clicked.connect(self.clear)
        self._grid.addWidget(button, EDITOR_ROW, 3, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        return button

    @cached_property
    def message(self) -> QLabel:
        """The line below the editor."""
        label = QLabel(self)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setVisible(False)
        self._grid.addWidget(label, EDITOR_ROW + 1, 0, 1, 3)
        return label

    def show_reset(self, shown: bool) -> None:
        """Offer the reset where there is something to take out."""
        if shown or "reset" in self.__dict__:
            self.reset.setVisible(shown)

    def place_editor(self, editor: QWidget) -> None:
        """Put the editor into its column."""
        self._grid.addWidget(editor, EDITOR_ROW, 2, Qt.AlignmentFlag.AlignTop)
        self.setFocusProxy(editor)
        self.label.setBuddy(editor)

    def bind(self, target: Target) -> None:
        """Edit another target of the same kind; what was typed for the old one goes."""
        self.target = target
        self.say("")
        self.diagnose("", is_error=True)
        self.refresh()

    def refresh(self) -> None:
        """Show what the file says now."""
        raise NotImplementedError

    def clear(self) -> None:
        """Take the field out of the text."""
        self.attempt(lambda: self.target.clear(self.path))

    def attempt(self, edit: Callable[[], object]) -> bool:
        """Do an edit; what refuses it is said under the field."""
        try:
            edit()
        except NetcanvasError as error:
            self.say(str(error))
            return False
        self.say("")
        self.refresh()
        return True

    def say(self, problem: str, *, hint: bool = False, quiet: bool = False) -> None:
        """Say in one sentence what is wrong with what was typed; nothing for an empty one.

        A ``hint`` is only doubtful, and what is ``quiet`` merely worth knowing.
        """
        self._said = (problem, "muted" if quiet else "hint" if hint else "problem")
        self._show_message()

    def diagnose(self, text: str, *, is_error: bool) -> None:
        """Show what the document's diagnosis says about the field; what is wrong with typed text goes before it."""
        found = (text, "problem" if is_error else "hint")
        if found != self._diagnosis:
            self._diagnosis = found
            self._show_message()

    @property
    def says_problem(self) -> bool:
        """Whether something is wrong with what was typed."""
        return bool(self._said[0]) and self._said[1] == "problem"

    def toggle_help(self) -> None:
        """Show the help of the field under it, or take it away."""
        shown = self._help is not None and not self._help.isHidden()
        if self._help is None:
            self._help = QLabel(self)
            self._help.setObjectName(f"{object_name(self.path)}.help")
            self._help.setWordWrap(True)
            self._help.setProperty("muted", True)
            self._grid.addWidget(self._help, EDITOR_ROW + 2, 0, 1, 3)
        self._help.setText(self.toolTip())
        self._help.setVisible(not shown and bool(self.toolTip()))

    def _show_message(self) -> None:
        if "message" not in self.__dict__ and not self._said[0] and not self._diagnosis[0]:
            return
        text, kind = self._said if self.says_problem or not self._diagnosis[0] else self._diagnosis
        self.message.setText(breakable(text))
        if not self.message.property(kind):
            for each in ("problem", "hint", "muted"):
                self.message.setProperty(each, each == kind)
            self.message.style().unpolish(self.message)
            self.message.style().polish(self.message)
        self.message.setVisible(bool(text))

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if is_stacked(self, self._depth) != self._stacked:
            self._stacked = not self._stacked
            self._grid.removeWidget(self.label)
            self._place_label()
        if not self._stacked:
            room = editor_left(self, self._depth) - self._grid.contentsMargins().left() - GAP
            self.label.setFixedWidth(max(room, 4 * GRID))

    def _place_label(self) -> None:
        """Put the label beside the editor, or above it, where it takes what width there is."""
        stacked, policies = self._stacked, QSizePolicy.Policy
        row, columns = (0, 3) if stacked else (EDITOR_ROW, 1)
        self._grid.addWidget(self.label, row, 0, 1, columns, Qt.AlignmentFlag.AlignTop)
        self._grid.setColumnMinimumWidth(1, 0 if stacked else GAP)
        self.label.setContentsMargins(0, _INSET, 0, 0 if stacked else _INSET)
        self.label.setMinimumWidth(0)
        self.label.setMaximumWidth(_UNBOUND)
        self.label.setSizePolicy(policies.Ignored if stacked else policies.Fixed, policies.Preferred)


def asks_for_help(panel: QWidget, event: QEvent) -> bool:
    """Settle F1 in a panel of rows: claim it from the window's shortcuts, then show the help of the focused field.

    Returns
    -------
    bool
        Whether the event was such a key.
    """
    if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_F1:
        return False
    widget = QApplication.focusWidget()
    while widget is not None and widget is not panel and not isinstance(widget, Row):
        widget = widget.parentWidget()
    if not isinstance(widget, Row):
        return False
    event.accept()
    if event.type() == QEvent.Type.KeyPress:
        widget.toggle_help()
    return True
