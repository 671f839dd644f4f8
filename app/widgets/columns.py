"""Columns that share the width of a list; where it is narrow, the last ones go first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QHeaderView, QTreeView

from app.qt import guard

__all__ = ["Column", "ShedColumns", "SqueezedColumns"]


#: Pixels that a column keeps while others are dragged.
_LEAST = 32
#: Height of a line that the widths of :class:`SqueezedColumns` are meant for, in pixels.
_LINE = 15


@dataclass(frozen=True, slots=True)
class Column:
    """How wide a column is.

    Attributes
    ----------
    least : int
        Pixels that it needs to be read.
    share : int
        Its part of what is left when all that are shown have these.
    """

    least: int
    share: int = 0


class ShedColumns(QObject):
    """Keeps the columns of a list as wide as the list: none is cut, and it never scrolls sideways.

    Columns that do not fit are hidden, from the last one on; the first always stays. One that was dragged keeps the
    width that it got.

    Parameters
    ----------
    view : QTreeView
        The list, which owns this.
    columns : sequence of Column
        One for each, from the left.
    """

    def __init__(self, view: QTreeView, columns: Sequence[Column]) -> None:
        super().__init__(view)
        self._view, self._first, self._columns = view, columns, list(columns)
        self._own: dict[int, int] = {}
        self._fitting = False
        header = view.header()
        header.setMinimumSectionSize(_LEAST)
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        view.viewport().installEventFilter(self)
        header.sectionResized.connect(self._dragged)
        self.fit()

    def need(self, widths: Mapping[int, int]) -> None:
        """Let what now stands in some columns be read whole: they need so many pixels, at least what they had first."""
        wanted = [
            replace(column, least=max(column.least, widths.get(place, 0))) for place, column in enumerate(self._first)
        ]
        if wanted != self._columns:
            self._columns = wanted
            self.fit()

    def fit(self) -> None:
        """Give each column its width anew."""
        self._fitting = True
        room = self._view.viewport().width()
        shown = len(self._columns)
        while shown > 1 and sum(each.least for each in self._columns[:shown]) > room:
            shown -= 1
        widths = self._widths(shown, room)
        for place in range(len(self._columns)):
            self._view.setColumnHidden(place, place >= shown)
            if place < shown:
                self._view.setColumnWidth(place, widths[place])
        self._fitting = False

    def _widths(self, shown: int, room: int) -> dict[int, int]:
        """Widths of the first columns: those that were dragged keep theirs, and the others give way to them."""
        own = {place: width for place, width in self._own.items() if place < shown - 1}
        others = [place for place in range(shown) if place not in own]
        most = max(room - _LEAST * len(others), _LEAST * len(own))
        if sum(own.values()) > most:
            own = {place: width * most // sum(own.values()) for place, width in own.items()}
        left = room - sum(own.values())
        least = sum(self._columns[place].least for place in others)
        shares = sum(self._columns[place].share for place in others) or 1
        for place in others:
            column = self._columns[place]
            spare = (left - least) * column.share // shares
            own[place] = column.least + spare if left >= least else max(_LEAST, column.least * left // least)
        return own

    @guard
    def _dragged(self, column: int, _before: int, width: int) -> None:
        last = max((each for each in range(len(self._columns)) if not self._view.isColumnHidden(each)), default=0)
        if not self._fitting and width and column != last:  # the last one only takes what is left
            self._own[column] = width

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.fit()
        return super().eventFilter(watched, event)


class SqueezedColumns(QObject):
    """Keeps a list with many columns as wide as its view, as far as these can be read.

    All columns can be dragged. Where there is room, one gets what is left; where there is little, all give way
    together; where even that is too wide, some are hidden, and then the list scrolls sideways.

    Parameters
    ----------
    view : QTreeView
        The list, which owns this.
    wide, least : sequence of int
        Pixels that each column has and that it needs, from the left; more with large letters.
    roomy : int
        The column that gets what is left.
    shed : sequence of int
        Columns that are hidden where there is no room, the first to go first. Others may be hidden by whoever uses
        the list, who calls :meth:`fit` then.
    """

    def __init__(
        self, view: QTreeView, wide: Sequence[int], least: Sequence[int], *, roomy: int = 0, shed: Sequence[int] = ()
    ) -> None:
        super().__init__(view)
        self._view, self._header = view, view.header()
        self._wide, self._least, self._roomy, self._shed = list(wide), tuple(least), roomy, tuple(shed)
        self._fitting = False
        self._header.setStretchLastSection(False)
        self._header.setMinimumSectionSize(min(least))
        self._header.installEventFilter(self)
        self._header.sectionResized.connect(self._dragged)
        self.fit()

    def fit(self) -> None:
        """Give each column its width anew."""
        self._fitting = True
        for column in self._shed:
            self._view.setColumnHidden(column, False)
        room, shown = self._header.width(), self._shown()
        for column in self._shed:
            if sum(self._least[each] for each in shown) * self._scale() > room:
                self._view.setColumnHidden(column, True)
                shown.remove(column)
        scale = self._scale()
        room = int(room / scale)
        wide, least = (sum(sizes[each] for each in shown) for sizes in (self._wide, self._least))
        share = min(1.0, max(0.0, (room - least) / (wide - least))) if wide > least else 1.0
        widths = {each: int(self._least[each] + (self._wide[each] - self._least[each]) * share) for each in shown}
        widths = {each: int(width * scale) for each, width in widths.items()}
        widths[self._roomy] += max(0, self._header.width() - sum(widths.values()))
        for each, width in widths.items():
            self._header.resizeSection(each, width)
        self._fitting = False

    def _shown(self) -> list[int]:
        return [each for each in range(len(self._wide)) if not self._view.isColumnHidden(each)]

    @guard
    def _dragged(self, column: int, _before: int, width: int) -> None:
        if not self._fitting and width:
            self._wide[column] = max(round(width / self._scale()), self._least[column])

    def _scale(self) -> float:
        """How much more room large letters need."""
        return max(1.0, self._header.fontMetrics().lineSpacing() / _LINE)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.fit()
        return super().eventFilter(watched, event)
