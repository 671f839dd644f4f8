"""Sizes by keyboard: of the part of the window that has the keyboard, and of the columns of a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMenu,
    QSplitter,
    QTableView,
    QTreeView,
    QWidget,
)

from app.qt import announce, guard
from app.widgets.columnkeys import Table, choose_column, resize_column
from app.window.actions.actions import TIP

if TYPE_CHECKING:
    from app.window.docks.dockroom import DockRoom
    from app.window.mainwindow import MainWindow

__all__ = ["PartSizes"]

_Way = Qt.Orientation
_STEP = 24  # pixels
_PARTS = (
    ("wider", "Make this part &wider", "Ctrl+F8", _Way.Horizontal, 1),
    ("narrower", "Make this part &narrower", "Ctrl+F7", _Way.Horizontal, -1),
    ("taller", "Make this part &taller", "Ctrl+Shift+F8", _Way.Vertical, 1),
    ("lower", "Make this part &lower", "Ctrl+Shift+F7", _Way.Vertical, -1),
)
_PART_TIP = "The panel or the half of it in which the keyboard is; at the canvas, what is around it gives way"
_COLUMN_TIP = "A column of the table in which the keyboard is"
_NO_TABLE = "The keyboard is in no table: go to one first."


class PartSizes(QObject):
    """Sizes panels, the parts of panels, and columns by keys.

    Parameters
    ----------
    window : MainWindow
    room : DockRoom
        Sizes the docks, and remembers it.

    Attributes
    ----------
    menu : QMenu
        All of it.
    """

    def __init__(self, window: MainWindow, room: DockRoom) -> None:
        super().__init__(window)
        self._window, self._room = window, room
        self.menu = QMenu("S&izes", window)
        self.menu.setObjectName("window.menu.sizes")
        self.menu.setToolTipsVisible(True)
        for name, text, keys, way, sign in _PARTS:
            self._add(f"part_{name}", text, keys, _PART_TIP, partial(self._size_part, way, sign))
        self.menu.addSeparator()
        for name, text, keys, do in (
            ("next", "Choose the next &column", "Ctrl+F9", partial(choose_column, by=1)),
            ("before", "Choose the column &before", "Ctrl+Shift+F9", partial(choose_column, by=-1)),
            ("wider", "Make the column wi&der", "Ctrl+F10", partial(resize_column, by=_STEP)),
            ("narrower", "Make the column narr&ower", "Ctrl+Shift+F10", partial(resize_column, by=-_STEP)),
        ):
            self._add(f"column_{name}", text, keys, _COLUMN_TIP, partial(self._with_table, do))

    def _add(self, name: str, text: str, keys: str, tip: str, do: Callable[[], object]) -> None:
        action = QAction(text, self)
        action.setObjectName(f"window.size.{name}")
        action.setShortcut(QKeySequence(keys))
        action.setToolTip(tip)
        action.setProperty(TIP, tip)
        action.triggered.connect(lambda _checked=False: do())
        self.menu.addAction(action)

    def _say(self, text: str) -> None:
        self._window.status.showMessage(text, 4000)
        announce(self._window, text)

    @property
    def _here(self) -> QWidget:
        """What has the keyboard in the window or in a panel that floats, also while something is open over them."""
        widget = QApplication.focusWidget()
        if widget is not None and (widget.window() is self._window or isinstance(widget.window(), QDockWidget)):
            return widget
        return self._window.focusWidget() or self._window.canvas

    # Parts

    @guard
    def _size_part(self, way: Qt.Orientation, sign: int) -> None:
        inside: QWidget = self._here
        outer = inside.parentWidget()
        while outer is not None:
            if isinstance(outer, QSplitter) and _is_split(outer, way):
                self._say(_size_pane(outer, outer.indexOf(inside), sign))
                return
            if isinstance(inside, QDockWidget):
                self._say(self._size_dock(inside, way, sign))
                return
            inside, outer = outer, outer.parentWidget()
        self._say(self._size_middle(way, sign))

    def _size_dock(self, dock: QDockWidget, way: Qt.Orientation, sign: int) -> str:
        if dock.isFloating():
            across = way == _Way.Horizontal
            dock.resize(dock.width() + sign * _STEP * across, dock.height() + sign * _STEP * (not across))
            return _told(dock.windowTitle(), dock.width() if across else dock.height(), way)
        side = self._room.side_of(dock)
        if self._room.way_of(side) != way:
            return f"{dock.windowTitle()} is as {'high' if way == _Way.Vertical else 'wide'} as there is room for it."
        return _told(f"Panels at the {side}", self._room.resize(side, sign * _STEP), way)

    def _size_middle(self, way: Qt.Orientation, sign: int) -> str:
        """Have the panels around the canvas give way, or take what it leaves."""
        side = next((each for each in self._room.sides_in_view() if self._room.way_of(each) == way), "")
        if not side:
            return "There is no panel beside the canvas that could give way."
        size = self._room.resize(side, -sign * _STEP)
        return _told(f"Panels at the {side}", size, way)

    # Columns

    @guard
    def _with_table(self, do: Callable[[Table], str]) -> None:
        widget: QWidget | None = self._here
        while widget is not None and not isinstance(widget, QTreeView | QTableView):
            widget = widget.parentWidget()
        self._say(do(widget) if widget is not None and _has_columns(widget) else _NO_TABLE)


def _is_split(splitter: QSplitter, way: Qt.Orientation) -> bool:
    """Whether parts lie beside each other in a splitter, in one way."""
    return splitter.orientation() == way and len(_shown_in(splitter)) > 1


def _shown_in(splitter: QSplitter) -> list[int]:
    parts = ((place, splitter.widget(place)) for place in range(splitter.count()))
    return [place for place, part in parts if part is not None and not part.isHidden()]


def _size_pane(splitter: QSplitter, place: int, sign: int) -> str:
    """Give a part of a splitter more room, or less, which its neighbour gets."""
    sizes = splitter.sizes()
    shown = _shown_in(splitter)
    at = shown.index(place)
    other = shown[at + 1 if at + 1 < len(shown) else at - 1]
    step = min(_STEP, sizes[other] if sign > 0 else sizes[place])
    sizes[place] += sign * step
    sizes[other] -= sign * step
    splitter.setSizes(sizes)
    return _told("This part", splitter.sizes()[place], splitter.orientation())


def _told(what: str, size: int, way: Qt.Orientation) -> str:
    return f"{what}: {size} pixels {'wide' if way == _Way.Horizontal else 'high'}."


def _has_columns(table: Table) -> bool:
    header = table.header() if isinstance(table, QTreeView) else table.horizontalHeader()
    return not header.isHidden() and header.count() > 1
