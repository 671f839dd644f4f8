"""The toolbar: the few things one does all the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

__all__ = ["MainToolBar"]

_GROUPS = (("open", "save"), ("undo", "redo"), ("add", "layout", "fit"))
_PHASES = (
    ("all", "All", "Show both phases"),
    ("TRAIN", "Train", "Show the training net; what only tests is dimmed"),
    ("TEST", "Test", "Show the test net; what only trains is dimmed"),
)


class MainToolBar(QToolBar):
    """File, history, net, phase view, training, theme.

    Attributes
    ----------
    phase_chosen : Signal(str)
        ``all``, ``TRAIN`` or ``TEST``.
    """

    phase_chosen = Signal(str)

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget) -> None:
        super().__init__("Tools", parent)
        self.setObjectName("window.toolbar")
        self.setMovable(False)
        self.setIconSize(QSize(20, 20))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        for group in _GROUPS:
            for name in group:
                self.addAction(actions[name])
            self.addSeparator()
        self._phases: dict[str, QAction] = {}
        self._add_phases()
        space = QWidget()
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._space = self.addWidget(space)
        self._end = self.addAction(actions["theme"].icon(), "")
        self.removeAction(self._end)
        self._end = actions["theme"]
        self.addAction(self._end)
        for child in self.findChildren(QToolButton):
            child.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _add_phases(self) -> None:
        label = QLabel("View")
        label.setProperty("muted", True)
        label.setContentsMargins(4, 0, 4, 0)
        self.addWidget(label)
        group = QActionGroup(self)
        group.setExclusive(True)
        for view, text, tip in _PHASES:
            action = QAction(text, self)
            action.setObjectName(f"window.phase.{view.lower()}")
            action.setCheckable(True)
            action.setToolTip(tip)
            action.triggered.connect(lambda _checked=False, view=view: self.phase_chosen.emit(view))
            group.addAction(action)
            self.addAction(action)
            self._phases[view] = action

    def set_phase(self, view: str) -> None:
        """Show which phase is in view."""
        self._phases[view].setChecked(True)

    def add_training(self, panel: Any) -> None:
        """Add the training actions, Train as the one prominent button."""
        from app.training.actions import ActionButton

        button = ActionButton(panel.train_action, self, primary=True)
        button.setObjectName("window.train_button")
        self.insertWidget(self._end, button)
        for action in (panel.pause_action, panel.stop_action, panel.snapshot_action):
            self.insertAction(self._end, action)
        self.insertSeparator(self._end)
