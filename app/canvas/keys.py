"""Keys of the canvas that are not window shortcuts: one table, so that each can be shown and changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.canvas import walking
from app.canvas.edits import aligning, edits
from app.canvas.edits.aside import toggle_bypass, toggle_freeze
from app.canvas.edits.foldedits import chosen_block
from app.canvas.gestures import annotating
from app.canvas.reaching import Reach, chosen_annotation, chosen_wire, middle_of, wire_menu
from app.document.placement import Point
from app.qt import key_text
from engine.errors import GraphError

if TYPE_CHECKING:
    from app.canvas.view import CanvasView

__all__ = ["CANVAS_KEYS", "CanvasKeys"]

#: What keys do on the canvas: name, words for it, and keys in portable notation.
CANVAS_KEYS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("frame_selection", "Frame the selection", ("F",)),
    ("frame", "Frame all", ("Home",)),
    ("actual_size", "Zoom to 100 %", ("1",)),
    ("zoom_in", "Zoom in", ("+",)),
    ("zoom_out", "Zoom out", ("-",)),
    ("escape", "Give up, or select nothing", ("Esc",)),
    ("rename", "Rename", ("F2",)),
    ("delete", "Delete", ("Del", "Backspace")),
    ("dissolve", "Dissolve", ("Ctrl+Del",)),
    ("help", "Say what the selected layer does, and which keys help", ("F1",)),
    ("find", "Find a layer", ("Ctrl+F",)),
    ("flow_down", "Select the next layer along the flow", ("PgDown",)),
    ("flow_up", "Select the layer before along the flow", ("PgUp",)),
    ("grow", "Select what is linked too", ("L",)),
    ("go_left", "Select the layer to the left", ("Alt+Left",)),
    ("go_right", "Select the layer to the right", ("Alt+Right",)),
    ("go_up", "Select the layer above", ("Alt+Up",)),
    ("go_down", "Select the layer below", ("Alt+Down",)),
    ("add", "Add a layer, or put one on the selected wire", ("Tab",)),
    ("add_left", "Select the layer to the left too", ("Alt+Shift+Left",)),
    ("add_right", "Select the layer to the right too", ("Alt+Shift+Right",)),
    ("add_up", "Select the layer above too", ("Alt+Shift+Up",)),
    ("add_down", "Select the layer below too", ("Alt+Shift+Down",)),
    ("wire", "Select the next wire or bend of the layer", ("W",)),
    ("wire_back", "Select the wire or bend before", ("Alt+W",)),
    ("written", "Select the next frame or note", ("N",)),
    ("open", "Look into the block, or edit what is selected", ("Return", "Enter")),
    ("connect", "Connect an output by keyboard, or move the end of the selected wire", ("C",)),
    ("bend", "Bend the selected wire", ("K",)),
    ("cut_wires", "Cut the selected wire, or all wires of the selection", ("Ctrl+Shift+X",)),
    ("rename_blob", "Rename the blob of the selection", ("Shift+F2",)),
    ("pan_left", "Move the view to the left", ("Ctrl+Left",)),
    ("pan_right", "Move the view to the right", ("Ctrl+Right",)),
    ("pan_up", "Move the view up", ("Ctrl+Up",)),
    ("pan_down", "Move the view down", ("Ctrl+Down",)),
    ("narrower", "Make the frame or note narrower", ("Ctrl+Shift+Left",)),
    ("wider", "Make the frame or note wider", ("Ctrl+Shift+Right",)),
    ("lower", "Make the frame or note lower", ("Ctrl+Shift+Up",)),
    ("higher", "Make the frame or note higher", ("Ctrl+Shift+Down",)),
    ("trace", "Follow blobs up and down the flow", ("B",)),
    ("menu", "Open the menu of the selection", ("Shift+F10", "Menu")),
    ("fix", "Open the quick fixes of the selection", ("Ctrl+.",)),
    ("bypass", "Bypass, or take in again", ("Ctrl+B",)),
    ("freeze", "Freeze weights, or have them learn again", ("Ctrl+L",)),
    ("align_top", "Align upper edges", ("Shift+W",)),
    ("align_left", "Align left edges", ("Shift+A",)),
    ("align_bottom", "Align lower edges", ("Shift+S",)),
    ("align_right", "Align right edges", ("Shift+D",)),
    ("distribute_across", "Distribute from left to right", ("Shift+H",)),
    ("distribute_down", "Distribute from top to bottom", ("Shift+V",)),
    ("straighten", "Straighten wires", ("Q",)),
    ("leave_block", "Show what is around the block", ("U",)),
    ("note", "Write a note", ("Shift+P",)),
    ("minimap", "Show or hide the map", ("M",)),
)

_NUDGE = 10.0
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class CanvasKeys:
    """Turns keys into what the view does."""

    def __init__(self, view: CanvasView) -> None:
        self._view = view
        self.reach = Reach(view)
        self._handlers = self._make_handlers()
        self._table: dict[int, str] = {}
        self.set_keys({name: keys for name, _text, keys in CANVAS_KEYS})

    def close(self) -> None:
        """Let go of the view: what is done for a key holds it."""
        self._handlers.clear()

    def set_keys(self, keys: Mapping[str, tuple[str, ...]]) -> None:
        """Use other keys, by names of :data:`CANVAS_KEYS`; what is not named keeps its own."""
        self._table = {code: name for code, name in self._table.items() if name not in keys}
        for name, sequences in keys.items():
            for sequence in sequences:
                self._table[_code(sequence)] = name
        self._view.keys_changed.emit()

    def hint(self, name: str) -> str:
        """Return the first key in use for a name, as the system writes it; empty where it has none."""
        code = next((code for code, each in self._table.items() if each == name), None)
        if code is None:
            return ""
        return key_text(QKeySequence(QKeyCombination.fromCombined(code)))

    def _make_handlers(self) -> dict[str, Callable[[], object]]:
        view = self._view
        scene, document = view.canvas, view.document
        return {
            "frame_selection": view.frame_selection,
            "frame": view.frame,
            "actual_size": lambda: view.set_scale(1.0),
            "zoom_in": lambda: view.zoom_by(1.25),
            "zoom_out": lambda: view.zoom_by(0.8),
            "escape": self._escape,
            "rename": self._rename,
            "delete": self._delete,
            "dissolve": lambda: edits.dissolve_selected(scene),
            "help": view.help_asked.emit,
            "find": view.find_asked.emit,
            "flow_down": lambda: walking.along_flow(view, down=True),
            "flow_up": lambda: walking.along_flow(view, down=False),
            "grow": lambda: walking.grow(document),
            "go_left": lambda: walking.step(view, -1, 0),
            "go_right": lambda: walking.step(view, 1, 0),
            "go_up": lambda: walking.step(view, 0, -1),
            "go_down": lambda: walking.step(view, 0, 1),
            "add": view.ask_for_layer,
            "add_left": lambda: walking.step(view, -1, 0, too=True),
            "add_right": lambda: walking.step(view, 1, 0, too=True),
            "add_up": lambda: walking.step(view, 0, -1, too=True),
            "add_down": lambda: walking.step(view, 0, 1, too=True),
            "connect": lambda: view.hints.open(),
            "trace": lambda: view.trace.toggle(),
            "menu": self.open_menu,
            "fix": self._open_fixes,
            "bypass": lambda: toggle_bypass(scene),
            "freeze": lambda: toggle_freeze(document),
            "align_top": lambda: aligning.align(scene, "top"),
            "align_left": lambda: aligning.align(scene, "left"),
            "align_bottom": lambda: aligning.align(scene, "bottom"),
            "align_right": lambda: aligning.align(scene, "right"),
            "distribute_across": lambda: aligning.distribute(scene, across=True),
            "distribute_down": lambda: aligning.distribute(scene, across=False),
            "straighten": lambda: aligning.straighten(scene),
            "leave_block": lambda: scene.folding.leave(),
            "note": lambda: annotating.add_note(view),
            "minimap": lambda: view.minimap.toggle(),
            **self.reach.handlers(),
        }

    def _open_fixes(self) -> None:
        last = self._view.document.selection.last
        if last is not None:
            self._view.fixes_asked.emit(last)

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; return whether it meant anything."""
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape and self._view.cancel_gesture():  # whatever modifiers the gesture is made with
            return True
        if key in _ARROWS and not modifiers & ~Qt.KeyboardModifier.ShiftModifier:
            return self._arrow(*_ARROWS[key], fine=bool(modifiers))
        name = self._table.get(QKeyCombination(modifiers, key).toCombined())
        if name is None and event.text() in ("+", "-"):  # on some keyboards only with Shift
            name = self._table.get(_code(event.text()))
        return name is not None and self.do(name)

    def do(self, name: str) -> bool:
        """Do what a name of :data:`CANVAS_KEYS` stands for; return whether there is such a name."""
        handler = self._handlers.get(name)
        if handler is None:
            return False
        try:
            handler()
        except GraphError as error:
            self._view.refused.emit(str(error))
        return True

    def _escape(self) -> None:
        view = self._view
        if view.trace.is_shown:
            view.trace.clear()
            return
        if not view.document.selection.node_ids and view.canvas.selected_edge is None:
            view.escaped.emit()
        view.document.selection.clear()
        view.canvas.annotated.choose(set())
        view.canvas.select_edge(None)

    def _delete(self) -> None:
        if not annotating.delete_chosen(self._view):
            edits.delete_selected(self._view.canvas)

    def _rename(self) -> None:
        view = self._view
        last = view.document.selection.last
        chosen = view.canvas.annotated.chosen
        block = chosen_block(view.canvas)
        if block is not None:
            view.title_edit.open_block(block)
        elif last is not None:
            view.title_edit.open(last)
        elif chosen:
            view.words.open(max(chosen))

    def open_menu(self) -> None:
        """Open the menu of the selection beside the node selected last; without one, the search for a layer."""
        view = self._view
        last = view.document.selection.last
        if last is None:
            self._open_other_menu()
            return
        card = view.canvas.folding.shown(last)
        if card is None:
            view.reveal(last)
            card = view.canvas.nodes[last]
        view.reveal_card(card)
        body = card.scene_body()
        view.menu_asked.emit(view.mapFromScene(body.center()))

    def _open_other_menu(self) -> None:
        """Open the menu of the selected wire, frame or note, or the search for a layer."""
        view = self._view
        wire, written = chosen_wire(view), chosen_annotation(view)
        if wire is not None:
            menu, at = wire_menu(view, wire), middle_of(wire)
        elif written is not None:
            menu, at = annotating.annotation_menu(view, written), written.area.topLeft()
        else:
            view.ask_for_layer()
            return
        menu.popup(view.viewport().mapToGlobal(view.mapFromScene(at)))

    def _arrow(self, dx: int, dy: int, *, fine: bool) -> bool:
        """Nudge the selection; where nothing is selected, select a node to begin with."""
        document = self._view.document
        step = 1.0 if fine else _NUDGE
        if not document.selection.node_ids and self.reach.nudge(dx * step, dy * step):
            return True
        ids = edits.with_followers(self._view.canvas, document.selection.node_ids)
        if not ids:
            return walking.step(self._view, dx, dy)
        points = document.positions.of(ids)
        document.move_nodes({key: Point(p.x + dx * step, p.y + dy * step) for key, p in points.items()}, "Nudge")
        return True


def _code(keys: str) -> int:
    combination: QKeyCombination = QKeySequence(keys)[0]  # type: ignore[index]
    return combination.toCombined()
