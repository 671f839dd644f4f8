"""How much of what is equal is shown: all of it, folded, or nothing; and the buttons to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.compare.equal import Stretch, equal_stretches, fold, is_worth_folding
from app.compare.keys import keys_of
from app.qt import guard, key_text
from app.theme import GRID

if TYPE_CHECKING:
    from collections.abc import Generator

    from app.compare.canvas import CompareCanvas
    from app.compare.comparison import Comparison
    from engine.graph import NodeId

__all__ = ["ALL", "FOLDED", "HIDDEN", "EqualChoice", "Showing"]

ALL, FOLDED, HIDDEN = "all", "fold", "hide"
_CHOICES = (
    (ALL, "All", "Show both nets whole"),
    (FOLDED, "Equal folded", "Fold what is equal: a card for each stretch; double-click one to unfold it"),
    (HIDDEN, "Only differences", "Hide what is equal"),
)


class EqualChoice(QWidget):
    """One button for each way, and a key that goes through them.

    Attributes
    ----------
    changed : Signal()
        The user chose another way.
    mode : str
        ``all``, ``fold`` or ``hide``.
    buttons : dict of str to QToolButton
        By the way that they choose.
    """

    changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("compare.equal")
        self.setAccessibleName("What is equal")
        self.mode = ALL
        self._is_chosen = False
        self.buttons: dict[str, QToolButton] = {}
        group = QActionGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        for name, text, tip in _CHOICES:
            action = QAction(text, self)
            action.setObjectName(f"compare.{name}")
            action.setCheckable(True)
            action.triggered.connect(lambda _checked=False, name=name: self.choose(name))
            group.addAction(action)
            button = QToolButton(self)
            button.setObjectName(f"compare.{name}_button")
            button.setDefaultAction(action)
            button.setAccessibleName(tip)
            button.setProperty("toggle", True)
            row.addWidget(button)
            self.buttons[name] = button
        self._set_mode(ALL)
        self.next_action = QAction("Show, fold or hide what is equal", parent)
        self.next_action.setObjectName("compare.equal_next")
        self.next_action.setShortcuts([QKeySequence(key) for key in keys_of("equal_next")])
        self.next_action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.next_action.triggered.connect(self._go_on)
        self.next_action.changed.connect(self._say_key)
        parent.addAction(self.next_action)
        self._say_key()

    @guard
    def _say_key(self) -> None:
        key = key_text(self.next_action)
        for name, _text, tip in _CHOICES:
            self.buttons[name].defaultAction().setToolTip(f"{tip} ({key} goes on to the next)" if key else tip)

    def suggest(self, mode: str) -> None:
        """Take a way that suits, unless the user has chosen one."""
        if not self._is_chosen:
            self._set_mode(mode)

    def _set_mode(self, mode: str) -> None:
        self.mode = mode
        self.buttons[mode].defaultAction().setChecked(True)

    def choose(self, mode: str) -> None:
        """Choose a way, for the user; it stays until he chooses another one."""
        self._is_chosen = True
        self._set_mode(mode)
        self.changed.emit()

    def _go_on(self) -> None:
        names = [name for name, _text, _tip in _CHOICES]
        self.choose(names[(names.index(self.mode) + 1) % len(names)])


class Showing:
    """Shows what is equal on two canvases in one of these ways.

    Parameters
    ----------
    canvases : pair of CompareCanvas
    comparison : Comparison
    """

    def __init__(self, canvases: tuple[CompareCanvas, CompareCanvas], comparison: Comparison) -> None:
        self._canvases = canvases
        self._comparison = comparison
        self._unfolded: set[NodeId] = set()

    @property
    def is_worth_folding(self) -> bool:
        """Whether the difference is better seen folded."""
        return is_worth_folding(self._comparison.difference, self._comparison.changes)

    def show(self, mode: str) -> Generator[None, None, dict[NodeId, NodeId]]:
        """Show what is equal in a way, a little at each step.

        Returns
        -------
        dict of NodeId to NodeId
            From what stands on the first canvas to what shall stand at the same place on the second; what the generator
            returns.
        """
        comparison = self._comparison
        pairs = {old.id: new.id for old, new in comparison.difference.pairs}
        found: list[Stretch] = []
        if mode == FOLDED:
            found = equal_stretches(comparison.difference, comparison.changes, self._unfolded)
        yield
        for canvas in self._canvases:
            nodes = canvas.canvas.nodes if mode == HIDDEN else ()
            yield from canvas.hiding.hiding([node for node in nodes if node not in canvas.marks])
        sides = [each.old for each in found], [each.new for each in found]
        cards: list[list[NodeId]] = []
        for canvas, side in zip(self._canvases, sides, strict=True):
            cards.append(fold(canvas.document, side, found))
            canvas.hide_heap()
            yield
        pairs.update(zip(*cards, strict=True))
        return pairs

    def unfold(self, node: NodeId, *, of_old: bool) -> NodeId | None:
        """Unfold the stretch that begins with a layer; return its first layer on the second canvas."""
        first = self._comparison.partner(node, of_old=True) if of_old else node
        if first is not None:
            self._unfolded.add(first)
        return first

    def fold_all(self) -> None:
        """Fold again what was unfolded one by one."""
        self._unfolded.clear()
