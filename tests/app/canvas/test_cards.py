"""What is written on a card when there is little room: names first, and nothing under a sign."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage, QPainter, QStaticText

from app.canvas.scene.face import NODE_WIDTH, Face, Port
from app.canvas.scene.heat import Heat
from app.canvas.scene.nodeitem import NodeItem
from app.canvas.scene.style import CanvasStyle
from app.theme import Theme
from engine.graph import NodeId

SIGN = NODE_WIDTH - 15.6  # where the sign that something is wrong begins
CHIP = Face(
    "relu1", "ReLU", "activation", inputs=(Port("", "ip1"),), outputs=(Port("", "ip1"),), chip=True, severity="warning"
)
CARD = replace(CHIP, title="double", type="Python", category="python", chip=False, code="code not found")


class Pen:
    """Stands in for a painter and keeps what is written, and where."""

    def __init__(self) -> None:
        self._image = QImage(4, 4, QImage.Format.Format_ARGB32)
        self._painter = QPainter(self._image)
        self.written: dict[str, float] = {}

    def drawStaticText(self, at: QPointF, text: QStaticText) -> None:
        self.written[text.text()] = at.x()

    def __getattr__(self, name: str) -> object:
        return getattr(self._painter, name)


@pytest.fixture
def style(qapp):
    return CanvasStyle(Theme.load("light"))


@pytest.fixture
def write(style):
    """Write on a card, and return the texts with where they begin."""
    pens: list[Pen] = []

    def write(face: Face, heat: Heat | None = None) -> dict[str, float]:
        item = NodeItem(NodeId(1), face, style)
        item.heat = heat
        pens.append(Pen())
        (item._paint_chip_text if face.chip else item._paint_texts)(pens[-1], style)
        return pens[-1].written

    yield write
    for pen in pens:
        pen._painter.end()


def test_the_type_on_a_chip_stands_beside_the_sign_that_something_is_wrong(write, style):
    plain = write(replace(CHIP, severity=""))
    width = style.width_of("ReLU", "small_font")
    assert plain["ReLU"] + width == pytest.approx(NODE_WIDTH - 12.0)
    assert write(CHIP)["ReLU"] + width < SIGN


def test_a_long_title_ends_before_the_sign_that_something_is_wrong(write, style):
    face = replace(CARD, title="a_name_that_is_longer_than_any_card", code="")
    title, left = next((text, x) for text, x in write(face).items() if text.startswith("a_"))
    assert left + style.width_of(title, "title_font") < SIGN


def test_the_name_on_a_chip_is_read_before_its_type(write):
    face = replace(CHIP, title="dropout_after_pool5", type="Dropout", phase="TRAIN")
    (title,) = write(face)
    assert len(title) > 7
    assert set(write(replace(face, title="drop", severity=""))) == {"drop", "Dropout"}, "where both have room"


@pytest.mark.parametrize(
    "form", ["inception_3a/{0}x{0}_reduce", "a_block_of_layers_conv{0}", "loss{0}_classifier_of_it"]
)
def test_of_long_names_that_part_stays_where_they_differ(write, form):
    three, five = (next(iter(write(replace(CARD, title=form.format(size))))) for size in (3, 5))
    assert "\u2026" in three and "\u2026" in five
    assert three != five
    assert three.startswith(form[:4])


def test_the_name_of_a_setting_is_whole_beside_a_long_value(write):
    texts = write(replace(CARD, params=(("param_str", "{'feat_stride': 16, 'scales': [8, 16]}"),)))
    assert "param_str" in texts
    assert any(text.startswith("{'feat") for text in texts)


@pytest.mark.parametrize("kind", ["Python", "Convolution"])
def test_the_type_is_whole_beside_words_on_the_state(write, kind):
    texts = write(replace(CARD, type=kind))
    assert kind in texts
    assert any(text.startswith("code") for text in texts)


def test_costs_on_a_chip_leave_its_type_to_be_read(write, style):
    heat = Heat(0.5, "128")
    left = write(replace(CHIP, severity="", title="bn1", type="BatchNorm"), heat)["BatchNorm"]
    assert left + style.width_of("BatchNorm", "small_font") <= NODE_WIDTH - heat.width(style)


@pytest.mark.parametrize(
    ("shape", "blob", "shown"),
    [
        ("8\u00d78", "c", {"data", "8\u00d78 \u00b7 c"}),
        ("\u2248 32\u00d764\u00d763\u00d763", "rpn/output", {"data", "\u2248 32\u00d764\u00d763\u00d763"}),
        ("\u2248 32\u00d71024\u00d7250\u00d7250", "rpn/output", {"\u2248 32\u00d71024\u00d7250\u00d7250"}),
    ],
)
def test_a_shape_is_read_before_names(write, shape, blob, shown):
    face = Face("conv", "Convolution", "vision", inputs=(Port("data", "x"),), outputs=(Port("", blob, shape),))
    assert set(write(face)) == {"conv", "Convolution"} | shown


def test_outputs_are_told_apart_by_their_names(write):
    ports = tuple(Port(name, name, "\u2248 32\u00d71024\u00d7250\u00d7250") for name in ("images", "labels"))
    assert {"images", "labels"} <= set(write(Face("data", "Data", "data", outputs=ports)))
