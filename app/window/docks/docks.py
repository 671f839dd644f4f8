"""The docks, and the panels that come into them after the first frame."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QTabWidget, QWidget

from app.collector import importing
from app.jobs import Jobs
from app.qt import Debounce, announce, fault_logger, guard
from app.slices import Slices
from app.theme import Theme

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["PANELS", "PanelDocks"]

_log = logging.getLogger(__name__)
Area = Qt.DockWidgetArea


@dataclass(frozen=True, slots=True)
class PanelSpec:
    """A dock and the class of the panel in it."""

    name: str
    title: str
    module: str
    panel: str
    area: Area
    keys: str


PANELS: Sequence[PanelSpec] = (
    PanelSpec("properties", "Properties", "app.properties", "PropertiesPanel", Area.RightDockWidgetArea, "Alt+2"),
    PanelSpec("text", "Text", "app.text", "TextPane", Area.RightDockWidgetArea, "Alt+3"),
    PanelSpec("solver", "Solver", "app.solver.panel", "SolverPanel", Area.RightDockWidgetArea, "Alt+Shift+2"),
    PanelSpec("training", "Training", "app.training", "TrainingPanel", Area.BottomDockWidgetArea, "Alt+4"),
    PanelSpec("problems", "Problems", "app.problems", "ProblemsPanel", Area.BottomDockWidgetArea, "Alt+5"),
    PanelSpec("costs", "Costs", "app.costs", "CostPanel", Area.BottomDockWidgetArea, "Alt+0"),
    PanelSpec("code", "Code", "app.pluginpanel.code", "CodePane", Area.RightDockWidgetArea, "Alt+7"),
    PanelSpec("outline", "Outline", "app.outline", "OutlinePanel", Area.LeftDockWidgetArea, "Alt+8"),
    PanelSpec("history", "History", "app.window.history", "HistoryPanel", Area.LeftDockWidgetArea, "Alt+9"),
    PanelSpec("plugins", "Plugins", "app.pluginpanel.panel", "PluginsPanel", Area.BottomDockWidgetArea, "Alt+6"),
)


_LEAST = QSize(144, 88)
_BIG = 1000
#: Between one panel and the next: what is to be done after no time at all is done before the window answers.
_NEXT_MS = 1
_AT_ONCE = frozenset(("training", "plugins", "code"))
#: What the panels have behind them and takes long to import, the innermost first.
_HEAVY = ("engine.layer", "engine.net", "engine.shapes", "engine.cost", "engine.solvers", "engine.worker")


class _Waiting(QLabel):
    """Stands in a dock until its panel is there."""

    def __init__(self, text: str, size: QSize) -> None:
        super().__init__(text)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setProperty("muted", True)
        self._size = size

    def sizeHint(self) -> QSize:
        return self._size


def _let_shrink(panel: QWidget) -> None:
    """Let a panel become as small as a small window needs; one that says its own least size keeps it.

    The height is said outright, whatever is asked for now: what a panel shows later must not make its dock grow.
    """
    least = panel.minimumSizeHint()
    if not panel.minimumWidth() and least.width() > _LEAST.width():
        panel.setMinimumWidth(_LEAST.width())
    if not panel.minimumHeight():
        panel.setMinimumHeight(_LEAST.height())


def _import_all(modules: Sequence[str]) -> None:
    """Import modules, in a thread; of a panel whose module cannot be imported its dock will say so."""
    for name in modules:
        try:
            with importing:
                importlib.import_module(name)
        except Exception:
            _log.debug("'%s' cannot be imported", name, exc_info=True)


class PanelDocks:
    """Makes the docks at once and the panels one by one when the window is idle.

    Parameters
    ----------
    window : QMainWindow
        Where they go.
    made : callable
        Called with the name and the panel when one is there.
    """

    def __init__(self, window: QMainWindow, made: Callable[[str, Any], object]) -> None:
        self._window = window
        self._made = made
        self._document: Document | None = None
        self._behind: dict[str, None] = {}
        self._loading = Slices(window)
        self._jobs = Jobs(window)
        self._next = Debounce(self._catch_up_next, _NEXT_MS, window)
        self.docks: dict[str, QDockWidget] = {}
        self.panels: dict[str, Any] = {}
        window.setTabPosition(Area.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        window.setCorner(Qt.Corner.BottomLeftCorner, Area.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Area.RightDockWidgetArea)
        before: dict[Area, QDockWidget] = {}
        for spec in PANELS:
            size = QSize(480, 96) if spec.area == Area.BottomDockWidgetArea else QSize(264, 400)
            dock = self.add_dock(spec.name, spec.title, _Waiting("", size), spec.area)
            if spec.area in before:
                window.tabifyDockWidget(before[spec.area], dock)
            before[spec.area] = before.get(spec.area, dock)
            dock.setTitleBarWidget(QWidget(dock))  # its tab is its title
        for dock in before.values():
            dock.raise_()

    def add_dock(self, name: str, title: str, widget: QWidget, area: Area) -> QDockWidget:
        """Add a dock around a widget."""
        dock = QDockWidget(title, self._window)
        dock.setObjectName(f"window.dock.{name}")
        dock.setWidget(widget)
        self._window.addDockWidget(area, dock)
        self.docks[name] = dock
        dock.visibilityChanged.connect(partial(self._seen, name))
        return dock

    def join(self, front: str, behind: str) -> None:
        """Show two docks as tabs of one place, the first of them in front."""
        dock = self.docks[front]
        dock.setTitleBarWidget(QWidget(dock))  # its tab is its title
        self._window.tabifyDockWidget(dock, self.docks[behind])
        dock.raise_()

    def load_soon(self) -> None:
        """Make the panels that are missing, step by step when the window is idle; a thread imports them before."""
        if self._loading.active or self._jobs.busy or len(self.panels) == len(PANELS):
            return
        modules = [*_HEAVY, *(spec.module for spec in PANELS if spec.name not in self.panels)]
        self._jobs.submit("panels", partial(_import_all, modules), self._imported)

    def _imported(self, _nothing: None) -> None:
        self._loading.start(self._load_stepwise())

    def _load_stepwise(self) -> Iterator[None]:
        for spec in PANELS:
            if spec.name not in self.panels:  # all may have been made at once meanwhile
                self._load(spec)
                yield

    def load_all(self) -> None:
        """Make all panels now."""
        for spec in PANELS:
            if spec.name not in self.panels:
                self._load(spec)

    def _load(self, spec: PanelSpec) -> None:
        dock = self.docks[spec.name]
        old = dock.widget()
        try:
            panel: QWidget = getattr(importlib.import_module(spec.module), spec.panel)(self._document, dock)
        except Exception as error:
            fault_logger.exception("The panel '%s' could not be made", spec.title)
            panel = _Waiting(f"{spec.title} could not be loaded: {error}", old.sizeHint())
        _let_shrink(panel)
        dock.setWidget(panel)
        old.deleteLater()
        self.panels[spec.name] = panel
        self._made(spec.name, panel)

    def set_document(self, document: Document) -> None:
        """Show another document: at once in the panels that are seen, in the others one by one when the window is idle.

        A big net is shown one by one in those that are seen too, before the others. What trains is always told at
        once, for its keys work whether it is seen or not.
        """
        self._document = document
        following = {name: panel for name, panel in self.panels.items() if hasattr(panel, "set_document")}
        # Behind a tab, docks count as visible.
        seen = [name for name, panel in following.items() if not panel.visibleRegion().isEmpty()]
        self._behind = dict.fromkeys([*seen, *following])
        is_big = len(document.graph) >= _BIG
        for name in following:
            if name in _AT_ONCE or (name in seen and not is_big):
                self._catch_up(name)
        if self._behind:
            self._next.trigger()

    def catch_up(self) -> None:
        """Show the document in the panels that are behind, now."""
        for name in list(self._behind):
            self._catch_up(name)

    def _catch_up(self, name: str) -> None:
        if name in self._behind:
            del self._behind[name]
            self.panels[name].set_document(self._document)

    @guard
    def _catch_up_next(self) -> None:
        if self._behind:
            self._catch_up(next(iter(self._behind)))
        if self._behind:
            self._next.trigger()

    @guard
    def _seen(self, name: str, visible: bool) -> None:
        if visible:
            Theme.notifier().dressing.finish(self.docks[name])
            self._catch_up(name)
            panel = self.panels.get(name)
            if panel is not None and hasattr(panel, "seen"):
                panel.seen()

    def show(self, name: str) -> None:
        """Bring a dock to the front."""
        dock = self.docks[name]
        dock.show()
        dock.raise_()

    def go_actions(self) -> list[QAction]:
        """Return an action for each dock that brings it to the front with the keyboard in it."""
        keys = {"palette": "Alt+1", **{spec.name: spec.keys for spec in PANELS}}
        actions = []
        for name, dock in self.docks.items():
            action = QAction(f"Go to {dock.windowTitle().lower()}", self._window)
            action.setObjectName(f"window.go.{name}")
            action.setShortcut(QKeySequence(keys[name]))
            action.triggered.connect(lambda _checked=False, name=name: self.go(name))
            actions.append(action)
        return actions

    def go(self, name: str) -> None:
        """Bring a dock to the front, with the keyboard in it."""
        self.show(name)
        widget = self.docks[name].widget()
        if widget.focusProxy() is None and widget.focusPolicy() == Qt.FocusPolicy.NoFocus:
            inside = (each for each in widget.findChildren(QWidget) if each.focusPolicy() & Qt.FocusPolicy.TabFocus)
            widget = next((each for each in inside if each.isEnabled() and each.isVisibleTo(widget)), widget)
        widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if not widget.hasFocus():  # there is nothing to choose, and a sentence says why
            self.docks[name].setFocus(Qt.FocusReason.ShortcutFocusReason)  # or keys would still be the canvas's
            words = [each.text() for each in widget.findChildren(QLabel) if each.isVisible() and each.text()]
            announce(widget, ". ".join([self.docks[name].windowTitle(), *words]))

    def shut_down(self) -> None:
        """Let the panels end what they run."""
        self._loading.cancel()
        self._jobs.close()
        self._next.cancel()
        for panel in self.panels.values():
            if hasattr(panel, "shutdown"):
                panel.shutdown()
