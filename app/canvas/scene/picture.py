"""Pictures of the canvas: SVG, PDF and PNG at any scale, in any theme, and an image for the clipboard."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QImageWriter, QPageLayout, QPageSize, QPaintDevice, QPainter, QPdfWriter

from app.canvas.scene.portrait import Portrait
from engine.errors import NetcanvasError
from engine.files import atomic_write

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene

__all__ = ["KINDS", "Picture", "PictureError", "draw_image", "kind_of", "save_picture"]

#: What can be written, by the ending of the file.
KINDS = (".svg", ".pdf", ".png")
_DOTS_PER_INCH = 96.0
_LARGEST_SIDE = 30_000
_MOST_PIXELS = 300_000_000
_LONGEST_PAGE = 14_400.0  # points: what readers of PDF can show
_SMALLEST_SCALE, _LARGEST_SCALE = 0.01, 1000.0
#: So many pixels are given the colour of the paper in one step.
_STRIP = 2_000_000
#: What is no file: an image for the clipboard.
_IMAGE = ""


class PictureError(NetcanvasError):
    """A picture that cannot be drawn."""


class _Open(NamedTuple):
    """What a picture is still drawn on."""

    painter: QPainter
    device: QPaintDevice
    buffer: QBuffer


class Picture:
    """A picture of all that is shown on the level that is looked at, taken now and drawn step by step.

    What is edited while it is drawn is not in it.

    Parameters
    ----------
    scene : CanvasScene
        Its wires are led first, where some still wait for that.
    kind : str
        One of :data:`KINDS`, or empty for an image, which is made smaller where it would be too large.
    scale : float
        1 makes a card 184 pixels wide, or as large on paper as on a screen of 96 dots per inch.
    theme : str
        ``paper``, ``light`` or ``dark``.

    Attributes
    ----------
    image : QImage or None
        What was drawn of a picture in pixels.

    Raises
    ------
    PictureError
        When there is nothing to draw, the scale makes no sense, or the picture would be too large.
    """

    def __init__(self, scene: CanvasScene, kind: str, *, scale: float = 1.0, theme: str = "paper") -> None:
        if not _SMALLEST_SCALE <= scale <= _LARGEST_SCALE:
            raise PictureError(
                f"A picture cannot be drawn at the scale {scale:g}, only from {_SMALLEST_SCALE} to {_LARGEST_SCALE:g}.",
                next_step="1 draws it as it is seen at 100 %.",
            )
        scene.finish_leading()
        self._portrait = Portrait(scene, theme)
        self._area = area = self._portrait.area
        if area.isNull():
            raise PictureError("There is nothing to draw.", next_step="Add a layer first.")
        if kind == _IMAGE:
            largest = min(_LARGEST_SIDE / max(area.width(), area.height()), _most_scale(area))
            scale = min(scale, 0.99 * largest)
        self._kind, self._scale = kind, scale
        self._data = QByteArray()
        self._open: _Open | None = None
        self._steps: Generator[float, None, None] | None = None
        self.image: QImage | None = None
        if kind in (".png", _IMAGE):
            self._check_size()

    def draw(self) -> Iterator[float]:
        """Draw in the thread of the window, a card or a wire a step; tells how much of it is done, from 0 to 1."""
        ways = {".svg": self._draw_svg, ".pdf": self._draw_pdf}
        self._steps = ways.get(self._kind, self._draw_image)()
        return self._steps

    @property
    def is_open(self) -> bool:
        """Whether something was drawn that only :meth:`end` closes."""
        return self._open is not None

    def end(self) -> None:
        """Close what is drawn, were it half; of an SVG only now its text is made of all that was drawn.

        In any thread, if nobody draws meanwhile: no font is asked for anything then.
        """
        opened, self._open = self._open, None
        if self._steps is not None:
            self._steps.close()
        if opened is not None:
            opened.painter.end()
            opened.buffer.close()

    def pack(self) -> bytes:
        """Return what goes into the file, once all is drawn; in any thread.

        Raises
        ------
        PictureError
            When there is no room for it.
        """
        self.end()
        if self.image is not None:
            buffer = QBuffer(self._data)
            buffer.open(QIODevice.OpenModeFlag.WriteOnly)
            if not QImageWriter(buffer, QByteArray(b"png")).write(self.image):
                raise PictureError("The picture could not be packed as PNG.", next_step="Choose a smaller scale.")
            buffer.close()
        return bytes(self._data.data())

    # How

    def _size(self) -> QSize:
        return QSize(math.ceil(self._area.width() * self._scale), math.ceil(self._area.height() * self._scale))

    def _check_size(self) -> None:
        size = self._size()
        if max(size.width(), size.height()) > _LARGEST_SIDE or size.width() * size.height() > _MOST_PIXELS:
            raise PictureError(
                f"The picture would have {size.width():,} × {size.height():,} pixels, which is too large.",
                next_step="Choose a smaller scale, fold repeated blocks, or write SVG or PDF.",
            )

    def _draw_image(self) -> Generator[float, None, None]:
        self.image = image = QImage(self._size(), QImage.Format.Format_RGB32)
        if image.isNull():
            raise PictureError("There is not enough memory for the picture.", next_step="Choose a smaller scale.")
        painter = QPainter(image)
        try:
            width, height = image.width(), image.height()
            rows = max(1, _STRIP // width)
            for top in range(0, height, rows):
                painter.fillRect(0, top, width, min(rows, height - top), self._portrait.style.canvas)
                yield 0.0
            yield from self._paint(painter, QRectF(image.rect()))
        finally:
            painter.end()

    def _draw_svg(self) -> Generator[float, None, None]:
        from PySide6.QtSvg import QSvgGenerator  # only for those who export

        buffer = QBuffer(self._data)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        target = QRectF(0.0, 0.0, self._area.width() * self._scale, self._area.height() * self._scale)
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setResolution(int(_DOTS_PER_INCH))
        generator.setSize(target.size().toSize())
        generator.setViewBox(target)
        generator.setTitle(self._portrait.title)
        painter = QPainter(generator)
        self._open = _Open(painter, generator, buffer)
        yield from self._draw_on(painter, target)

    def _draw_pdf(self) -> Generator[float, None, None]:
        dots = self._scale * 72.0 / _DOTS_PER_INCH
        points = QSizeF(self._area.width() * dots, self._area.height() * dots)
        shrunk = min(1.0, _LONGEST_PAGE / max(points.width(), points.height()))
        buffer = QBuffer(self._data)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        writer = QPdfWriter(buffer)
        writer.setTitle(self._portrait.title)
        writer.setCreator("Netcanvas")
        writer.setResolution(int(_DOTS_PER_INCH))
        page = QPageSize(points * shrunk, QPageSize.Unit.Point, "canvas", QPageSize.SizeMatchPolicy.ExactMatch)
        writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF()))
        painter = QPainter(writer)
        try:
            yield from self._draw_on(painter, QRectF(0.0, 0.0, writer.width(), writer.height()))
        finally:
            painter.end()  # here, for it asks the fonts that the window paints with
            buffer.close()

    def _draw_on(self, painter: QPainter, target: QRectF) -> Iterator[float]:
        painter.fillRect(target, self._portrait.style.canvas)
        yield from self._paint(painter, target)

    def _paint(self, painter: QPainter, target: QRectF) -> Iterator[float]:
        count = len(self._portrait)
        with closing(self._portrait.paint(painter, target)) as steps:
            for done, _step in enumerate(steps, 1):
                yield done / count


def kind_of(path: Path) -> str:
    """Return the kind of a picture by the ending of its file.

    Raises
    ------
    PictureError
        When it is none of :data:`KINDS`.
    """
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise PictureError(
            f"'{path.name}' is none of the kinds of pictures that can be written: {', '.join(KINDS)}.",
            next_step="Choose one of these endings.",
        )
    return kind


def save_picture(scene: CanvasScene, path: Path, *, scale: float = 1.0, theme: str = "paper") -> None:
    """Write all that is shown on the level that is looked at, in one go.

    Parameters
    ----------
    path : Path
        Ends in one of :data:`KINDS`; it is written aside and renamed.
    scale, theme
        As :class:`Picture` has them.

    Raises
    ------
    PictureError
        As :class:`Picture`, and when the ending is none of ours.
    OSError
        When the file cannot be written.
    """
    picture = Picture(scene, kind_of(path), scale=scale, theme=theme)
    for _done in picture.draw():
        pass
    atomic_write(path, picture.pack())


def draw_image(scene: CanvasScene, *, scale: float = 2.0, theme: str = "light") -> QImage:
    """Return an image of all that is shown, as for the clipboard; smaller than ``scale`` where that is too large.

    Raises
    ------
    PictureError
        When there is nothing to draw.
    """
    picture = Picture(scene, _IMAGE, scale=scale, theme=theme)
    for _done in picture.draw():
        pass
    assert picture.image is not None
    return picture.image


def _most_scale(area: QRectF) -> float:
    return math.sqrt(_MOST_PIXELS / (area.width() * area.height()))
