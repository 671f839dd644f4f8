"""Choosing which net of a document is looked at: a phase, deploy, stages and a level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QKeySequence, QMouseEvent, Qt
from PySide6.QtWidgets import QMenu, QWidget

from app.qt import guard
from engine.graph import ALL, DEPLOY

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import View

__all__ = ["StateMenu", "ViewChooser"]

_NO_RULES = "No rule of this net names a stage or a level"


@dataclass(frozen=True, slots=True)
class _Choice:
    show: str
    text: str
    keys: str
    tip: str


_CHOICES = (
    _Choice(ALL, "&All", "Ctrl+1", "Show all that the file holds"),
    _Choice("TRAIN", "T&rain", "Ctrl+2", "Show the training net; what takes no part in it is dimmed"),
    _Choice("TEST", "&Test", "Ctrl+3", "Show the test net; what takes no part in it is dimmed"),
    _Choice(DEPLOY, "&Deploy", "Ctrl+4", "Show the net that predicts: without labels, losses and accuracies"),
)


class ViewChooser(QMenu):
    """Lists the nets of the document in view; toolbar and menu bar share its actions.

    Parameters
    ----------
    document : callable
        Returns the document in view.

    Attributes
    ----------
    choices : dict of QAction
        By what they show.
    states : StateMenu
        Stages and level.
    """

    def __init__(self, document: Callable[[], Document], parent: QWidget) -> None:
        super().__init__("Sho&w net", parent)
        self.setObjectName("window.menu.view_of")
        self.setToolTipsVisible(True)
        self._document = document
        self.choices: dict[str, QAction] = {}
        group = QActionGroup(self)
        for choice in _CHOICES:
            action = QAction(choice.text, parent)
            action.setObjectName(f"window.phase.{choice.show.lower()}")
            action.setCheckable(True)
            action.setShortcut(QKeySequence(choice.keys))
            action.setToolTip(f"{choice.tip} ({choice.keys})")
            action.triggered.connect(lambda _checked=False, show=choice.show: self._choose(show))
            group.addAction(action)
            self.addAction(action)
            self.choices[choice.show] = action
        self.addSeparator()
        self.states = StateMenu(document, self)
        self.addMenu(self.states)

    def _choose(self, show: str) -> None:
        document = self._document()
        document.set_view(replace(document.view, show=show))

    @guard
    def show_view(self, view: View) -> None:
        """Mark the view that is looked at."""
        self.choices[view.show].setChecked(True)
        self.states.refresh()


class StateMenu(QMenu):
    """The stages that rules of the net name, each to be checked, and the levels that they tell apart.

    Attributes
    ----------
    words_changed : Signal(str)
        What is chosen, in few words, for a button.
    """

    words_changed = Signal(str)

    def __init__(self, document: Callable[[], Document], parent: QWidget) -> None:
        super().__init__("&Stages and level", parent)
        self.setObjectName("window.menu.states")
        self.setToolTipsVisible(True)
        self._document = document
        self._offered: tuple[object, ...] = ()
        self.stages: dict[str, QAction] = {}
        self.levels: dict[int, QAction] = {}
        self._levels = QActionGroup(self)
        self.aboutToShow.connect(self.refresh)

    @property
    def words(self) -> str:
        """What is chosen, in few words."""
        view = self._document().view
        parts = sorted(view.stages) + ([f"level {view.level}"] if view.level else [])
        return ", ".join(parts) or "Stages"

    @guard
    def refresh(self) -> None:
        """Offer what the rules of the document speak of now, and what is chosen."""
        document = self._document()
        view, graph = document.view, document.graph
        stages = sorted(graph.stages | view.stages)
        levels = sorted({*graph.levels, view.level})
        if self._offered != (stages, levels):
            self._offered = (stages, levels)
            self._fill(stages, levels)
        for stage, action in self.stages.items():
            action.setChecked(stage in view.stages)
        for level, action in self.levels.items():
            action.setChecked(level == view.level)
        self.menuAction().setToolTip("" if self.has_choice else _NO_RULES)
        self.words_changed.emit(self.words)

    @property
    def has_choice(self) -> bool:
        """Whether there is any stage or level to choose."""
        return bool(self.stages) or len(self.levels) > 1

    def _fill(self, stages: list[str], levels: list[int]) -> None:
        self.clear()
        self.stages, self.levels = {}, {}
        if stages:
            self.addSection("Stages")
        for stage in stages:
            self.stages[stage] = self._add(stage, f"window.stage.{stage}", f"Look at the net with stage '{stage}'")
        if len(levels) > 1:
            self.addSection("Level")
            for level in levels:
                action = self._add(f"Level {level}", f"window.level.{level}", f"Look at the net at level {level}")
                self._levels.addAction(action)
                self.levels[level] = action
        if not self.stages and len(levels) < 2:
            self.addAction(_NO_RULES).setEnabled(False)

    def _add(self, text: str, name: str, tip: str) -> QAction:
        action = self.addAction(text.replace("&", "&&"))
        action.setObjectName(name)
        action.setToolTip(tip)
        action.setCheckable(True)
        action.triggered.connect(self._chosen)
        return action

    @guard
    def _chosen(self, _checked: bool = False) -> None:
        document = self._document()
        stages = frozenset(stage for stage, action in self.stages.items() if action.isChecked())
        level = next((level for level, action in self.levels.items() if action.isChecked()), 0)
        # Everything has no stages: whoever chooses one looks at a net.
        show = "TEST" if document.view.show == ALL and (stages or level) else document.view.show
        document.set_view(replace(document.view, show=show, stages=stages, level=level))

    # Several stages are chosen without opening the menu for each.

    @guard
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._toggle(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Space or not self._toggle(self.activeAction()):
            super().keyPressEvent(event)

    def _toggle(self, action: QAction | None) -> bool:
        """Check or uncheck a stage and keep the menu open; return whether it was one."""
        if action is None or action not in self.stages.values():
            return False
        action.trigger()
        return True
