"""Pictures of plugins' layers: what is read, what is refused, and how they look on both themes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QImage, QPixmap

from app.icons import icon_pixmap
from app.layerpicture import LayerPicture, PictureError, layer_mark, read_picture
from app.theme import Theme
from tests.app.support import COLOURED, GLYPH


def picture(folder: Path, text: str) -> LayerPicture:
    path = folder / "icon.svg"
    path.write_text(text)
    return read_picture(path)


def png(folder: Path, width: int, height: int, color: str) -> Path:
    image = QImage(width, height, QImage.Format.Format_ARGB32)
    image.fill(QColor(color))
    path = folder / "icon.png"
    assert image.save(str(path))
    return path


def middle(pixmap: QPixmap) -> QColor:
    image = pixmap.toImage()
    return image.pixelColor(image.width() // 2, image.height() // 2)


@pytest.mark.parametrize(("ratio", "side"), [(1.0, 18), (2.0, 36), (2.5, 45)])
def test_a_drawing_in_one_tone_takes_the_colour_and_is_as_fine_as_the_screen(
    tmp_path: Path, ratio: float, side: int
) -> None:
    found = picture(tmp_path, GLYPH)
    assert found.is_glyph
    mark = layer_mark(found, "vision", 18, ratio, QColor("#3060c0"), QColor("white"))
    assert mark.size() == QSize(side, side) and mark.devicePixelRatio() == ratio
    assert middle(mark).name() == "#3060c0"
    assert mark.toImage().pixelColor(0, 0).alpha() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("color", ["#0b1440", "#fff8d8"])
def test_a_picture_that_would_not_be_seen_gets_a_plate(tmp_path: Path, theme: str, color: str) -> None:
    found = picture(tmp_path, COLOURED.replace("#d02020", color))
    ground = Theme.load(theme).color("node")
    mark = layer_mark(found, "vision", 20, 1.0, QColor("red"), ground)
    assert middle(mark).name() == color
    plate = mark.toImage().pixelColor(10, 0)
    alike = (ground.lightnessF() < 0.5) == (QColor(color).lightnessF() < 0.5)
    assert (plate.alpha() == 255) == alike
    if alike:
        assert abs(plate.lightnessF() - QColor(color).lightnessF()) > 0.4


def test_a_picture_in_colours_stays_in_its_colours(tmp_path: Path) -> None:
    found = picture(tmp_path, COLOURED)
    assert not found.is_glyph
    assert middle(layer_mark(found, "vision", 18, 1.0, QColor("#3060c0"), QColor("white"))).name() == "#d02020"


def test_a_wide_png_keeps_its_shape_and_a_grey_one_is_no_drawing(tmp_path: Path) -> None:
    found = read_picture(png(tmp_path, 400, 100, "#808080"))
    assert (found.image.width(), found.image.height()) == (192, 48)
    assert not found.is_glyph  # or it would be a plain square of the category's colour
    image = layer_mark(found, "vision", 40, 1.0, QColor("red"), QColor("black")).toImage()
    assert image.pixelColor(20, 20).name() == "#808080" and image.pixelColor(20, 5).alpha() == 0


def test_without_a_picture_the_icon_of_the_category_is_shown() -> None:
    mark = layer_mark(None, "vision", 18, 2.0, QColor("#3060c0"), QColor("white"))
    assert mark.toImage() == icon_pixmap("grid-four", QColor("#3060c0"), 18, 2.0).toImage()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "neither"),
        ("GIF89a", "neither"),
        ("<svg", "broken"),
        ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>', "empty picture"),
        ('<!DOCTYPE svg [<!ENTITY a "aaaa">]>' + GLYPH, "ENTITY|DOCTYPE"),
        (GLYPH.replace("</svg>", '<image href="/etc/passwd"/></svg>'), "<image"),
        (GLYPH.replace("</svg>", "<filter/></svg>"), "<filter"),
        (GLYPH.replace("</svg>", '<use href="#a"/>' * 20 + "</svg>"), "'use'"),
        (GLYPH.replace("</svg>", "<g></g>" * 700 + "</svg>"), "600 elements"),
        ("\x89PNG\r\n\x1a\n" + "x" * 20, "broken"),
        (" " * 300_000 + GLYPH, "256 kB"),
    ],
)
def test_what_is_no_small_plain_picture_is_refused_by_name(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "icon.svg"
    path.write_text(text, "latin-1")
    with pytest.raises(PictureError, match=words) as caught:
        read_picture(path)
    assert str(path) in str(caught.value) and "leave 'icon' out" in str(caught.value)


def test_a_picture_of_too_many_pixels_is_not_decoded(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="2048 pixels to a side, got 4000 x 10"):
        read_picture(png(tmp_path, 4000, 10, "red"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes in the file system")
def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "icon.svg")
    with pytest.raises(PictureError, match="no such file"):
        read_picture(tmp_path / "icon.svg")


def test_a_file_that_was_saved_again_is_another_picture(tmp_path: Path) -> None:
    one = picture(tmp_path, GLYPH)
    assert one == read_picture(tmp_path / "icon.svg")
    other = picture(tmp_path, COLOURED)
    assert one != other
    assert other.image.format() == QImage.Format.Format_ARGB32_Premultiplied
    assert other.image.pixelColor(96, 96) == QColor("#d02020") != Qt.GlobalColor.black
