"""Both themes: contrast, complete roles, and icons that follow."""

from __future__ import annotations

from itertools import combinations, product
from math import dist, prod

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QTextDocument
from PySide6.QtWidgets import QApplication, QComboBox, QDoubleSpinBox, QSpinBox

from app import icons
from app.icons import category_icon_name, icon
from app.text.highlighter import Highlighter
from app.text.painting import FOUND_ALPHA
from app.text.python_colors import PythonColors
from app.theme import Theme, blend
from tests.app.support import contrast

_TEXTS = ["text", "text_muted", "accent", "error", "warning", "ok"]


@pytest.fixture(params=["light", "dark"])
def theme(request) -> Theme:
    return Theme.load(request.param)


@pytest.mark.parametrize(
    ("role", "back"),
    [
        *product(_TEXTS, ["window", "surface", "surface_alt", "node"]),
        *[("accent_text", "accent"), ("selection_text", "selection"), ("text", "canvas"), ("text_muted", "canvas")],
    ],
)
def test_text_has_contrast(theme, role, back):
    assert contrast(theme.color(role), theme.color(back)) >= 4.5


@pytest.mark.parametrize("back", ["window", "surface", "surface_alt", "node"])
def test_what_is_disabled_can_still_be_read(theme, back):
    assert contrast(theme.color("text_disabled"), theme.color(back)) >= 3.0


@pytest.mark.parametrize(
    ("role", "back"), [*product(["wire", "port", "accent", "error", "warning", "ok"], ["canvas"]), ("port", "node")]
)
def test_what_is_drawn_on_the_canvas_stands_out(theme, role, back):
    assert contrast(theme.color(role), theme.color(back)) >= 3.0


@pytest.mark.parametrize("ground", ["window", "surface", "surface_alt", "node", "canvas"])
def test_the_ring_around_what_has_the_keyboard_stands_out(theme, ground):
    assert contrast(theme.color("accent"), theme.color(ground)) >= 3.0


@pytest.mark.parametrize("ground", ["window", "surface", "surface_alt"])
def test_the_lower_edge_of_a_field_stands_out(theme, ground):
    assert contrast(theme.color("node_hover"), theme.color(ground)) >= 3.0


@pytest.mark.parametrize(("base", "share"), [("surface", 0.14), ("window", 0.10)])
@pytest.mark.parametrize("role", ["accent", "warning", "error", "ok", "text_muted"])
def test_messages_are_readable_on_their_tint(theme, role, base, share):
    """Bars over the canvas, the strip of the training and the mark of its state."""
    back = theme.mix(role, base, share)
    assert contrast(theme.color("text"), back) >= 4.5
    assert contrast(theme.color(role), back) >= 4.5


@pytest.mark.parametrize("kind", ["prototxt", "python"])
def test_code_is_readable_also_where_its_line_is_marked(qapp, theme, kind):
    if kind == "prototxt":
        highlighter = Highlighter()
        highlighter.dress(theme)
        formats = highlighter._formats
    else:
        formats = PythonColors(QTextDocument(qapp)).formats_of(theme)
    for name, text_format in formats.items():
        color = text_format.foreground().color()
        marked = blend(theme.color("accent"), theme.color("surface"), 20 / 255)
        found = blend(theme.color("warning"), theme.color("surface"), FOUND_ALPHA / 255)
        for back in (theme.color("surface"), marked, found):
            assert contrast(color, back) >= 4.5, name


def test_categories_are_readable_on_nodes_and_on_their_own_header(theme):
    for key, color in theme.categories.items():
        assert contrast(color, theme.color("node")) >= 4.5, key
        header = blend(color, theme.color("node"), 0.16)
        assert contrast(theme.color("text"), header) >= 4.5, key
        assert contrast(theme.color("text_muted"), header) >= 4.5, key


#: What an eye without one kind of cones makes of linear red, green and blue: Machado, Oliveira and Fernandes 2009,
#: "A Physiologically-based Model for Simulation of Color Vision Deficiency", table 1, severity 1.
_SIGHTS = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def seen(color: QColor, sight) -> tuple[float, float, float]:
    """A colour as an eye sees it, in CIE 1976 L*a*b* under D65."""
    parts = (color.redF(), color.greenF(), color.blueF())
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    red, green, blue = (min(1.0, max(0.0, sum(map(prod, zip(row, light, strict=True))))) for row in sight)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 216 / 24389 else 841 / 108 * t + 4 / 29 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("name", ["light", "dark", "paper"])
@pytest.mark.parametrize("sight", _SIGHTS)
def test_every_kind_of_colour_vision_tells_categories_apart(name, sight):
    """Two patches of a difference of 10 are told apart at a glance; 2.3 is just noticed."""
    categories = Theme.load(name).categories
    places = {key: seen(color, _SIGHTS[sight]) for key, color in categories.items()}
    apart = {(a, b): dist(places[a], places[b]) for a, b in combinations(places, 2)}
    assert min(apart.values()) > 9.5, min(apart, key=apart.__getitem__)


def test_both_themes_have_the_same_roles():
    light, dark = Theme.load("light"), Theme.load("dark")
    assert light.tokens.keys() == dark.tokens.keys()
    assert light.categories.keys() == dark.categories.keys()
    assert dark.is_dark
    assert not light.is_dark


def test_every_category_has_an_icon_of_its_own(theme, qapp):
    names = [category_icon_name(key) for key in theme.categories]
    assert len(set(names)) == len(names)
    for name in names:
        assert not icon(name).pixmap(16, 16).toImage().isNull()


@pytest.mark.parametrize(
    ("written", "key"), [("Vision", "vision"), ("Loss Layers", "loss"), ("Neuron", "activation"), ("Whatever", "other")]
)
def test_categories_in_any_spelling_find_a_colour(theme, written, key):
    assert theme.category_key(written) == key


def test_icons_follow_the_theme(qapp):
    drawn = icon("play")
    pictures = []
    for name in ("light", "dark"):
        Theme.load(name).apply(QApplication.instance())
        pictures.append(drawn.pixmap(24, 24).toImage())
    Theme.load("light").apply(QApplication.instance())
    assert pictures[0] != pictures[1]


def test_an_icon_of_no_size_paints_nothing_and_says_nothing(qapp, capfd):
    engine = icons._GlyphEngine("folder", "text")
    picture = engine.pixmap(QSize(0, 0), QIcon.Mode.Normal, QIcon.State.Off)
    assert picture.isNull()
    assert "QPainter" not in capfd.readouterr().err


def test_an_unknown_icon_is_named():
    with pytest.raises(KeyError, match="no-such-icon"):
        icon("no-such-icon")


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("kind", [QDoubleSpinBox, QSpinBox, QComboBox])
def test_arrows_of_numbers_and_choices_can_be_seen(qtbot, name, kind):
    loaded = Theme.load(name)
    loaded.apply(QApplication.instance())
    field = kind()
    qtbot.addWidget(field)
    field.resize(120, 32)
    field.show()
    picture = field.grab().toImage()
    right = range(picture.width() - 18, picture.width() - 5)
    found = [picture.pixelColor(x, y) for x in right for y in range(5, picture.height() - 5)]
    assert max(contrast(color, loaded.color("surface")) for color in found) >= 4.5
    Theme.load("light").apply(QApplication.instance())
