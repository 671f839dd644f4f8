"""The main window: canvas in the middle, panels around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QApplication, QGridLayout, QMainWindow, QWidget

from app.document import Document
from app.icons import icon
from app.palette.dock import PalettePanel
from app.qt import Debounce, guard
from app.theme import Theme
from app.window.actions import enable, make_actions
from app.window.bars import Actions, InfoArea, InfoBar
from app.window.canvas_area import CanvasArea
from app.window.dialectmenu import DialectMenu
from app.window.docks import PanelDocks
from app.window.files import FileFlow
from app.window.menus import SPECS, fill_menus, fill_recent
from app.window.settings import WindowSettings
from app.window.status import StatusLine
from app.window.toolbar import MainToolBar
from app.window.viewmenu import ViewChooser
from engine.errors import NetcanvasError
from engine.graph import is_old, upgraded_text

__all__ = ["MainWindow"]


class MainWindow(QMainWindow):
    """Shows one document at a time.

    Parameters
    ----------
    settings : WindowSettings, optional
        What is remembered between starts; the user's own by default.

    Attributes
    ----------
    document_left : Signal()
        Another document is shown, and the one before it is closed.
    """

    document_left = Signal()

    def __init__(self, settings: WindowSettings | None = None) -> None:
        super().__init__()
        self.setObjectName("window.main")
        self.setWindowTitle("Netcanvas")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(False)
        self.settings = settings or WindowSettings()
        self.document = Document.new(self)
        self.canvas: CanvasArea | None = None
        self.files = FileFlow(self)
        self.status = StatusLine(self)
        self.setStatusBar(self.status)
        self._stage = QGridLayout()
        self._stage.setContentsMargins(0, 0, 0, 0)
        middle = QWidget()
        middle.setLayout(self._stage)
        self._bars = InfoArea(middle)
        # Over the canvas, which must not jump under the pointer when a message comes or goes.
        self._stage.addWidget(self._bars, 0, 0, Qt.AlignmentFlag.AlignTop)
        self.setCentralWidget(middle)
        self.palette_panel = PalettePanel()
        self._docks = PanelDocks(self, self._panel_made)
        self._docks.add_dock("palette", "Layers", self.palette_panel, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.actions_by_name = make_actions(self, SPECS, self._handlers())
        self.views = ViewChooser(lambda: self.document, self)
        self.toolbar = MainToolBar(self.actions_by_name, self.views, self)
        self.addToolBar(self.toolbar)
        docks = self._docks
        dialects = DialectMenu(lambda: self.document, self)
        self.recent_menu, self.train_menu = fill_menus(
            self, self.actions_by_name, docks.docks, docks.go_actions(), dialects, self.views
        )
        self.recent_menu.aboutToShow.connect(self._fill_recent)
        self.palette_panel.chosen.connect(lambda kind: self._canvas().add_layer(kind))
        self._count_due = Debounce(self._show_counts, 0, self)
        self._shown = False
        Theme.notifier().changed.connect(self._dress)
        self._dress(Theme.current())
        self._restore()
        self.show_document(self.document)

    # Making

    def _handlers(self) -> dict[str, Callable[[], object]]:
        return {
            "new": self.files.new,
            "open": self.files.open_dialog,
            "save": self.files.save,
            "save_as": self.files.save_as,
            "quit": self.close,
            "undo": lambda: self.document.undo_stack.undo(),
            "redo": lambda: self.document.undo_stack.redo(),
            "cut": lambda: self._canvas().cut(),
            "copy": lambda: self._canvas().copy(),
            "paste": lambda: self._canvas().paste(),
            "paste_wired": lambda: self._canvas().paste(keep_inputs=True),
            "duplicate": lambda: self._canvas().duplicate(),
            "delete": lambda: self._canvas().delete(),
            "dissolve": lambda: self._canvas().dissolve(),
            "find": lambda: self._canvas().find_layer(),
            "select_all": lambda: self._canvas().select_all(),
            "add": lambda: self._canvas().search_asked.emit(self._canvas().pointer(), None, "key", 0),
            "layout": lambda: self._canvas().arrange_all(),
            "fit": lambda: self._canvas().frame(),
            "frame": lambda: self._canvas().frame_selection(),
            "actual_size": lambda: self._canvas().set_scale(1.0),
            "zoom_in": lambda: self._canvas().zoom_by(1.25),
            "zoom_out": lambda: self._canvas().zoom_by(0.8),
            "theme": self.toggle_theme,
            "about": self._about,
        }

    def _canvas(self) -> CanvasArea:
        assert self.canvas is not None
        return self.canvas

    def sizeHint(self) -> QSize:
        return QSize(1680, 1020)

    def _restore(self) -> None:
        geometry, docks = self.settings.geometry, self.settings.dock_state
        if geometry is None or not self.restoreGeometry(geometry):
            screen = QGuiApplication.primaryScreen().availableSize()
            self.resize(self.sizeHint().boundedTo(screen * 0.95))
        if docks is None or not self.restoreState(docks):
            areas = self._docks.docks
            self.resizeDocks([areas["palette"], areas["properties"]], [212, 340], Qt.Orientation.Horizontal)
            self.resizeDocks([areas["training"]], [288], Qt.Orientation.Vertical)

    def _panel_made(self, name: str, panel: Any) -> None:
        if name == "training":
            self.toolbar.add_training(panel)
            actions = (panel.train_action, panel.pause_action, panel.stop_action, panel.snapshot_action)
            self.train_menu.addActions(actions)
            panel.folder_trusted.connect(self._trust)
        elif name == "problems":
            panel.line_activated.connect(self._show_line)
            self._show_counts()

    @guard
    def _show_line(self, line: int, column: int) -> None:
        """Go to a line of the text that a problem names, and to the layer that is selected with it."""
        if "text" in self.panels:
            self.show_panel("text")
            self.panels["text"].reveal_line(line, column)
        self.document.selection.flush()
        last = self.document.selection.last
        if last is not None:
            self._canvas().reveal(last)

    # The document

    def show_document(self, document: Document) -> None:
        """Show another document and close the one that was shown."""
        old, old_canvas = self.document, self.canvas
        document.setParent(self)
        self.document = document
        if document.path is not None:
            document.live.trusted = self.settings.is_trusted(document.path.parent)
        self.canvas = CanvasArea(document, self)
        self._stage.addWidget(self.canvas, 0, 0)
        self._bars.raise_()
        self.palette_panel.set_registry(document.registry)
        self._connect(document, self.canvas)
        self._docks.set_document(document)
        self._bars.clear()
        if old_canvas is not None:
            old_canvas.close_document()
            self._stage.removeWidget(old_canvas)
            old_canvas.hide()
            old_canvas.deleteLater()
        if old is not document:
            old.close()
            old.deleteLater()
            self.document_left.emit()
        self.views.show_view(document.view)
        self._title_changed()
        self._undo_changed()
        self._selection_changed()
        self._show_counts()
        if self._shown:
            self.canvas.show()
            self._stage.activate()
            self._begin()

    def _connect(self, document: Document, canvas: CanvasArea) -> None:
        document.path_changed.connect(self._title_changed)
        document.modified_changed.connect(self._title_changed)
        document.edit_failed.connect(lambda text: self.notify(text, "error"))
        document.changed.connect(self._count_due.trigger)
        document.shapes_changed.connect(self._count_due.trigger)
        document.diagnostics_changed.connect(self._count_due.trigger)
        document.selection.changed.connect(self._selection_changed)
        document.view_changed.connect(self.views.show_view)
        document.view_changed.connect(self._count_due.trigger)
        stack = document.undo_stack
        for signal in (stack.canUndoChanged, stack.canRedoChanged, stack.undoTextChanged, stack.redoTextChanged):
            signal.connect(self._undo_changed)
        canvas.refused.connect(lambda text: self.notify(text, "warning"))
        canvas.escaped.connect(self._bars.dismiss_newest)
        canvas.files_dropped.connect(self.files.open_dropped)
        canvas.cursor_moved.connect(self.status.show_pointer)
        canvas.scale_changed.connect(self.status.show_scale)

    @guard
    def _begin(self) -> None:
        """Arrange the shown net; the rest waits until it can be seen."""
        canvas = self._canvas()
        canvas.setFocus()
        canvas.arranged.connect(self._arranged)
        canvas.arrange_at_start()

    @guard
    def _arranged(self) -> None:
        """Begin to compute what is live, and make the panels."""
        self.status.show_scale(self._canvas().scale_factor)
        self.status.show_pointer(QPointF())
        self.document.live.start()
        self._ask_for_trust()
        self._offer_upgrade()
        QTimer.singleShot(0, self, self._docks.load_next)

    def _ask_for_trust(self) -> None:
        document = self.document
        if document.path is None or document.live.trusted:
            return
        if any(node.type == "Python" for node in document.graph.nodes()):
            folder = document.path.parent
            self.notify(
                f"This net has Python layers. Their code in '{folder.name}' is not run until you allow it; "
                "until then their shapes stay unknown.",
                "warning",
                [("Allow", lambda: self._trust(folder))],
            )

    def _offer_upgrade(self) -> None:
        graph = self.document.graph
        if graph.problems or not is_old(graph):
            return
        mixed = any(node.version == 2 and not node.virtual for node in graph.nodes())
        self.notify(
            "This net mixes layers of an old and of today's format; it cannot run so."
            if mixed
            else "This net is written in an old format of Caffe's. It runs as it is, and is saved as it is.",
            "warning" if mixed else "info",
            [("Upgrade", partial(self._upgrade, self.document))],
        )

    def _upgrade(self, document: Document) -> None:
        try:
            document.apply("Upgrade to today's format", lambda graph: graph.replace_text(upgraded_text(graph)))
        except NetcanvasError as error:
            self.notify(str(error), "error")

    def _trust(self, folder: Path) -> None:
        self.settings.trust(folder)
        self.document.live.trusted = True
        self.document.live.refresh()

    @guard
    def _title_changed(self, _value: object = None) -> None:
        self.setWindowTitle(f"{self.document.title}[*] \u2013 Netcanvas")
        self.setWindowModified(self.document.modified)
        unsaved = self.document.modified or self.document.path is None
        enable(self.actions_by_name["save"], "" if unsaved else "Nothing to save: nothing was changed (Ctrl+S).")
        path = self.document.path
        self.setWindowFilePath(str(path) if path else "")
        self.setWindowTitle(f"{self.document.title}[*] \u2013 Netcanvas")

    @guard
    def _undo_changed(self, _value: object = None) -> None:
        stack = self.document.undo_stack
        for name, can, text in (
            ("undo", stack.canUndo(), stack.undoText()),
            ("redo", stack.canRedo(), stack.redoText()),
        ):
            action = self.actions_by_name[name]
            action.setEnabled(can)
            key = action.shortcut().toString()
            action.setText(f"{name.capitalize()} {text}".strip())
            action.setToolTip(f"{name.capitalize()} {text} ({key})" if can else f"Nothing to {name} ({key})")

    @guard
    def _selection_changed(self) -> None:
        reason = "" if self.document.selection.node_ids else "Nothing is selected: click a layer first."
        for name in ("cut", "copy", "duplicate", "dissolve", "frame"):
            enable(self.actions_by_name[name], reason)

    @guard
    def _show_counts(self) -> None:
        self.status.show_document(self.document)
        self.views.states.refresh()
        count = sum(1 for each in self.document.diagnostics if each.severity != "info")
        self._docks.docks["problems"].setWindowTitle(f"Problems ({count})" if count else "Problems")

    def commit_edits(self) -> None:
        """Take over what is being typed in a panel before the document is saved or left."""
        for panel in self._docks.panels.values():
            if hasattr(panel, "commit"):
                panel.commit()

    # Telling the user

    def notify(self, text: str, kind: str = "info", actions: Actions = ()) -> InfoBar:
        """Say something in a bar above the canvas; never modal."""
        return self._bars.add(text, kind, actions)

    @property
    def bars(self) -> list[InfoBar]:
        """The bars in view."""
        return self._bars.bars()

    @property
    def panels(self) -> dict[str, Any]:
        """The panels that are made, by name."""
        return self._docks.panels

    def load_panels(self) -> None:
        """Make all panels now rather than when the window is idle."""
        self._docks.load_all()

    def show_panel(self, name: str) -> None:
        """Bring ``properties``, ``text``, ``training``, ``problems`` or ``palette`` to the front."""
        self._docks.show(name)

    def toggle_theme(self) -> None:
        """Change between the light and the dark theme, and remember it."""
        app = QApplication.instance()
        if isinstance(app, QApplication):
            name = "light" if Theme.current().is_dark else "dark"
            Theme.load(name).apply(app)
            self.settings.theme = name

    @guard
    def _dress(self, theme: Theme) -> None:
        self.actions_by_name["theme"].setIcon(icon("sun" if theme.is_dark else "moon"))

    def _about(self) -> None:
        from engine import __version__

        self.notify(f"Netcanvas {__version__}: build and train neural nets by drawing them.", "info")

    def _fill_recent(self) -> None:
        fill_recent(self.recent_menu, self.settings, self.files.open)

    # Events

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
            self.files.look_at_disk()

    @guard
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    @guard
    def dropEvent(self, event: QDropEvent) -> None:
        names = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        self.files.open_dropped(names)
        event.acceptProposedAction()

    @guard
    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.files.may_leave():
            event.ignore()
            return
        self.settings.save_window(self.saveGeometry(), self.saveState())
        self._docks.shut_down()
        if self.canvas is not None:
            self.canvas.close_document()
        self.document.close()
        event.accept()
