"""Going into blocks and out again: what is in view then, and the line that says where one is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton

from app.canvas.edits.arrange import arrange
from app.canvas.edits.foldedits import fold_repeats, is_folded
from app.canvas.overlay import OVERLAY_GAP, CornerWidget
from app.qt import guard
from app.wording import by_key, counted

if TYPE_CHECKING:
    from app.canvas.view import CanvasView
    from engine.graph import NodeId

__all__ = ["Breadcrumb"]

_UNFOLD = "Show all layers by themselves"


class Breadcrumb(CornerWidget):
    """Shows the blocks around what is in view, each to be gone back to, or how much is folded on the outermost level.

    It remembers what was in view on each level.
    """

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view, Qt.Corner.BottomLeftCorner)
        self.setObjectName("canvas.breadcrumb")
        self.setAccessibleName("Blocks around what is in view")
        self._view = view
        self._level: NodeId | None = None
        self._left: dict[NodeId | None, tuple[float, QPointF]] = {}
        self._box = QHBoxLayout(self)
        self._box.setContentsMargins(8, 4, 8, 4)
        self._box.setSpacing(4)
        view.canvas.level_changed.connect(self._level_changed)
        view.document.positions.blocks.changed.connect(self.refill)
        view.canvas.content_changed.connect(self._count)
        view.canvas.seeking_changed.connect(self.refill)
        self._counts = QLabel()
        self._counts.setObjectName("canvas.folded")
        self._counts.setProperty("muted", True)
        self._unfold = QToolButton()
        self._unfold.setObjectName("canvas.unfold")
        self._unfold.setAutoRaise(True)
        self._unfold.clicked.connect(self._unfold_all)
        for part in (self._counts, self._unfold):
            part.setParent(self)
            part.hide()
        self.refill()

    @guard
    def _level_changed(self) -> None:
        view = self._view
        folding = view.canvas.folding
        view.cancel_gesture()
        view.title_edit.close_edit()
        self._left[self._level] = (view.scale_factor, view.visible_rect().center())
        self._level = folding.level
        self.refill()
        positions = view.document.positions
        unplaced = any(item.node_id not in positions for item in folding.items())
        if self._level is not None and (self._level in folding.fresh or unplaced):
            folding.fresh.discard(self._level)
            folding.when_wired(lambda: arrange(view, undoable=False, done=view.frame))
            return
        view.canvas.make_room()
        known = self._left.get(self._level)
        if known is None or self._level is not None:
            view.frame()
        else:
            view.set_scale(known[0])
            view.centerOn(known[1])

    @guard
    def refill(self) -> None:
        """Show where one is, and the key that leads out."""
        while (entry := self._box.takeAt(0)) is not None:
            widget = entry.widget()
            if widget is not None:
                widget.hide()
                if widget not in (self._counts, self._unfold):
                    widget.deleteLater()
        folding = self._view.canvas.folding
        path = self._view.document.positions.blocks.path(folding.level)
        folded = not path and (folding.seeking or is_folded(self._view.document))
        self.setVisible(bool(path) or folded)
        self._unfold.setText("Cancel" if folding.seeking else "Unfold")
        unfold = _UNFOLD + by_key(self._view.key_of("fold"), " ({})")
        self._unfold.setToolTip("Leave it as it is" if folding.seeking else unfold)
        if folded:
            for part in (self._counts, self._unfold):
                self._box.addWidget(part)
                part.show()
            self._count()
        self._take_room(is_shown=bool(path) or folded)
        if path:
            self._add("Whole net", None)
        for block in path:
            mark = QLabel("\u203a")
            mark.setProperty("muted", True)
            self._box.addWidget(mark)
            mark.show()
            words = f"{block.title} ({block.parts}\u00d7)" if block.parts > 1 else block.title
            self._add(words, block.id)
        self.adjustSize()
        self.place()

    def _take_room(self, *, is_shown: bool) -> None:
        """Have the net framed above it."""
        self._view.bottom_room = self.sizeHint().height() + OVERLAY_GAP if is_shown else 0

    @guard
    def _count(self) -> None:
        """Say how much is folded."""
        if self._counts.isHidden():
            return
        scene = self._view.canvas
        words = "Looking for what is repeated\u2026"
        if not scene.folding.seeking:
            count = scene.document.graph.layer_count()
            words = f"Folded: {counted(count, 'layer')} on {counted(len(scene.items_shown()), 'card')}"
        if words != self._counts.text():
            self._counts.setText(words)
            self.adjustSize()
            self.place()

    @guard
    def _unfold_all(self, _checked: bool = False) -> None:
        fold_repeats(self._view)
        self._view.setFocus()

    def _add(self, words: str, level: NodeId | None) -> None:
        button = QToolButton()
        button.setText(words)
        button.setAutoRaise(True)
        button.setObjectName(f"canvas.level.{level if level is not None else 'all'}")
        here = level == self._view.canvas.folding.level
        button.setEnabled(not here)
        key = self._view.keys.hint("leave_block")
        out = f" ({key} goes one level out)" if key else ""
        button.setToolTip("You are here" if here else f"Show {words}{out}")
        button.clicked.connect(partial(self._go, level))
        self._box.addWidget(button)
        button.show()

    @guard
    def _go(self, level: NodeId | None, _checked: bool = False) -> None:
        self._view.canvas.folding.look_into(level)
        self._view.setFocus()

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._view.canvas.style_set.theme
        painter = QPainter(self)
        self.paint_plate(painter, theme)
        painter.end()
