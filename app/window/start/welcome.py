"""What is shown instead of an empty canvas: examples, files of before, templates, and the tour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QGridLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.icons import icon
from app.qt import guard
from app.theme import GRID, Theme
from app.window.start.models import EXAMPLES, Model

__all__ = ["Card", "WelcomePage"]

_WIDTH, _MOST_COLUMNS = 264, 3
_MOST_FILES = 6


class Card(QAbstractButton):
    """A button with an icon, a title and a line or two that say more; of a path, one line with its two ends."""

    def __init__(
        self, glyph: str, title: str, more: str, parent: QWidget | None = None, *, is_path: bool = False
    ) -> None:
        super().__init__(parent)
        self._more = more
        self._is_path = is_path
        self.setText(title)
        self.setIcon(icon(glyph, "accent"))
        self.setAccessibleName(title)
        self.setAccessibleDescription(more)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        line = QFontMetrics(self.font()).height()
        return QSize(_WIDTH, 6 * GRID + 4 * line)

    def minimumSizeHint(self) -> QSize:
        return QSize(_WIDTH // 2, self.sizeHint().height())

    @guard
    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, painter = Theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        hot = self.hasFocus() or self.underMouse()
        painter.setPen(theme.color("accent" if self.hasFocus() else "node_hover" if hot else "border"))
        painter.setBrush(theme.color("surface_alt" if hot or self.isDown() else "surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        self.icon().paint(painter, 3 * GRID, 3 * GRID, 20, 20)
        left, line = 11 * GRID, QFontMetrics(self.font()).height()
        text = self.rect().adjusted(left, 3 * GRID, -3 * GRID, -2 * GRID)
        bold = self.font()
        bold.setWeight(bold.Weight.DemiBold)
        painter.setFont(bold)
        painter.setPen(theme.color("text"))
        title = QFontMetrics(bold).elidedText(self.text(), Qt.TextElideMode.ElideMiddle, text.width())
        painter.drawText(text, Qt.AlignmentFlag.AlignTop, title)
        painter.setFont(self.font())
        painter.setPen(theme.color("text_muted"))
        below = text.adjusted(0, line + GRID, 0, 0)
        more = self._more
        if self._is_path:
            more = QFontMetrics(self.font()).elidedText(more, Qt.TextElideMode.ElideMiddle, below.width())
        painter.drawText(below, Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap, more)


class WelcomePage(QScrollArea):
    """Ways to begin.

    Parameters
    ----------
    recent : sequence of Path
        Files that were opened before, newest first.
    models : sequence of Model
        The templates.

    Attributes
    ----------
    new_asked, open_asked, tour_asked : Signal()
    file_chosen : Signal(Path)
    example_chosen, template_chosen : Signal(str)
        By their names.
    """

    new_asked = Signal()
    open_asked = Signal()
    tour_asked = Signal()
    file_chosen = Signal(object)
    example_chosen = Signal(str)
    template_chosen = Signal(str)

    def __init__(self, recent: Sequence[Path], models: Sequence[Model], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("window.welcome")
        self.setAccessibleName("Welcome")
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._grids: list[tuple[QGridLayout, list[Card]]] = []
        self._fillers: list[tuple[QWidget, int]] = []
        self._columns = 0
        self._inner = inner = QWidget()
        inner.setObjectName("window.welcome_inner")
        self._box = QVBoxLayout(inner)
        self.set_top_room(0)
        self._box.setSpacing(3 * GRID)
        self._box.addWidget(_heading("Build and train neural nets by drawing them", 1.6))
        first = self._add_group("", self._starts())
        self._add_group("Examples, ready to train", [self._example(model) for model in EXAMPLES])
        self._add_group("Opened before", [self._file(path) for path in recent[:_MOST_FILES]])
        self._add_group("New from a template", [self._template(model) for model in models])
        self._box.addStretch(1)
        self.setWidget(inner)
        if first is not None:
            self.setFocusProxy(first)

    def set_top_room(self, height: int) -> None:
        """Begin so many pixels lower, for messages that lie over the page."""
        self._box.setContentsMargins(8 * GRID, 8 * GRID + height, 8 * GRID, 8 * GRID)

    def _starts(self) -> list[Card]:
        new = Card("file-plus", "Empty net", "An empty canvas, which tells how to begin.")
        new.clicked.connect(self.new_asked)
        opening = Card("folder-open", "Open\u2026", "A net or a solver (.prototxt). Files can be dropped here too.")
        opening.clicked.connect(self.open_asked)
        tour = Card("compass", "Tour", "Three steps: add a layer, train, see shapes.")
        tour.clicked.connect(self.tour_asked)
        for card, name in ((new, "new"), (opening, "open"), (tour, "tour")):
            card.setObjectName(f"window.welcome.{name}")
        return [new, opening, tour]

    def _example(self, model: Model) -> Card:
        card = Card("play", model.title, model.summary)
        card.setObjectName(f"window.welcome.example.{model.name}")
        card.clicked.connect(lambda _checked=False: self.example_chosen.emit(model.name))
        return card

    def _file(self, path: Path) -> Card:
        card = Card("clock-counter-clockwise", path.name, str(path.parent), is_path=True)
        card.setObjectName("window.welcome.file")
        card.setToolTip(str(path))
        card.clicked.connect(lambda _checked=False: self.file_chosen.emit(path))
        return card

    def _template(self, model: Model) -> Card:
        card = Card("tree-structure", model.title, model.summary)
        card.setObjectName(f"window.welcome.template.{model.name}")
        card.clicked.connect(lambda _checked=False: self.template_chosen.emit(model.name))
        return card

    def _add_group(self, title: str, cards: Iterable[Card]) -> Card | None:
        listed = list(cards)
        if not listed:
            return None
        if title:
            self._box.addSpacing(2 * GRID)
            self._box.addWidget(_heading(title, 1.1))
        grid = QGridLayout()
        grid.setSpacing(2 * GRID)
        for card in listed:
            card.setParent(self._inner)
            card.setFixedHeight(card.sizeHint().height())
        for column in range(len(listed), _MOST_COLUMNS):  # so that all groups have columns of one width
            filler = QWidget(self._inner)
            grid.addWidget(filler, 0, column)
            self._fillers.append((filler, column))
        self._box.addLayout(grid)
        self._grids.append((grid, listed))
        return listed[0]

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.viewport().width() - 16 * GRID
        columns = max(1, min(_MOST_COLUMNS, (room + 2 * GRID) // (_WIDTH + 2 * GRID)))
        if columns != self._columns:
            self._columns = columns
            for grid, cards in self._grids:
                for index, card in enumerate(cards):
                    grid.addWidget(card, index // columns, index % columns)
                for column in range(_MOST_COLUMNS):
                    grid.setColumnStretch(column, 1 if column < columns else 0)
            for filler, column in self._fillers:
                filler.setVisible(column < columns)
            self._box.invalidate()
        # Headings that wrap have the layout ask for the height of its last width, and rows of cards would overlap.
        self._inner.setMinimumHeight(self._box.totalHeightForWidth(self.viewport().width()))

    @guard
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()


def _heading(text: str, size: float) -> QLabel:
    label = QLabel(text)
    label.setProperty("heading", True)
    label.setWordWrap(True)
    font = label.font()
    font.setPointSizeF(font.pointSizeF() * size)
    label.setFont(font)
    return label
