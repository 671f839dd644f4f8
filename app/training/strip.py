"""A strip with one sentence, its actions, and the details for who wants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon_pixmap
from app.theme import Theme, monospace_font
from app.training.model import Notice

__all__ = ["MessageStrip"]

_LOOKS = {"info": ("info", "accent"), "warning": ("warning", "warning"), "error": ("x-circle", "error")}
_DETAIL_LINES = 8


class MessageStrip(QFrame):
    """Shows a :class:`Notice`; hidden while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.message")
        self.notice: Notice | None = None
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
        self.close_button = self._button("Dismiss", "dismiss", lambda: self.show_notice(None))
        self.details = QPlainTextEdit(self)
        self.details.setObjectName("training.details_text")
        self.details.setReadOnly(True)
        self.details.setFont(monospace_font())
        self.details.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.details.setFixedHeight(self.details.fontMetrics().lineSpacing() * _DETAIL_LINES + 16)
        self._row = QHBoxLayout()
        self._row.setSpacing(8)
        self._row.addWidget(self._mark)
        self._row.addWidget(self.text, 1)
        for button in (self.details_button, self.copy_button, self.close_button):
            self._row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 4, 4)
        layout.addLayout(self._row)
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
            self._row.removeWidget(old)
            old.deleteLater()
        self._extra.clear()
        self.notice = notice
        self.setVisible(notice is not None)
        if notice is None:
            return
        for place, (label, slot) in enumerate(actions):
            button = self._button(label, f"action_{place}", slot)
            self._row.insertWidget(2 + place, button)
            self._extra.append(button)
        self.text.setText(notice.text)
        self.details.setPlainText(notice.details)
        self._show_details(False)
        self.details_button.setVisible(bool(notice.details))
        self.copy_button.setVisible(notice.kind == "error")
        self.restyle()

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
        self.details.setVisible(shown)
        self.details_button.setText("Hide details" if shown else "Show details")

    def _copy(self) -> None:
        if self.notice is not None:
            QGuiApplication.clipboard().setText("\n\n".join(filter(None, (self.notice.text, self.notice.details))))
