"""The palette: all layer types by category, with search; drag one to the canvas or press Enter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QDrag, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListView, QMenu, QVBoxLayout, QWidget

from app.icons import icon
from app.layerpicture import layer_mark
from app.palette import rows
from app.palette.model import TypeModel
from app.palette.templates import template_name
from app.qt import guard
from app.theme import Theme
from app.widgets.searchline import search_line

if TYPE_CHECKING:
    from app.layerpicture import LayerPicture
    from engine.registry import LayerInfo

__all__ = ["PalettePanel"]

_ICON = 24


class _TypeList(QListView):
    """A list whose rows are dragged as their icons, so that what they are dropped on can be seen."""

    @guard
    def startDrag(self, supportedActions: Qt.DropAction) -> None:
        index = self.currentIndex()
        category = Theme.current().category_key(str(index.data(rows.CATEGORY) or ""))
        color, ground = Theme.current().category(category), Theme.current().color("canvas")
        picture = layer_mark(index.data(rows.PICTURE), category, _ICON, self.devicePixelRatioF(), color, ground)
        drag = QDrag(self)
        drag.setMimeData(self.model().mimeData([index]))
        drag.setPixmap(picture)
        drag.setHotSpot(QPoint(-_ICON // 2, -_ICON // 2))
        drag.exec(supportedActions, Qt.DropAction.CopyAction)


class PalettePanel(QWidget):
    """Search field over a list of layer types.

    Attributes
    ----------
    chosen : Signal(str)
        Insert a layer of that type.
    rename_asked, removal_asked : Signal(str)
        The user wants another name for the block of that name, or it away.
    """

    chosen = Signal(str)
    rename_asked = Signal(str)
    removal_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("palette.panel")
        self._infos: tuple[LayerInfo, ...] | None = None
        self.search = search_line("palette.search", "Search layers", glass=True)
        self.model = TypeModel(self)
        self.view = _TypeList()
        self.view.setObjectName("palette.list")
        self.view.setAccessibleName("Layer types")
        self.view.setModel(self.model)
        self.view.setItemDelegate(rows.TypeDelegate(self.view, summaries=False))
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.view.setMouseTracking(True)
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setProperty("flat", True)
        self.setFocusProxy(self.search)
        self._empty = QLabel("No layer type fits.")
        self._empty.setProperty("muted", True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._empty.setContentsMargins(8, 16, 8, 8)
        self._empty.hide()
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 4, 0, 0)
        box.setSpacing(4)
        inner = QVBoxLayout()
        inner.setContentsMargins(0, 0, 8, 0)
        inner.addWidget(self.search)
        box.addLayout(inner)
        box.addWidget(self._empty)
        box.addWidget(self.view, 1)
        self.search.textChanged.connect(self._fill)
        self.search.returnPressed.connect(self._choose_current)
        self.search.installEventFilter(self)
        self.view.clicked.connect(self._choose)
        self.view.installEventFilter(self)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._pop_menu)

    def sizeHint(self) -> QSize:
        return QSize(212, 480)

    def set_infos(self, infos: Iterable[LayerInfo], pictures: Mapping[str, LayerPicture] | None = None) -> None:
        """Show these, with the pictures of some by their paths; the place in the list stays."""
        shown, fresh = tuple(infos), dict(pictures or {})
        if shown != self._infos or fresh != self.model.pictures:
            self._infos, self.model.pictures = shown, fresh
            place = self.view.verticalScrollBar().value()
            self._fill()
            self.view.verticalScrollBar().setValue(place)

    def _fill(self) -> None:
        if self._infos is None:
            return
        pattern = self.search.text()
        self.model.fill(self._infos, pattern, grouped=True)
        self._empty.setVisible(self.model.rowCount() == 0)
        self.view.setVisible(self.model.rowCount() > 0)
        if pattern.strip() and self.model.first_row() >= 0:
            self.view.setCurrentIndex(self.model.index(self.model.first_row(), 0))

    def _choose_current(self) -> None:
        index = self.view.currentIndex()
        if not index.isValid() and self.model.first_row() >= 0:
            index = self.model.index(self.model.first_row(), 0)
        self._choose(index)

    def _choose(self, index: QModelIndex) -> None:
        kind = index.data(rows.KIND)
        if kind:
            self.chosen.emit(str(kind))

    # Blocks of the user's own

    def kept_menu(self, index: QModelIndex) -> QMenu | None:
        """Return the menu of a row; None where it is no block that the user keeps."""
        name = template_name(str(index.data(rows.KIND) or ""))
        if name is None:
            return None
        menu = QMenu(self)
        menu.setObjectName("palette.kept_menu")
        menu.aboutToHide.connect(menu.deleteLater)
        rename = menu.addAction(icon("pencil-simple"), "Rename\u2026\tF2")
        rename.triggered.connect(lambda: self.rename_asked.emit(name))
        menu.addAction(icon("trash"), "Delete\tDel").triggered.connect(lambda: self.removal_asked.emit(name))
        return menu

    @guard
    def _pop_menu(self, place: QPoint) -> None:
        menu = self.kept_menu(self.view.indexAt(place))
        if menu is not None:
            menu.popup(self.view.viewport().mapToGlobal(place))

    def _ask_by_key(self, key: int) -> bool:
        """Ask for what a key does to the block that is chosen; return whether it does something."""
        name = template_name(str(self.view.currentIndex().data(rows.KIND) or ""))
        asked = {Qt.Key.Key_F2: self.rename_asked, Qt.Key.Key_Delete: self.removal_asked}.get(Qt.Key(key))
        if name is None or asked is None:
            return False
        asked.emit(name)
        return True

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        if watched is self.view and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose_current()
            return True
        if watched is self.view and self._ask_by_key(event.key()):
            return True
        if watched is self.search and event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if event.key() == Qt.Key.Key_Down else -1
            row = self.view.currentIndex().row() + step
            while 0 <= row < self.model.rowCount() and self.model.item(row).data(rows.HEADER):
                row += step
            if 0 <= row < self.model.rowCount():
                self.view.setCurrentIndex(self.model.index(row, 0))
            return True
        return super().eventFilter(watched, event)
