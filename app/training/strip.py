"""A strip with one sentence, its actions, and the details for who wants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon, icon_pixmap
from app.theme import Theme, monospace_font
from app.training.model import Notice

__all__ = ["MessageStrip"]

_LOOKS = {"info": ("info", "accent"), "warning": ("warning", "warning"), "error": ("x-circle", "error")}
_DETAIL_LINES = 8
_NARROW = 560
_REST = 200
_LOW = 184


class MessageStrip(QFrame):
    """Shows a :class:`Notice`; hidden while there is none.

    Attributes
    ----------
    changed : Signal()
        Another notice is shown, or none.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.message")
        self.notice: Notice | None = None
        self._room = 0
        self._narrow = False
        self._extra: list[QPushButton] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._mark = QLabel(self)
        self.text = QLabel(self)
        self.text.setObjectName("training.message_text")
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details_button = self._button("Show details", "details", self._toggle_details)
        self.copy_button = self._button("Copy", "copy", self._copy)
        self.close_button = QToolButton(self)
        self.close_button.setObjectName("training.message_dismiss")
        self.close_button.setIcon(icon("x", "text_muted"))
        self.close_button.setAutoRaise(True)
        self.close_button.setToolTip("Dismiss")
        self.close_button.setAccessibleName("Dismiss")
        self.close_button.clicked.connect(lambda: self.show_notice(None))
        self.details = QPlainTextEdit(self)
        self.details.setObjectName("training.details_text")
        self.details.setReadOnly(True)
        self.details.setFont(monospace_font())
        self.details.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        sentence = QHBoxLayout()
        sentence.setSpacing(8)
        sentence.addWidget(self._mark)
        sentence.addWidget(self.text, 1)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        self._buttons.addStretch(1)
        for button in (self.details_button, self.copy_button):
            self._buttons.addWidget(button)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.addLayout(sentence, 1)
        self._row.addLayout(self._buttons)
        line = QHBoxLayout()
        line.addLayout(self._row, 1)
        line.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 4, 4)
        layout.addLayout(line)
        layout.addWidget(self.details)
        Theme.notifier().changed.connect(self.restyle)
        self.show_notice(None)

    def _button(self, text: str, name: str, slot: Callable[[], object]) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(f"training.message_{name}")
        button.clicked.connect(slot)
        return button

    def show_notice(self, notice: Notice | None, actions: Sequence[tuple[str, Callable[[], object]]] = ()) -> None:
        """Show a notice with buttons of its own, or nothing."""
        for old in self._extra:
            self._buttons.removeWidget(old)
            old.deleteLater()
        self._extra.clear()
        self.notice = notice
        self.setVisible(notice is not None)
        if notice is None:
            self.changed.emit()
            return
        for place, (label, slot) in enumerate(actions):
            button = self._button(label, f"action_{place}", slot)
            self._buttons.insertWidget(1 + place, button)
            self._extra.append(button)
        self.text.setText(notice.text)
        self.details.setPlainText(notice.details.rstrip())
        self._show_details(False)
        self.details_button.setVisible(bool(notice.details))
        self.copy_button.setVisible(notice.kind == "error")
        self.restyle()
        self.changed.emit()

    def restyle(self, _theme: object = None) -> None:
        """Take the colours of the present theme."""
        if self.notice is None:
            return
        theme = Theme.current()
        glyph, role = _LOOKS[self.notice.kind]
        self._mark.setPixmap(icon_pixmap(glyph, theme.color(role), 18, self.devicePixelRatioF()))
        fill, edge = theme.mix(role, "window", 0.10).name(), theme.mix(role, "window", 0.45).name()
        self.setStyleSheet(f"MessageStrip {{ background: {fill}; border: 1px solid {edge}; border-radius: 4px; }}")

    def _toggle_details(self) -> None:
        self._show_details(self.details.isHidden())

    def _show_details(self, shown: bool) -> None:
        line = self.details.fontMetrics().lineSpacing()
        room = self._room - _REST  # what figures and curves leave
        self.text.setVisible(not shown or self._room > _LOW)  # the details end with it
        self.details.setFixedHeight(max(3 * line, min(_DETAIL_LINES * line + 16, room)))
        self.details.setVisible(shown)
        alone = self.text.isHidden()
        wraps = QPlainTextEdit.LineWrapMode
        self.details.setLineWrapMode(wraps.WidgetWidth if alone else wraps.NoWrap)
        if alone:
            self.details.moveCursor(QTextCursor.MoveOperation.End)
        self._direct()
        self.details_button.setText("Hide details" if shown else "Show details")

    def fit(self, panel: QSize) -> None:
        """Fit a panel of this size: buttons below the sentence where it is narrow, less of the details where low."""
        self._room = panel.height()
        self._narrow = panel.width() < _NARROW
        self._direct()

    def _direct(self) -> None:
        below = self._narrow and not self.text.isHidden()
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)

    def _copy(self) -> None:
        if self.notice is not None:
            QGuiApplication.clipboard().setText("\n\n".join(filter(None, (self.notice.text, self.notice.details))))
