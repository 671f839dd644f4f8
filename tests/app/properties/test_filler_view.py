from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from app.theme import Theme
from engine.fillers import distribution, fill
from engine.prototxt import parse
from engine.schema import to_message
from tests.app.properties.nets import NET

SHAPE = (40, 10, 5, 5)


@pytest.mark.parametrize(
    "text",
    [
        'type: "constant" value: 3',
        'type: "uniform" min: -0.5 max: 2',
        'type: "gaussian" mean: 1 std: 0.1',
        'type: "gaussian" mean: 1 std: 0.5 sparse: 10',
        'type: "xavier"',
        'type: "xavier" variance_norm: FAN_OUT',
        'type: "msra" variance_norm: AVERAGE',
    ],
)
def test_the_distribution_is_what_is_drawn(text: str) -> None:
    filler = to_message(parse(text).root, "FillerParameter")
    found = distribution(filler, SHAPE)
    values = fill(filler, SHAPE, np.random.default_rng(0))
    assert found is not None
    assert values.mean() == pytest.approx(found.mean, abs=4 * found.std / values.size**0.5 + 1e-12)
    assert values.std() == pytest.approx(found.std, rel=0.05, abs=1e-12)
    if found.kind == "uniform":
        assert found.low <= values.min()
        assert values.max() <= found.high


@pytest.mark.parametrize("text", ['type: "xavier"', 'type: "msra"', 'type: "gaussian" sparse: 3', 'type: "nothing"'])
def test_what_needs_a_shape_waits_for_it(text: str) -> None:
    assert distribution(to_message(parse(text).root, "FillerParameter"), None) is None


def test_the_picture_follows_the_field_and_the_shape(
    bench: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.shapes import NodeShapes

    net = bench(NET)
    net.select("conv1")
    net.find("convolution_param.weight_filler").click()
    picture = net.find("convolution_param.weight_filler.picture")
    assert picture.isVisible()
    assert "not known yet" in picture.words
    shapes = {net.ids("conv1")[0]: NodeShapes(((1, 3, 8, 8),), ((1, 20, 4, 4),), ((20, 3, 5, 5), (20,)))}
    monkeypatch.setattr(type(net.document), "shapes", property(lambda self: shapes))
    net.document.shapes_changed.emit()
    assert picture.words == "uniform from -0.2 to 0.2 \u00b7 std 0.1155 \u00b7 fan-in 75, fan-out 500"
    plain = picture.grab().toImage()
    assert Theme.current().color("accent").alpha() == 255, "painting changes no colour of the theme"
    net.type("convolution_param.weight_filler.type", "gaussian")
    QApplication.processEvents()
    assert picture.words == "normal \u00b7 mean 0, std 1"
    assert picture.grab().toImage() != plain
    net.type("convolution_param.weight_filler.type", "constatn")
    assert "constatn" in picture.words
