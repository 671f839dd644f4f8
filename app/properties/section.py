"""A foldable part of the panel: a header with a title and a summary, and a body made when it is first opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QVBoxLayout, QWidget

from app.properties.style import GAP, GUTTER, TEXT_INSET, chevron_pen, editor_left, is_stacked
from app.qt import guard
from app.theme import GRID, Theme

__all__ = ["Section", "SectionHeader"]

_CHEVRON_X = 5


class SectionHeader(QAbstractButton):
    """The line that folds a section; Space, Enter, Left and Right work too.

    Parameters
    ----------
    title : str
        What the section holds.
    depth : int
        0 for a group of the panel, 1 and more for a message inside it.
    """

    def __init__(self, title: str, depth: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(title)
        self.setAccessibleName(title)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.summary = ""
        self.is_set = False
        self.warning = ("", False)
        self._help = ""
        self._depth = depth
        self._buttons = QHBoxLayout(self)
        self._buttons.setContentsMargins(0, 0, 0, 0)
        self._buttons.setSpacing(0)
        self._buttons.addStretch(1)
        self._added: list[QWidget] = []
        self.toggled.connect(self._say_state)
        self._say_state()

    def add_button(self, button: QWidget) -> None:
        """Put a button at the right end."""
        self._buttons.addWidget(button)
        self._added.append(button)

    def describe(self, summary: str, *, is_set: bool) -> None:
        """Show in few words what the section holds; what the user set stands out."""
        if (summary, is_set) != (self.summary, self.is_set):
            self.summary, self.is_set = summary, is_set
            self._say_state()
            self.update()

    def _say_state(self, _open: bool = False) -> None:
        """Tell who only hears it whether it is open, and what it holds."""
        state = "unfolded" if self.isChecked() else "folded"
        self.setAccessibleDescription(", ".join(filter(None, (state, self.summary, self.warning[0]))))

    def warn(self, text: str, is_error: bool) -> None:
        """Mark the section as one in which something is wrong; not for an empty text."""
        if (text, is_error) != self.warning:
            if not self.warning[0]:
                self._help = self.toolTip()
            self.warning = (text, is_error)
            self.setToolTip(text or self._help)
            self._say_state()
            self.update()

    @guard(default=QSize(120, 32))
    def sizeHint(self) -> QSize:
        return QSize(120, max(8 * GRID, self.fontMetrics().height() + 3 * GRID))

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        wanted = {Qt.Key.Key_Left: False, Qt.Key.Key_Right: True}.get(Qt.Key(event.key()))
        if wanted is not None:
            self.setChecked(wanted)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.toggle()
        else:
            super().keyPressEvent(event)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = Theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(QPen(theme.color("accent"), 1))
            painter.drawRoundedRect(self.rect().adjusted(0, 1, -1, -2), 4, 4)
        elif self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("surface"))
            painter.drawRoundedRect(self.rect().adjusted(0, 1, 0, -1), 4, 4)
        self._paint_chevron(painter, theme)
        self._paint_texts(painter, theme)
        painter.end()

    def _paint_chevron(self, painter: QPainter, theme: Theme) -> None:
        x, y = _CHEVRON_X, self.height() / 2
        points = [(-3, -1.5), (0, 1.5), (3, -1.5)] if self.isChecked() else [(-1.5, -3), (1.5, 0), (-1.5, 3)]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(chevron_pen(theme.color("text_muted")))
        painter.drawPolyline(QPolygonF([QPointF(x + dx, y + dy) for dx, dy in points]))

    def _paint_texts(self, painter: QPainter, theme: Theme) -> None:
        font = QFont(self.font())
        if self._depth == 0:
            font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        warning, is_error = self.warning
        painter.setPen(theme.color("text" if not warning else "error" if is_error else "warning"))
        right = self.width() - sum(self._button_widths()) - GRID
        beside = self._depth > 0 and not is_stacked(self, self._depth - 1)
        column = editor_left(self, self._depth - 1) if beside else right
        align = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        metrics, elide = painter.fontMetrics(), Qt.TextElideMode.ElideRight
        width = min(metrics.horizontalAdvance(self.text()) + 2, column - GUTTER - GAP)
        painter.drawText(QRect(GUTTER, 0, width, self.height()), align, metrics.elidedText(self.text(), elide, width))
        if warning:
            width += GAP
            painter.setBrush(painter.pen().color())
            painter.drawEllipse(QPointF(GUTTER + width - 2, self.height() / 2), 2.5, 2.5)
        start = column + TEXT_INSET if beside else GUTTER + width + GAP
        room = QRect(start, 0, right - start, self.height())
        if room.width() < 6 * GRID:
            return
        font.setWeight(QFont.Weight.DemiBold if self.is_set and self._depth else QFont.Weight.Normal)
        painter.setFont(font)
        painter.setPen(theme.color("text" if self.is_set and self._depth else "text_muted"))
        painter.drawText(room, align, painter.fontMetrics().elidedText(self.summary, elide, room.width()))

    def _button_widths(self) -> list[int]:
        return [button.width() for button in self._added if not button.isHidden()]


class Section(QWidget):
    """A header and what it folds.

    Parameters
    ----------
    title : str
        Title of the header.
    make_body : callable
        Makes the body when the section is first opened.
    depth : int
        Nesting, see :class:`SectionHeader`.
    is_open : bool
        Whether it starts open.
    """

    toggled = Signal(bool)

    def __init__(
        self,
        title: str,
        make_body: Callable[[], QWidget],
        *,
        depth: int = 0,
        is_open: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._make_body = make_body
        self._depth = depth
        self._wanted = is_open
        self.body: QWidget | None = None
        self.header = SectionHeader(title, depth, self)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(self.header)
        self.header.toggled.connect(self._show_body)
        self.header.clicked.connect(self._remember)
        if is_open:
            self.header.setChecked(True)

    @property
    def is_open(self) -> bool:
        """Whether the body shows."""
        return self.header.isChecked()

    def force_open(self, is_open: bool) -> None:
        """Open for a search; False goes back to what the user chose."""
        self.header.setChecked(is_open or self._wanted)

    def set_open(self, is_open: bool) -> None:
        """Fold or unfold."""
        self._wanted = is_open
        self.header.setChecked(is_open)

    def ensure_body(self) -> QWidget:
        """Return the body, making it when it is missing."""
        if self.body is None:
            self.body = self._make_body()
            self._layout.addWidget(self.body)
            self.body.setVisible(self.is_open)
        return self.body

    def _show_body(self, is_open: bool) -> None:
        if is_open:
            self.ensure_body().setVisible(True)
        elif self.body is not None:
            self.body.setVisible(False)

    def _remember(self) -> None:
        self._wanted = self.is_open
        self.toggled.emit(self.is_open)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = Theme.current()
        if self._depth == 0:
            painter.fillRect(0, 0, self.width(), 1, theme.color("border"))
        elif self.is_open:
            top = self.header.height()
            painter.fillRect(_CHEVRON_X, top, 1, self.height() - top - GRID, theme.color("border"))
        painter.end()

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.header.update()
