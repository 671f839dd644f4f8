"""Menus and the table of actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu

from app.window.actions.actions import ActionSpec

if TYPE_CHECKING:
    from app.window.settings import WindowSettings

__all__ = ["SPECS", "fill_menus", "fill_recent"]

SPECS = (
    ActionSpec("new", "&New", "file-plus", ("Ctrl+N",), "New net"),
    ActionSpec("open", "&Open\u2026", "folder-open", ("Ctrl+O",), "Open a net or a solver"),
    ActionSpec("save", "&Save", "floppy-disk", ("Ctrl+S",), "Save the net"),
    ActionSpec("save_as", "Save &as\u2026", "", ("Ctrl+Shift+S",)),
    ActionSpec("close_tab", "&Close", "", ("Ctrl+W",), "Close this net"),
    ActionSpec("next_tab", "Next net", "", ("Ctrl+Tab", "Ctrl+PgDown"), "Go to the next open net"),
    ActionSpec("previous_tab", "Previous net", "", ("Ctrl+Shift+Tab", "Ctrl+PgUp"), "Go to the open net before this"),
    ActionSpec("tab_left", "Move net to the &left", "", ("Ctrl+Shift+PgUp",), "Move its tab to the left"),
    ActionSpec("tab_right", "Move net to the &right", "", ("Ctrl+Shift+PgDown",), "Move its tab to the right"),
    ActionSpec("quit", "&Quit", "", ("Ctrl+Q",)),
    ActionSpec("undo", "&Undo", "arrow-u-up-left", ("Ctrl+Z",)),
    ActionSpec("redo", "&Redo", "arrow-u-up-right", ("Ctrl+Shift+Z", "Ctrl+Y")),
    ActionSpec("cut", "Cu&t", "scissors", ("Ctrl+X",)),
    ActionSpec("copy", "&Copy", "copy", ("Ctrl+C",)),
    ActionSpec("paste", "&Paste", "clipboard", ("Ctrl+V",)),
    ActionSpec("paste_wired", "Paste &keeping inputs", "", ("Ctrl+Shift+V",)),
    ActionSpec("duplicate", "&Duplicate", "", ("Ctrl+D",)),
    ActionSpec("delete", "De&lete", "trash", hint="Del"),
    ActionSpec("dissolve", "Diss&olve", tip="Delete, and join what was above to what was below", hint="Ctrl+Del"),
    ActionSpec("find", "&Find layer\u2026", "magnifying-glass", tip="Find a layer of the net", hint="Ctrl+F"),
    ActionSpec("select_all", "Select &all", "", ("Ctrl+A",)),
    ActionSpec("add", "&Add layer\u2026", "plus", (), "Add a layer", hint="Tab"),
    ActionSpec("new_layer", "New &Python layer\u2026", "code", (), "Make a layer of your own, in Python"),
    ActionSpec("layout", "&Lay out", "tree-structure", ("Ctrl+Shift+L",), "Lay the net out"),
    ActionSpec("layout_across", "Lay out in one &row", tip="Lay the net out from left to right, however long it is"),
    ActionSpec(
        "layout_down", "Lay out from &top to bottom", tip="Lay the net out downwards, one layer below the other"
    ),
    ActionSpec("fit", "Frame a&ll", "corners-out", (), "Frame all", hint="Home"),
    ActionSpec("frame", "Frame &selection", "frame-corners", (), "Frame the selection", hint="F"),
    ActionSpec("actual_size", "&100 %", "", (), "Zoom to 100 %", hint="1"),
    ActionSpec("zoom_in", "Zoom &in", "magnifying-glass-plus", ("Ctrl++", "Ctrl+=")),
    ActionSpec("fold", "Fold &repeated blocks", "stack", ("Ctrl+Shift+F",), "Fold repeated blocks, or unfold them"),
    ActionSpec("block", "Fold to a &block", "", ("Alt+C",), "Fold the selection to a block, or unfold the block"),
    ActionSpec("keep_block", "&Keep as a block of mine", tip="Keep the selected layers in the palette"),
    ActionSpec("put_frame", "Put a &frame around", "", ("Ctrl+G",), "Put a frame around the selection"),
    ActionSpec("note", "Write a &note", tip="Write a note at the pointer", hint="Shift+P"),
    ActionSpec("minimap", "&Map", "map-trifold", (), "Show or hide the map", hint="M"),
    ActionSpec("export_picture", "&Export picture\u2026", "image", ("Ctrl+Shift+E",), "Draw the net to a file"),
    ActionSpec("deploy", "Make &deploy net", "", (), "Make the net that predicts of this one, in a tab of its own"),
    ActionSpec("copy_picture", "Copy as &image", tip="Put an image of the net on the clipboard"),
    ActionSpec("zoom_out", "Zoom &out", "magnifying-glass-minus", ("Ctrl+-",)),
    ActionSpec("theme", "Light or dark &theme", "moon", ("Ctrl+Shift+T",), "Change between light and dark"),
    ActionSpec("commands", "&Commands\u2026", "command", ("Ctrl+Shift+P",), "Find anything that can be done"),
    ActionSpec("shortcuts", "&Keyboard shortcuts\u2026", "keyboard", (), "Look up and change keys"),
    ActionSpec("welcome", "&Welcome page", "house", (), "Examples, recent files, templates"),
    ActionSpec("tour", "&Tour", "compass", (), "Add a layer, train, see shapes: three steps in this window"),
    ActionSpec(
        "restore",
        "Restore &unsaved changes\u2026",
        "",
        (),
        "Nets, solvers and code that were not saved when the program ended badly",
    ),
    ActionSpec("about", "&About Netcanvas", "info"),
)

_MENUS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "&File",
        (
            "new",
            "*begin",
            "open",
            "*recent",
            "-",
            "save",
            "save_as",
            "deploy",
            "export_picture",
            "restore",
            "-",
            "close_tab",
            "quit",
        ),
    ),
    (
        "&Edit",
        (
            *("undo", "redo", "-", "cut", "copy", "paste", "paste_wired", "duplicate", "delete", "dissolve"),
            *("-", "put_frame", "note", "block", "keep_block", "copy_picture", "-", "select_all", "find"),
        ),
    ),
    ("&Net", ("add", "new_layer", "-", "layout", "layout_across", "layout_down", "-", "*compare", "*dialects")),
    (
        "&View",
        (
            *("fit", "frame", "actual_size", "zoom_in", "zoom_out", "-", "fold", "minimap", "*heat", "-"),
            *("*views", "-", "*panels", "*sizes", "*go", "-"),
            *("next_tab", "previous_tab", "tab_left", "tab_right", "-", "theme", "*theme"),
        ),
    ),
    ("&Train", ()),
    ("&Help", ("welcome", "tour", "-", "commands", "shortcuts", "-", "about")),
)


def fill_menus(
    window: QMainWindow,
    actions: Mapping[str, QAction],
    go: Sequence[QAction],
    submenus: Mapping[str, QMenu],
) -> tuple[QMenu, QMenu]:
    """Make the menu bar; return the menus of recent files and of training, which are filled later.

    ``submenus`` are those that are made elsewhere, by the names that the table gives them after a star.
    """
    training = QMenu()
    recent = QMenu("Open &recent", window)
    recent.setObjectName("window.menu.recent")
    for title, names in _MENUS:
        menu = window.menuBar().addMenu(title)
        menu.setObjectName(f"window.menu.{title.replace('&', '').lower()}")
        menu.setToolTipsVisible(True)
        for name in names:
            if name == "-":
                menu.addSeparator()
            elif name == "*recent":
                menu.addMenu(recent)
            elif name[1:] in submenus:
                menu.addMenu(submenus[name[1:]])
            elif name == "*go":
                menu.addMenu("&Go to").addActions(go)
            else:
                menu.addAction(actions[name])
        if title == "&Train":
            training = menu
    return recent, training


def fill_recent(menu: QMenu, settings: WindowSettings, open_file: Callable[[Path], object]) -> None:
    """List the files that were opened last."""
    menu.clear()
    files = settings.recent_files
    for number, path in enumerate(files, start=1):
        action = menu.addAction(f"&{number % 10}  {path.name.replace('&', '&&')}")
        action.setToolTip(str(path))
        action.triggered.connect(lambda _checked=False, path=path: open_file(path))
    if not files:
        menu.addAction("No file was opened yet").setEnabled(False)
    else:
        menu.addSeparator()
        menu.addAction("Forget these").triggered.connect(settings.clear_recent)
