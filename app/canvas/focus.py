"""Where the keyboard is: a ring on the canvas, and what screen readers say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.canvas.reaching import chosen_annotation, chosen_wire
from app.canvas.spoken import spoken, spoken_annotation, spoken_wire
from app.qt import announce, guard
from app.wording import by_key, counted

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView

__all__ = ["FocusMark"]

_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class _Border(QWidget):
    """A line around the canvas while it has the keyboard and no layer has it."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        self._view = view

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(self._view.canvas.style_set.accent.color(), 2))
        painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()


class FocusMark(QObject):
    """Marks the layer that keys act on, while the canvas is used by keyboard."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        self._by_keys = False
        self._ringed: NodeItem | None = None
        self._border = _Border(view)
        view.document.selection.changed.connect(self.refresh)
        self.refresh()

    def used(self, *, by_keys: bool) -> None:
        """Tell that a key or the mouse was used on the canvas."""
        if by_keys != self._by_keys:
            self._by_keys = by_keys
            self.refresh()

    def entered(self, reason: Qt.FocusReason) -> None:
        """Tell that the canvas got the keyboard."""
        self._by_keys = self._by_keys or reason in _BY_KEYS
        self.refresh()

    @guard
    def refresh(self) -> None:
        """Show the mark where it belongs now."""
        view = self._view
        document = view.document
        last = document.selection.last
        item = view.canvas.folding.shown(last) if last is not None else None
        shown = self._by_keys and view.hasFocus()
        ringed = item if shown else None
        if ringed is not self._ringed:
            for each, on in ((self._ringed, False), (ringed, True)):
                if each is not None and isValid(each) and each.scene() is view.canvas:
                    each.ringed = on
                    each.update()
            self._ringed = ringed
        aside = item is None and (chosen_wire(view) is not None or chosen_annotation(view) is not None)
        self._border.setVisible(shown and item is None and not aside)
        self._border.setGeometry(view.rect())
        count = len(document.selection)
        if aside:
            text = self._spoken_aside()
        elif item is None:
            total = counted(len(document.graph), "layer")
            text = f"{total}, none selected. Arrow keys select one, {self._keys_for_leaving()}."
        elif item.node_id not in view.canvas.nodes:
            text = f"Block {item.face.title}, {item.face.type}, {counted(len(item.ids), 'layer')}."
            text += by_key(view.key_of("block"), " {} unfolds it.")
        else:
            more = f"{count} layers selected, last: " if count > 1 else ""
            text = more + spoken(document, item.node_id)
        if text != view.accessibleDescription():
            view.setAccessibleDescription(text)
            if view.hasFocus():
                announce(view, text)

    def _spoken_aside(self) -> str:
        """Say which wire, bend, frame or note is selected."""
        wire, written = chosen_wire(self._view), chosen_annotation(self._view)
        if wire is not None:
            return spoken_wire(self._view.document, wire.edge, wire.chosen_bend, len(wire.bends))
        return spoken_annotation(written.value) if written is not None else ""

    def _keys_for_leaving(self) -> str:
        adds = self._view.keys.hint("add")
        return f"{adds} adds one, Shift+Tab leaves the canvas" if adds else "Shift+Tab leaves the canvas"
