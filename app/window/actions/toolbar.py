"""The toolbar: the few things one does all the time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

from app.icons import icon
from app.qt import guard
from app.window.views.viewmenu import ViewChooser

__all__ = ["MainToolBar"]

_GROUPS = (("open", "save"), ("undo", "redo"), ("add", "layout", "fold", "fit", "minimap"))


class MainToolBar(QToolBar):
    """File, history, net, view of the net, training, theme."""

    def __init__(self, actions: Mapping[str, QAction], views: ViewChooser, parent: QWidget) -> None:
        super().__init__("Tools", parent)
        self.setObjectName("window.toolbar")
        self.setMovable(False)
        self.setIconSize(QSize(20, 20))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        for group in _GROUPS:
            for name in group:
                self.addAction(actions[name])
            self.addSeparator()
        self.train_button: QWidget | None = None
        self._views = views
        self._add_views(views)
        space = QWidget()
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._space = self.addWidget(space)
        self._end = self.addAction(actions["theme"].icon(), "")
        self.removeAction(self._end)
        self._end = actions["theme"]
        self.addAction(self._end)
        more = self.findChild(QToolButton, "qt_toolbar_ext_button")
        if isinstance(more, QToolButton):  # Qt's own is black, on dark windows too
            more.setIcon(icon("dots-three-vertical"))
            more.setIconSize(QSize(12, 20))
            more.setToolTip("Show what does not fit")
            more.setAccessibleName("More tools")
        self._let_reach()

    def _let_reach(self) -> None:
        """Let the tabulator halt at every button, and give each a name for screen readers, without its key."""
        for child in self.findChildren(QToolButton):
            child.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for action in self.actions():
            button = self.widgetForAction(action)
            if isinstance(button, QToolButton) and button is not self._states and not button.accessibleName():
                name = partial(_name_button, button, action)
                action.changed.connect(name)
                name()

    def _add_views(self, views: ViewChooser) -> None:
        label = QLabel("View")
        label.setProperty("muted", True)
        label.setContentsMargins(4, 0, 4, 0)
        self.addWidget(label)
        for action in views.choices.values():
            self.addAction(action)
        self._states = QToolButton()
        self._states.setObjectName("window.states")
        self._states.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._states.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self._states.setMenu(views.states)
        self._states_action = self.addWidget(self._states)
        views.states.words_changed.connect(self._show_states)

    @guard
    def _show_states(self, words: str) -> None:
        """Name the chosen stages; without any to choose, the button is not there."""
        self._states.setText(words)
        self._states.setAccessibleName(f"Stages and level: {words}")
        self._states.setToolTip("Choose the stages and the level that rules of layers ask for")
        self._states_action.setVisible(self._views.states.has_choice)

    def add_training(self, panel: Any) -> None:
        """Add the training actions, Train as the one prominent button."""
        from app.training.actions import ActionButton

        button = ActionButton(panel.train_action, self, primary=True)
        button.setObjectName("window.train_button")
        self.train_button = button
        self.insertWidget(self._end, button)
        for action in (panel.pause_action, panel.stop_action, panel.snapshot_action):
            self.insertAction(self._end, action)
        self.insertSeparator(self._end)
        self._let_reach()


@guard
def _name_button(button: QToolButton, action: QAction) -> None:
    button.setAccessibleName(action.text().partition("\t")[0].replace("&", "").rstrip("\u2026"))
