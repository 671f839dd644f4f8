"""The comparison in the window: two canvases, the list of differences, and what is done with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QSplitter, QToolButton, QVBoxLayout, QWidget

from app.compare.changes import KINDS, Change, delta_text
from app.compare.comparison import Comparison
from app.compare.heading import Heading
from app.compare.keys import keys_of
from app.compare.listing import ChangeList
from app.compare.showing import ALL, FOLDED, HIDDEN, EqualChoice, Showing
from app.compare.sides import Sides
from app.compare.together import Together
from app.costs.formats import number_text
from app.icons import icon
from app.qt import guard, key_text
from app.theme import Theme
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.compare.canvas import CompareCanvas
    from app.compare.sources import Other
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["CompareView"]

#: From so many layers on, the maps are shown at first.
_MAP_FROM = 60
_TIPS = {
    "take": "Make this layer here what it is on the other side, as a step that can be undone",
    "map": "Show the whole nets small, with what differs",
    "previous": "Previous difference",
    "next": "Next difference",
    "close": "Back to the canvas",
}


class CompareView(QWidget):
    """Shows a comparison over the canvas of the net that is open.

    Parameters
    ----------
    document : Document
        The net that is open.
    other : Other
        What it is compared with.

    Attributes
    ----------
    closed : Signal()
        The user wants it gone.
    told : Signal(str, str)
        Something to say, and whether it is ``info``, a ``warning`` or an ``error``.
    """

    closed = Signal()
    told = Signal(str, str)

    def __init__(self, document: Document, other: Other, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("compare.view")
        self.setAccessibleName(f"Compared with {other.title}")
        self.comparison = Comparison(document, other, self)
        self.together: Together | None = None
        self.summary = QLabel(f"Reading {other.title}\u2026", self)
        self.summary.setObjectName("compare.summary")
        self.summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.list = ChangeList(self)
        self.take_button = self._button("take", "Take over", self.take_chosen)
        self.equal = EqualChoice(self)
        self.equal.changed.connect(self._equal_chosen)
        self.showing: Showing | None = None
        self.map_button = self._button("map", "Map", self._show_maps, checkable=True)
        self.previous_button = self._button("previous", "", lambda: self.step(-1), name_icon="caret-up")
        self.next_button = self._button("next", "", lambda: self.step(1), name_icon="caret-down")
        self.close_button = self._button("close", "Close", self.closed.emit, name_icon="x")
        self._sides = Sides(self)
        self._sides.opened.connect(self._sides_opened)
        self._arrange()
        self._closed = False
        self._pointing = False
        self._framed = False
        self.comparison.opened.connect(self._opened)
        self.comparison.compared.connect(self._compared)
        self.comparison.measured.connect(self._measured)
        self.comparison.failed.connect(self._failed)
        self.list.chosen.connect(self._chosen)
        document.selection.changed.connect(self._follow)
        self._show_buttons()

    def _button(
        self,
        name: str,
        text: str,
        act: Callable[[], object],
        *,
        checkable: bool = False,
        name_icon: str = "",
    ) -> QToolButton:
        action = QAction(text or _TIPS[name], self)
        action.setObjectName(f"compare.{name}")
        action.setCheckable(checkable)
        if name_icon:
            action.setIcon(icon(name_icon))
        action.setShortcuts([QKeySequence(key) for key in keys_of(name)])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.setToolTip(self._tip(name, action))
        action.triggered.connect(lambda _checked=False: act())
        self.addAction(action)
        button = QToolButton(self)
        button.setObjectName(f"compare.{name}_button")
        button.setDefaultAction(action)
        button.setAccessibleName(_TIPS[name])
        button.setProperty("toggle", True)
        if text:
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        return button

    @staticmethod
    def _tip(name: str, action: QAction) -> str:
        key = key_text(action)
        return f"{_TIPS[name]} ({key})" if key else _TIPS[name]

    def _arrange(self) -> None:
        looking = self.equal, self.map_button, self.previous_button, self.next_button
        self._heading = Heading(self.summary, (*looking, self.take_button, self.close_button), self)
        down = QSplitter(Qt.Orientation.Vertical, self)
        down.setChildrenCollapsible(False)
        down.addWidget(self._sides)
        down.addWidget(self.list)
        down.setStretchFactor(0, 3)
        down.setStretchFactor(1, 1)
        down.setSizes([600, 200])
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._heading)
        box.addWidget(down, 1)
        self.setFocusProxy(self.list)

    def close_comparison(self) -> None:
        """End what works for it; the widget is of no use after that."""
        if self._closed:
            return
        self._closed = True
        self.comparison.document.selection.changed.disconnect(self._follow)
        if self.together is not None:
            self.together.close()
        self._sides.close_sides()
        self.comparison.close()

    # What the comparison tells

    @guard
    def _failed(self, reason: str) -> None:
        self.summary.setText(reason)
        self.told.emit(reason, "error")
        if self.canvases is None:
            self.closed.emit()

    @guard
    def _opened(self) -> None:
        self._sides.open(self.comparison)

    @guard
    def _sides_opened(self) -> None:
        assert self.canvases is not None
        old, new = self.canvases
        self.together = Together(old, new, self)
        self.showing = Showing((old, new), self.comparison)
        for canvas in (old, new):
            of_old = canvas is old
            canvas.chosen.connect(lambda node, of_old=of_old: self._clicked(node, of_old=of_old))
            canvas.unfold_asked.connect(lambda node, of_old=of_old: self._unfold(node, of_old=of_old))
        if self.comparison.is_listed:
            QTimer.singleShot(0, self, self._compared)

    @property
    def canvases(self) -> tuple[CompareCanvas, CompareCanvas] | None:
        """The canvas of the other net and that of this one, once they are there."""
        return self._sides.canvases

    @guard
    def _compared(self) -> None:
        if self._closed:
            return
        self._list()
        if self.canvases is not None and self.showing is not None:
            self._show_marks()
            self.equal.suggest(FOLDED if self.showing.is_worth_folding else ALL)
            self.arrange()

    @guard
    def _measured(self) -> None:
        if self.canvases is None:
            return
        marked = [set(canvas.marks) for canvas in self.canvases]
        self._show_marks()
        self._list()
        self._sides.tell(self._cost_words())
        if self.equal.mode == HIDDEN and marked != [set(canvas.marks) for canvas in self.canvases]:
            self.arrange()

    def _cost_words(self) -> tuple[str, str]:
        """Return what each side costs; of the second, by how much that is more, where all of both is known."""
        before, after = self.comparison.counts
        words = [
            f"{number_text(0, count.totals[0])} parameters, {number_text(1, count.totals[1])} multiply-adds"
            if any(count.totals)
            else ""
            for count in (before, after)
        ]
        for number, count in enumerate((before, after)):
            if words[number] and count.unknown:
                words[number] += f", less {count.unknown} {'layer' if count.unknown == 1 else 'layers'} not known"
        deltas = [delta_text(after.totals[number] - before.totals[number]) or "the same" for number in (0, 1)]
        if all(words) and not before.unknown and not after.unknown and before.totals[:2] != after.totals[:2]:
            words[1] += f" ({', '.join(deltas)})"
        return words[0], words[1]

    def _show_marks(self) -> None:
        if self.canvases is None:
            return
        changes = self.comparison.changes
        self.canvases[0].set_marks({each.old.id: each.kind for each in changes if each.old is not None})
        self.canvases[1].set_marks({each.new.id: each.kind for each in changes if each.new is not None})

    def _list(self) -> None:
        comparison = self.comparison
        self.list.show_changes(comparison.changes, comparison.difference.net_fields)
        counts = {kind: sum(kind in each.kinds for each in comparison.changes) for kind in KINDS}
        words = [f"{count} {KINDS[kind].words}" for kind, count in counts.items() if count]
        if comparison.difference.net_fields:
            words.append("the net's own fields")
        differs = ", ".join(words) or "No difference: what they mean is the same."
        self.summary.setText(f"<b>{comparison.other.title}</b> \u2192 here: {differs} {comparison.broken}".rstrip())
        self.summary.setToolTip(f"{comparison.other.title} \u2192 here: {differs} {comparison.broken}".rstrip())
        self._heading.fit()
        self._show_buttons()

    # Looking

    def arrange(self, *, frame: bool = False, around: NodeId | None = None) -> None:
        """Lay both sides out, with what is equal as it is chosen; then show all, or one layer of this net."""
        if self.showing is not None and self.together is not None:
            shown = self.showing.show(self.equal.mode)
            self.together.arrange(shown, lambda: self._arranged(frame=frame, around=around))

    def _arranged(self, *, frame: bool, around: NodeId | None) -> None:
        if self._closed or self.canvases is None or self.together is None:
            return
        if not self._framed:
            self._framed = True
            self.comparison.start_live()
            self._sides.share()
            big = max(len(canvas.canvas.nodes) for canvas in self.canvases) >= _MAP_FROM
            self.map_button.setChecked(big or self.map_button.isChecked())
            self._show_maps()
            self.canvases[1].frame_start()
            self._show_first()
            self.canvases[1].moved.emit()
        elif frame:
            self.together.frame()
        elif around is not None:
            self.canvases[1].show_node(around)
        for canvas in self.canvases:
            canvas.viewport().update()

    def _show_first(self) -> None:
        """Go to the first difference where the net is too large to be seen whole."""
        changes = self.comparison.changes
        if self.canvases is None or not changes:
            return
        first = changes[0]
        canvas, node = (self.canvases[0], first.old) if first.new is None else (self.canvases[1], first.new)
        item = canvas.hiding.shown(node.id) if node is not None else None
        if node is not None and item is not None and not self.canvases[1].visible_rect().contains(item.scene_body()):
            canvas.show_node(node.id)

    @guard
    def _equal_chosen(self) -> None:
        if self.showing is not None:
            self.showing.fold_all()
        self.arrange(frame=True)

    @guard
    def _unfold(self, node: NodeId, *, of_old: bool) -> None:
        if self.showing is not None:
            self.arrange(around=self.showing.unfold(node, of_old=of_old))

    @guard
    def _show_maps(self) -> None:
        for canvas in self.canvases or ():
            canvas.map.setVisible(self.map_button.isChecked())
            canvas.map.place()

    # Choosing

    @property
    def change(self) -> Change | None:
        """The chosen difference."""
        place = self.list.place()
        changes = self.comparison.changes
        return changes[place] if 0 <= place < len(changes) else None

    @guard
    def step(self, by: int) -> None:
        """Choose the next difference, or the one before, around the end."""
        count = len(self.comparison.changes)
        if count:
            place = self.list.place()
            self.list.choose((place + by) % count if place >= 0 else (0 if by > 0 else count - 1))

    @guard
    def _chosen(self, _place: int) -> None:
        change = self.change
        self._show_buttons()
        if change is None or self.canvases is None:
            return
        self._select(change.old.id if change.old else None, change.new.id if change.new else None)
        canvas, node = (0, change.old) if change.new is None else (1, change.new)
        if node is not None:
            self.canvases[canvas].show_node(node.id)

    def _clicked(self, node: NodeId | None, *, of_old: bool) -> None:
        """Choose the layer that was clicked on both sides, in the list and in the open net."""
        if node is None:
            self._select(None, None)
            return
        partner = self.comparison.partner(node, of_old=of_old)
        old, new = (node, partner) if of_old else (partner, node)
        self._select(old, new)
        for place, change in enumerate(self.comparison.changes):
            side = change.old if of_old else change.new
            if side is not None and side.id == node and place != self.list.place():
                self.list.choose(place)

    def _select(self, old: NodeId | None, new: NodeId | None) -> None:
        comparison = self.comparison
        self._pointing = True
        for document, node in ((comparison.old, old), (comparison.new, new)):
            if document is not None:
                document.selection.set([node] if node is not None else [])
                document.selection.flush()
        original = comparison.original(new) if new is not None else None
        comparison.document.selection.set([original] if original is not None else [])
        comparison.document.selection.flush()
        self._pointing = False

    @guard
    def _follow(self) -> None:
        """Show on both sides what is selected elsewhere in the window."""
        last = self.comparison.document.selection.last
        if self._pointing or last is None or self.canvases is None:
            return
        new = self.comparison.copy_of(last)
        if new is not None:
            old = self.comparison.partner(new, of_old=False)
            for canvas, node in zip(self.canvases, (old, new), strict=True):
                canvas.document.selection.set([node] if node is not None else [])
            self.canvases[1].show_node(new)

    # Taking over

    def take_chosen(self) -> None:
        """Take the chosen difference over from the other side."""
        change = self.change
        if change is None or self.comparison.obstacle(change):
            return
        try:
            self.comparison.take(change)
        except NetcanvasError as error:
            self.told.emit(str(error), "warning")

    def _show_buttons(self) -> None:
        obstacle = self.comparison.obstacle(self.change)
        none = "" if self.comparison.changes else "There is no difference to go to."
        buttons = ("take", self.take_button, obstacle), ("previous", self.previous_button, none)
        for name, button, why_not in (*buttons, ("next", self.next_button, none)):
            action = button.defaultAction()
            action.setEnabled(not why_not)
            action.setToolTip(why_not or self._tip(name, action))

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), Theme.current().color("surface"))
