"""The command palette: everything that can be done, found by a few letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.palette.fuzzy import match_text
from app.qt import guard
from app.theme import Theme
from app.widgets.choicepopup import ChoicePopup, draw_marked

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

    Without a pattern the recent ones come first, newest first, and the others as they are given, those with keys before
    those without, and what cannot be done last.
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
        elif not pattern:
            score += (1.0 if command.keys else 0.0) - (2.0 if command.reason else 0.0)
        score += found[0] - (_DISABLED_MALUS if command.reason and pattern else 0.0)
        scored.append((-score, order, (command, found[1])))
    scored.sort(key=lambda each: each[:2])
    return [match for _score, _order, match in scored]


class _Model(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
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
        metrics = QFontMetrics(QApplication.font())
        line = metrics.height()
        row = QRect(rect.left() + _PAD, rect.top() + _PAD // 2, rect.width() - 2 * _PAD, line)
        painter.setFont(QApplication.font())
        painter.setPen(quiet)
        right = f"{command.group}   {command.keys}" if command.keys else command.group
        painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, right)
        painter.setPen(strong)
        draw_marked(painter, row.left(), row.top() + metrics.ascent(), command.text, frozenset(index.data(_LETTERS)))
        if command.reason:
            painter.setFont(QApplication.font())
            painter.setPen(quiet)
            below = row.translated(0, line + _LINE_GAP)
            text = metrics.elidedText(command.reason, Qt.TextElideMode.ElideRight, below.width())
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


class CommandPalette(ChoicePopup):
    """A search field over all commands; Enter does the chosen one, Escape none.

    Attributes
    ----------
    chosen : Signal(str)
        Name of the command that is about to run.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        model = _Model()
        super().__init__("window.command", model, _WIDTH, _ROWS, parent)
        self.model = model
        self._commands: tuple[Command, ...] = ()
        self._recent: tuple[str, ...] = ()
        self.search.setAccessibleName("Search commands")
        self.search.setPlaceholderText("Do anything: type a few letters")
        self.view.setAccessibleName("Commands that fit")
        self.view.setItemDelegate(_Delegate(self.view))
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def ask(self, commands: Iterable[Command], recent: Sequence[str], at: QPoint) -> None:
        """Open below a point of the screen, which is the middle of its upper edge."""
        self._commands, self._recent = tuple(commands), tuple(recent)
        self.open_at(QPoint(at.x() - self.wide // 2, at.y()))

    def fill(self, pattern: str) -> int:
        matches = rank_commands(self._commands, pattern, self._recent)
        self.model.show(matches)
        self.note.setText("Enter does it, Esc closes" if matches else "Nothing is called so.")
        line = QFontMetrics(QApplication.font()).height() + _PAD
        return min(_ROWS * line, sum(self.view.sizeHintForRow(row) for row in range(min(len(matches), _ROWS))))

    def take(self, index: QModelIndex) -> None:
        command: Command = index.data(_COMMAND)
        if command.reason:
            self.note.setText(command.reason)
            return
        self.hide()
        self.chosen.emit(command.name)
        command.run()
