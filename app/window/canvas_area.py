"""The canvas with what belongs to it: search palette, menu of a node, dropping, clipboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.canvas.edits import clipboard, edits
from app.canvas.edits.arrange import Flow, arrange, place_new
from app.canvas.edits.foldedits import chosen_block
from app.canvas.edits.newcomers import place_many
from app.canvas.find import layers_of
from app.canvas.firstpicture import show_first
from app.canvas.gestures.annotating import delete_chosen
from app.collector import importing
from app.icons import icon
from app.palette.search import SearchPopup
from app.qt import guard
from app.window.fixmenu import add_fixes, fix_menu
from app.window.renaming import BlobRenaming
from app.window.views.viewing import ViewingCanvas
from engine.errors import GraphError
from engine.graph import load_network

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Events, NodeId

__all__ = ["CanvasArea"]

_READABLE = 0.5
_BIG = 60


def _load_network() -> None:
    """Load what the first wire that somebody draws would have to wait for."""
    with importing:
        load_network()


class CanvasArea(ViewingCanvas):
    """The canvas of one document inside the window.

    Attributes
    ----------
    arranged : Signal()
        The net has its first places and is painted.
    error_asked, code_asked : Signal(NodeId)
        All that is wrong at a node, or the code of its plugin, shall be shown.
    trust_asked : Signal()
        The code that came with the net shall run.
    asked : Signal(app.window.bars.Question)
        Something is to be asked in a bar.
    """

    arranged = Signal()
    error_asked = Signal(object)
    code_asked = Signal(object)
    trust_asked = Signal()
    asked = Signal(object)

    def __init__(self, document: Document, parent: QWidget | None = None, *, slowly: bool = False) -> None:
        super().__init__(document, parent, slowly=slowly)
        self._places: dict[str, NodeId] = {}
        #: Which key does something, by a name of :data:`app.canvas.keys.CANVAS_KEYS` or of an action of the window.
        self.finder = SearchPopup(self)
        self.finder.search.setAccessibleName("Find a layer")
        self.finder.chosen.connect(self._go_to)
        self.find_asked.connect(self.find_layer)
        self.menu_asked.connect(self._open_menu)
        self.fixes_asked.connect(self._open_fixes)
        self.blob_name_asked.connect(self._rename_blob)
        self.help_asked.connect(self._tell_help)
        document.changed.connect(self._place_new)

    def arrange_at_start(self) -> None:
        """Lay the net out if it has no places, fold it if it is long, and show it; then ``arranged`` is sent."""
        self.canvas.growth.when_done(lambda: show_first(self, self._arranged))

    def _arranged(self) -> None:
        """Show the net; a big one in steps, for it is painted between them."""
        steps = self._show_arranged()
        if len(self.canvas.nodes) < _BIG:
            for _step in steps:
                pass
        else:
            self.slices.start(steps)

    def _show_arranged(self) -> Iterator[None]:
        self.frame_start()
        self.viewport().repaint()
        yield
        self.minimap.offer()
        yield
        self.arranged.emit()
        self.document.jobs.submit("network", _load_network, lambda _nothing: None)

    def arrange_all(self, flow: Flow = Flow.WRAPPED) -> None:
        """Lay the whole net out anew, as one undoable step."""
        arrange(self, flow=flow, done=self.frame_start)

    @guard
    def _place_new(self, events: Events) -> None:
        if not place_many(self.canvas, events.added):
            place_new(self.canvas)

    # Finding

    @guard
    def find_layer(self) -> None:
        """Ask for a layer of the net; it is selected and shown."""
        found = layers_of(self.document)
        self._places = {each.type: each.node for each in found}
        corner = self.viewport().mapToGlobal(QPoint(self.viewport().width() // 2 - 164, 24))
        self.finder.ask(found, corner, "Find a layer", "Enter shows it, Esc closes")

    @guard
    def _go_to(self, label: str) -> None:
        node = self._places.get(label)
        if node is not None and node in self.document.graph:
            self.document.selection.set([node])
            if self.scale_factor < _READABLE:
                self.set_scale(1.0)
            self.reveal(node)
        self.setFocus()

    @guard
    def _tell_help(self) -> None:
        """Say in a message what the layer selected last is for, or what to begin with."""
        last = self.document.selection.last
        if last is not None:
            node = self.document.graph.node(last)
            info = self.document.registry.info(node.type)
            about = info.summary if info is not None else "This type is not known here."
            fields = self.key_of("open")
            self.told.emit(f"{node.type}: {about}" + (f" {fields} goes to its fields." if fields else ""), "info")
            return
        keys = (("add", "adds a layer"), ("find", "finds one"), ("commands", "finds any command"))
        words = [f"{key} {what}" for name, what in keys if (key := self.key_of(name))]
        self.told.emit(", ".join([*words, "Help, Keyboard shortcuts lists the keys."]), "info")

    # The menu of a node, and the clipboard

    @guard
    def _open_menu(self, position: QPoint) -> None:
        menu = self.node_menu()
        menu.popup(self.viewport().mapToGlobal(position))

    @guard
    def _open_fixes(self, node: NodeId) -> None:
        """Open the menu of a badge."""
        item = self.canvas.nodes.get(node)
        if item is not None:
            self.document.selection.set([node])
            menu = fix_menu(self.document, node, self, self.refused.emit, lambda: self.error_asked.emit(node))
            place = self.viewport().mapToGlobal(self.mapFromScene(item.scene_badge().bottomLeft()))
            window = self.window()
            right = window.mapToGlobal(window.rect().bottomRight()).x()
            place.setX(min(place.x(), max(right - menu.sizeHint().width(), window.mapToGlobal(QPoint()).x())))
            menu.popup(place)

    def node_menu(self) -> QMenu:
        """Return the menu for the selected nodes."""
        menu = QMenu(self)
        menu.setObjectName("canvas.node_menu")
        menu.setToolTipsVisible(True)
        menu.aboutToHide.connect(menu.deleteLater)
        last = self.document.selection.last
        if last is not None:
            rename = menu.addAction(icon("pencil-simple"), self._with_key("Rename", "rename"))
            rename.triggered.connect(partial(self.do, "rename"))
            if self.document.problems_of(last)[0]:
                whole = menu.addAction(icon("warning-circle"), "Show the whole error\u2026")
                whole.triggered.connect(lambda: self.error_asked.emit(last))
                add_fixes(menu, self.document, last, self.refused.emit)
            if self.document.graph.node(last).type == "Python":
                menu.addAction(icon("code"), "Open its code").triggered.connect(lambda: self.code_asked.emit(last))
            if last in self.document.live.plugins.waiting():
                allow = menu.addAction(icon("shield-check"), "Trust the code of this folder")
                allow.triggered.connect(self.trust_asked)
            self._offer_gradient(menu, last)
            for top, blob in enumerate(self.document.graph.node(last).tops):
                action = menu.addAction(f"Rename blob '{blob}'…")
                action.triggered.connect(partial(self._rename_blob, last, top))
        menu.addAction(icon("copy"), self._with_key("Duplicate", "duplicate")).triggered.connect(self.duplicate)
        menu.addAction(self._with_key("Copy", "copy")).triggered.connect(self.copy)
        if last is not None and any(self.document.graph.node(last).in_place):
            menu.addAction(icon("link-break"), "Detach from its input").triggered.connect(lambda: self._detach(last))
        if last is not None:
            self._offer_aside(menu, last)
        menu.addSeparator()
        self._offer_block(menu)
        frame = menu.addAction(icon("frame-corners"), self._with_key("Frame selection", "frame_selection"))
        frame.triggered.connect(self.frame_selection)
        menu.addSeparator()
        menu.addAction(self._with_key("Dissolve", "dissolve")).triggered.connect(self.dissolve)
        menu.addAction(icon("trash"), self._with_key("Delete", "delete")).triggered.connect(self.delete)
        return menu

    def _with_key(self, words: str, name: str) -> str:
        key = self.key_of(name)
        return f"{words}\t{key}" if key else words

    def _offer_block(self, menu: QMenu) -> None:
        card = chosen_block(self.canvas)
        if card is not None:
            block = card.node_id
            look = menu.addAction(self._with_key("Look inside", "open"))
            look.triggered.connect(lambda: self.canvas.folding.look_into(block))
        words = "Unfold the block" if card is not None else "Fold to a block"
        menu.addAction(self._with_key(words, "block")).triggered.connect(self.fold_selection)
        menu.addAction(self._with_key("Put a frame around", "put_frame")).triggered.connect(self.add_frame)
        menu.addAction("Keep as a block of mine").triggered.connect(self.keep_block)

    def _offer_aside(self, menu: QMenu, node: NodeId) -> None:
        graph = self.document.graph
        menu.addSeparator()
        words = "Take in again" if graph.is_bypassed(node) else "Bypass"
        menu.addAction(self._with_key(words, "bypass")).triggered.connect(partial(self.do, "bypass"))
        words = "Let its weights learn" if graph.is_frozen(node) else "Freeze its weights"
        menu.addAction(self._with_key(words, "freeze")).triggered.connect(partial(self.do, "freeze"))
        words = "Show all alike" if self.trace.is_shown else "Follow its blobs"
        menu.addAction(self._with_key(words, "trace")).triggered.connect(partial(self.do, "trace"))

    @guard
    def _rename_blob(self, node: NodeId, top: int) -> None:
        self._try(lambda: BlobRenaming(self.document, self.asked.emit, self._try).start(node, top))

    def _offer_gradient(self, menu: QMenu, node: NodeId) -> None:
        gradients = self.document.live.gradients
        if gradients.offers(node):
            obstacle = gradients.obstacle(node)
            check = menu.addAction("Check gradient")
            check.setObjectName("canvas.check_gradient")
            check.setEnabled(not obstacle)
            check.setToolTip(obstacle)
            check.triggered.connect(lambda: self._check_gradient(node))

    @guard
    def _check_gradient(self, node: NodeId) -> None:
        name = self.document.graph.node(node).title
        self.told.emit(f"Comparing the gradient of {name} with finite differences…", "info")
        self.document.live.gradients.check(node, self.told.emit)

    def _detach(self, node: NodeId) -> None:
        name = self.document.graph.node(node).name
        self._try(lambda: self.document.apply(f"Detach {name}", lambda graph: graph.detach(node, 0)))

    def delete(self) -> None:
        """Delete the selection."""
        if not delete_chosen(self):
            self._try(lambda: edits.delete_selected(self.canvas))

    def dissolve(self) -> None:
        """Delete the selection and join what was above to what was below."""
        self._try(lambda: edits.dissolve_selected(self.canvas))

    def duplicate(self) -> None:
        """Copy the selection beside itself, keeping its inputs."""
        self._try(lambda: clipboard.duplicate(self.canvas, self._show_first, self.refused.emit))

    def _show_first(self, nodes: Sequence[NodeId]) -> None:
        if nodes:
            self.canvas.growth.when_done(lambda: self.reveal(nodes[0]))

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
        told = self.refused.emit
        self._try(lambda: clipboard.paste(self.canvas, text, at, keep_inputs=keep_inputs, failed=told))

    def select_all(self) -> None:
        """Select all layers of the level that is looked at."""
        self.document.selection.set(node for item in self.canvas.items_shown() for node in item.ids)

    def _try(self, edit: Callable[[], object]) -> None:
        try:
            edit()
        except GraphError as error:
            self.refused.emit(str(error))
