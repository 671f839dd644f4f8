"""What each action of the window does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.canvas.layout.layout import Flow
from app.window.deploying import make_deploy_net

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["window_handlers"]


def window_handlers(window: MainWindow) -> dict[str, Callable[[], object]]:
    """Return the handlers of all actions of :data:`app.window.actions.menus.SPECS`, by name."""
    files, tabs = window.files, window.tabs
    return {
        "new": files.new,
        "open": files.open_dialog,
        "save": files.save,
        "save_as": files.save_as,
        "close_tab": lambda: window.close_page(tabs.current),
        "next_tab": lambda: tabs.step(1),
        "previous_tab": lambda: tabs.step(-1),
        "tab_left": lambda: tabs.move_current(-1),
        "tab_right": lambda: tabs.move_current(1),
        "quit": window.close,
        "undo": lambda: _undo(window),
        "redo": lambda: window.document.undo_stack.redo(),
        **_canvas_handlers(window),
        "deploy": lambda: make_deploy_net(window),
        "new_layer": window.plugins.code.new_layer,
        "theme": lambda: window.themes.toggle(),
        "commands": lambda: window.keys.open_palette(),
        "shortcuts": lambda: window.keys.open_page(),
        "welcome": lambda: window.beginnings.welcome(),
        "tour": lambda: window.tour.start(),
        "restore": window.restore_asked.emit,
        "about": lambda: _say_version(window),
    }


def _canvas_handlers(window: MainWindow) -> dict[str, Callable[[], object]]:
    return {
        "cut": lambda: window.canvas.cut(),
        "copy": lambda: window.canvas.copy(),
        "paste": lambda: window.canvas.paste(),
        "paste_wired": lambda: window.canvas.paste(keep_inputs=True),
        "duplicate": lambda: window.canvas.duplicate(),
        "delete": lambda: window.canvas.delete(),
        "dissolve": lambda: window.canvas.dissolve(),
        "find": lambda: window.canvas.find_layer(),
        "select_all": lambda: window.canvas.select_all(),
        "add": lambda: window.canvas.search_asked.emit(window.canvas.pointer(), None, "key", 0),
        "layout": lambda: window.canvas.arrange_all(),
        "layout_across": lambda: window.canvas.arrange_all(Flow.ACROSS),
        "layout_down": lambda: window.canvas.arrange_all(Flow.DOWN),
        "fit": lambda: window.canvas.frame(),
        "frame": lambda: window.canvas.frame_selection(),
        "actual_size": lambda: window.canvas.set_scale(1.0),
        "zoom_in": lambda: window.canvas.zoom_by(1.25),
        "zoom_out": lambda: window.canvas.zoom_by(0.8),
        "fold": lambda: window.canvas.fold_repeats(),
        "block": lambda: window.canvas.fold_selection(),
        "keep_block": lambda: window.canvas.keep_block(),
        "put_frame": lambda: window.canvas.add_frame(),
        "note": lambda: window.canvas.do("note"),
        "minimap": lambda: window.canvas.minimap.toggle(),
        "export_picture": lambda: window.canvas.export_picture(),
        "copy_picture": lambda: window.canvas.copy_picture(),
    }


def _say_version(window: MainWindow) -> None:
    from engine import __version__

    window.notify(f"Netcanvas {__version__}: build and train neural nets by drawing them.", "info")


def _undo(window: MainWindow) -> None:
    """Take back the last step, which is what is being typed where that is not written yet."""
    window.commit_edits()
    window.canvas.words.commit()
    window.document.undo_stack.undo()
