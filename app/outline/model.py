"""The tree of layers: each layer with what it reads and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QBrush

from app.canvas.spoken import spoken
from app.icons import icon
from app.live.shapes import shape_text
from app.qt import guard
from app.theme import Theme

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Events, Node, NodeId

__all__ = ["COLUMNS", "OutlineModel"]

COLUMNS = ("Layer", "Type", "Output")
_MARKS = {"error": "Error: ", "warning": "Warning: "}
_TEXT_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.ToolTipRole,
)
Index = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()


@dataclass(frozen=True, slots=True)
class _Ports:
    """What a layer read and wrote when its rows were made."""

    bottoms: tuple[str, ...]
    tops: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.bottoms) + len(self.tops)


class OutlineModel(QAbstractItemModel):
    """Layers in document order, made row by row as a view asks for them.

    A row of a port carries its layer's id as the index's internal id; a row of a layer carries 0.

    Attributes
    ----------
    is_watched : callable
        Whether anybody sees the rows; while nobody does, they stay what they are until :meth:`catch_up`.
    changing : bool
        Whether rows come and go, so that what a view selects then is no wish of the user's.
    settled : Signal()
        Rows have come or gone.
    facts_changed : Signal()
        Any row may show other shapes and problems; views paint themselves anew.
    """

    settled = Signal()
    facts_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document: Document | None = None
        self._pattern = ""
        self._ids: list[NodeId] = []
        self._rows: dict[NodeId, int] = {}
        self._ports: dict[NodeId, _Ports] = {}
        self._missed: set[NodeId] | None = None
        self.is_watched: Callable[[], bool] = lambda: True
        self.changing = False

    def set_document(self, document: Document | None) -> None:
        """Show another document."""
        old, self._document = self._document, document
        if old is not None:
            old.changed.disconnect(self._changed)
            for signal in (old.shapes_changed, old.diagnostics_changed, old.status_changed, old.view_changed):
                signal.disconnect(self._facts_changed)
        if document is not None:
            document.changed.connect(self._changed)
            for signal in (
                document.shapes_changed,
                document.diagnostics_changed,
                document.status_changed,
                document.view_changed,
            ):
                signal.connect(self._facts_changed)
        self._reset()

    def set_pattern(self, pattern: str) -> None:
        """Show only layers with all the words of a text in their name, type or blobs."""
        self._pattern = pattern
        self._reset()

    def _reset(self) -> None:
        self.changing = True
        self.beginResetModel()
        self._ports.clear()
        self._missed = None
        self._take(self._found())
        self.endResetModel()
        self.changing = False
        self.settled.emit()

    # What is where

    @property
    def ids(self) -> Sequence[NodeId]:
        """The layers that are shown, in order."""
        return self._ids

    def node_of(self, index: Index) -> NodeId | None:
        """The layer that a row is about; None for no row."""
        if not index.isValid():
            return None
        return self._ids[index.row()] if not index.internalId() else _id(index)

    def row_of(self, node_id: NodeId) -> int | None:
        """The number of a layer's row; None where it is not shown."""
        return self._rows.get(node_id)

    def index_of(self, node_id: NodeId) -> QModelIndex:
        """The row of a layer; an invalid index where it is not shown."""
        row = self._rows.get(node_id)
        return self.index(row, 0) if row is not None else QModelIndex()

    def linked(self, index: Index) -> NodeId | None:
        """The layer at the other end of a port's row: the one it reads from, or the first that reads it."""
        document, node_id = self._document, self.node_of(index)
        if document is None or node_id is None or not index.internalId():
            return None
        bottoms = len(self._ports_of(node_id).bottoms)
        if index.row() < bottoms:
            edges = document.graph.edges_in(node_id)
            return next((edge.source for edge in edges if edge.bottom == index.row()), None)
        edges = document.graph.edges_out(node_id)
        return next((edge.target for edge in edges if edge.top == index.row() - bottoms), None)

    def _found(self) -> list[NodeId]:
        document = self._document
        if document is None:
            return []
        words = self._pattern.lower().split()
        if not words:
            return list(document.graph.node_ids())

        readings = document.graph.readings()

        def fits(node_id: NodeId) -> bool:
            node = readings[node_id]
            text = " ".join((node.name, node.type, *node.bottoms, *node.tops)).lower()
            return all(word in text for word in words)

        return [node_id for node_id in document.graph.node_ids() if fits(node_id)]

    def _take(self, ids: list[NodeId]) -> None:
        self._ids = ids
        self._rows = {node_id: row for row, node_id in enumerate(ids)}

    def _ports_of(self, node_id: NodeId) -> _Ports:
        ports = self._ports.get(node_id)
        if ports is None:
            assert self._document is not None
            node = self._document.graph.node(node_id)
            ports = self._ports[node_id] = _Ports(node.bottoms, node.tops)
        return ports

    # Following the document

    @guard
    def _changed(self, events: Events) -> None:
        self._missed = (self._missed or set()) | events.changed
        if self.is_watched():
            self.catch_up()

    def catch_up(self) -> None:
        """Follow the document where it was not followed, for nobody saw the rows."""
        if self._missed is None or self._document is None:
            return
        changed, self._missed = self._missed, None
        self.changing = True
        for node_id in changed & self._ports.keys():
            if node_id in self._rows and node_id in self._document.graph:
                self._renew_ports(node_id)
        self._replace(self._found())
        self.changing = False
        self.settled.emit()
        for node_id in changed:
            index = self.index_of(node_id)
            if index.isValid():
                self.dataChanged.emit(index, index.siblingAtColumn(len(COLUMNS) - 1))

    def _renew_ports(self, node_id: NodeId) -> None:
        assert self._document is not None
        node, old = self._document.graph.node(node_id), self._ports[node_id]
        new = _Ports(node.bottoms, node.tops)
        if new == old:
            return
        row = self.index_of(node_id)
        if old.count:
            self.beginRemoveRows(row, 0, old.count - 1)
            self._ports[node_id] = _Ports((), ())
            self.endRemoveRows()
        if new.count:
            self.beginInsertRows(row, 0, new.count - 1)
        self._ports[node_id] = new
        if new.count:
            self.endInsertRows()

    def _replace(self, new: list[NodeId]) -> None:
        """Show other layers; rows outside of the part that differs stay what they are."""
        old = self._ids
        if new == old:
            return
        start = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        most = min(len(old), len(new)) - start
        same = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
        gone, come = old[start : len(old) - same], new[start : len(new) - same]
        if gone:
            self.beginRemoveRows(QModelIndex(), start, start + len(gone) - 1)
            self._take([*old[:start], *old[len(old) - same :]])
            for node_id in gone:
                self._ports.pop(node_id, None)
            self.endRemoveRows()
        if come:
            self.beginInsertRows(QModelIndex(), start, start + len(come) - 1)
            self._take(new)
            self.endInsertRows()

    @guard
    def _facts_changed(self, _value: object = None) -> None:
        # That all rows have changed would have a view look at each, those out of sight too.
        self.facts_changed.emit()

    # The model's own verbs

    def columnCount(self, parent: Index = _NONE) -> int:
        return len(COLUMNS)

    def rowCount(self, parent: Index = _NONE) -> int:
        if not parent.isValid():
            return len(self._ids)
        if parent.internalId() or parent.column():
            return 0
        return self._ports_of(self._ids[parent.row()]).count

    def hasChildren(self, parent: Index = _NONE) -> bool:
        # A view asks this of every row, those out of sight too: nothing is made for it.
        if not parent.isValid():
            return bool(self._ids)
        if parent.internalId() or parent.column() or self._document is None:
            return False
        node_id = self._ids[parent.row()]
        known = self._ports.get(node_id) or self._document.graph.readings().get(node_id)
        return known is not None and bool(known.bottoms or known.tops)

    def index(self, row: int, column: int, parent: Index = _NONE) -> QModelIndex:
        if not parent.isValid():
            inside = 0 <= row < len(self._ids) and 0 <= column < len(COLUMNS)
            return self.createIndex(row, column, 0) if inside else QModelIndex()
        if not 0 <= row < self.rowCount(parent) or not 0 <= column < len(COLUMNS):
            return QModelIndex()
        return self.createIndex(row, column, int(self._ids[parent.row()]))

    def parent(self, index: Index = _NONE) -> QModelIndex:  # type: ignore[override]
        if not index.isValid() or not index.internalId():
            return QModelIndex()
        row = self._rows.get(_id(index))
        return self.createIndex(row, 0, 0) if row is not None else QModelIndex()

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        shown = orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole
        return COLUMNS[section] if shown else None

    @guard(default=None)
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        document, node_id = self._document, self.node_of(index)
        if document is None or node_id is None or node_id not in document.graph:
            return None
        if index.internalId():
            return self._port_data(document, node_id, index, role)
        return self._layer_data(document, node_id, index.column(), role)

    def _layer_data(self, document: Document, node_id: NodeId, column: int, role: int) -> Any:
        node = document.graph.node(node_id)
        if role == Qt.ItemDataRole.DisplayRole:
            return (node.name or "(no name)", _kind(document, node), _shape(document, node_id, 0))[column]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(document, node_id) if column == 0 else None
        severity, problems = document.problems_of(node_id)
        if role == Qt.ItemDataRole.ToolTipRole:
            told = "\n".join(f"{_MARKS.get(severity, '')}{problem}" for problem in problems[:4])
            return told or self._layer_data(document, node_id, column, Qt.ItemDataRole.DisplayRole) or None
        if role == Qt.ItemDataRole.DecorationRole and column == 0 and severity:
            return icon("warning-circle" if severity == "error" else "warning")
        if role == Qt.ItemDataRole.ForegroundRole and (column or not document.in_view(node_id)):
            return QBrush(Theme.current().color("text_muted"))
        return None

    def _port_data(self, document: Document, node_id: NodeId, index: Index, role: int) -> Any:
        if role == Qt.ItemDataRole.ForegroundRole:
            return QBrush(Theme.current().color("text_muted"))
        if role not in _TEXT_ROLES:
            return None
        ports, row = self._ports_of(node_id), index.row()
        top = row - len(ports.bottoms)
        if index.column() == 2:
            return _shape(document, node_id, top) if top >= 0 else None
        if index.column():
            return None
        return _reads(document, node_id, row, ports) if top < 0 else _writes(document, node_id, top, ports)


def _id(index: Index) -> NodeId:
    return cast("NodeId", index.internalId())


def _kind(document: Document, node: Node) -> str:
    graph = document.graph
    phase = next(iter(node.phases)) + " only" if len(node.phases) == 1 else ""
    state = "bypassed" if graph.is_bypassed(node.id) else "frozen" if graph.is_frozen(node.id) else ""
    return ", ".join(filter(None, (node.type or "(no type)", phase, state)))


def _shape(document: Document, node_id: NodeId, top: int) -> str:
    known = document.shapes.get(node_id)
    shape = known.tops[top] if known is not None and top < len(known.tops) else None
    return "" if shape is None else shape_text(shape)


def _reads(document: Document, node_id: NodeId, bottom: int, ports: _Ports) -> str:
    name = ports.bottoms[bottom]
    if name == "?":
        return f"input {bottom + 1} is not connected"
    graph = document.graph
    sources = dict.fromkeys(edge.source for edge in graph.edges_in(node_id) if edge.bottom == bottom)
    names = dict.fromkeys(graph.node(source).name for source in sources)
    return f"reads {name} from {', '.join(names)}" if names else f"reads {name}, which nothing writes"


def _writes(document: Document, node_id: NodeId, top: int, ports: _Ports) -> str:
    graph = document.graph
    targets = dict.fromkeys(edge.target for edge in graph.edges_out(node_id) if edge.top == top)
    names = dict.fromkeys(graph.node(target).name for target in targets)
    return f"writes {ports.tops[top]}, read by {', '.join(names) if names else 'nothing'}"
