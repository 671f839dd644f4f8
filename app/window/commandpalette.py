"""The command palette: everything that can be done, found by a few letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.palette.fuzzy import match_text
from app.qt import guard
from app.theme import Theme

__all__ = ["Command", "CommandPalette", "rank_commands"]

Index = QModelIndex | QPersistentModelIndex

_WIDTH, _ROWS = 560, 10
_PAD, _LINE_GAP = 10, 2
_RECENT_BONUS, _DISABLED_MALUS = 12.0, 15.0
_COMMAND = Qt.ItemDataRole.UserRole
_LETTERS = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class Command:
    """Something that can be done.

    Attributes
    ----------
    name : str
        What it is remembered under.
    text, group : str
        What it is called, and the menu or panel it belongs to.
    keys : str
        Its shortcut as the system writes it.
    reason : str
        Why it cannot be done now; empty when it can.
    run : callable
    """

    name: str
    text: str
    group: str
    keys: str
    reason: str
    run: Callable[[], object]


Match = tuple[Command, tuple[int, ...]]


def rank_commands(commands: Iterable[Command], pattern: str, recent: Sequence[str]) -> list[Match]:
    """Return what fits, best first: what was chosen lately, then by letters, with what cannot be done behind the rest.

    Without a pattern the recent ones come first, newest first, and the others as they are given.
    """
    pattern = pattern.strip().replace(" ", "")
    places = {name: place for place, name in enumerate(recent)}
    scored: list[tuple[float, int, Match]] = []
    for order, command in enumerate(commands):
        found = match_text(pattern, command.text)
        score = 0.0
        if found is None:
            found = match_text(pattern, f"{command.group} {command.text}")
            if found is None:
                continue
            shift = len(command.group) + 1
            found = found[0] - 20.0, tuple(letter - shift for letter in found[1] if letter >= shift)
        if command.name in places:
            score += _RECENT_BONUS if pattern else 1000.0 - places[command.name]
        score += found[0] - (_DISABLED_MALUS if command.reason and pattern else 0.0)
        scored.append((-score, order, (command, found[1])))
    scored.sort(key=lambda each: each[:2])
    return [match for _score, _order, match in scored]


class _Model(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.matches: list[Match] = []

    def show(self, matches: list[Match]) -> None:
        self.beginResetModel()
        self.matches = matches
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.matches)

    @guard
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        command, letters = self.matches[index.row()]
        if role == _COMMAND:
            return command
        if role == _LETTERS:
            return letters
        if role == Qt.ItemDataRole.DisplayRole:
            return command.text
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return ", ".join(part for part in (command.text, command.group, command.keys, command.reason) if part)
        return None


class _Delegate(QStyledItemDelegate):
    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        line = QFontMetrics(QApplication.font()).height()
        two = bool(index.data(_COMMAND).reason)
        return QSize(_WIDTH, _PAD + line + (line + _LINE_GAP if two else 0))

    @guard
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, command = Theme.current(), index.data(_COMMAND)
        rect: QRect = option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if selected:
            painter.fillRect(rect, theme.color("selection"))
        strong = theme.color("selection_text" if selected else "text_disabled" if command.reason else "text")
        quiet = theme.color("selection_text" if selected else "text_muted")
        line = QFontMetrics(QApplication.font()).height()
        row = QRect(rect.left() + _PAD, rect.top() + _PAD // 2, rect.width() - 2 * _PAD, line)
        painter.setFont(QApplication.font())
        painter.setPen(quiet)
        right = f"{command.group}   {command.keys}" if command.keys else command.group
        painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, right)
        painter.setPen(strong)
        _draw_marked(painter, row, command.text, frozenset(index.data(_LETTERS)))
        if command.reason:
            painter.setFont(QApplication.font())
            painter.setPen(quiet)
            below = row.translated(0, line + _LINE_GAP)
            text = QFontMetrics(QApplication.font()).elidedText(
                command.reason, Qt.TextElideMode.ElideRight, below.width()
            )
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


def _draw_marked(painter: QPainter, row: QRect, text: str, marked: frozenset[int]) -> None:
    """Draw a text with the letters that matched in bold."""
    bold = QFont(QApplication.font())
    bold.setWeight(QFont.Weight.Bold)
    x, start = row.left(), 0
    while start < len(text):
        end = start + 1
        while end < len(text) and (end in marked) == (start in marked):
            end += 1
        font = bold if start in marked else QApplication.font()
        painter.setFont(font)
        painter.drawText(QRect(x, row.top(), row.width(), row.height()), Qt.AlignmentFlag.AlignVCenter, text[start:end])
        x += QFontMetrics(font).horizontalAdvance(text[start:end])
        start = end


class CommandPalette(QFrame):
    """A search field over all commands; Enter does the chosen one, Escape none.

    Attributes
    ----------
    chosen : Signal(str)
        Name of the command that is about to run.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("window.command_palette")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._commands: tuple[Command, ...] = ()
        self._recent: tuple[str, ...] = ()
        self.search = QLineEdit()
        self.search.setObjectName("window.command_search")
        self.search.setAccessibleName("Search commands")
        self.search.setPlaceholderText("Do anything: type a few letters")
        self.model = _Model(self)
        self.view = QListView()
        self.view.setObjectName("window.command_list")
        self.view.setAccessibleName("Commands that fit")
        self.view.setModel(self.model)
        self.view.setItemDelegate(_Delegate(self.view))
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setProperty("flat", True)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._note = QLabel()
        self._note.setProperty("muted", True)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.setSpacing(6)
        box.addWidget(self.search)
        box.addWidget(self.view)
        box.addWidget(self._note)
        self.search.textChanged.connect(self._fill)
        self.search.returnPressed.connect(lambda: self._choose(self.view.currentIndex()))
        self.search.installEventFilter(self)
        self.view.clicked.connect(self._choose)

    def ask(self, commands: Iterable[Command], recent: Sequence[str], at: QPoint) -> None:
        """Open below a point of the screen, which is the middle of its upper edge."""
        self._commands, self._recent = tuple(commands), tuple(recent)
        self.search.clear()
        self._fill()
        self.move(at.x() - _WIDTH // 2, at.y())
        self.show()
        self.search.setFocus(Qt.FocusReason.PopupFocusReason)

    @guard
    def _fill(self, _text: str = "") -> None:
        matches = rank_commands(self._commands, self.search.text(), self._recent)
        self.model.show(matches)
        line = QFontMetrics(QApplication.font()).height() + _PAD
        self.view.setVisible(bool(matches))
        if matches:
            self.view.setCurrentIndex(self.model.index(0))
            heights = sum(self.view.sizeHintForRow(row) for row in range(min(len(matches), _ROWS)))
            self.view.setFixedHeight(min(_ROWS * line, heights))
        self._note.setText("Enter does it, Esc closes" if matches else "Nothing is called so.")
        layout = self.layout()
        if layout is not None:
            layout.activate()
            self.resize(QSize(_WIDTH, layout.sizeHint().height()))

    @guard
    def _choose(self, index: QModelIndex) -> None:
        command = index.data(_COMMAND) if index.isValid() else None
        if command is None:
            return
        if command.reason:
            self._note.setText(command.reason)
            return
        self.hide()
        self.chosen.emit(command.name)
        command.run()

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _ROWS, Qt.Key.Key_PageUp: -_ROWS}
            step = steps.get(Qt.Key(event.key()))
            count = self.model.rowCount()
            if step is not None and count:
                row = min(count - 1, max(0, self.view.currentIndex().row() + step))
                self.view.setCurrentIndex(self.model.index(row))
                return True
        return super().eventFilter(watched, event)
