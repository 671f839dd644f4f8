"""Pictures that plugins bring for their layers: read off the window's thread, and drawn in place of a category's icon.

A picture comes with code that nobody may have trusted yet, so it is read as little as it is shown: small files only,
no outside references, and what is drawn later are the pixels of one reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QPainter, QPainterPath, QPixmap

from app.icons import category_icon_name, icon_pixmap
from app.theme import blend
from engine.errors import NetcanvasError

__all__ = ["LayerPicture", "PictureError", "layer_mark", "read_picture"]

#: Pixels of a picture's longer side as it is kept: enough for 18 points at 400 % on a screen of twice the density.
_SIDE = 192
_BIGGEST_FILE = 256 << 10
_BIGGEST_SIDE = 2048
_MOST_ELEMENTS = 600
_MOST_USES = 16
_PNG = b"\x89PNG\r\n\x1a\n"
#: What makes an SVG look at other files, unfold without end, or take long.
_REFUSED = re.compile(rb"<!(?:ENTITY|DOCTYPE[^>]*\[)|<(?:\w+:)?(?:image|foreignObject|filter|script)\b|@import", re.I)
_NEXT = "Use a PNG or a plain SVG, or leave 'icon' out."
_SEEN = 32
#: Grey, and all of one tone: a drawing that takes the colour of its category, as our own icons do.
_GREY, _TONES = 24, 40
_FAINT = 1.8
_WEIGHTS = np.array([0.2126, 0.7152, 0.0722])


class PictureError(NetcanvasError):
    """A picture that cannot be shown."""


@dataclass(frozen=True, slots=True)
class LayerPicture:
    """A picture as it was read.

    Attributes
    ----------
    path : str
        Where it is.
    stamp : tuple of int
        Time and size of the file; two readings with the same are equal.
    image : QImage
        Its pixels, at most 192 to a side.
    is_glyph : bool
        Whether it is a drawing in one grey tone on nothing, which is shown in the colour of its category.
    luminance : float
        Relative luminance of what is visible, 0 to 1 (WCAG 2.1).
    """

    path: str
    stamp: tuple[int, int]
    image: QImage = field(compare=False, repr=False)
    is_glyph: bool = field(compare=False)
    luminance: float = field(compare=False)


def read_picture(path: Path) -> LayerPicture:
    """Read a picture, in any thread.

    Raises
    ------
    PictureError
        Names the file, what was expected and what was found.
    """
    try:
        if not path.is_file():  # a pipe would be read for ever
            raise PictureError(f"Icon '{path}': expected a picture, got no such file.", next_step=_NEXT)
        facts = path.stat()
        if facts.st_size > _BIGGEST_FILE:
            got = f"{facts.st_size:,} bytes".replace(",", "\u202f")
            raise PictureError(f"Icon '{path}': expected at most {_BIGGEST_FILE >> 10} kB, got {got}.", next_step=_NEXT)
        data = path.read_bytes()
    except OSError as error:
        raise PictureError(f"Icon '{path}' cannot be read: {error.strerror or error}.", next_step=_NEXT) from error
    try:
        image = _png(data) if data.startswith(_PNG) else _svg(data)
        is_glyph, luminance = _look(image)
    except ValueError as error:
        raise PictureError(f"Icon '{path}': {error}.", next_step=_NEXT) from None
    return LayerPicture(str(path), (facts.st_mtime_ns, facts.st_size), image, is_glyph, luminance)


def _png(data: bytes) -> QImage:
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"png"))
    size = reader.size()
    if not size.isEmpty() and max(size.width(), size.height()) > _BIGGEST_SIDE:
        got = f"{size.width()} x {size.height()}"
        raise ValueError(f"expected at most {_BIGGEST_SIDE} pixels to a side, got {got}")
    image = reader.read()
    if image.isNull():
        raise ValueError("expected a PNG, got a broken one")
    if max(image.width(), image.height()) > _SIDE:
        keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        image = image.scaled(_SIDE, _SIDE, keep, smooth)
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


def _svg(data: bytes) -> QImage:
    if b"<svg" not in data and b":svg" not in data:
        raise ValueError("expected a PNG or an SVG, got neither")
    if (found := _REFUSED.search(data)) is not None:
        raise ValueError(f"expected a plain SVG, got one with '{found.group().decode(errors='replace')}'")
    if data.count(b"<") > 2 * _MOST_ELEMENTS or data.count(b":use") + data.count(b"<use") > _MOST_USES:
        raise ValueError(f"expected at most {_MOST_ELEMENTS} elements, {_MOST_USES} of them 'use', got more")
    from PySide6.QtSvg import QSvgRenderer  # most plugins have no picture

    renderer = QSvgRenderer(QByteArray(data))
    size = renderer.defaultSize()
    if not renderer.isValid() or size.isEmpty():
        raise ValueError("expected an SVG, got a broken one")
    size.scale(QSize(_SIDE, _SIDE), Qt.AspectRatioMode.KeepAspectRatio)
    image = QImage(size.expandedTo(QSize(1, 1)), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter, QRectF(image.rect()))
    painter.end()
    return image


def _look(image: QImage) -> tuple[bool, float]:
    """Return whether a picture is a drawing in one grey tone, and how light what it shows is."""
    ignore, smooth = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    small = image.scaled(_SEEN, _SEEN, ignore, smooth).convertToFormat(QImage.Format.Format_RGBA8888)
    pixels = np.frombuffer(small.constBits(), np.uint8).reshape(_SEEN, _SEEN, 4)
    seen = pixels[pixels[..., 3] > 100][:, :3].astype(np.float64)  # of what is fainter, the colour is rounded away
    if not len(seen):
        if not (pixels[..., 3] > 0).any():
            raise ValueError("expected something to see, got an empty picture")
        return True, 0.0
    is_grey = float(np.ptp(seen, axis=1).max()) <= _GREY and float(np.ptp(seen.mean(axis=1))) <= _TONES
    is_whole = bool((pixels[..., 3] > 250).all())
    return is_grey and not is_whole, float((_linear(seen / 255) @ _WEIGHTS).mean())


def layer_mark(
    picture: LayerPicture | None, category: str, size: int, ratio: float, color: QColor, ground: QColor
) -> QPixmap:
    """Return what stands for a layer: its plugin's picture, or else the icon of its category.

    Parameters
    ----------
    size : int
        Logical pixels to a side.
    ratio : float
        Device pixels to a logical one.
    color : QColor
        Of an icon, and of a picture that is a drawing in one grey tone.
    ground : QColor
        What it is drawn on; a picture that would hardly be seen on it gets a plate.
    """
    if picture is None:
        return icon_pixmap(category_icon_name(category), color, size, ratio)
    side = max(1, round(size * ratio))
    pixmap = QPixmap.fromImage(_drawn(picture, side, color.rgba(), ground.rgba()))
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


@lru_cache(maxsize=512)
def _drawn(picture: LayerPicture, side: int, color: int, ground: int) -> QImage:
    keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    drawn = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    room = side
    paper = QColor.fromRgba(ground)
    if not picture.is_glyph and _contrast(picture.luminance, _luminance(paper)) < _FAINT:
        plate = blend(QColor("white" if picture.luminance < 0.4 else "black"), paper, 0.85)
        path = QPainterPath()
        path.addRoundedRect(QRectF(drawn.rect()), side / 6, side / 6)
        painter.fillPath(path, plate)
        room = round(side * 0.8)
    image = picture.image.scaled(max(1, room), max(1, room), keep, smooth)
    place = QRect((side - image.width()) // 2, (side - image.height()) // 2, image.width(), image.height())
    painter.drawImage(place, image)
    if picture.is_glyph:
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(drawn.rect(), QColor.fromRgba(color))
    painter.end()
    return drawn


def _luminance(color: QColor) -> float:
    return float(_linear(np.array([color.redF(), color.greenF(), color.blueF()])) @ _WEIGHTS)


def _linear(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take the gamma of sRGB off parts of 0 to 1 (WCAG 2.1, relative luminance)."""
    linear: NDArray[np.float64] = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear


def _contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
