"""Convolution and pooling: sizes, ties, NaN, and what is refused."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from engine.errors import LayerError, ShapeError
from tests.nodes.support import layer_net, run_layer


def conv(fields: str) -> str:
    return f'type: "Convolution" convolution_param {{ {fields} }}'


def pool(fields: str) -> str:
    return f'type: "Pooling" pooling_param {{ {fields} }}'


@pytest.mark.parametrize(
    ("fields", "size", "expected"),
    [
        ("kernel_size: 3 stride: 2", 112, 56),
        ("kernel_size: 3 stride: 2 round_mode: FLOOR", 112, 55),
        ("kernel_size: 3 stride: 2 pad: 1", 64, 33),
        ("kernel_size: 3 stride: 2 pad: 1 round_mode: FLOOR", 64, 32),
        ("kernel_size: 2 stride: 2 pad: 1", 4, 3),
        ("global_pooling: true", 9, 1),
    ],
)
def test_pooling_rounds_up(fields: str, size: int, expected: int) -> None:
    net = layer_net(pool(fields), np.zeros((1, 1, size, size)))
    assert net.blobs["top"].shape == (1, 1, expected, expected)


def test_convolution_rounds_down() -> None:
    net = layer_net(conv("num_output: 1 kernel_size: 3 stride: 2"), np.zeros((1, 1, 112, 112)))
    assert net.blobs["top"].shape == (1, 1, 55, 55)


def test_max_pooling_tie_goes_to_the_lower_flat_index() -> None:
    _, grad = run_layer(pool("kernel_size: 2 stride: 2"), np.ones((1, 1, 2, 2)))
    assert grad[0, 0].tolist() == [[1, 0], [0, 0]]
    _, grad = run_layer(pool("kernel_size: 2 stride: 2"), np.array([[[[0, 1], [1, 0]]]]))
    assert grad[0, 0].tolist() == [[0, 1], [0, 0]]


def test_nan_comes_through_max_pooling() -> None:
    for place in np.ndindex(2, 2):
        values = np.zeros((1, 1, 2, 4))
        values[(0, 0, *place)] = np.nan
        net = layer_net(pool("kernel_size: 2 stride: 2"), values, tops="top mask")
        net.forward()
        assert np.isnan(net.blobs["top"].data[0, 0, 0, 0])
        assert net.blobs["top"].data[0, 0, 0, 1] == 0
        assert net.blobs["mask"].data.reshape(-1).tolist() == [4 * place[0] + place[1], 2]


def test_padding_of_one_axis_drops_a_last_window_of_the_other() -> None:
    """Caffe's ``PoolingLayer::Reshape`` looks at both axes as soon as one is padded."""
    fields = "kernel_h: 3 kernel_w: 1 stride_h: 2 stride_w: 3 pad_w: 0"
    padded, plain = (layer_net(pool(f"{fields} pad_h: {pad}"), np.ones((1, 1, 6, 5))) for pad in (1, 0))
    assert padded.blobs["top"].shape == (1, 1, 4, 2)
    assert plain.blobs["top"].shape == (1, 1, 3, 3)


@pytest.mark.parametrize(("method", "value"), [("MAX", np.finfo(np.float32).min), ("AVE", 0)])
def test_empty_window_is_warned_of(method: str, value: float, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        top, grad = run_layer(pool(f"pool: {method} kernel_size: 1 stride: 3"), np.ones((1, 1, 5, 5)))
    assert top.shape == (1, 1, 3, 3)
    assert (top[0, 0, 2] == value).all()
    assert grad.sum() == 4
    assert [record.message for record in caplog.records] == [
        "Layer 'subject' (Pooling): the last window starts at 6, outside of the input of size 5, because stride 3 is "
        "larger than kernel 1; it holds no data. Set round_mode: FLOOR or a smaller stride."
    ]


def test_global_pooling_follows_the_input() -> None:
    net = layer_net(pool("pool: AVE global_pooling: true"), np.ones((1, 1, 3, 3)))
    net.forward()
    net.blobs["b0"].reshape(1, 1, 5, 4)
    net.blobs["b0"].data[...] = 2
    net.forward()
    assert net.blobs["top"].data.tolist() == [[[[2]]]]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("", "kernel_size of 1 or more"),
        ("kernel_size: 2 kernel_h: 2 kernel_w: 2", "expected kernel_size, or kernel_h and kernel_w, got both"),
        ("kernel_h: 2", "kernel_h and kernel_w, got one"),
        ("kernel_size: 2 pad: 2", "pad smaller than the kernel"),
        ("kernel_size: 2 stride: 0", "stride of 1 or more"),
        ("global_pooling: true kernel_size: 2", "no kernel size with global_pooling"),
        ("global_pooling: true pad: 1", "pad 0 and stride 1"),
        ("pool: STOCHASTIC kernel_size: 2 pad: 1", r"no pad with pool: STOCHASTIC, got \(1, 1\)"),
        ("kernel_size: 9", r"kernel \(9, 9\) does not fit into input \(4, 4\)"),
    ],
)
def test_wrong_pooling_is_refused(fields: str, message: str) -> None:
    with pytest.raises(LayerError, match=f"'subject' \\(Pooling\\).*{message}"):
        layer_net(pool(fields), np.zeros((1, 1, 4, 4)))


def test_average_pooling_has_no_mask() -> None:
    with pytest.raises(LayerError, match="only max pooling has a mask"):
        layer_net(pool("pool: AVE kernel_size: 2"), np.zeros((1, 1, 4, 4)), tops="top mask")


def test_pooling_wants_images() -> None:
    with pytest.raises(ShapeError, match=r"4-D input .*got shape \(2, 3\)"):
        layer_net(pool("kernel_size: 2"), np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("kernel_size: 2", "num_output of 1 or more, got 0"),
        ("num_output: 2", "expected kernel_size, got none"),
        ("num_output: 2 kernel_size: 2 kernel_size: 2 kernel_size: 2", r"kernel_size once or 2 times .*got 3"),
        ("num_output: 2 kernel_size: 2 kernel_h: 2 kernel_w: 2", "kernel_size, or kernel_h and kernel_w, got both"),
        ("num_output: 2 kernel_size: 0", "kernel_size of 1 or more"),
        ("num_output: 2 kernel_size: 2 stride: 0", "stride of 1 or more"),
        ("num_output: 2 kernel_size: 2 dilation: 0", "dilation of 1 or more"),
        ("num_output: 3 kernel_size: 2 group: 2", "num_output to be a multiple of group 2, got 3"),
        ("num_output: 3 kernel_size: 2 group: 3", "its input's channels to be a multiple of group 3, got 2"),
        ("num_output: 3 kernel_size: 2 axis: 7", "axis from -4 to 3, got 7"),
        ("num_output: 3 kernel_size: 9", r"kernel \(9, 9\).*does not fit into input \(4, 4\) with pad \(0, 0\)"),
        ("num_output: 3 kernel_size: 4000000000", r"does not fit into input \(4, 4\)"),
        ("num_output: 4000000000 kernel_size: 4 pad: 4", r"memory for a parameter of shape \(4000000000, 2, 4, 4\)"),
        ('num_output: 3 kernel_size: 2 weight_filler { type: "gausian" }', "did you mean 'gaussian'"),
    ],
)
def test_wrong_convolution_is_refused(fields: str, message: str) -> None:
    with pytest.raises(LayerError, match=f"'subject' \\(Convolution\\).*{message}"):
        layer_net(conv(fields), np.zeros((1, 2, 4, 4)))


def test_changed_channels_name_blob_and_depth() -> None:
    net = layer_net(conv("num_output: 1 kernel_size: 3"), np.zeros((1, 2, 4, 4)))
    net.blobs["b0"].reshape(1, 3, 4, 4)
    with pytest.raises(ShapeError, match="2 channels at axis 1.*'b0'"):
        net.forward()
