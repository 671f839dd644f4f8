"""How the cost table is painted: bars under the numbers, and the line of totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.costs.formats import TITLES, number_text, time_text
from app.costs.model import FIRST_NUMBER, FIRST_TIME, SHARE
from app.live.layercosts import CostCount
from app.qt import guard
from app.theme import GRID, Theme
from app.wording import counted

if TYPE_CHECKING:
    from engine.timing import NetTimes

__all__ = ["ShareDelegate", "TotalsLine"]

_BAR = 3
_PAD = 6  # as the stylesheet has it of items, with the margin that Qt adds


class ShareDelegate(QStyledItemDelegate):
    """Paints under a number how much it is of the largest in its column."""

    @guard
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        share = index.data(SHARE)
        if not share:
            return
        rect: QRect = option.rect.adjusted(GRID, 0, -GRID, 0)
        width = round(rect.width() * share)
        if width < _BAR:  # a dot, which looks like a part of the number
            return
        bar = QRect(rect.right() - width + 1, rect.bottom() - _BAR, width, _BAR)
        painter.fillRect(bar, Theme.current().mix("accent", "surface", 0.55))


class TotalsLine(QWidget):
    """The totals, each under the column of a table's header.

    Parameters
    ----------
    header : QHeaderView
        Its sections are followed.
    """

    def __init__(self, header: QHeaderView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("costs.totals")
        self._header = header
        self._count = CostCount()
        self._times: NetTimes | None = None
        self._is_stale = False
        header.sectionResized.connect(self._moved)
        header.geometriesChanged.connect(self._moved)

    @guard
    def _moved(self, *_section: int) -> None:
        self.update()

    def show_count(self, count: CostCount) -> None:
        """Show the totals of a count."""
        self._count = count
        words = ", ".join(f"{title} {text}" for title, text in zip(TITLES[FIRST_NUMBER:], self.texts(), strict=True))
        self.setAccessibleName(f"Totals: {words}")
        notes = [f"Not counted: {counted(count.unknown, 'layer')} of unknown shape."] if count.unknown else []
        notes += [f"{count.shared:,} values of shared parameters count once."] if count.shared else []
        self.setToolTip("\n".join(notes))
        self.update()

    def show_times(self, times: NetTimes | None, *, is_stale: bool) -> None:
        """Show how long whole passes took; None where nothing was measured."""
        self._times, self._is_stale = times, is_stale
        self.update()

    def time_texts(self) -> list[str]:
        """Return the times of whole passes as they are shown."""
        return (
            []
            if self._times is None
            else [time_text(each.median) for each in (self._times.forward, self._times.backward)]
        )

    def texts(self) -> list[str]:
        """Return the totals as they are shown."""
        if self._count.rows and self._count.unknown == len(self._count.rows):
            return ["?"] * len(self._count.totals)
        if not self._count.unknown:
            return [number_text(index, value) for index, value in enumerate(self._count.totals)]
        return [f"\u2265\u202f{number_text(*each)}" if each[1] else "?" for each in enumerate(self._count.totals)]

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 2 * GRID)

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = Theme.current()
        painter.fillRect(self.rect(), theme.color("surface_alt"))
        painter.setPen(theme.color("border"))
        painter.drawLine(self.rect().topLeft(), self.rect().topRight())
        if not self._count.rows:
            painter.end()
            return
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.setClipRect(0, 0, self._header.width(), self.height())
        for column, text in enumerate(["Total", "", "", *self.texts(), *self.time_texts()]):
            if self._header.isSectionHidden(column):
                continue
            if column == FIRST_TIME and self._is_stale:
                painter.setPen(theme.color("text_muted"))
            left = self._header.sectionViewportPosition(column)
            rect = QRect(left, 0, self._header.sectionSize(column), self.height()).adjusted(_PAD, 0, -_PAD - 1, 0)
            side = Qt.AlignmentFlag.AlignRight if column >= FIRST_NUMBER else Qt.AlignmentFlag.AlignLeft
            painter.drawText(rect, flags | side, text)
        painter.end()
