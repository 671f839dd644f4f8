"""The search palette at the pointer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.palette import rows
from app.palette.fuzzy import Entry
from app.palette.model import TypeModel
from app.palette.typed import with_numbers
from app.widgets.choicepopup import ChoicePopup

if TYPE_CHECKING:
    from app.layerpicture import LayerPicture

__all__ = ["SearchPopup"]

_WIDTH, _MOST_HEIGHT = 360, 360
_LIST_HEIGHT = 280
_PAGE = 6


class SearchPopup(ChoicePopup):
    """A search field and the layer types that fit; Enter takes the first, Escape none.

    Parameters
    ----------
    numbers : bool
        Whether numbers may follow the name of a type; see :mod:`app.palette.typed`.

    Attributes
    ----------
    chosen : Signal(str)
        The type, or the label, that was taken.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, numbers: bool = False) -> None:
        model = TypeModel()
        super().__init__("palette.popup", model, _WIDTH, _PAGE, parent)
        self.model = model
        self._infos: tuple[Entry, ...] = ()
        self._usage: dict[str, float] = {}
        self._help = ""
        self._numbers = numbers
        self.search.setAccessibleName("Add a layer")
        self.view.setAccessibleName("Layer types that fit")
        self.view.setItemDelegate(rows.TypeDelegate(self.view, summaries=True))
        self.view.setMouseTracking(True)
        self.note.setContentsMargins(4, 0, 4, 0)

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
        self._help = note
        screen = QGuiApplication.screenAt(at) or QGuiApplication.primaryScreen()
        limit = screen.availableGeometry()
        x = max(limit.left(), min(at.x() - 16, limit.right() - self.wide - 8))
        y = max(limit.top(), min(at.y() - 20, limit.bottom() - _MOST_HEIGHT - 8))
        self.open_at(QPoint(x, y))

    def fill(self, pattern: str) -> int:
        infos, name = with_numbers(self._infos, pattern) if self._numbers else (self._infos, pattern)
        more = self.model.fill(infos, name, grouped=False, usage=self._usage)
        count = self.model.rowCount()
        told = f"{more:,} more: type to find them. {self._help}" if more else self._help
        self.note.setText(told if count else "No layer fits.")
        self.note.setVisible(bool(self.note.text()))
        height = 0
        for row in range(count):
            height += self.view.sizeHintForRow(row)
            if height >= _LIST_HEIGHT:
                break
        return min(_LIST_HEIGHT, height)

    def take(self, index: QModelIndex) -> None:
        kind = index.data(rows.KIND)
        if kind:
            self.hide()
            self.chosen.emit(str(kind))
