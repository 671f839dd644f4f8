"""How much room the docks take: by the size of the window, until the user drags their edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow

from app.qt import Debounce, guard
from app.widgets.letters import letter_scale
from app.window.docks.docktabs import dock_tabs, front_title

if TYPE_CHECKING:
    from app.window.settings import WindowSettings

__all__ = ["DockRoom", "Room", "room_for"]

Area = Qt.DockWidgetArea
_SIDES: Mapping[str, Area] = {
    "left": Area.LeftDockWidgetArea,
    "right": Area.RightDockWidgetArea,
    "bottom": Area.BottomDockWidgetArea,
}
_WAYS = {Qt.Orientation.Horizontal: ("left", "right"), Qt.Orientation.Vertical: ("bottom",)}
_SPLITTING = (Qt.CursorShape.SplitHCursor, Qt.CursorShape.SplitVCursor)
_SMALL, _LARGE = QSize(900, 600), QSize(1600, 1000)
#: The most that docks of the user's size keep of a window that became smaller.
_MOST_WIDTH, _MOST_HEIGHT = 0.34, 0.5
#: The most that large letters give to the docks of themselves.
_MOST_LEFT, _MOST_RIGHT, _MOST_BOTTOM = 0.19, 0.29, 0.3


@dataclass(frozen=True, slots=True)
class Room:
    """Widths at the left and the right, and the height at the bottom, in pixels with the tabs."""

    left: int
    right: int
    bottom: int


def room_for(window: QSize, *, trains: bool, letters: float = 1.0) -> Room:
    """Return how much the docks get in a window of a size, so that more than half of it is left for the canvas.

    Parameters
    ----------
    trains : bool
        Whether there is a training to look at, which wants its curves.
    letters : float
        How much larger letters are than usual, at least 1; they get more room as far as the canvas keeps its half.
    """
    wide = _share(window.width(), _SMALL.width(), _LARGE.width())
    high = _share(window.height(), _SMALL.height(), _LARGE.height())
    bottom = _between(200, 288, high) if trains else _between(152, 192, high)
    usual = Room(_between(176, 212, wide), _between(264, 340, wide), bottom)
    return Room(
        _grown(usual.left, letters, _MOST_LEFT * window.width()),
        _grown(usual.right, letters, _MOST_RIGHT * window.width()),
        _grown(usual.bottom, letters, _MOST_BOTTOM * window.height()),
    )


def _grown(usual: int, letters: float, most: float) -> int:
    return max(usual, min(round(usual * letters), round(most)))


def _share(size: int, small: int, large: int) -> float:
    return min(1.0, max(0.0, (size - small) / (large - small)))


def _between(small: int, large: int, share: float) -> int:
    return round(small + (large - small) * share)


class DockRoom(QObject):
    """Gives the docks their room, follows the size of the window, and keeps what the user dragged.

    A training gets more room at the bottom when it begins; that goes back at the next start, not while one works.

    Parameters
    ----------
    window : QMainWindow
        Whose docks they are.
    docks : sequence of QDockWidget
    settings : WindowSettings
        Remembers what the user dragged.
    """

    def __init__(self, window: QMainWindow, docks: Sequence[QDockWidget], settings: WindowSettings) -> None:
        super().__init__(window)
        self._window, self._docks, self._settings = window, docks, settings
        self._own = settings.dock_sizes
        self._trains = False
        self._before: dict[str, int] | None = None
        self._due = Debounce(self.give, 0, self)
        window.installEventFilter(self)

    @guard
    def give(self) -> None:
        """Give each side its room."""
        shown = dict(self._shown())
        for way, sides in _WAYS.items():
            docks = [shown[side] for side in sides if side in shown]
            self._window.resizeDocks(docks, [self._wanted(side) for side in sides if side in shown], way)

    def _wanted(self, side: str) -> int:
        size = self._window.size()
        most = _MOST_HEIGHT * size.height() if side == "bottom" else _MOST_WIDTH * size.width()
        default: int = getattr(room_for(size, trains=self._trains, letters=letter_scale(self._window)), side)
        return min(self._own.get(self._key(side), default), round(most))

    # One side, as by keyboard

    def sides_in_view(self) -> list[str]:
        """Return which of ``right``, ``left`` and ``bottom`` have a dock in view, in that order."""
        shown = dict(self._shown())
        return [side for side in ("right", "left", "bottom") if side in shown]

    def side_of(self, dock: QDockWidget) -> str:
        """Return the side at which a dock is; StopIteration for a floating one."""
        area = self._window.dockWidgetArea(dock)
        return next(side for side, each in _SIDES.items() if each == area)

    def way_of(self, side: str) -> Qt.Orientation:
        """Return in which way the size of a side can be chosen."""
        return next(way for way, sides in _WAYS.items() if side in sides)

    def resize(self, side: str, by: int) -> int:
        """Give a side in view more pixels, or fewer, and remember that; return how many it has now."""
        wanted = max(1, self._sizes()[side] + by)
        self._own[self._key(side)] = wanted
        self.give()
        layout = self._window.layout()
        if layout is not None:
            layout.activate()
        self._own[self._key(side)] = self._sizes()[side]
        self._settings.dock_sizes = self._own
        return self._own[self._key(side)]

    @guard
    def show_training(self, state: str) -> None:
        """Make room for the curves of a training, where there is less than they want."""
        if state == "idle" or self._trains:
            return
        self._trains = True
        wanted = self._wanted("bottom")
        if self._sizes().get("bottom", wanted) < wanted:
            self.give()

    def _key(self, side: str) -> str:
        return "training" if side == "bottom" and self._trains else side

    def _shown(self) -> Iterator[tuple[str, QDockWidget]]:
        """The dock in front at each side that has any in view; the size of one behind it may be that of before."""
        for side, area in _SIDES.items():
            there = [each for each in self._docks if each.isVisible() and not each.isFloating()]
            there = [each for each in there if self._window.dockWidgetArea(each) == area]
            there.sort(key=lambda each: each.visibleRegion().isEmpty())
            if there:
                yield side, there[0]

    def _sizes(self) -> dict[str, int]:
        return {
            side: dock.height() + self._tabs_height(dock) if side == "bottom" else dock.width()
            for side, dock in self._shown()
        }

    def _tabs_height(self, dock: QDockWidget) -> int:
        """How high the tabs are that a dock has over it."""
        over = (each for each in dock_tabs(self._window) if front_title(each) == dock.windowTitle())
        return next((each.height() for each in over), 0)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size, and see which edges the user drags."""
        kind = event.type()
        if kind == QEvent.Type.Show:
            self.give()
        elif kind == QEvent.Type.Resize:
            if self._window.isVisible():
                self._due.trigger()
        elif kind == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
            self._before = self._sizes() if self._window.cursor().shape() in _SPLITTING else None
        elif kind == QEvent.Type.MouseButtonRelease and self._before is not None:
            before, self._before = self._before, None
            dragged = {self._key(side): size for side, size in self._sizes().items() if size != before.get(side)}
            if dragged:
                self._own |= dragged
                self._settings.dock_sizes = self._own
        return False
