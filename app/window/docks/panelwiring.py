"""Connecting a panel that was made with what it is about: menus, shortcuts, other panels, the canvas."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QDockWidget

from app.window.keys.shortcuts import CURVES, PROBLEMS, PROPERTIES, SOLVER, TEXT
from app.window.newsolver import tell_new_solver
from app.window.problemline import show_line

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["take_panel"]


def take_panel(window: MainWindow, name: str, panel: Any, dock: QDockWidget) -> None:
    """Connect a panel.

    Parameters
    ----------
    window : MainWindow
    name : str
        Of the panel; see :data:`app.window.docks.docks.PANELS`.
    panel : QWidget
        Which has the signals of its kind.
    dock : QDockWidget
        In which it is.
    """
    if name == "training":
        window.toolbar.add_training(panel)
        actions = (panel.train_action, panel.pause_action, panel.stop_action, panel.snapshot_action)
        window.train_menu.addActions([*actions, panel.tell_action])
        window.train_menu.addMenu(panel.pictures.walk.menu)
        window.keys.adopt_menus()
        panel.train_action.triggered.connect(lambda: window.show_panel("training"))  # what comes of it is told there
        window.document_left.connect(panel.forget)
        panel.folder_trusted.connect(window.plugins.trust.allow)
        window.plugins.shelf.edited.connect(panel.plugins_edited)
        panel.runs.compared.connect(window.comparing.with_run)
        panel.neighbours = lambda: [page.document for page in window.tabs.pages()]
    elif name == "plugins":
        title = dock.setWindowTitle
        panel.counted.connect(lambda count: title(f"Plugins ({count})" if count else "Plugins"))
        window.plugins.take_panel(panel)
    elif name == "code":
        window.plugins.code.take_pane(panel)
    elif name == "text":
        window.keys.shortcuts.adopt(panel.edit.actions(), TEXT)
    elif name in ("outline", "costs"):
        panel.revealed.connect(lambda node: window.canvas.reveal(node))
        if name == "costs":
            panel.told.connect(window.notify)
    elif name == "properties":
        window.keys.shortcuts.adopt(panel.actions(), PROPERTIES)
    elif name == "solver":
        window.keys.shortcuts.adopt(panel.actions(), SOLVER)
        window.keys.shortcuts.adopt(panel.plot.actions(), CURVES)
        panel.created.connect(partial(tell_new_solver, window))
    elif name == "problems":
        window.keys.shortcuts.adopt(panel.view.actions(), PROBLEMS)
        panel.line_activated.connect(lambda line, column: show_line(window, line, column))
