"""What the panel shows of a folded block, or of more layers than are edited at once: a summary, and what to edit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.properties.facts import count_text, shape_text
from app.properties.pages.net_page import FactTable, type_rows
from app.theme import GRID
from app.wording import counted

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId
    from engine.graph.binding import Binding

__all__ = ["MOST_LAYERS", "ManyPage", "port_facts", "sum_facts"]

#: So many layers are edited at once.
MOST_LAYERS = 300
_MOST_PORTS = 6
_MOST_OFFERS = 6
#: The format of layers that are written ``layer``.
_TODAY = 2


def sum_facts(document: Document, nodes: Iterable[NodeId]) -> list[tuple[str, str]]:
    """Return what layers hold and cost together, as far as that is known, as pairs of a name and a value."""
    ids = set(nodes)
    facts = [("Layers", count_text(document.graph.layer_count(ids)))]
    costs = document.live.costs.count
    rows = [row for row in costs.rows if row.node in ids] if costs is not None else []
    known = [row.numbers for row in rows if row.numbers]
    if known:
        more = f" and {counted(len(rows) - len(known), 'layer')} unknown" if len(known) < len(rows) else ""
        facts.append(("Parameters", f"{count_text(sum(numbers[0] for numbers in known))}{more}"))
        facts.append(("Multiply-adds", f"{count_text(sum(numbers[1] for numbers in known))}{more}"))
    return facts


def port_facts(document: Document, nodes: Iterable[NodeId]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the blobs that go into some layers, and those that come out of them or are read by none, with shapes."""
    ids, graph = set(nodes), document.graph
    inputs: dict[tuple[NodeId, int], None] = {}
    outputs: dict[tuple[NodeId, int], None] = {}
    read: set[tuple[NodeId, int]] = set()
    for edge in graph.edges():
        port = edge.source, edge.top
        read.add(port)
        if (edge.source in ids) != (edge.target in ids):
            (outputs if edge.source in ids else inputs)[port] = None
    readings = graph.readings()
    for node in ids:
        loose = ((node, top) for top in range(len(readings[node].tops)) if (node, top) not in read)
        outputs.update(dict.fromkeys(loose))
    return _told(document, inputs), _told(document, outputs)


def _told(document: Document, ports: Iterable[tuple[NodeId, int]]) -> list[tuple[str, str]]:
    graph, shapes = document.graph, document.shapes
    told: list[tuple[str, str]] = []
    ordered = sorted(ports, key=lambda port: (graph.ordinal(port[0]), port[1]))
    for node, top in ordered[:_MOST_PORTS]:
        known = shapes.get(node)
        shape = known.tops[top] if known is not None and top < len(known.tops) else None
        told.append((graph.readings()[node].tops[top], shape_text(shape)))
    rest = len(ordered) - _MOST_PORTS
    return [*told, (f"{count_text(rest)} more", "")] if rest > 0 else told


class ManyPage(QWidget):
    """Summary of many layers, and buttons that select those of one type, which can be edited together.

    Attributes
    ----------
    asked : Signal(tuple of NodeId)
        These shall be selected.
    """

    asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(self)
        self._title.setObjectName("properties.many_title")
        self._title.setProperty("heading", True)
        self._title.setWordWrap(True)
        self._hint = QLabel(self)
        self._hint.setObjectName("properties.hint")
        self._hint.setProperty("muted", True)
        self._hint.setWordWrap(True)
        names = ("Together", "Goes in", "Comes out", "Layers by type")
        self._tables = [FactTable(name, self) for name in names]
        self._offers = QVBoxLayout()
        self._offers.setSpacing(GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self._title)
        layout.addWidget(self._hint)
        layout.addLayout(self._offers)
        for table in self._tables:
            layout.addWidget(table)
        layout.addStretch(1)

    def show_layers(self, document: Document, nodes: Sequence[NodeId]) -> None:
        """Show the summary of some layers."""
        readings = document.graph.readings()
        ids = tuple(node for node in nodes if node in readings)
        self._title.setText(_block_title(document, ids) or _counted(document, ids))
        by_type: dict[str, list[NodeId]] = {}
        for node in ids:
            if (read := readings[node]).field is not None:  # the net's own inputs are edited as fields of the net
                by_type.setdefault(_kind(read), []).append(node)
        counts = {name: len(found) for name, found in by_type.items()}
        if len(ids) > MOST_LAYERS:
            words = f"Up to {MOST_LAYERS} layers are edited at once."
        elif sum(map(len, by_type.values())) < len(ids):
            words = "The net's own inputs are edited in the text pane."
        else:
            words = "They are written in different formats."
        self._hint.setText(f"{words} Of these, layers of one type can be edited together:")
        self._offer(by_type)
        going, coming = port_facts(document, ids)
        for table, rows in zip(self._tables, (sum_facts(document, ids), going, coming, type_rows(counts)), strict=True):
            table.show_rows(rows)

    def _offer(self, by_type: Mapping[str, Sequence[NodeId]]) -> None:
        """Offer to select the layers of a type, where these can be edited at once."""
        while (entry := self._offers.takeAt(0)) is not None:
            widget = entry.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        offered = sorted(by_type.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        fitting = [(name, ids) for name, ids in offered if len(ids) <= MOST_LAYERS][:_MOST_OFFERS]
        for name, ids in fitting:
            count = f"the {count_text(len(ids))} {name} layers" if len(ids) > 1 else f"the {name} layer"
            button = QPushButton(f"Select {count}", self)
            button.setObjectName(f"properties.select.{name}")
            button.clicked.connect(partial(self._ask, tuple(ids)))
            self._offers.addWidget(button)
        if not fitting:
            self._hint.setText(f"Up to {MOST_LAYERS} layers are edited at once; of each type there are more here.")

    def _ask(self, ids: tuple[NodeId, ...], _checked: bool = False) -> None:
        self.asked.emit(ids)


def _counted(document: Document, ids: Sequence[NodeId]) -> str:
    """Return what is selected; the net's own inputs are none of its layers."""
    layers = document.graph.layer_count(ids)
    return counted(layers, "layer") if layers == len(ids) else f"{counted(layers, 'layer')} and the net's inputs"


def _kind(layer: Binding) -> str:
    """Return what layers that are edited together have in common: their type and how they are written."""
    return f"{layer.type or 'no type'}{'' if layer.version == _TODAY else ' (old format)'}"


def _block_title(document: Document, ids: Sequence[NodeId]) -> str:
    """Return what the block is called whose layers these are; empty where they are no block's."""
    blocks, chosen = document.positions.blocks, set(ids)
    for block in blocks:
        layers = blocks.layers(block.id)
        if len(layers) == len(chosen) and chosen.issuperset(layers):
            return f"{block.title} ({block.parts}\u00d7)" if block.parts > 1 else block.title
    return ""
