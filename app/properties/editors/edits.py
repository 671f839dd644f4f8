"""Line editors for one value: text and paths; for numbers see :mod:`app.properties.editors.number_edit`.

An editor shows what the file says and hands on what a person typed; checking and writing are the row's business. What
is typed and not yet committed stays when the graph changes elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontInfo, QKeyEvent, QKeySequence, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStyle,
    QStyleOptionFrame,
    QStylePainter,
    QToolButton,
    QWidget,
)

from app.icons import icon
from app.qt import guard
from app.theme import GRID

__all__ = [
    "MIXED",
    "TRAILING_WIDTH",
    "NameEdit",
    "PathEdit",
    "ValueEdit",
    "is_undo_key",
    "set_state",
    "settles_shortcut",
]

MIXED = "several values"
"""What an editor shows when the selected layers differ."""

TRAILING_WIDTH = 5 * GRID
"""Room for the small widget at the right end of a line."""

_LONGEST = 2**26
_HEADING = 1.5  # times the size of other letters
_INSET = 2  # pixels that Qt leaves beside the text of a line editor


def is_undo_key(event: QKeyEvent) -> bool:
    """Whether a key asks for undo or redo."""
    return event.matches(QKeySequence.StandardKey.Undo) or event.matches(QKeySequence.StandardKey.Redo)


def settles_shortcut(event: QEvent, pending: bool) -> bool:
    """Settle whether a key belongs to an editor or to the window's shortcuts; False for what is no such question.

    Undo and redo are the document's while nothing is being typed; Escape is the editor's while something is.
    """
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if is_undo_key(event) and not pending:
        event.ignore()
        return True
    if event.key() == Qt.Key.Key_Escape and pending:
        event.accept()
        return True
    return False


def set_state(widget: QWidget, state: str) -> None:
    """Dress a widget as ``default``, ``set``, ``mixed`` or ``invalid``; the panel's stylesheet says how each looks."""
    if widget.property("state") == state:
        return
    widget.setProperty("state", state)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


class ValueEdit(QLineEdit):
    """A line that holds one value.

    Emits ``committed(text)`` on Enter and when the focus leaves, only if the text changed; Escape puts back what the
    file says. Ctrl+Z belongs to the document unless something uncommitted is there to take back.
    """

    committed = Signal(str)
    #: While the net is changing nothing can be written into it, wherever the focus goes.
    held = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: str | None = None
        self._mixed = False
        self._default = ""
        self._trailing: QWidget | None = None
        self.setMinimumWidth(48)
        self.setMaxLength(_LONGEST)  # Qt's own limit would cut a long value short, and that would be written
        self.textEdited.connect(self._mark)

    def set_trailing(self, widget: QWidget) -> None:
        """Put a small widget inside the line, at its right end."""
        widget.setParent(self)
        self._trailing = widget
        self.setTextMargins(0, 0, TRAILING_WIDTH - GRID, 0)
        self._place_trailing()

    def _place_trailing(self) -> None:
        if self._trailing is not None:
            side = self.height() - 2
            self._trailing.setGeometry(QRect(self.width() - TRAILING_WIDTH - 1, 1, TRAILING_WIDTH, side))

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_trailing()

    @property
    def pending(self) -> bool:
        """Whether something is typed that is not committed."""
        return self.text() != (self._shown or "")

    def show_value(self, text: str | None, *, default: str = "", mixed: bool = False) -> None:
        """Show what the file says.

        Parameters
        ----------
        text : str or None
            The value; None where the field is absent.
        default : str
            What applies then, shown greyed.
        mixed : bool
            The selected layers differ; ``text`` is ignored.
        """
        shown = None if mixed else text
        unchanged = shown == self._shown and mixed == self._mixed
        self._default = default
        self.setPlaceholderText(MIXED if mixed else default)
        if unchanged and self.pending:
            return
        self._shown, self._mixed = shown, mixed
        if self.text() != (shown or ""):
            place = self.cursorPosition()
            self.setText(shown or "")
            self.setCursorPosition(min(place, len(self.text())) if self.hasFocus() else 0)
        self._mark()

    def set_invalid(self, invalid: bool) -> None:
        """Mark the typed text as one that cannot be written."""
        if invalid:
            set_state(self, "invalid")
        else:
            self._mark()

    def commit(self) -> None:
        """Hand on what is typed, if it differs from the file."""
        if self.pending:
            self.committed.emit(self.text())

    def revert(self) -> None:
        """Put back what the file says."""
        self.setText(self._shown or "")
        self._mark()

    def put_down(self) -> tuple[str | None, str]:
        """Put back what the file says; return that, and what was typed."""
        state = self._shown, self.text()
        self.revert()
        return state

    def take_up(self, shown: str | None, typed: str) -> None:
        """Go on with what was typed into another editor of this field, unless the file says something else now."""
        if shown == self._shown:
            self.setText(typed)
            self._mark()

    def _mark(self) -> None:
        set_state(self, "set" if self.text() else "mixed" if self._mixed else "default")

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        return settles_shortcut(event, self.pending) or super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if is_undo_key(event) and not self.pending:
            event.ignore()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.commit()
            self.selectAll()
        elif key == Qt.Key.Key_Escape and self.pending:
            self.revert()
            self.committed.emit(self.text())  # the row takes its message away
        else:
            super().keyPressEvent(event)

    @guard
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason and not self.held:
            self.commit()


class NameEdit(ValueEdit):
    """A value written like a heading; one that is too long ends in "…" while nobody writes in it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fit_letters()

    def _fit_letters(self) -> None:
        font = QApplication.font()
        font.setPointSizeF(_HEADING * QFontInfo(font).pointSizeF())
        self.setFont(font)

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ApplicationFontChange:
            self._fit_letters()
        return super().event(event)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, self)
        room = room.marginsRemoved(self.textMargins()).adjusted(_INSET, 0, -_INSET, 0)
        text = self.text()
        if self.hasFocus() or self.fontMetrics().horizontalAdvance(text) <= room.width():
            super().paintEvent(event)
            return
        painter = QStylePainter(self)
        painter.drawPrimitive(QStyle.PrimitiveElement.PE_PanelLineEdit, option)
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.end()


class PathEdit(QWidget):
    """A path with a button that looks for it.

    Parameters
    ----------
    relative : callable
        Turns a chosen absolute path into what the net shall say.
    folder : callable
        Where the picker starts.
    """

    committed = Signal(str)

    def __init__(
        self, relative: Callable[[str], str], folder: Callable[[], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._relative = relative
        self._folder = folder
        self.line = ValueEdit(self)
        self.line.committed.connect(self.committed)
        self._button = QToolButton(self.line)
        self._button.setIcon(icon("folder-open", "text_muted"))
        self._button.setIconSize(QSize(14, 14))
        self._button.setCursor(Qt.CursorShape.ArrowCursor)
        self._button.setToolTip("Choose a file, or the folder of a database")
        self._button.setAccessibleName("Choose path")
        self._button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._button)
        menu.addAction("Choose file…", lambda: self.choose(QFileDialog.FileMode.ExistingFile))
        menu.addAction("Choose folder…", lambda: self.choose(QFileDialog.FileMode.Directory))
        self._button.setMenu(menu)
        self.line.set_trailing(self._button)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.line)
        self.setFocusProxy(self.line)

    @property
    def pending(self) -> bool:
        """Whether something is typed that is not committed."""
        return self.line.pending

    def show_value(self, text: str | None, *, default: str = "", mixed: bool = False) -> None:
        """Show what the file says, see :meth:`ValueEdit.show_value`."""
        self.line.show_value(text, default=default, mixed=mixed)

    def set_invalid(self, invalid: bool) -> None:
        """Mark the typed text as one that cannot be written."""
        self.line.set_invalid(invalid)

    def choose(self, mode: QFileDialog.FileMode) -> QFileDialog:
        """Open the picker beside the window's work and return it; the answer comes by ``committed``."""
        dialog = QFileDialog(self, "Choose path", self._folder())
        dialog.setFileMode(mode)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._chosen)
        dialog.open()
        return dialog

    def _chosen(self, path: str) -> None:
        self.line.setText(self._relative(path))
        self.line.commit()
