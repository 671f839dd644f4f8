"""Made-up data: shapes, fillers, and when they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import LayerError
from tests.nodes.support import layer_net


def dummy(fields: str) -> str:
    return f'type: "DummyData" dummy_data_param {{ {fields} }}'


SHAPES = "shape { dim: 2 dim: 3 } shape { dim: 4 }"


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_each_top_has_its_shape_and_filler(backend: str) -> None:
    fields = f'{SHAPES} data_filler {{ value: 7 }} data_filler {{ type: "uniform" min: 1 max: 2 }}'
    net = layer_net(dummy(fields), tops="a b", backend=backend)
    net.forward()
    constant, drawn = (net.blobs[name].data.copy() for name in "ab")
    assert constant.tolist() == [[7, 7, 7]] * 2
    assert drawn.shape == (4,) and (drawn >= 1).all() and (drawn <= 2).all()
    net.blobs["a"].data[0, 0] = 5
    net.forward()
    assert net.blobs["a"].data[0, 0] == 5  # a constant is written once
    assert not np.array_equal(net.blobs["b"].data, drawn)


def test_one_shape_and_no_filler_serve_all() -> None:
    net = layer_net(dummy("num: 2 channels: 3 height: 4 width: 5 width: 6"), tops="a b")
    net.forward()
    assert net.blobs["a"].shape == (2, 3, 4, 5) and net.blobs["b"].shape == (2, 3, 4, 6)
    assert not net.blobs["a"].data.any()


def test_equal_seeds_draw_equal_data() -> None:
    text = dummy('shape { dim: 5 } data_filler { type: "gaussian" }')
    first, second = layer_net(text), layer_net(text)
    first.forward()
    second.forward()
    assert np.array_equal(first.blobs["top"].data, second.blobs["top"].data)


def test_data_is_drawn_where_parameters_are_another_nets() -> None:
    text = dummy("shape { dim: 5 } data_filler { value: 3 }")
    net = layer_net(text, share_with=layer_net(text))
    net.forward()
    assert (net.blobs["top"].data == 3).all()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("", "one num for all tops, or one for each of its 3, got 0"),
        (SHAPES, "one shape for all tops, or one for each of its 3, got 2"),
        ("shape { dim: 1 } data_filler { } data_filler { }", "one data_filler for all tops.*got 2"),
        ("shape { dim: 1 } num: 1", "got shape and num"),
        ("shape { dim: -1 }", r"dimensions of 0 or more, got \(-1,\)"),
        ('shape { dim: 1 } data_filler { type: "gausian" }', "did you mean 'gaussian'"),
    ],
)
def test_wrong_dummy_data_is_refused(fields: str, message: str) -> None:
    with pytest.raises(LayerError, match=f"'subject' \\(DummyData\\).*{message}"):
        layer_net(dummy(fields), tops="a b c")
