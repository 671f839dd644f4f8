"""The list of differences, with the fields of each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.compare.changes import ARROW, Change, Kind, delta_text
from app.costs.formats import bytes_text
from app.qt import blocked, guard
from app.theme import Theme
from app.widgets.columns import SqueezedColumns
from app.wording import row_words
from engine.graph.comparing import FieldChange

__all__ = ["ChangeList", "shortened"]

_COLUMNS = ("Layer", "Difference", "Before", "After", "Output", "Parameters", "Multiply-adds", "Training")
_SPOKEN = ("", "", "before", "after", "output", "parameters", "multiply-adds", "training")
_OPEN_UP_TO = 60
_WIDTHS = (180, 208, 96, 96, 160, 88, 104, 88)
_LEAST = (150, 112, 60, 60, 96, 84, 100, 76)
#: Columns that are left out where the list is narrow.
_SHED = (7, 6)
_NUMBERS = ((0, 5), (1, 6), (5, 7))
_OUTPUT = 4
_AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _BothSides(QStyledItemDelegate):
    """Shortens what was and what is each for itself, so that the arrow between them stays."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        view = self.parent()
        if not isinstance(view, QTreeWidget):
            return
        margin = view.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, view) + 1
        room = view.columnWidth(index.column()) - 2 * margin
        option.text = shortened(option.text, option.fontMetrics, room)


def shortened(text: str, letters: QFontMetrics, room: int) -> str:
    """Return both sides of an arrow in so many pixels, the longer one shortened before the other."""
    before, arrow, after = text.partition(ARROW)
    if not arrow or letters.horizontalAdvance(text) <= room:
        return text
    room -= letters.horizontalAdvance(arrow)
    widths = [letters.horizontalAdvance(side) for side in (before, after)]
    first = max(room // 2, room - widths[1])
    sides = (before, min(first, widths[0])), (after, room - min(first, widths[0]))
    return arrow.join(letters.elidedText(side, Qt.TextElideMode.ElideMiddle, wide) for side, wide in sides)


class ChangeList(QTreeWidget):
    """Lists what differs, in the order of the nets.

    Attributes
    ----------
    chosen : Signal(int)
        A difference was chosen, by its place in the list.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("compare.list")
        self.setAccessibleName("Differences")
        self.setHeaderLabels(_COLUMNS)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setFrameShape(QTreeWidget.Shape.NoFrame)
        self.setProperty("flat", True)
        self.setIconSize(QSize(16, 16))
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        for _number, column in _NUMBERS:
            self.headerItem().setTextAlignment(column, _AT_RIGHT)
        self._columns = SqueezedColumns(self, _WIDTHS, _LEAST, roomy=_OUTPUT, shed=_SHED)
        self.setItemDelegateForColumn(_OUTPUT, _BothSides(self))
        self._changes: Sequence[Change] = ()
        self.currentItemChanged.connect(self._current_changed)
        Theme.notifier().changed.connect(self._dress)

    def show_changes(self, changes: Sequence[Change], net_fields: Sequence[FieldChange]) -> None:
        """List other differences, keeping the one that is chosen where it is still there."""
        kept = self.place()
        name = self._changes[kept].name if 0 <= kept < len(self._changes) else ""
        self._changes = changes
        with blocked(self):
            self.clear()
            rows = [_row(change) for change in changes]
            self.addTopLevelItems([*rows, _net_row(net_fields)] if net_fields else rows)
            if len(changes) <= _OPEN_UP_TO:
                self.expandAll()
            again = next((row for row, change in enumerate(changes) if name and change.name == name), -1)
            if again >= 0:
                self.setCurrentItem(self._items()[again])
        self._dress()

    def place(self) -> int:
        """Return the place of the chosen difference; -1 for none."""
        item = self.currentItem()
        if item is not None and item.parent() is not None:
            item = item.parent()
        return self.indexOfTopLevelItem(item) if item is not None else -1

    def choose(self, place: int) -> None:
        """Choose a difference."""
        item = self._items()[place]
        self.setCurrentItem(item)
        self.scrollToItem(item)

    def _items(self) -> list[QTreeWidgetItem]:
        found = (self.topLevelItem(row) for row in range(self.topLevelItemCount()))
        return [item for item in found if item is not None]

    @guard
    def _current_changed(self, _current: object, _previous: object) -> None:
        place = self.place()
        if 0 <= place < len(self._changes):
            self.chosen.emit(place)

    @guard
    def _dress(self, _theme: object = None) -> None:
        theme = Theme.current()
        muted = QBrush(theme.color("text_muted"))
        icons = {kind.sign: _sign_icon(kind, theme) for kind in {change.kind for change in self._changes}}
        for item, change in zip(self._items(), self._changes, strict=False):
            item.setIcon(0, icons[change.kind.sign])
            for inner in range(item.childCount()):
                field = item.child(inner)
                if field is not None:
                    field.setForeground(1, muted)


def _row(change: Change) -> QTreeWidgetItem:
    texts = [change.name, change.words, "", "", change.output, "", "", ""]
    if change.old is not None and change.new is not None and change.old.type != change.new.type:
        texts[2], texts[3] = change.old.type, change.new.type
    elif change.old is None or change.new is None:
        node = change.new or change.old
        texts[3 if change.old is None else 2] = node.type if node is not None else ""
    for number, column in _NUMBERS:
        texts[column] = delta_text(change.delta(number), bytes_text) if number > 1 else delta_text(change.delta(number))
    item = QTreeWidgetItem(texts)
    item.setData(0, Qt.ItemDataRole.AccessibleTextRole, row_words(texts, _SPOKEN))
    item.setToolTip(0, f"{change.name}: {change.words}")
    item.setToolTip(1, change.words)
    item.setToolTip(4, change.output)
    for _number, column in _NUMBERS:
        item.setTextAlignment(column, _AT_RIGHT)
    for field in change.fields:
        item.addChild(_field_row(field))
    return item


def _net_row(fields: Sequence[FieldChange]) -> QTreeWidgetItem:
    item = QTreeWidgetItem(["The net itself", "changed"])
    for field in fields:
        item.addChild(_field_row(field))
    return item


def _field_row(field: FieldChange) -> QTreeWidgetItem:
    item = QTreeWidgetItem(["", field.field, field.old or "\u2013", field.new or "\u2013"])
    words = f"{field.field}: {field.old or 'nothing'} became {field.new or 'nothing'}"
    item.setData(0, Qt.ItemDataRole.AccessibleTextRole, words)
    for column in (1, 2, 3):
        item.setToolTip(column, item.text(column))
    return item


def _sign_icon(kind: Kind, theme: Theme) -> QIcon:
    """Return the sign of a kind on its colour, as on the canvas."""
    picture = QPixmap(32, 32)
    picture.setDevicePixelRatio(2.0)
    picture.fill(QColor(0, 0, 0, 0))
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color(kind.role))
    painter.drawRoundedRect(0, 0, 16, 16, 4, 4)
    font = QFont()
    font.setPixelSize(13)
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(theme.color("surface"))
    painter.drawText(0, 0, 16, 16, int(Qt.AlignmentFlag.AlignCenter), kind.sign)
    painter.end()
    icon = QIcon(picture)
    icon.addPixmap(picture, QIcon.Mode.Selected)
    return icon
