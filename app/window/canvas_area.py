"""The canvas with what belongs to it: search palette, menu of a node, dropping, clipboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.canvas import clipboard, edits
from app.canvas.arrange import arrange, arrange_if_needed, place_new
from app.canvas.find import layers_of
from app.canvas.insert import Origin, fitting, insert
from app.canvas.view import CanvasView
from app.icons import icon
from app.palette.entries import palette_entries
from app.palette.model import LAYER_MIME
from app.palette.search import SearchPopup
from app.qt import guard
from app.window.renaming import ask_blob_name
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["CanvasArea"]

_READABLE = 0.5


class CanvasArea(CanvasView):
    """The canvas of one document inside the window.

    Attributes
    ----------
    files_dropped : Signal(list of str)
        Paths of files and folders dropped from outside.
    arranged : Signal()
        The net has its first places and is painted.
    """

    files_dropped = Signal(list)
    arranged = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(document, parent)
        self.popup = SearchPopup(self)
        self._at: QPointF | None = None
        self._places: dict[str, NodeId] = {}
        self._origin: Origin | None = None
        self.popup.chosen.connect(self._insert_chosen)
        self.finder = SearchPopup(self)
        self.finder.search.setAccessibleName("Find a layer")
        self.finder.chosen.connect(self._go_to)
        self.find_asked.connect(self.find_layer)
        self.search_asked.connect(self._open_search)
        self.menu_asked.connect(self._open_menu)
        document.changed.connect(self._place_new)

    def arrange_at_start(self) -> None:
        """Lay the net out if it has no places, and show it; ``arranged`` is sent when that is done."""
        arrange_if_needed(self, self._arranged)

    def _arranged(self) -> None:
        self.frame_start()
        self.viewport().repaint()
        self.arranged.emit()

    def arrange_all(self) -> None:
        """Lay the whole net out anew, as one undoable step."""
        arrange(self, done=self.frame)

    @guard
    def _place_new(self, _events: object) -> None:
        place_new(self.canvas)

    # Adding

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
        self._at = None if by_key and selected is not None else self.mapToScene(position)
        if self._origin is not None:
            name = self.document.graph.node(self._origin.node).name
            prompt = f"Layer after {name}" if side == "output" else f"Layer before {name}"
            infos = fitting(infos, side)
        elif selected is not None:
            prompt = f"Add a layer after {self.document.graph.node(selected).name}"
        else:
            prompt = "Add a layer"
        self.popup.ask(infos, self.viewport().mapToGlobal(position), prompt, "Enter adds it, Esc closes")

    def _insert_chosen(self, kind: str) -> None:
        self._insert(kind, self._at, self._origin)

    def _insert(self, kind: str, at: QPointF | None, origin: Origin | None) -> None:
        try:
            new = insert(self.canvas, kind, at, origin)
        except GraphError as error:
            self.refused.emit(str(error))
            return
        self.reveal(new)
        self.setFocus()

    # Finding

    @guard
    def find_layer(self) -> None:
        """Ask for a layer of the net; it is selected and shown."""
        self._places = {each.type: each.node for each in layers_of(self.document)}
        corner = self.viewport().mapToGlobal(QPoint(self.viewport().width() // 2 - 164, 24))
        self.finder.ask(layers_of(self.document), corner, "Find a layer", "Enter shows it, Esc closes")

    @guard
    def _go_to(self, label: str) -> None:
        node = self._places.get(label)
        if node is not None and node in self.document.graph:
            self.document.selection.set([node])
            if self.scale_factor < _READABLE:
                self.set_scale(1.0)
            self.reveal(node)
        self.setFocus()

    # The menu of a node, and the clipboard

    @guard
    def _open_menu(self, position: QPoint) -> None:
        menu = self.node_menu()
        menu.popup(self.viewport().mapToGlobal(position))

    def node_menu(self) -> QMenu:
        """Return the menu for the selected nodes."""
        menu = QMenu(self)
        menu.setObjectName("canvas.node_menu")
        menu.aboutToHide.connect(menu.deleteLater)
        last = self.document.selection.last
        if last is not None:
            rename = menu.addAction(icon("pencil-simple"), "Rename\tF2")
            rename.triggered.connect(lambda: self.title_edit.open(last))
            for top, blob in enumerate(self.document.graph.node(last).tops):
                action = menu.addAction(f"Rename blob '{blob}'…")
                action.triggered.connect(partial(self._rename_blob, last, top))
        menu.addAction(icon("copy"), "Duplicate\tCtrl+D").triggered.connect(self.duplicate)
        menu.addAction("Copy\tCtrl+C").triggered.connect(self.copy)
        if last is not None and any(self.document.graph.node(last).in_place):
            menu.addAction(icon("link-break"), "Detach from its input").triggered.connect(lambda: self._detach(last))
        menu.addSeparator()
        menu.addAction(icon("frame-corners"), "Frame selection\tF").triggered.connect(self.frame_selection)
        menu.addSeparator()
        menu.addAction("Dissolve\tCtrl+Del").triggered.connect(self.dissolve)
        menu.addAction(icon("trash"), "Delete\tDel").triggered.connect(self.delete)
        return menu

    def _rename_blob(self, node: NodeId, top: int) -> None:
        self._try(lambda: ask_blob_name(self.document, node, top, self))

    def _detach(self, node: NodeId) -> None:
        name = self.document.graph.node(node).name
        self._try(lambda: self.document.apply(f"Detach {name}", lambda graph: graph.detach(node, 0)))

    def delete(self) -> None:
        """Delete the selection."""
        self._try(lambda: edits.delete_selected(self.canvas))

    def dissolve(self) -> None:
        """Delete the selection and join what was above to what was below."""
        self._try(lambda: edits.dissolve_selected(self.canvas))

    def duplicate(self) -> None:
        """Copy the selection beside itself, keeping its inputs."""
        self._try(lambda: clipboard.duplicate(self.canvas))

    def copy(self) -> None:
        """Put the selected layers on the clipboard, as prototxt."""
        text = clipboard.copy_text(self.canvas)
        if text:
            QGuiApplication.clipboard().setText(text)

    def cut(self) -> None:
        """Copy and delete."""
        self.copy()
        self.delete()

    def paste(self, *, keep_inputs: bool = False) -> None:
        """Add the layers on the clipboard at the pointer."""
        text = QGuiApplication.clipboard().text()
        at = self.mapToScene(self.pointer())
        self._try(lambda: clipboard.paste(self.canvas, text, at, keep_inputs=keep_inputs))

    def select_all(self) -> None:
        """Select all nodes."""
        self.document.selection.set(self.canvas.nodes)

    def _try(self, edit: Callable[[], object]) -> None:
        try:
            edit()
        except GraphError as error:
            self.refused.emit(str(error))

    # Dropping

    @guard
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        mime = event.mimeData()
        if mime.hasFormat(LAYER_MIME) or mime.hasUrls():
            event.acceptProposedAction()

    @guard
    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    @guard
    def dropEvent(self, event: QDropEvent) -> None:
        mime = event.mimeData()
        if mime.hasFormat(LAYER_MIME):
            kind = bytes(mime.data(LAYER_MIME).data()).decode()
            point = self.mapToScene(event.position().toPoint())
            self.document.selection.clear()
            self._insert(kind, point, None)
        elif mime.hasUrls():
            self.files_dropped.emit([url.toLocalFile() for url in mime.urls() if url.isLocalFile()])
        event.acceptProposedAction()
