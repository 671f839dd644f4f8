"""What the net costs, below the fields: it follows every edit, and while one is tried out it says what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.costs.formats import COUNTED, number_text
from app.live.layercosts import NUMBERS, CostCount
from app.live.shapes import ABOUT
from app.qt import guard
from app.theme import GRID, Theme
from app.widgets.elidedlabel import ElidedLabel

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["CostStrip", "change_text"]

_SHOWN = (("parameters", "params"), ("multiply_adds", "multiply-adds"), ("training", "memory"))


def change_text(before: int, after: int) -> str:
    """Say by how much a number changed: ``+12 %``, ``×2.5`` from double on; nothing where it did not."""
    if before == after or before <= 0:
        return "" if before == after else "new"
    ratio = after / before
    if ratio >= 2:
        return f"\u00d7{ratio:.3g}"
    percent = (ratio - 1) * 100
    figures = f"{percent:+.2g}" if abs(percent) < 10 else f"{percent:+.0f}"
    return f"{figures} %".replace("-", "\u2212")


class CostStrip(QWidget):
    """Parameters, multiply-adds and memory of the net that is looked at.

    Attributes
    ----------
    settled : CostCount
        The net before the edit that is tried out.
    count : CostCount
        The net as it is shown.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("properties.costs")
        self.setAccessibleName("Costs of the net")
        self.settled = self.count = CostCount()
        self._document: Document | None = None
        grid = QGridLayout(self)
        grid.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        grid.setHorizontalSpacing(3 * GRID)
        grid.setVerticalSpacing(0)
        self.cells: list[tuple[QLabel, QLabel]] = []
        for column, (name, title) in enumerate(_SHOWN):
            heading, value, change = ElidedLabel(title, self), QLabel(self), QLabel(self)
            heading.setProperty("muted", True)
            value.setObjectName(f"properties.costs.{name}")
            change.setObjectName(f"properties.costs.{name}.change")
            for label in (heading, value, change):
                label.setToolTip(COUNTED[name])
            for row, label in enumerate((heading, value, change)):
                grid.addWidget(label, row, column)
            grid.setColumnStretch(column, heading.sizeHint().width())
            self.cells.append((value, change))

    def set_document(self, document: Document | None) -> None:
        """Show the costs of another net, or of none."""
        old = self._document
        if old is not None:
            old.live.costs.changed.disconnect(self._counted)
            old.undo_stack.indexChanged.disconnect(self._settle)
        self._document = document
        self.settled = self.count = CostCount()
        self._tell()
        if document is not None:
            costs = document.live.costs
            costs.changed.connect(self._counted)
            document.undo_stack.indexChanged.connect(self._settle)
            if costs.count is None:
                costs.refresh()
            else:
                self._counted()

    @guard
    def _settle(self, _index: int) -> None:
        """What was tried out is kept, or another step is made: later changes are told from here."""
        if self._document is not None:
            self._document.live.costs.refresh()

    @guard
    def _counted(self) -> None:
        document = self._document
        if document is None or document.live.costs.count is None:
            return
        self.count = document.live.costs.count
        if not document.is_trying:
            self.settled = self.count
        self._tell()

    def _tell(self) -> None:
        known = bool(self.count.rows) and self.count.unknown < len(self.count.rows)
        self.setVisible(known)
        for (value, change), (name, _title) in zip(self.cells, _SHOWN, strict=True):
            index = NUMBERS.index(name)
            number = self.count.totals[index]
            text = number_text(index, number)
            about = ABOUT if self.count.assumed and number else ""
            value.setText(f"{about}{text}" if not self.count.unknown else f"\u2265 {text}" if number else "?")
            change.setText(change_text(self.settled.totals[index], number) or " ")

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), 1, Theme.current().color("border"))
        painter.end()
