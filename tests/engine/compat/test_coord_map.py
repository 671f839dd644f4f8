"""``caffe.coord_map``: offsets of crops in nets that are being written."""

from __future__ import annotations

from typing import Any

import pytest

from engine.compat.caffe import coord_map
from engine.compat.caffe.coord_map import coord_map_from_to, crop
from engine.compat.caffe.net_spec import NetSpec
from engine.compat.caffe.net_spec import layers as L
from engine.layer import Phase
from engine.net import Net


def data() -> Any:
    return L.Input(input_param={"shape": {"dim": [1, 1, 40, 50]}})


@pytest.mark.parametrize(
    ("settings", "scale", "shift"),
    [
        ({"kernel_size": 3}, 1, -1),
        ({"kernel_size": 3, "pad": 1}, 1, 0),
        ({"kernel_size": 4, "stride": 2}, 0.5, -0.75),
        ({"kernel_size": 3, "dilation": 2}, 1, -2),
        ({"convolution_param": {"kernel_size": [3, 5]}}, 1, [-1, -2]),
    ],
)
def test_a_window_and_its_inverse(settings: dict[str, Any], scale: float, shift: Any) -> None:
    below = data()
    above = L.Convolution(below, num_output=1, **settings)
    axis, a, b = coord_map_from_to(below, above)
    assert axis == 1 and a.tolist() == [scale] * len(a)
    assert b.tolist() == (shift if isinstance(shift, list) else [shift])
    back_axis, back_a, back_b = coord_map_from_to(above, below)
    assert back_axis == 1 and (back_a * a == 1).all() and (back_b == -b / a).all()


def test_a_skip_of_a_segmentation_net_is_cropped_where_it_lies() -> None:
    """Pixel for pixel: a bright pixel of the input comes out at the same place after down- and upsampling."""
    net = NetSpec()
    net.data = data()
    net.conv = L.Convolution(net.data, num_output=1, kernel_size=3, pad=10)
    net.relu = L.ReLU(net.conv, in_place=True)
    net.pool = L.Pooling(net.relu, kernel_size=2, stride=2)
    net.up = L.Deconvolution(net.pool, convolution_param={"num_output": 1, "kernel_size": 2, "stride": 2})
    net.score = crop(net.up, net.data)
    layer = net.to_proto().layer[-1]
    assert (layer.type, layer.crop_param.axis, list(layer.crop_param.offset)) == ("Crop", 2, [9])
    made = Net(str(net.to_proto()), Phase.TEST)
    made.params["conv"][0].data[0, 0, 1, 1] = 1
    made.params["up"][0].data[...] = 1
    made.blobs["data"].data[0, 0, 17, 33] = 1
    made.forward()
    assert made.blobs["score"].data.shape == (1, 1, 40, 50)
    assert made.blobs["score"].data[0, 0, 17, 33] == 1 and made.blobs["score"].data[0, 0, 14, 33] == 0


def test_a_crop_counts_with_its_offset() -> None:
    below = data()
    conv = L.Convolution(below, kernel_size=1)
    assert coord_map_from_to(below, L.Crop(conv, below, axis=2, offset=[3, 5]))[2].tolist() == [-3, -5]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel_size": 2, "stride": 2}, "scale mismatch"),
        ({"kernel_size": 1, "pad": 3}, "negative offset"),
        ({"kernel_size": 2}, "noninteger offset"),
    ],
)
def test_what_cannot_be_cropped(settings: dict[str, Any], words: str) -> None:
    below = data()
    conv = L.Convolution(below, **settings)
    with pytest.raises(AssertionError, match=words):
        crop(below, conv)


def test_what_is_not_followed() -> None:
    below = data()
    with pytest.raises(RuntimeError, match="not connected"):
        coord_map_from_to(L.InnerProduct(below), below)
    with pytest.raises(RuntimeError, match="not connected"):
        coord_map_from_to(L.Convolution(below, kernel_h=3, kernel_w=5), below)
    axes = L.Convolution(L.Convolution(below, kernel_size=3), kernel_size=3, axis=2)
    with pytest.raises(coord_map.AxisMismatchException, match="axis 2"):
        coord_map_from_to(axes, below)
