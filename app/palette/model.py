"""Filling an item model with layer types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QModelIndex, QObject, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel

from app.palette import rows
from app.palette.entries import kind_of
from app.palette.fuzzy import Entry, Match, rank
from app.palette.templates import CATEGORY as MINE
from app.theme import Theme

if TYPE_CHECKING:
    from app.layerpicture import LayerPicture

__all__ = ["LAYER_MIME", "MOST_ROWS", "TypeModel"]

#: Nobody reads farther than this before typing another letter.
MOST_ROWS = 200

LAYER_MIME = "application/x-netcanvas-layer-type"

_ORDER = ("data", "vision", "dense", "activation", "normalization", "recurrent", "shape", "loss", "python", "other")


class TypeModel(QStandardItemModel):
    """Layer types that fit a search, in categories while nothing is typed.

    Attributes
    ----------
    pictures : mapping of str to LayerPicture
        Pictures that plugins bring, by their paths; where an entry has none, its category's icon is shown.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pictures: Mapping[str, LayerPicture] = {}

    def fill(
        self, infos: Iterable[Entry], pattern: str, *, grouped: bool, usage: Mapping[str, float] | None = None
    ) -> int:
        """Show what fits ``pattern``, the best of very much; see :func:`rank` for ``usage``.

        Returns
        -------
        int
            How much fits beside what is shown.
        """
        self.clear()
        matches = rank(infos, pattern, usage)
        if pattern.strip() or not grouped:
            for match in matches[:MOST_ROWS]:
                self.appendRow(self._row(match))
            return max(0, len(matches) - MOST_ROWS)
        theme = Theme.current()
        by_category: dict[str, list[Match]] = {}
        for match in matches:
            by_category.setdefault(match.info.category or "Other", []).append(match)

        def place(name: str) -> tuple[bool, int, str]:
            return name != MINE, _ORDER.index(theme.category_key(name)), name  # what the user kept comes first

        for category in sorted(by_category, key=place):
            header = QStandardItem()
            header.setFlags(Qt.ItemFlag.NoItemFlags)
            header.setData(category, rows.HEADER)
            header.setData(f"Category {category}", Qt.ItemDataRole.AccessibleTextRole)
            self.appendRow(header)
            for match in by_category[category]:
                self.appendRow(self._row(match))
        return 0

    def _row(self, match: Match) -> QStandardItem:
        item = _row(match)
        picture = self.pictures.get(getattr(match.info, "icon", ""))
        if picture is not None:
            item.setData(picture, rows.PICTURE)
        return item

    def first_row(self) -> int:
        """Row of the first layer type, or -1."""
        return next((row for row in range(self.rowCount()) if not self.item(row).data(rows.HEADER)), -1)

    def mimeTypes(self) -> list[str]:
        return [LAYER_MIME, "text/plain"]

    def mimeData(self, indexes: Iterable[QModelIndex]) -> QMimeData:
        data = QMimeData()
        for index in indexes:
            kind = str(index.data(rows.KIND) or "")
            data.setData(LAYER_MIME, kind.encode())
            data.setText(kind)
        return data


def _row(match: Match) -> QStandardItem:
    info = match.info
    item = QStandardItem(info.type)
    item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled)
    item.setData(info.type, rows.TYPE)
    item.setData(kind_of(info), rows.KIND)
    item.setData(info.category, rows.CATEGORY)
    item.setData(info.summary, rows.SUMMARY)
    item.setData(match.letters, rows.LETTERS)
    ports = f"{', '.join(info.bottoms) or 'no inputs'} \u2192 {', '.join(info.tops) or 'no outputs'}"
    item.setToolTip(f"<b>{info.type}</b><br>{info.summary}<br><i>{ports}</i>")
    item.setData(f"{info.type}: {info.summary}", Qt.ItemDataRole.AccessibleTextRole)
    return item
