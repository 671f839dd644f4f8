"""Adding layers on the canvas: the search palette, and dropping from the palette and from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.canvas.edits.insert import Origin, insert, insert_on_wire, refuses_type
from app.canvas.edits.suiting import Suiting, usage
from app.canvas.edits.templates import insert_template
from app.canvas.reaching import middle_of
from app.canvas.view import CanvasView
from app.palette.entries import NEW_LAYER, palette_entries, python_entry
from app.palette.model import LAYER_MIME
from app.palette.search import SearchPopup
from app.palette.templates import template_of
from app.qt import accept_copy, guard
from engine.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.canvas.scene.edgeitem import EdgeItem
    from app.document import Document
    from app.window.habits import LayerHabits
    from engine.graph import Edge, NodeId

__all__ = ["AddingCanvas"]

#: A layer that is dropped this near to a wire, in pixels on the screen, goes on it.
_WIRE_REACH = 16.0


class AddingCanvas(CanvasView):
    """A canvas to which layers are added.

    Attributes
    ----------
    files_dropped : Signal(list of str)
        Paths of files and folders dropped from outside.
    new_layer_asked : Signal()
        A Python layer shall be made.
    habits : LayerHabits or None
        What the user adds, in any net.
    """

    files_dropped = Signal(list)
    new_layer_asked = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None, *, slowly: bool = False) -> None:
        super().__init__(document, parent, slowly=slowly)
        self.popup = SearchPopup(self, numbers=True)
        self._at: QPointF | None = None
        self._placed = False
        self._origin: Origin | None = None
        self._onto: Edge | None = None
        self._suiting = Suiting(document.registry)
        self.habits: LayerHabits | None = None
        self._over: EdgeItem | None = None
        self.popup.chosen.connect(self._insert_chosen)
        self.search_asked.connect(self._open_search)

    def prepare_search(self) -> None:
        """Load what tells which layers fit, in the document's thread."""
        self.document.jobs.submit("suiting", self._suiting.prepare, lambda _nothing: None)

    def add_layer(self, kind: str) -> None:
        """Add a layer from the palette, wired to the selection, and show it."""
        at = None if self.document.selection.node_ids else self._free_middle()
        self._insert(kind, at, None)

    def _free_middle(self) -> QPointF | None:
        return self.visible_rect().center() if not self.canvas.nodes else None

    @guard
    def _open_search(self, position: QPoint, node: object, side: str, index: int) -> None:
        infos = palette_entries(self.document)
        self._origin = Origin(node, side, index) if node is not None else None  # type: ignore[arg-type]
        selected = self.document.selection.last
        by_key = side == "key"
        wire = self.canvas.edges.get(self.canvas.selected_edge) if by_key and self.canvas.selected_edge else None
        self._onto = wire.edge if wire is not None else None
        self._at = None if by_key and selected is not None else self.mapToScene(position)
        self._placed = not by_key
        after = selected
        if wire is not None:
            self._at = middle_of(wire)
            position = self.mapFromScene(self._at)
            after = wire.edge.source
            prompt = f"Layer between {wire.tail.face.title} and {wire.head.face.title}"
        elif self._origin is not None:
            name = self.document.graph.node(self._origin.node).name
            prompt = f"Layer after {name}" if side == "output" else f"Layer before {name}"
            infos = self._suiting.fitting(self.document, infos, self._origin)
            after = self._origin.node if side == "output" else None
        elif selected is not None:
            prompt = f"Add a layer after {self.document.graph.node(selected).name}"
        else:
            prompt = "Add a layer"
        before = self.document.graph.node(after).type if after is not None else ""
        uses: Mapping[str, float] = usage(self.document, before or None)
        if self.habits is not None:
            uses = self.habits.weights(uses, before)
        place = self.viewport().mapToGlobal(position)
        pictures = self.document.live.plugins.pictures
        self.popup.ask(infos, place, prompt, "Enter adds it, Esc closes", uses, pictures)

    def _insert_chosen(self, kind: str) -> None:
        gone = self._origin is not None and self._origin.node not in self.document.graph  # while the search was open
        onto = self.canvas.edges.get(self._onto) if self._onto is not None else None
        self._insert(kind, self._at, None if gone else self._origin, onto, placed=self._placed)

    def _insert(
        self,
        kind: str,
        at: QPointF | None,
        origin: Origin | None,
        onto: EdgeItem | None = None,
        *,
        placed: bool = False,
    ) -> None:
        """Add what was chosen; ``placed`` where the user said the place, which is then kept as one of theirs."""
        if kind == NEW_LAYER:
            self.new_layer_asked.emit()
            return
        try:
            template = template_of(kind)
            if template is not None:
                self._reveal_all(insert_template(self.canvas, *template, at, origin))
                return
            if onto is not None and at is not None:
                new: NodeId = insert_on_wire(self.canvas, kind, onto.edge, at)
            else:
                new = insert(self.canvas, kind, at, origin)
        except (GraphError, OSError) as error:
            self.refused.emit(str(error))
            return
        self.document.positions.touched |= placed
        self._remember(new)
        self.reveal(new)
        self.setFocus()

    def _reveal_all(self, nodes: Sequence[NodeId]) -> None:
        """Show layers that came together: as little as needed of the view changes."""
        view = self.visible_rect()
        if not all(view.contains(self.canvas.nodes[node].scene_body()) for node in nodes):
            self.frame(nodes)

    def _remember(self, node: NodeId) -> None:
        """Count a layer that was added, for the order of the search."""
        if self.habits is not None:
            graph = self.document.graph
            sources = [edge.source for edge in graph.edges_in(node)]
            self.habits.added(graph.node(node).type, graph.node(sources[0]).type if sources else "")

    # Dropping

    @guard
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        mime = event.mimeData()
        if mime.hasFormat(LAYER_MIME) or mime.hasUrls():
            accept_copy(event)

    @guard
    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        accept_copy(event)
        if event.mimeData().hasFormat(LAYER_MIME):
            self._point_at_wire(event.position().toPoint(), _kind_in(event))

    @guard
    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._leave_wire()

    @guard
    def dropEvent(self, event: QDropEvent) -> None:
        mime = event.mimeData()
        if mime.hasFormat(LAYER_MIME):
            position, kind = event.position().toPoint(), _kind_in(event)
            self._point_at_wire(position, kind)
            wire = self._over if self._over is not None and self._over.lit else None
            self._leave_wire()
            self.document.selection.clear()
            self._insert(kind, self.mapToScene(position), None, wire, placed=True)
        elif mime.hasUrls():
            self.files_dropped.emit([url.toLocalFile() for url in mime.urls() if url.isLocalFile()])
        accept_copy(event)

    def _point_at_wire(self, position: QPoint, kind: str) -> None:
        """Light the wire on which a layer would go, or say why it does not go there."""
        point = self.mapToScene(position)
        covered = self.is_far or self.canvas.node_at(point) is not None
        wire = None if covered else self.canvas.edge_at(point, _WIRE_REACH / self.scale_factor)
        if wire is not self._over:
            self._leave_wire()
            self._over = wire
        python = python_entry(self.document, kind)
        info = python[0] if python is not None else self.document.registry.info(kind)
        reason = refuses_type(info, info.type if info is not None else kind) if wire is not None else ""
        if wire is not None:
            wire.mark(lit=not reason and kind != NEW_LAYER, doomed=bool(reason))
        self.show_reason(reason, position)

    def _leave_wire(self) -> None:
        if self._over is not None and self._over.scene() is not None:
            self._over.mark()
        self._over = None
        self.show_reason("", QPoint())


def _kind_in(event: QDropEvent) -> str:
    return bytes(event.mimeData().data(LAYER_MIME).data()).decode()
