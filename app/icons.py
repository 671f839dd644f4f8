"""Icons, all from the Phosphor set that QtAwesome ships.

Only QtAwesome's font file is read: importing the package registers seven fonts and costs a quarter of a second of the
second that start-up may take. An icon reads the theme when it is painted, so a change of theme needs no new icons.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from app.qt import guard
from app.theme import Theme

__all__ = ["category_icon_name", "icon", "icon_pixmap"]

_CATEGORY_ICONS: Mapping[str, str] = {
    "data": "database",
    "vision": "grid-four",
    "dense": "share-network",
    "activation": "activity",
    "normalization": "sliders-horizontal",
    "recurrent": "arrow-clockwise",
    "loss": "target",
    "shape": "cube",
    "python": "code",
    "other": "circle-dashed",
}


@lru_cache(maxsize=1)
def _font_files() -> tuple[Path, Path]:
    spec = importlib.util.find_spec("qtawesome")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("QtAwesome is not installed. Run 'pip install QtAwesome'.")
    folder = Path(next(iter(spec.submodule_search_locations))) / "fonts"
    return next(folder.glob("phosphor-*.ttf")), next(folder.glob("phosphor-charmap-*.json"))


@lru_cache(maxsize=1)
def _glyphs() -> Mapping[str, str]:
    codes: dict[str, str] = json.loads(_font_files()[1].read_text(encoding="utf-8"))
    return {name: chr(int(code, 16)) for name, code in codes.items()}


def _family(app: QApplication) -> str:
    # Kept on the application: application fonts die with it.
    family = app.property("netcanvas.icon_family")
    if not family:
        handle = QFontDatabase.addApplicationFont(str(_font_files()[0]))
        family = QFontDatabase.applicationFontFamilies(handle)[0]
        app.setProperty("netcanvas.icon_family", family)
    return str(family)


def _draw(painter: QPainter, rect: QRectF, name: str, color: QColor) -> None:
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        return
    font = QFont(_family(app))
    font.setPixelSize(max(1, round(min(rect.width(), rect.height()))))
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    painter.setFont(font)
    painter.setPen(color)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, _glyphs()[name])


class _GlyphEngine(QIconEngine):
    def __init__(self, name: str, role: str) -> None:
        super().__init__()
        self._name = name
        self._role = role

    def clone(self) -> QIconEngine:
        return _GlyphEngine(self._name, self._role)

    @guard
    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        special = {QIcon.Mode.Disabled: "text_disabled", QIcon.Mode.Selected: "selection_text"}
        role = special.get(mode, self._role)
        painter.save()
        _draw(painter, QRectF(rect), self._name, Theme.current().color(role))
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        if pixmap.isNull():  # of no size: nothing can be painted on it
            return pixmap
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap


def icon(name: str, role: str = "text") -> QIcon:
    """Return an icon that follows the theme.

    Parameters
    ----------
    name : str
        A Phosphor name such as ``"folder-open"``.
    role : str
        Colour role of the theme.

    Raises
    ------
    KeyError
        When the set has no icon of that name.
    """
    if name not in _glyphs():
        raise KeyError(f"no icon '{name}' in the Phosphor set")
    return QIcon(_GlyphEngine(name, role))


def icon_pixmap(name: str, color: QColor, size: int, ratio: float = 1.0) -> QPixmap:
    """Draw an icon in a given colour, ``size`` logical pixels square at a device pixel ratio."""
    pixmap = QPixmap(round(size * ratio), round(size * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    _draw(painter, QRectF(0, 0, size, size), name, color)
    painter.end()
    return pixmap


def category_icon_name(category: str) -> str:
    """Name of the icon that stands for a category of layers."""
    return _CATEGORY_ICONS[Theme.current().category_key(category)]
