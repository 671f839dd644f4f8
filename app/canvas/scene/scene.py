"""The scene: items for the nodes and wires of one document.

A freshly opened net and a live change take the same road: :meth:`CanvasScene.replay` turns events into items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene

from app.canvas.scene.annotationitems import AnnotationItems
from app.canvas.scene.describe import describe
from app.canvas.scene.docking import update_docked
from app.canvas.scene.edgeitem import EdgeItem
from app.canvas.scene.faces import Faces
from app.canvas.scene.folding import Folding
from app.canvas.scene.growing import Growth
from app.canvas.scene.heat import HeatMap
from app.canvas.scene.ledscene import VAST
from app.canvas.scene.markedscene import MarkedScene
from app.canvas.scene.nodeitem import NodeItem
from app.canvas.scene.overview import Overview
from app.canvas.scene.ports import Ports, port_of
from app.canvas.scene.style import CanvasStyle
from app.canvas.scene.sweeping import Sweeper
from app.document.placement import edge_key
from app.qt import guard
from app.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from app.document import Document
    from app.document.placement import EdgeKey
    from engine.graph import Edge, Events, NodeId

__all__ = ["CanvasScene"]

#: A net of that many layers takes longer to build than anybody shall wait for an answer.
_SLOW_FROM = 300
#: Of the tree in which Qt finds items: one as deep as it would make it for a long net takes five times as long to fill.
_DEPTH = 9
#: Of what is very much to take out, this part is very much to make.
_PART = 4


class CanvasScene(MarkedScene):
    """Shows one document.

    Parameters
    ----------
    slowly : bool
        Make the items of a big net in slices, between which the window answers; see :meth:`Growth.when_done`.

    Attributes
    ----------
    is_closed : bool
        Whether it has let go of the document.
    leaves_items : bool
        Whether somebody will take its items out bit by bit once it is closed; see :mod:`app.window.closing.remains`.
    nodes, edges : dict
        Items by node id, and by edge.
    content_changed : Signal()
        Something was added, removed or moved.
    level_changed : Signal()
        The inside of another block is shown, or the outermost level.
    seeking_changed : Signal()
        What is repeated is being looked for, or is no more; see :class:`Folding`.
    faces : Faces
        What the nodes show.
    heat_changed : Signal()
        The heat-map shows something else.
    overview_changed : Signal()
        Those who paint the whole net have something else to paint, of a big net that they asked for before.
    """

    content_changed = Signal()
    level_changed = Signal()
    seeking_changed = Signal()
    heat_changed = Signal()
    overview_changed = Signal()

    def __init__(self, document: Document, parent: QObject | None = None, *, slowly: bool = False) -> None:
        super().__init__(document, parent)
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.BspTreeIndex)
        self.setBspTreeDepth(_DEPTH)
        self.style_set = CanvasStyle(Theme.current())
        self.nodes: dict[NodeId, NodeItem] = {}
        self.edges: dict[Edge, EdgeItem] = {}
        self.overview = Overview(self)
        self.is_closed = self.leaves_items = False
        self._ports = Ports(document.graph)
        self._of_view: set[Edge] = set()
        self.faces = Faces(self)
        self.slowly = slowly
        self.growth = Growth(self)
        self.sweeper = Sweeper(self)
        document.changed.connect(self._document_changed)
        document.positions.moved.connect(self._nodes_moved)
        document.positions.bent.connect(self._wire_bent)
        document.selection.changed.connect(self._selection_changed)
        document.view_changed.connect(self._view_changed)
        for signal in self._fact_signals():
            signal.connect(self.faces.facts_changed)
        Theme.notifier().changed.connect(self.set_theme)
        if not slowly or len(document.graph) < _SLOW_FROM:
            self.growth.grow_at_once()
        self.heat = HeatMap(self)
        self.folding = Folding(self)
        self.folding.refresh()
        self.annotated = AnnotationItems(self)
        self.fit_scene_rect()
        self.is_indexed = self.is_built
        if not self.is_built:
            self.growth.start()

    def close(self) -> None:
        """Let go of the document."""
        if self.is_closed:
            return
        self.is_closed = True
        document = self.document
        Theme.notifier().changed.disconnect(self.set_theme)
        document.changed.disconnect(self._document_changed)
        document.positions.moved.disconnect(self._nodes_moved)
        document.positions.bent.disconnect(self._wire_bent)
        document.selection.changed.disconnect(self._selection_changed)
        document.view_changed.disconnect(self._view_changed)
        for signal in self._fact_signals():
            signal.disconnect(self.faces.facts_changed)
        self.faces.cancel()
        self.growth.cancel()
        self.sweeper.cancel()
        self.leading.cancel()
        self.overview.close()
        self.heat.close()
        self.folding.close()
        self.annotated.close()
        if self.leaves_items:
            self.setParent(None)  # it outlives its view by so much
        else:
            self.clear()
        self.nodes.clear()
        self.edges.clear()

    def _fact_signals(self) -> tuple[SignalInstance, ...]:
        document = self.document
        return (
            document.shapes_changed,
            document.diagnostics_changed,
            document.status_changed,
            document.plugins_changed,
        )

    # Replaying the model

    @property
    def is_built(self) -> bool:
        """Whether there is an item for each node and wire."""
        return self.growth.is_done

    @guard
    def _document_changed(self, events: Events) -> None:
        is_vast = max(len(events.added), len(events.edges_added)) >= VAST // _PART
        is_going_on = not self.is_built and self.document.undo_stack.is_stepping
        if self.slowly and self.folding.level is None and (is_vast or is_going_on):
            self.growth.follow(events)
        else:
            self.growth.finish()
            self.replay(events)
        if self.document.seen is not None:  # what is in view depends on other layers too
            self.faces.facts_changed()

    def replay(self, events: Events) -> None:
        """Bring the items in line with the graph after a change."""
        view_edges = self._of_view
        self.hide_view_edges()
        if self.slowly and max(len(events.removed), len(events.edges_removed)) >= VAST:
            self._sweep_out(events)
        else:
            self.remove_edges(events.edges_removed)
            for node_id in events.removed:
                self.remove_node(node_id)
        self.add_nodes(events.added)
        touched = {node_id for node_id in events.changed if node_id in self.nodes}
        is_vast = self.slowly and len(touched) >= VAST // _PART
        self.faces.edited(touched, slowly=is_vast)
        self.add_edges(events.edges_added, led=False)
        self.show_view_edges()
        self._moved(events.moved)
        self.label_wires()
        self.folding.replay(events, whole=is_vast or bool(view_edges or self._of_view))
        ends = {edge.target for edge in (*events.edges_removed, *events.edges_added, *(view_edges ^ self._of_view))}
        near = [self.nodes[node_id] for node_id in events.added | touched | ends if node_id in self.nodes]
        if len(near) < VAST:
            update_docked(near)
        else:
            self.dock_later(near)
        self.lead_anew()
        self.overview.forget()
        self._make_room(near)
        self.told_shown()

    def told_shown(self) -> None:
        """Tell those who paint the whole net that others of its items are shown, or at other places."""
        self.overview.forget()
        self.heat.refresh()
        self.content_changed.emit()

    def add_nodes(self, ids: Iterable[NodeId]) -> None:
        """Make the items of layers that have none."""
        document = self.document
        for node_id in ids:
            if node_id in self.nodes:
                continue
            item = NodeItem(node_id, describe(document, document.graph.node(node_id)), self.style_set)
            item.facts = self.faces.facts_of(node_id)
            point = document.positions.get(node_id)
            if point is not None:
                item.setPos(point.x, point.y)
            self.nodes[node_id] = item
            self.addItem(item)
            if node_id in document.selection:
                item.marked = True
                self._marked.add(node_id)

    def add_edges(self, edges: Iterable[Edge], *, led: bool = True) -> None:
        """Make the items of wires that have none and whose ends have theirs; lead them, unless that is done later."""
        document = self.document
        for edge in edges:
            source, target = self.nodes.get(edge.source), self.nodes.get(edge.target)
            if edge in self.edges or source is None or target is None:
                continue
            item = EdgeItem(edge, source, target, self.style_set)
            item.phase = next(iter(edge.phases)) if len(edge.phases) == 1 else ""
            item.ghost = not document.in_view(edge)
            self.edges[edge] = item
            source.edges.add(item)
            target.edges.add(item)
            target.wired_inputs[edge.bottom] = target.wired_inputs.get(edge.bottom, 0) + 1
            self._ports.add(edge)
            self._part_anew(edge)
            item.route = document.positions.routes.get(edge_key(edge))
            item.bends = document.positions.bends.get(edge_key(edge), ())
            if led:
                self.lead(item)
            self.addItem(item)

    def remove_node(self, node_id: NodeId) -> None:
        """Take out the item of a layer, if it has one."""
        item = self.nodes.pop(node_id, None)
        if item is not None:
            self._marked.discard(node_id)
            self.removeItem(item)

    def remove_edges(self, edges: Iterable[Edge], take_out: Callable[[EdgeItem], object] | None = None) -> None:
        """Take out the items of wires; ``take_out`` may do so later."""
        take_out = take_out or self.removeItem
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
            self._ports.discard(edge)
            self._part_anew(edge)
            take_out(item)
            if self.selected_edge == edge:
                self.selected_edge = None

    def _sweep_out(self, events: Events) -> None:
        """Hide very many items at once, which are taken out of the scene in slices."""
        gone = events.removed
        inner = {edge for edge in events.edges_removed if edge.source in gone and edge.target in gone}
        outer: list[QGraphicsItem] = []
        self.remove_edges(events.edges_removed - inner, outer.append)
        if self.selected_edge in inner:
            self.selected_edge = None
        self.update()  # all at once: Qt need not note the place of each item
        for edge in inner:
            self._ports.drop(port_of(edge))
        found = [self.edges.pop(edge, None) for edge in inner], [self.nodes.pop(node_id, None) for node_id in gone]
        self._marked -= gone
        self.sweeper.take([*outer, *(item for kind in found for item in kind if item is not None)])

    def _part_anew(self, edge: Edge) -> None:
        """Have the wires of one port led anew: they share a trunk, or do no more."""
        for sibling in self._ports.wires(port_of(edge)):
            self.edges[sibling].stale = True

    def unread(self, ids: Iterable[NodeId]) -> list[tuple[NodeId, int]]:
        """Return the outputs of layers at which there is no wire."""
        readings = self.document.graph.readings()
        return [
            (node_id, top)
            for node_id in ids
            for top in range(len(readings[node_id].tops))
            if not self._ports.wires((node_id, top))
        ]

    # The net in view

    def hide_view_edges(self) -> None:
        """Take out what :meth:`show_view_edges` shows."""
        edges, self._of_view = self._of_view, set()
        self.remove_edges(edges)

    def show_view_edges(self) -> None:
        """Show the wires that only the net in view has: chosen stages may join what no rule asks for together."""
        seen = self.document.seen
        if seen is not None and seen.state not in self.document.graph.states:
            self._of_view = {edge for edge in seen.edges() if edge not in self.edges}
            self.add_edges(self._of_view)

    @guard
    def _view_changed(self, _view: object) -> None:
        before = self._of_view
        self.hide_view_edges()
        self.show_view_edges()
        self.label_wires()
        self.folding.refresh()
        ends = {edge.target for edge in before ^ self._of_view}
        update_docked(self.nodes[node_id] for node_id in ends if node_id in self.nodes)
        self.lead_stale()
        self.faces.facts_changed()

    # Labels

    def label_of(self, edge: Edge) -> str:
        """What a wire says: the shape, on the wire to the first reader of a port; the others stay plain."""
        if self._ports.first(port_of(edge)) != edge:
            return ""
        outputs = self.nodes[edge.source].face.outputs
        return outputs[edge.top].shape if edge.top < len(outputs) else ""

    def label_wires(self) -> None:
        """Have the wires that came, or whose neighbours came, went or moved, say what they must."""
        for port in self._ports.take_changed():
            for edge in self._ports.wires(port):
                self.edges[edge].set_label(self.label_of(edge))

    def _moved(self, ids: Iterable[NodeId]) -> None:
        """Ask anew which reader is the first of a port, where one has moved within the file."""
        for node_id in ids:
            item = self.nodes.get(node_id)
            for edge_item in () if item is None else item.edges:
                if edge_item.target is item:
                    self._ports.reorder(port_of(edge_item.edge))

    # Places

    @guard
    def _nodes_moved(self, ids: frozenset[NodeId]) -> None:
        moved = [item for node_id in ids if (item := self.folding.item(node_id)) is not None]
        self._put(moved)
        if len(moved) < VAST:
            near = update_docked(moved)
            self.overview.follow(near, {edge for item in near for edge in item.edges})
        else:
            self.dock_later(moved)
            self.dock_later(edge.target for item in moved for edge in item.edges if edge.target.face.chip)
        self.lead_anew()
        self._make_room(moved)
        self.content_changed.emit()

    @guard
    def _wire_bent(self, keys: frozenset[EdgeKey]) -> None:
        for edge, item in self.edges.items():
            if edge_key(edge) in keys:
                item.route = self.document.positions.routes.get(edge_key(edge))
                item.set_bends(self.document.positions.bends.get(edge_key(edge), ()))
        self.overview.forget()

    # Theme

    @guard
    def set_theme(self, theme: Theme) -> None:
        """Paint with the colours of another theme."""
        self.style_set = CanvasStyle(theme)
        for node in (*self.nodes.values(), *self.folding.cards.values()):
            node.style = self.style_set
        for edge in self.edges.values():
            edge.style = self.style_set
        self.annotated.set_style(self.style_set)
        self.update()
