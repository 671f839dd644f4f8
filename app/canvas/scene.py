"""The scene: items for the nodes and wires of one document.

A freshly opened net and a live change take the same road: :meth:`CanvasScene.replay` turns events into items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtWidgets import QGraphicsScene

from app.canvas.describe import describe
from app.canvas.edgeitem import EdgeItem
from app.canvas.face import DOCK_GAP, NODE_WIDTH
from app.canvas.nodeitem import NodeItem
from app.canvas.overview import Overview
from app.canvas.style import CanvasStyle
from app.qt import Debounce, guard
from app.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.document import Document
    from app.placement import Point
    from engine.graph import Edge, Events, NodeId

__all__ = ["CanvasScene"]

_MARGIN = 4000.0
_DOCK_REACH = 10.0


class CanvasScene(QGraphicsScene):
    """Shows one document.

    Attributes
    ----------
    nodes, edges : dict
        Items by node id, and by edge.
    content_changed : Signal()
        Something was added, removed or moved.
    """

    content_changed = Signal()

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.BspTreeIndex)
        self.document = document
        self.style_set = CanvasStyle(Theme.current())
        self.nodes: dict[NodeId, NodeItem] = {}
        self.edges: dict[Edge, EdgeItem] = {}
        self.overview = Overview(self)
        self.selected_edge: Edge | None = None
        self._by_port: dict[tuple[NodeId, int], dict[Edge, None]] = {}
        self._marked: set[NodeId] = set()
        self._faces_due = Debounce(self.refresh_faces, 0, self)
        document.changed.connect(self._document_changed)
        document.positions.moved.connect(self._nodes_moved)
        document.selection.changed.connect(self._selection_changed)
        document.shapes_changed.connect(self._faces_due.trigger)
        document.diagnostics_changed.connect(self._faces_due.trigger)
        document.status_changed.connect(self._faces_due.trigger)
        document.phase_view_changed.connect(self._faces_due.trigger)
        Theme.notifier().changed.connect(self.set_theme)
        self._build()

    def close(self) -> None:
        """Let go of the document."""
        Theme.notifier().changed.disconnect(self.set_theme)
        self._faces_due.cancel()
        self.clear()
        self.nodes.clear()
        self.edges.clear()

    # Replaying the model

    def _build(self) -> None:
        graph = self.document.graph
        nodes = graph.nodes()
        self._add_nodes(node.id for node in nodes)
        self._add_edges(graph.edges())
        self._dock_all()
        self.fit_scene_rect()
        self.content_changed.emit()

    @guard
    def _document_changed(self, events: Events) -> None:
        self.replay(events)

    def replay(self, events: Events) -> None:
        """Bring the items in line with the graph after a change."""
        self._remove_edges(events.edges_removed)
        for node_id in events.removed:
            item = self.nodes.pop(node_id, None)
            if item is not None:
                self._marked.discard(node_id)
                self.removeItem(item)
        self._add_nodes(node_id for node_id in events.added)
        touched = {node_id for node_id in events.changed if node_id in self.nodes}
        for node_id in touched:
            self._refresh_face(self.nodes[node_id])
        self._add_edges(events.edges_added)
        self._dock_all()
        self.overview.forget()
        self.fit_scene_rect(grow_only=True)
        self.content_changed.emit()

    def _add_nodes(self, ids: Iterable[NodeId]) -> None:
        document = self.document
        for node_id in ids:
            if node_id in self.nodes:
                continue
            item = NodeItem(node_id, describe(document, document.graph.node(node_id)), self.style_set)
            point = document.positions.get(node_id)
            if point is not None:
                item.setPos(point.x, point.y)
            self.nodes[node_id] = item
            self.addItem(item)
            if node_id in document.selection:
                item.marked = True
                self._marked.add(node_id)

    def _add_edges(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            source, target = self.nodes.get(edge.source), self.nodes.get(edge.target)
            if edge in self.edges or source is None or target is None:
                continue
            item = EdgeItem(edge, source, target, self.style_set)
            item.phase = next(iter(edge.phases)) if len(edge.phases) == 1 else ""
            item.ghost = self._edge_ghost(edge)
            self.edges[edge] = item
            source.edges.add(item)
            target.edges.add(item)
            target.wired_inputs[edge.bottom] = target.wired_inputs.get(edge.bottom, 0) + 1
            self._by_port.setdefault((edge.source, edge.top), {})[edge] = None
            item.wanted = self._edge_label(edge)
            item.update_path()
            self.addItem(item)

    def _remove_edges(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            item = self.edges.pop(edge, None)
            if item is None:
                continue
            item.source.edges.discard(item)
            item.target.edges.discard(item)
            wired = item.target.wired_inputs
            wired[edge.bottom] -= 1
            if not wired[edge.bottom]:
                del wired[edge.bottom]
            item.source.update()
            item.target.update()
            siblings = self._by_port[edge.source, edge.top]
            del siblings[edge]
            self.removeItem(item)
            if self.selected_edge == edge:
                self.selected_edge = None
            for sibling in siblings:
                self.edges[sibling].set_label(self._edge_label(sibling))
                break

    # Faces

    def refresh_faces(self) -> None:
        """Describe all nodes anew; only those that look different are painted."""
        for item in self.nodes.values():
            self._refresh_face(item)
        for edge, edge_item in self.edges.items():
            edge_item.set_label(self._edge_label(edge))
            ghost = self._edge_ghost(edge)
            if ghost != edge_item.ghost:
                edge_item.ghost = ghost
                edge_item.update()
        self._dock_all()
        self.overview.forget()

    def _refresh_face(self, item: NodeItem) -> None:
        node = self.document.graph.node(item.node_id)
        old_height = item.face.height
        followers = self._followers(item) if item.face.height else ()
        if item.set_face(describe(self.document, node)):
            shift = item.face.height - old_height
            # What hangs under the node follows its lower edge; undo changes the height back, and this too.
            for follower in followers:
                point = self.document.positions[follower.node_id]
                self.document.positions.place(follower.node_id, point.x, point.y + shift)
                follower.setPos(point.x, point.y + shift)
            for changed in (item, *followers):
                for edge in changed.edges:
                    edge.update_path()

    def _edge_label(self, edge: Edge) -> str:
        """Shape on the first wire of a port; the others stay plain."""
        first = next(iter(self._by_port.get((edge.source, edge.top), ())), None)
        if first != edge:
            return ""
        outputs = self.nodes[edge.source].face.outputs
        return outputs[edge.top].shape if edge.top < len(outputs) else ""

    def _edge_ghost(self, edge: Edge) -> bool:
        view = self.document.phase_view
        return view != "all" and view not in {str(phase) for phase in edge.phases}

    # Places

    @guard
    def _nodes_moved(self, ids: frozenset[NodeId]) -> None:
        positions = self.document.positions
        self.show_at({node_id: positions[node_id] for node_id in ids if node_id in self.nodes})
        self._dock_all()
        self.fit_scene_rect(grow_only=True)
        self.content_changed.emit()

    def show_at(self, points: Mapping[NodeId, Point]) -> None:
        """Show nodes at places without telling the document, as while dragging."""
        edges: set[EdgeItem] = set()
        for node_id, point in points.items():
            item = self.nodes[node_id]
            item.setPos(point.x, point.y)
            edges |= item.edges
        for edge in edges:
            if edge.via and not (edge.source.node_id in points and edge.target.node_id in points):
                edge.via = ()
            edge.update_path()
        self.overview.forget()

    def set_routes(self, routes: Mapping[Edge, Iterable[tuple[float, float]]]) -> None:
        """Lead wires through the points that the layout found; the others run free."""
        for edge, item in self.edges.items():
            item.set_via([QPointF(x, y) for x, y in routes.get(edge, ())])
        self.overview.forget()

    def host_of(self, item: NodeItem) -> NodeItem | None:
        """The node that an in-place layer works on, or None."""
        if not item.face.chip:
            return None
        return next((edge.source for edge in item.edges if edge.target is item and edge.edge.bottom == 0), None)

    def root_of(self, item: NodeItem) -> NodeItem:
        """The node under which something hangs, however long the chain; a node that hangs under none itself."""
        for _step in range(len(self.nodes)):
            host = self.host_of(item) if item.docked else None
            if host is None:
                break
            item = host
        return item

    def _followers(self, item: NodeItem) -> list[NodeItem]:
        """All that hangs under a node, directly or in a chain."""
        found: list[NodeItem] = []
        waiting = [item]
        while waiting:
            host = waiting.pop()
            for edge in host.edges:
                below = edge.target
                if edge.source is host and below.docked and edge.docked and below not in found:
                    found.append(below)
                    waiting.append(below)
        return found

    def with_followers(self, ids: Iterable[NodeId]) -> list[NodeId]:
        """Return ``ids`` and what hangs under them."""
        found = dict.fromkeys(ids)
        for node_id in list(found):
            found.update((item.node_id, None) for item in self._followers(self.nodes[node_id]))
        return list(found)

    def dock_point(self, host: NodeItem) -> QPointF:
        """Where the next in-place layer hangs under a node."""
        last = [host, *self._followers(host)][-1]
        return QPointF(last.pos().x(), last.scene_body().bottom() + DOCK_GAP)

    def _dock_all(self) -> None:
        for item in self.nodes.values():
            if not item.face.chip:
                if item.docked:
                    self._set_docked(item, False)
                continue
            host = self.host_of(item)
            docked = False
            if host is not None:
                gap = item.pos().y() - host.pos().y() - host.face.height
                docked = abs(item.pos().x() - host.pos().x()) < 1.0 and -1.0 <= gap <= _DOCK_REACH
            if docked != item.docked:
                self._set_docked(item, docked)

    @staticmethod
    def _set_docked(item: NodeItem, docked: bool) -> None:
        item.docked = docked
        item.update()
        for edge in item.edges:
            edge.update_path()

    def content_rect(self, ids: Iterable[NodeId] | None = None) -> QRectF:
        """Rectangle around some or all nodes, empty for none."""
        rect = QRectF()
        for node_id in self.nodes if ids is None else ids:
            rect = rect.united(self.nodes[node_id].scene_body())
        return rect

    def fit_scene_rect(self, *, grow_only: bool = False) -> None:
        """Make room to pan around the net; the index is rebuilt only when the net outgrows it."""
        content = self.content_rect()
        if grow_only and self.sceneRect().adjusted(600.0, 600.0, -600.0, -600.0).contains(content):
            return
        content = content if not content.isNull() else QRectF(0.0, 0.0, NODE_WIDTH, NODE_WIDTH)
        self.setSceneRect(content.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN))

    # Selection and theme

    @guard
    def _selection_changed(self) -> None:
        selected = set(self.document.selection.node_ids)
        for node_id in self._marked ^ selected:
            item = self.nodes.get(node_id)
            if item is not None:
                item.marked = node_id in selected
                item.setZValue(1.0 if item.marked else 0.0)
                item.update()
                for edge in item.edges:
                    edge.update()
        self._marked = {node_id for node_id in selected if node_id in self.nodes}
        if selected:
            self.select_edge(None)
        self.overview.forget()

    def select_edge(self, edge: Edge | None) -> None:
        """Select one wire, or none."""
        for key in {self.selected_edge, edge} - {None}:
            item = self.edges.get(key) if key is not None else None
            if item is not None:
                item.chosen = key == edge
                item.update()
        self.selected_edge = edge

    @guard
    def set_theme(self, theme: Theme) -> None:
        """Paint with the colours of another theme."""
        self.style_set = CanvasStyle(theme)
        for node in self.nodes.values():
            node.style = self.style_set
        for edge in self.edges.values():
            edge.style = self.style_set
        self.overview.forget()
        self.update()

    # Looking up

    def node_at(self, point: QPointF) -> NodeItem | None:
        """The topmost node whose card covers a place in the scene."""
        for item in self.items(point):
            if isinstance(item, NodeItem) and item.scene_body().contains(point):
                return item
        return None

    def port_at(self, point: QPointF, reach: float) -> tuple[NodeItem, str, int] | None:
        """The nearest port within ``reach`` pixels of the scene: node, ``input`` or ``output``, number."""
        area = QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)
        best: tuple[float, tuple[NodeItem, str, int]] | None = None
        for item in self.items(area):
            if not isinstance(item, NodeItem):
                continue
            found = item.port_at(point, reach)
            if found is None:
                continue
            side, index = found
            end = item.input_point(index) if side == "input" else item.output_point(index)
            distance = (end - point).manhattanLength()
            if best is None or distance < best[0]:
                best = (distance, (item, side, index))
        return best[1] if best else None

    def edge_at(self, point: QPointF, reach: float) -> EdgeItem | None:
        """The wire within ``reach`` pixels of the scene."""
        area = QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)
        for item in self.items(area):
            if isinstance(item, EdgeItem) and item.near(point, reach):
                return item
        return None

    def edges_into(self, node_id: NodeId, bottom: int) -> list[EdgeItem]:
        """Wires at one input; more than one where phases differ."""
        return [
            edge for edge in self.nodes[node_id].edges if edge.edge.target == node_id and edge.edge.bottom == bottom
        ]
