"""What the panel shows while nothing is selected: the net as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from app.live.shapes import ABOUT
from app.properties.editors.edits import NameEdit
from app.properties.facts import count_text
from app.qt import guard
from app.theme import GRID, Theme
from app.widgets.elidedlabel import ElidedLabel
from app.wording import counted

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["FactTable", "NetPage", "net_facts", "type_counts", "type_rows"]

_MOST_TYPES = 8


def net_facts(document: Document) -> list[tuple[str, str]]:
    """Return the summary of a net as pairs of a name and a value."""
    graph = document.graph
    # The readings, for records of all layers take a big net longer than a step of the user may.
    masks = Counter(layer.mask for layer in graph.readings().values() if layer.field is not None)
    facts = [("Layers", count_text(masks.total()))]
    for phase in ("TRAIN", "TEST"):
        states = sum(1 << place for place, state in enumerate(graph.states) if state.phase == phase)
        there = sum(count for mask, count in masks.items() if mask & states)
        if there != masks.total():
            facts.append((f"in {phase}", count_text(there)))
    costs = document.live.costs.count
    if costs is not None and costs.unknown < len(costs.rows):
        more = f" and {counted(costs.unknown, 'layer')} unknown" if costs.unknown else ""
        about = ABOUT if costs.assumed and costs.totals[0] else ""
        facts.append(("Parameters", f"{about}{count_text(costs.totals[0])}{more}"))
    facts.append(("Dialect", document.dialect_choice.words))
    return facts


def type_counts(document: Document) -> list[tuple[str, str]]:
    """Return how many layers there are of each type, the most common first."""
    layers = document.graph.readings().values()
    return type_rows(Counter(layer.type or "no type" for layer in layers if layer.field is not None))


def type_rows(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return types and how many layers they have, the most common first; the rarest in one line."""
    types = Counter(counts).most_common()
    shown = _MOST_TYPES if len(types) > _MOST_TYPES + 1 else len(types)
    found = [(name, count_text(count)) for name, count in types[:shown]]
    rest = sum(count for _, count in types[shown:])
    return [*found, ("other types", count_text(rest))] if rest else found


class FactTable(QWidget):
    """Names and values below each other, under a title."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        heading = QLabel(title, self)
        heading.setProperty("heading", True)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 2 * GRID, 0, 0)
        self._grid.setHorizontalSpacing(4 * GRID)
        self._grid.setVerticalSpacing(GRID)
        self._grid.setColumnStretch(0, 1)
        self._grid.addWidget(heading, 0, 0, 1, 2)
        self._cells: list[tuple[QLabel, ElidedLabel]] = []

    def show_rows(self, rows: list[tuple[str, str]]) -> None:
        """Show these pairs; hide the table when there are none."""
        while len(self._cells) < len(rows):
            name, value = QLabel(self), ElidedLabel("", self)
            name.setProperty("muted", True)
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._grid.addWidget(name, len(self._cells) + 1, 0)
            self._grid.addWidget(value, len(self._cells) + 1, 1, Qt.AlignmentFlag.AlignRight)
            self._cells.append((name, value))
        for index, cells in enumerate(self._cells):
            for column, label in enumerate(cells):
                label.setVisible(index < len(rows))
                label.setText(rows[index][column] if index < len(rows) else "")
        self.setVisible(bool(rows))

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), 1, Theme.current().color("border"))
        painter.end()


class NetPage(QWidget):
    """Name and summary of the net, and what to do next.

    Attributes
    ----------
    renamed : Signal(str)
        A new name of the net was committed.
    """

    renamed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = NameEdit(self)
        self.name.setObjectName("properties.net_name")
        self.name.setAccessibleName("Name of the net")
        self.name.setProperty("flat", True)
        self.name.setToolTip("Name of the net")
        self.name.committed.connect(self.renamed)
        self.problem = QLabel(self)
        self.problem.setWordWrap(True)
        self.problem.setProperty("problem", True)
        self.problem.hide()
        self.hint = QLabel(self)
        self.hint.setObjectName("properties.hint")
        self.hint.setWordWrap(True)
        self.hint.setProperty("muted", True)
        self._facts = FactTable("Net", self)
        self._types = FactTable("Layers by type", self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self.name)
        layout.addWidget(self.problem)
        layout.addWidget(self.hint)
        layout.addWidget(self._facts)
        layout.addWidget(self._types)
        layout.addStretch(1)

    def show_net(self, document: Document) -> None:
        """Show the summary of a document."""
        self.name.show_value(document.graph.net_name or None, default="unnamed net")
        facts = net_facts(document)
        empty = facts[0][1] == "0"
        self.hint.setText(
            "The net is empty. Add the first layer on the canvas, or drag one there from the palette."
            if empty
            else "Select a layer to see and edit its fields; select several of one type to edit them at once."
        )
        self._facts.show_rows([] if empty else facts)
        self._types.show_rows(type_counts(document))

    def say(self, problem: str) -> None:
        """Say what is wrong with the name; nothing for an empty text."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.name.set_invalid(bool(problem))
