"""The parts of the window that the keyboard goes around: their order, the tabulator through them, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QDockWidget, QScrollArea, QTabBar, QWidget

from app.qt import guard
from app.widgets.focusring import FocusRings
from app.window.docks.docktabs import dock_tabs
from app.window.start.tour import TourBubble

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow

__all__ = ["Region", "Regions", "reading_order"]

_AREAS = (
    Qt.DockWidgetArea.LeftDockWidgetArea,
    Qt.DockWidgetArea.RightDockWidgetArea,
    Qt.DockWidgetArea.BottomDockWidgetArea,
)
Reason = Qt.FocusReason


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the window.

    Attributes
    ----------
    name : str
        What it is called.
    stops : tuple of QWidget
        Where the tabulator halts in it, in reading order; never empty.
    start : QWidget
        Where the keyboard goes that comes into it.
    """

    name: str
    stops: tuple[QWidget, ...]
    start: QWidget


def reading_order(root: QWidget, also: QWidget | None = None) -> list[QWidget]:
    """Return what takes the keyboard in a widget: row by row, and what lies inside of another together.

    Qt's own order is that of the making, in which what is made late comes last, wherever it stands.

    Parameters
    ----------
    also : QWidget, optional
        What is counted in although the tabulator does not halt there.
    """
    return list(_walk(root, also))


def _walk(widget: QWidget, also: QWidget | None) -> Iterator[QWidget]:
    if widget is also or _halts(widget):
        yield widget
    children = [each for each in widget.children() if isinstance(each, QWidget)]
    for child in _in_rows([each for each in children if each.isVisible() and not each.isWindow()]):
        yield from _walk(child, also)


def _halts(widget: QWidget) -> bool:
    halts = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return halts and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None


def _in_rows(widgets: list[QWidget]) -> Iterator[QWidget]:
    """Sort what lies side by side: whose middle is at the height of the first of a row belongs to that row."""
    waiting = sorted(widgets, key=lambda each: (each.y(), each.x()))
    while waiting:
        first = waiting[0]
        row = [each for each in waiting if each is first or _middle(each) <= first.y() + first.height()]
        yield from sorted(row, key=QWidget.x)
        waiting = [each for each in waiting if each not in row]


def _middle(widget: QWidget) -> int:
    return widget.y() + widget.height() // 2


class Regions(QObject):
    """Leads the keyboard through a window.

    The tabulator goes through what is in view in reading order, a key goes from part to part, and Escape leads from
    every part back to the canvas.

    Parameters
    ----------
    window : MainWindow
    docks : sequence of QDockWidget

    Attributes
    ----------
    actions : list of QAction
        For the menus.
    """

    def __init__(self, window: MainWindow, docks: Sequence[QDockWidget]) -> None:
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._last: dict[str, QWidget] = {}
        FocusRings(self)
        self.actions = [
            self._action("canvas", "Go to canvas", "Alt+Home", self.to_canvas),
            self._action("messages", "Go to messages", "Alt+M", self._to_messages),
            self._action("next_part", "Go to next part of the window", "Ctrl+F6", lambda: self.step(1)),
            self._action("previous_part", "Go to previous part of the window", "Ctrl+Shift+F6", lambda: self.step(-1)),
        ]
        for each in (*docks, window.tabs.bar, window.toolbar):
            each.installEventFilter(self)
        window.document_added.connect(self._added)

    @guard
    def _added(self, document: Document) -> None:
        page = self._window.tabs.page_of(document)
        if page is not None:
            page.bars.installEventFilter(self)

    def _action(self, name: str, text: str, keys: str, do: Callable[[], object]) -> QAction:
        action = QAction(text, self._window)
        action.setObjectName(f"window.go.{name}")
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda _checked=False: do())
        return action

    # What there is

    def regions(self) -> list[Region]:
        """Return the parts that are in view and take the keyboard, in reading order."""
        window, page = self._window, self._window.tabs.current
        also = QApplication.focusWidget()
        bars = dock_tabs(window)
        left, right, bottom = (self._docked(area, bars) for area in _AREAS)
        parts: tuple[tuple[str, Sequence[QWidget]], ...] = (
            ("tools", [window.toolbar]),
            ("left", left),
            ("tabs", [window.tabs.bar]),
            ("messages", [page.bars]),
            ("canvas", [page.comparison or page.welcome or page.canvas]),
            ("tour", window.findChildren(TourBubble, options=Qt.FindChildOption.FindDirectChildrenOnly)),
            ("right", right),
            ("bottom", bottom),
        )
        found = []
        for name, roots in parts:
            stops = [stop for root in roots if root.isVisible() for stop in reading_order(root, also)]
            if stops:
                owners = [root.widget() if isinstance(root, QDockWidget) else root for root in roots]
                wanted = [owner.focusProxy() for owner in owners]
                inside = [stop for stop in stops if not isinstance(stop, QTabBar)]
                first = [stop for stop in inside if any(stop is each for each in wanted)]
                found.append(Region(name, tuple(stops), [*first, *inside, *stops][0]))
        return found

    def _docked(self, area: Qt.DockWidgetArea, bars: Sequence[QTabBar]) -> list[QWidget]:
        """The docks of an area that are in view, each after the tabs right above it."""
        shown: list[QWidget] = []
        for dock in sorted(self._docks, key=lambda each: (each.y(), each.x())):
            if self._stands(dock, area):
                shown += [bar for bar in bars if _above(bar, dock.geometry().topLeft())]
                shown.append(dock)
        return shown

    def _stands(self, dock: QDockWidget, area: Qt.DockWidgetArea) -> bool:
        """Whether a dock is in an area and in view; behind a tab, docks count as visible."""
        here = self._window.dockWidgetArea(dock) == area and not dock.isFloating() and dock.isVisible()
        return here and dock.geometry().intersects(self._window.rect())

    # Going

    def move(self, *, forward: bool) -> bool:
        """Go to the next halt of the tabulator, around the end; return whether there is one.

        Qt also asks for it where what has the keyboard cannot have it any longer: from the button of an action that
        cannot be done now it goes to the canvas, or the next key would do what happens to stand beside it.
        """
        if _cannot_be_done(self._window.focusWidget()):
            self._window.tabs.current.setFocus(Reason.OtherFocusReason)
            return True
        stops = [stop for region in self.regions() for stop in region.stops]
        here = QApplication.focusWidget()
        at = next((place for place, stop in enumerate(stops) if stop is here), -1 if forward else 0)
        if not stops:
            return False
        reason = Reason.TabFocusReason if forward else Reason.BacktabFocusReason
        _enter(stops[(at + (1 if forward else -1)) % len(stops)], reason)
        return True

    def step(self, by: int) -> None:
        """Go to the next part of the window, or to the one before, where the keyboard was in it last."""
        regions = self.regions()
        here = QApplication.focusWidget()
        at = next((place for place, each in enumerate(regions) if any(stop is here for stop in each.stops)), None)
        if at is None:
            self.to_canvas()
            return
        if here is not None:
            self._last[regions[at].name] = here
        region = regions[(at + by) % len(regions)]
        last = self._last.get(region.name)
        _enter(next((stop for stop in region.stops if stop is last), region.start), Reason.ShortcutFocusReason)

    def to_canvas(self) -> None:
        """Go to the canvas, or to what lies over it."""
        self._window.activateWindow()
        self._window.tabs.current.setFocus(Reason.ShortcutFocusReason)

    def _to_messages(self) -> None:
        """Go to the first button of the newest message."""
        stops = reading_order(self._window.tabs.current.bars)
        if stops:
            _enter(stops[0], Reason.ShortcutFocusReason)
        else:
            self._window.status.showMessage("There is no message.", 4000)

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Lead back to the canvas by an Escape that nothing in a part had a use for."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            self.to_canvas()
            return True
        return False


def _cannot_be_done(widget: QWidget | None) -> bool:
    """Whether it is the button of an action that is disabled."""
    return isinstance(widget, QAbstractButton) and not widget.isEnabled() and bool(widget.actions())


def _above(bar: QTabBar, top: QPoint) -> bool:
    """Whether tabs stand where docks begin."""
    return abs(bar.x() - top.x()) < bar.height() and abs(bar.geometry().bottom() - top.y()) < bar.height()


def _enter(widget: QWidget, reason: Qt.FocusReason) -> None:
    """Give a widget the keyboard, and bring it into view."""
    widget.setFocus(reason)
    outer = widget.parentWidget()
    while outer is not None:
        if isinstance(outer, QScrollArea):
            outer.ensureWidgetVisible(widget)
        outer = outer.parentWidget()
