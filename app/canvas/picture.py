"""Pictures of the canvas: SVG, PDF and PNG at any scale, in any theme, and an image for the clipboard."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QImageWriter, QPageLayout, QPageSize, QPainter, QPdfWriter

from app.theme import Theme
from engine.errors import NetcanvasError
from engine.files import atomic_write

if TYPE_CHECKING:
    from app.canvas.scene import CanvasScene

__all__ = ["KINDS", "PictureError", "draw_image", "save_picture"]

#: What can be written, by the ending of the file.
KINDS = (".svg", ".pdf", ".png")
_MARGIN = 24.0
_DOTS_PER_INCH = 96.0
_LARGEST_SIDE = 30_000
_MOST_PIXELS = 300_000_000
_LONGEST_PAGE = 14_400.0  # points: what readers of PDF can show
_SMALLEST_SCALE, _LARGEST_SCALE = 0.01, 1000.0
#: How cards, wires and frames look when the pointer, the keyboard and the selection are elsewhere.
_AT_REST = {"marked": False, "chosen": False, "hovered": False, "ringed": False, "hot_port": None, "doomed": False}


class PictureError(NetcanvasError):
    """A picture that cannot be drawn."""


def save_picture(scene: CanvasScene, path: Path, *, scale: float = 1.0, theme: str = "paper") -> None:
    """Write all that is shown on the level that is looked at.

    Parameters
    ----------
    path : Path
        Ends in one of :data:`KINDS`; it is written aside and renamed.
    scale : float
        1 makes a card 184 pixels wide, or as large on paper as on a screen of 96 dots per inch.
    theme : str
        ``paper``, ``light`` or ``dark``.

    Raises
    ------
    PictureError
        When there is nothing to draw, the ending is none of ours, the scale makes no sense, or the picture would be
        too large.
    OSError
        When the file cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise PictureError(
            f"'{path.name}' is none of the kinds of pictures that can be written: {', '.join(KINDS)}.",
            next_step="Choose one of these endings.",
        )
    if not _SMALLEST_SCALE <= scale <= _LARGEST_SCALE:
        raise PictureError(
            f"A picture cannot be drawn at the scale {scale:g}, only from {_SMALLEST_SCALE} to {_LARGEST_SCALE:g}.",
            next_step="1 draws it as it is seen at 100 %.",
        )
    area = _area(scene)
    with _dressed(scene, theme):
        if kind == ".png":
            data = _png(scene, area, scale)
        elif kind == ".svg":
            data = _svg(scene, area, scale)
        else:
            data = _pdf(scene, area, scale)
    atomic_write(path, data)


def draw_image(scene: CanvasScene, *, scale: float = 2.0, theme: str = "light") -> QImage:
    """Return an image of all that is shown, as for the clipboard; smaller than ``scale`` where that is too large.

    Raises
    ------
    PictureError
        When there is nothing to draw.
    """
    area = _area(scene)
    width, height = area.width(), area.height()
    largest = min(_LARGEST_SIDE / max(width, height), math.sqrt(_MOST_PIXELS / (width * height)))
    with _dressed(scene, theme):
        return _image(scene, area, min(scale, 0.99 * largest))


def _area(scene: CanvasScene) -> QRectF:
    scene.finish_leading()
    area = scene.content_rect()
    for item in scene.annotated.shown():
        area = area.united(item.area)
    if area.isNull():
        raise PictureError("There is nothing to draw.", next_step="Add a layer first.")
    for edge in scene.folding.edges():
        area = area.united(edge.boundingRect())
    return area.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)


@contextmanager
def _dressed(scene: CanvasScene, name: str) -> Iterator[None]:
    """Paint in a theme, with nothing selected or pointed at, for the length of a ``with`` block."""
    before = scene.style_set.theme
    items = (*scene.items_shown(), *scene.folding.edges(), *scene.annotated.shown())
    busy = [
        (item, key, value)
        for item in items
        for key, rest in _AT_REST.items()
        if (value := getattr(item, key, rest)) != rest
    ]
    scene.set_theme(Theme.load(name))
    for item, key, _value in busy:
        setattr(item, key, _AT_REST[key])
    try:
        yield
    finally:
        for item, key, value in busy:
            setattr(item, key, value)
        scene.set_theme(before)


def _paint(scene: CanvasScene, painter: QPainter, target: QRectF, area: QRectF) -> None:
    """Paint card by card, so that no view and no screen is needed, and texts stay texts."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    scene.render(painter, target, area, Qt.AspectRatioMode.KeepAspectRatio)


def _image(scene: CanvasScene, area: QRectF, scale: float) -> QImage:
    size = QSize(math.ceil(area.width() * scale), math.ceil(area.height() * scale))
    if max(size.width(), size.height()) > _LARGEST_SIDE or size.width() * size.height() > _MOST_PIXELS:
        raise PictureError(
            f"The picture would have {size.width():,} × {size.height():,} pixels, which is too large.",
            next_step="Choose a smaller scale, fold repeated blocks, or write SVG or PDF.",
        )
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(scene.style_set.canvas)
    painter = QPainter(image)
    _paint(scene, painter, QRectF(image.rect()), area)
    painter.end()
    return image


def _png(scene: CanvasScene, area: QRectF, scale: float) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not QImageWriter(buffer, QByteArray(b"png")).write(_image(scene, area, scale)):
        raise PictureError("The picture could not be packed as PNG.", next_step="Choose a smaller scale.")
    buffer.close()
    return bytes(data.data())


def _svg(scene: CanvasScene, area: QRectF, scale: float) -> bytes:
    from PySide6.QtSvg import QSvgGenerator  # only for those who export

    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    target = QRectF(0.0, 0.0, area.width() * scale, area.height() * scale)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(int(_DOTS_PER_INCH))
    generator.setSize(target.size().toSize())
    generator.setViewBox(target)
    generator.setTitle(scene.document.title)
    painter = QPainter(generator)
    painter.fillRect(target, scene.style_set.canvas)
    _paint(scene, painter, target, area)
    painter.end()
    buffer.close()
    return bytes(data.data())


def _pdf(scene: CanvasScene, area: QRectF, scale: float) -> bytes:
    points = QSizeF(area.width() * scale * 72.0 / _DOTS_PER_INCH, area.height() * scale * 72.0 / _DOTS_PER_INCH)
    shrunk = min(1.0, _LONGEST_PAGE / max(points.width(), points.height()))
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(scene.document.title)
    writer.setCreator("Netcanvas")
    writer.setResolution(int(_DOTS_PER_INCH))
    page = QPageSize(points * shrunk, QPageSize.Unit.Point, "canvas", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF()))
    painter = QPainter(writer)
    target = QRectF(0.0, 0.0, writer.width(), writer.height())
    painter.fillRect(target, scene.style_set.canvas)
    _paint(scene, painter, target, area)
    painter.end()
    buffer.close()
    return bytes(data.data())
