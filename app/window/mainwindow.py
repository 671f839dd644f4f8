"""The main window: canvas in the middle, panels around it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QMenu

from app.document import Document
from app.icons import icon
from app.palette.dock import PalettePanel
from app.palette.entries import palette_entries
from app.qt import Debounce, accept_copy, guard
from app.theme import Theme
from app.window.actions.actions import make_actions
from app.window.actions.actionstates import ActionStates
from app.window.actions.handlers import window_handlers
from app.window.actions.menus import SPECS, fill_menus, fill_recent
from app.window.actions.toolbar import MainToolBar
from app.window.bars import Actions, InfoBar
from app.window.canvas_area import CanvasArea
from app.window.closing.leaving import LeavingPages
from app.window.dialectmenu import DialectMenu
from app.window.docks.dockroom import DockRoom
from app.window.docks.docks import PanelDocks
from app.window.docks.panelwiring import take_panel
from app.window.docks.resizing import PartSizes
from app.window.docks.sides import DockSides
from app.window.files.files import FileFlow
from app.window.files.missing import DiskWatch
from app.window.habits import LayerHabits
from app.window.keptblocks import KeptBlocks
from app.window.keys.keyflow import KeyFlow
from app.window.keys.regions import Regions
from app.window.measuring import MeasuringNote
from app.window.page import DocumentPage
from app.window.plugins.pluginflow import PluginFlow
from app.window.settings import WindowSettings
from app.window.start.beginnings import Beginnings
from app.window.start.tour import Tour
from app.window.status import StatusLine
from app.window.tabs import DocumentTabs
from app.window.themes import ThemeMenu
from app.window.upgrading import offer_upgrade
from app.window.views.comparing import CompareFlow
from app.window.views.heatmenu import HeatMenu
from app.window.views.picturejob import PictureNote
from app.window.views.viewmenu import ViewChooser

__all__ = ["MainWindow"]


class MainWindow(QMainWindow):
    """Shows the open documents in tabs, and panels that follow the current one.

    Parameters
    ----------
    settings : WindowSettings, optional
        What is remembered between starts; the user's own by default.

    Attributes
    ----------
    document_added, document_left : Signal(Document)
        A document got its tab; a document is closed.
    closing : Signal()
        The window is about to close, and the user has agreed, or ``keeps_unsaved``.
    keeps_unsaved : bool
        Nobody is there to agree; see :meth:`keep_unsaved`.
    refreshed : Signal()
        What is told about the net in view is up to date: it was changed, or is another.
    restore_asked : Signal()
        The user wants to see what a crash left.
    """

    document_added = Signal(object)
    document_left = Signal(object)
    closing = Signal()
    refreshed = Signal()
    restore_asked = Signal()

    def __init__(self, settings: WindowSettings | None = None) -> None:
        super().__init__()
        self.setObjectName("window.main")
        self.keeps_unsaved = False
        self.setWindowTitle("Netcanvas")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(False)
        self.settings = settings or WindowSettings()
        self.habits = LayerHabits(self.settings)
        self.tabs = DocumentTabs(self)
        self.files = FileFlow(self)
        self.disk_watch = DiskWatch(self)
        self.status = StatusLine(self)
        self.setStatusBar(self.status)
        self.status.problems_asked.connect(lambda: self.show_panel("problems"))
        self.plugins = PluginFlow(self)
        self.setCentralWidget(self.tabs)
        self.palette_panel = PalettePanel()
        self._docks = PanelDocks(self, self._panel_made)
        # No panel may be left with a document that is closed.
        self._leaving = LeavingPages(self._docks.catch_up, lambda page: self.document_left.emit(page.document), self)
        self._docks.add_dock("palette", "Layers", self.palette_panel, Qt.DockWidgetArea.LeftDockWidgetArea)
        for behind in ("outline", "history"):
            self._docks.join("palette", behind)
        self.actions_by_name = make_actions(self, SPECS, window_handlers(self))
        self._states = ActionStates(self)
        self.themes = ThemeMenu(self.settings, self)
        self.beginnings = Beginnings(self)
        self.tour = Tour(self)
        self.keys = KeyFlow(self)
        self.views = ViewChooser(lambda: self.document, self)
        self.toolbar = MainToolBar(self.actions_by_name, self.views, self)
        self.addToolBar(self.toolbar)
        docks = self._docks
        self.regions = Regions(self, list(docks.docks.values()))
        self.sides = DockSides(self, docks.docks)
        self._room = DockRoom(self, list(docks.docks.values()), self.settings)
        self.comparing = CompareFlow(self)
        self.heat_menu = HeatMenu(lambda: self.canvas, self)
        begin = QMenu("New &from template", self)
        self.beginnings.fill_menu(begin)
        submenus = {
            "begin": begin,
            "compare": self.comparing.menu,
            "dialects": DialectMenu(lambda: self.document, self),
            "views": self.views,
            "heat": self.heat_menu,
            "panels": self.sides.menu,
            "sizes": PartSizes(self, self._room).menu,
            "theme": self.themes,
        }
        self.recent_menu, self.train_menu = fill_menus(
            self, self.actions_by_name, [*docks.go_actions(), *self.regions.actions], submenus
        )
        self.keys.adopt_menus()
        self.recent_menu.aboutToShow.connect(lambda: fill_recent(self.recent_menu, self.settings, self.files.open))
        self.palette_panel.chosen.connect(lambda kind: self.canvas.add_layer(kind))
        KeptBlocks(self, self.palette_panel).changed.connect(self._offer_templates)
        self._count_due = Debounce(self._show_counts, 0, self)
        self._shown = False
        Theme.notifier().changed.connect(self._dress)
        self._dress(Theme.current())
        self.settings.restore_window(self)
        self.tabs.close_asked.connect(self.close_page)
        self.tabs.current_changed.connect(self._page_changed)
        self.show_document(Document.new())

    # Making

    def sizeHint(self) -> QSize:
        return QSize(1680, 1020)

    def _panel_made(self, name: str, panel: Any) -> None:
        take_panel(self, name, panel, self._docks.docks[name])
        if name == "training":
            panel.state_changed.connect(self._room.show_training)
        elif name == "problems":
            self._show_counts()

    # The document

    @property
    def document(self) -> Document:
        """The document in view."""
        return self.tabs.current.document

    @property
    def canvas(self) -> CanvasArea:
        """The canvas in view."""
        return self.tabs.current.canvas

    def show_document(self, document: Document) -> None:
        """Show a document: in its tab, in a new one, or in that of an empty net which nobody touched."""
        page = self.tabs.page_of(document)
        before = self.tabs.current if self.tabs.pages() else None
        if page is None:
            page = self._add_page(document)
        self.tabs.show_page(page)
        if before is not None and before is not page and before.document.is_untouched:
            self._remove_page(before)

    def _add_page(self, document: Document) -> DocumentPage:
        page = DocumentPage(document, self)
        page.canvas.habits = self.habits
        self.plugins.attach(document, page.canvas)
        self._connect(page)
        self.tabs.add(page)
        self.document_added.emit(document)
        return page

    @guard
    def close_page(self, page: DocumentPage) -> None:
        """Close a tab, after asking about changes; an empty net takes the place of the last."""
        if not self.files.may_leave(page.document):
            return
        pages = self.tabs.pages()
        if len(pages) == 1:
            self.tabs.show_page(self._add_page(Document.new()))
        elif page is self.tabs.current:
            place = pages.index(page)
            self.tabs.show_page(pages[place + 1 if place + 1 < len(pages) else place - 1])
        self._remove_page(page)

    def _remove_page(self, page: DocumentPage) -> None:
        self.tabs.take(page)
        self._leaving.take(page)
        self._states.tabs_changed()

    @guard
    def _page_changed(self) -> None:
        """Let everything around the tabs follow to the current one."""
        self.commit_edits()
        document = self.document
        self._docks.set_document(document)
        self.plugins.document_shown()
        self.views.show_view(document.view)
        self._states.tabs_changed()
        self._states.title_changed()
        self._states.undo_changed()
        self._states.selection_changed()
        self.status.show_following(self.canvas.trace.words)
        self._show_counts()
        if self._shown:
            self._begin()
            self.files.ask_disk()

    def _connect(self, page: DocumentPage) -> None:
        document, canvas = page.document, page.canvas
        document.path_changed.connect(self._states.title_changed)
        document.modified_changed.connect(self._states.title_changed)
        document.edit_failed.connect(lambda text: page.bars.add(text, "error"))
        document.changed.connect(self._count_due.trigger)
        document.live.costs.changed.connect(self._count_due.trigger)
        document.diagnostics_changed.connect(self._count_due.trigger)
        document.selection.changed.connect(self._states.selection_changed)
        document.view_changed.connect(self.views.show_view)
        document.view_changed.connect(self._count_due.trigger)
        stack = document.undo_stack
        for signal in (stack.canUndoChanged, stack.canRedoChanged, stack.undoTextChanged, stack.redoTextChanged):
            signal.connect(self._states.undo_changed)
        canvas.refused.connect(lambda text: page.bars.add(text, "warning"))
        canvas.told.connect(page.bars.add)
        canvas.asked.connect(page.bars.ask)
        canvas.measuring.connect(lambda: MeasuringNote.show(page.bars, document.live.timings))
        canvas.drawing.connect(lambda job: PictureNote.show(page.bars, job))
        canvas.templates_changed.connect(self._offer_templates)
        canvas.escaped.connect(page.bars.dismiss_newest)
        canvas.fields_asked.connect(lambda: self._docks.go("properties"))
        canvas.files_dropped.connect(self.files.open_dropped)
        canvas.cursor_moved.connect(self.status.show_pointer)
        canvas.scale_changed.connect(self.status.show_scale)
        canvas.trace.changed.connect(lambda _words: self.status.show_following(self.canvas.trace.words))
        page.arranged.connect(lambda: self._arranged(page))

    @guard
    def _begin(self) -> None:
        """Arrange the shown net, where that is still to do; the rest waits until it can be seen."""
        page = self.tabs.current
        if not page.begin():
            self.status.show_scale(self.canvas.scale_factor)
        page.setFocus()

    @guard
    def _arranged(self, page: DocumentPage) -> None:
        """Begin to compute what is live, and make the panels; the user may look at another net by now."""
        page.document.live.start()
        if page is self.tabs.current:
            self.status.show_scale(self.canvas.scale_factor)
            self.status.show_pointer(QPointF())
        offer_upgrade(page)
        self._docks.load_soon()

    @guard
    def _show_counts(self) -> None:
        self.status.show_document(self.document)
        self.views.states.refresh()
        self.refreshed.emit()
        count = sum(1 for each in self.document.diagnostics if each.severity != "info")
        self._docks.docks["problems"].setWindowTitle(f"Problems ({count})" if count else "Problems")

    @guard
    def _offer_templates(self) -> None:
        self.palette_panel.set_infos(palette_entries(self.document), self.document.live.plugins.pictures)

    def commit_edits(self) -> None:
        """Take over what is being typed in a panel before the document is saved or left."""
        for panel in self._docks.panels.values():
            if hasattr(panel, "commit"):
                panel.commit()

    # Telling the user

    def notify(self, text: str, kind: str = "info", actions: Actions = ()) -> InfoBar:
        """Say something in a bar above the canvas in view; never modal."""
        return self.tabs.current.bars.add(text, kind, actions)

    def keep_unsaved(self) -> None:
        """Close without questions from now on: what is not saved stays among the recovery files."""
        self.keeps_unsaved = True

    @property
    def bars(self) -> list[InfoBar]:
        """The bars in view."""
        return self.tabs.current.bars.bars()

    @property
    def panels(self) -> dict[str, Any]:
        """The panels that are made, by name; all of them show the document in view."""
        self._docks.catch_up()
        return self._docks.panels

    def look_at_solver(self) -> None:
        """Have the solver's panel, where it is made, see what other programs did to its file."""
        panel = self._docks.panels.get("solver")
        if panel is not None:
            panel.look_at_disk()

    def load_panels(self) -> None:
        """Make all panels now rather than when the window is idle."""
        self._docks.load_all()

    def show_panel(self, name: str) -> None:
        """Bring ``properties``, ``text``, ``training``, ``problems`` or ``palette`` to the front."""
        self._docks.show(name)

    @guard
    def _dress(self, theme: Theme) -> None:
        self.actions_by_name["theme"].setIcon(icon("sun" if theme.is_dark else "moon"))

    # Events

    @guard(default=False)
    def focusNextPrevChild(self, forward: bool) -> bool:
        return self.regions.move(forward=forward)

    @guard
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._shown:
            self._shown = True
            QTimer.singleShot(0, self, self._begin)

    @guard
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.files.ask_disk()

    @guard
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            accept_copy(event)

    @guard
    def dropEvent(self, event: QDropEvent) -> None:
        names = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        self.files.open_dropped(names)
        accept_copy(event)

    @guard
    def closeEvent(self, event: QCloseEvent) -> None:
        if self.keeps_unsaved:
            self.commit_edits()
        elif not self.files.may_leave_all() or not self.plugins.code.may_leave():
            event.ignore()
            return
        self.closing.emit()
        self._leaving.close()
        self.settings.save_window(self.saveGeometry(), self.saveState())
        self._docks.shut_down()
        self.plugins.close()
        for page in self.tabs.pages():
            page.close_document()
        event.accept()
