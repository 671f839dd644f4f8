"""Putting the panels of a side away, and having them back as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu

from app.qt import Debounce, guard
from app.window.docks.docktabs import dock_tabs, front_title

__all__ = ["DockSides"]

Area = Qt.DockWidgetArea
_SIDES = (
    ("left", "&Left panels", Area.LeftDockWidgetArea),
    ("bottom", "&Bottom panels", Area.BottomDockWidgetArea),
    ("right", "&Right panels", Area.RightDockWidgetArea),
)
_ALONE_KEY = "F11"


class DockSides(QObject):
    """Shows and hides the docks of the left, the bottom and the right, each side as one, or all of them.

    Parameters
    ----------
    window : QMainWindow
    docks : mapping of str to QDockWidget
        By their names.

    Attributes
    ----------
    menu : QMenu
        All panels: the sides, and each for itself.
    """

    def __init__(self, window: QMainWindow, docks: Mapping[str, QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._docks = window, docks
        self._hidden: dict[str, tuple[list[str], str]] = {}
        self._alone_without: set[str] = set()  # sides that the canvas alone put away
        self._sides: dict[str, QAction] = {}
        self.menu = QMenu("&Panels", window)
        self.menu.setObjectName("window.menu.panels")
        self._alone = self._action("canvas_alone", "&Canvas alone", lambda alone: self._show_alone(alone))
        self._alone.setShortcut(QKeySequence(_ALONE_KEY))
        self._alone.setToolTip(f"Put all panels away, or have them back ({_ALONE_KEY})")
        for side, text, _area in _SIDES:
            self._sides[side] = self._side_action(side, text)
        self.menu.addSeparator()
        for dock in docks.values():
            self.menu.addAction(dock.toggleViewAction())
            dock.visibilityChanged.connect(self._look_later)
        self._due = Debounce(self._look, 0, self)

    def _action(self, name: str, text: str, slot: Callable[[bool], object]) -> QAction:
        action = self.menu.addAction(text)
        action.setObjectName(f"window.action.{name}")
        action.setCheckable(True)
        action.triggered.connect(slot)
        return action

    def _side_action(self, side: str, text: str) -> QAction:
        def chosen(shown: bool) -> None:
            self._alone_without.discard(side)
            self._show_side(side, shown)

        return self._action(f"{side}_panels", text, chosen)

    def _of(self, side: str) -> dict[str, QDockWidget]:
        area = next(each for name, _text, each in _SIDES if name == side)
        return {
            name: dock
            for name, dock in self._docks.items()
            if self._window.dockWidgetArea(dock) == area and not dock.isFloating()
        }

    def is_shown(self, side: str) -> bool:
        """Whether any panel of the ``left``, ``bottom`` or ``right`` is there."""
        return any(not dock.isHidden() for dock in self._of(side).values())

    @guard
    def _show_side(self, side: str, shown: bool) -> None:
        docks = self._of(side)
        if not shown:
            there = [name for name, dock in docks.items() if not dock.isHidden()]
            self._hidden[side] = there, self._front(docks)
            for name in there:
                docks[name].hide()
        else:
            names, front = self._hidden.pop(side, (list(docks), ""))
            for name in names or list(docks):
                self._docks[name].show()
            if front:
                self._docks[front].raise_()
        self._look()

    @guard
    def _show_alone(self, alone: bool) -> None:
        """Put all sides away, or show those again that were there before; all of them, where none was."""
        sides = {side for side in self._sides if self.is_shown(side) == alone}
        if alone:
            self._alone_without |= sides
        else:
            sides &= self._alone_without or sides
            self._alone_without.clear()
        for side in self._sides:
            if side in sides:
                self._show_side(side, not alone)

    def _front(self, docks: Mapping[str, QDockWidget]) -> str:
        """Name of the dock whose tab is in front."""
        titles = {front_title(each) for each in dock_tabs(self._window)}
        return next((name for name, dock in docks.items() if dock.windowTitle() in titles), "")

    @guard
    def _look_later(self, _visible: bool) -> None:
        self._due.trigger()

    @guard
    def _look(self) -> None:
        for side, action in self._sides.items():
            action.setChecked(self.is_shown(side))
            action.setEnabled(bool(self._of(side)))
        self._alone.setChecked(not any(self.is_shown(side) for side in self._sides))
