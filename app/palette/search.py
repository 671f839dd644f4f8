"""The search palette at the pointer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLabel, QLineEdit, QListView, QVBoxLayout, QWidget

from app.palette import rows
from app.palette.fuzzy import Entry
from app.palette.model import TypeModel
from app.qt import guard

if TYPE_CHECKING:
    from app.layerpicture import LayerPicture

__all__ = ["SearchPopup"]

_WIDTH, _MOST_HEIGHT = 360, 360
_LIST_HEIGHT = 280


class SearchPopup(QFrame):
    """A search field and the layer types that fit; Enter takes the first, Escape none.

    Attributes
    ----------
    chosen : Signal(str)
        The type, or the label, that was taken.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("palette.popup")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._infos: tuple[Entry, ...] = ()
        self._usage: dict[str, float] = {}
        self._help = ""
        self.search = QLineEdit()
        self.search.setObjectName("palette.popup_search")
        self.search.setAccessibleName("Add a layer")
        self.model = TypeModel(self)
        self.view = QListView()
        self.view.setObjectName("palette.popup_list")
        self.view.setAccessibleName("Layer types that fit")
        self.view.setModel(self.model)
        self.view.setItemDelegate(rows.TypeDelegate(self.view, summaries=True))
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setMouseTracking(True)
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setProperty("flat", True)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._note = QLabel()
        self._note.setProperty("muted", True)
        self._note.setContentsMargins(4, 0, 4, 0)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.setSpacing(6)
        box.addWidget(self.search)
        box.addWidget(self.view)
        box.addWidget(self._note)
        self.search.textChanged.connect(self._fill)
        self.search.returnPressed.connect(lambda: self._choose(self.view.currentIndex()))
        self.search.installEventFilter(self)
        self.view.clicked.connect(self._choose)

    def sizeHint(self) -> QSize:
        """As high as what is found needs."""
        layout = self.layout()
        return QSize(_WIDTH, layout.sizeHint().height() if layout is not None else _MOST_HEIGHT)

    def ask(
        self,
        infos: Iterable[Entry],
        at: QPoint,
        prompt: str,
        note: str = "",
        usage: Mapping[str, float] | None = None,
        pictures: Mapping[str, LayerPicture] | None = None,
    ) -> None:
        """Open at a place of the screen.

        Parameters
        ----------
        infos : iterable of Entry
            What may be taken.
        prompt : str
            Shown in the empty field.
        note : str
            One line under the list.
        usage : mapping of str to float, optional
            How much each type is used here, for the order.
        pictures : mapping of str to LayerPicture, optional
            Pictures of some, by their paths.
        """
        self.model.pictures = pictures or {}
        self._infos = tuple(infos)
        self._usage = dict(usage or {})
        self.search.setPlaceholderText(prompt)
        self.search.clear()
        self._help = note
        self._fill()
        screen = QGuiApplication.screenAt(at) or QGuiApplication.primaryScreen()
        limit = screen.availableGeometry()
        x = max(limit.left(), min(at.x() - 16, limit.right() - _WIDTH - 8))
        y = max(limit.top(), min(at.y() - 20, limit.bottom() - _MOST_HEIGHT - 8))
        self.move(x, y)
        self.show()
        self.search.setFocus(Qt.FocusReason.PopupFocusReason)

    def _fill(self) -> None:
        self.model.fill(self._infos, self.search.text(), grouped=False, usage=self._usage)
        count = self.model.rowCount()
        if count:
            self.view.setCurrentIndex(self.model.index(0, 0))
        self._note.setText(self._help if count else "No layer fits.")
        self._note.setVisible(bool(self._note.text()))
        self.view.setVisible(count > 0)
        self.view.setFixedHeight(min(_LIST_HEIGHT, sum(self.view.sizeHintForRow(row) for row in range(count))))
        layout = self.layout()
        if layout is not None:
            layout.activate()  # or the old least size would still hold
        self.resize(self.sizeHint())

    def _choose(self, index: QModelIndex) -> None:
        kind = index.data(rows.KIND)
        if kind:
            self.hide()
            self.chosen.emit(str(kind))

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 6, Qt.Key.Key_PageUp: -6}
            step = steps.get(Qt.Key(event.key()))
            if step is not None and self.model.rowCount():
                row = min(self.model.rowCount() - 1, max(0, self.view.currentIndex().row() + step))
                self.view.setCurrentIndex(self.model.index(row, 0))
                return True
        return super().eventFilter(watched, event)
