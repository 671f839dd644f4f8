"""A label of one line that shortens what does not fit, and tells the whole in its tooltip."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStylePainter, QToolTip, QWidget

from app.qt import guard

__all__ = ["ElidedLabel"]

_LEAST_LETTERS = 3


class ElidedLabel(QLabel):
    """Shows plain text in one line, with "…" at the end where there is no room for all of it.

    Parameters
    ----------
    text : str
    mode : Qt.TextElideMode
        Where the "…" stands.
    """

    def __init__(
        self, text: str = "", parent: QWidget | None = None, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(text, parent)
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    @property
    def shown(self) -> str:
        """The text as it is painted."""
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST_LETTERS * self.fontMetrics().averageCharWidth(), super().minimumSizeHint().height())

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        selectable = self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
        if selectable and self.shown == self.text():
            super().paintEvent(event)  # which paints what is selected too
            return
        painter = QStylePainter(self)
        align = QStyle.visualAlignment(self.layoutDirection(), self.alignment())
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), align.value, self.shown)
        painter.end()

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        """Show the whole text where a part of it is shown, and the label has nothing else to tell."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.shown != self.text():
            told = "\n".join(filter(None, (self.text(), self.toolTip() if self.toolTip() != self.text() else "")))
            QToolTip.showText(event.globalPos(), told, self)
            return True
        return bool(super().event(event))
