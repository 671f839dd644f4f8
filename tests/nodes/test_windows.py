"""Deconvolution, Im2col and SPP against plain loops, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.errors import LayerError
from tests.nodes.support import layer_net, run_layer

RNG = np.random.default_rng(4)

# -- Deconvolution ---------------------------------------------------------------------------------------------------


def bilinear(kernel: int, channels: int, group: int, fields: str = "") -> str:
    return (
        f'type: "Deconvolution" convolution_param {{ num_output: {channels} kernel_size: {kernel} group: {group} '
        f'bias_term: false weight_filler {{ type: "bilinear" }} {fields} }}'
    )


@pytest.mark.parametrize(("kernel", "row"), [(4, [0.25, 0.75, 0.75, 0.25]), (3, [0.5, 1, 0.5])])
def test_bilinear_filters(kernel: int, row: list[float]) -> None:
    net = layer_net(bilinear(kernel, 1, 1), np.zeros((1, 1, 2, 2)))
    assert net.params["subject"][0].data[0, 0] == pytest.approx(np.outer(row, row))


@pytest.mark.parametrize(("group", "interior"), [(3, 1), (1, 3)])
def test_upsampling_keeps_a_constant_only_channel_by_channel(
    group: int, interior: float, caplog: pytest.LogCaptureFixture
) -> None:
    top, _ = run_layer(bilinear(4, 3, group, "stride: 2 pad: 1"), np.ones((1, 3, 5, 4)))
    assert top.shape == (1, 3, 10, 8)
    assert top[:, :, 1:-1, 1:-1] == pytest.approx(interior)
    assert ("Set group and num_output to the 3 channels" in caplog.text) == (group == 1)


@pytest.mark.parametrize(("stride", "pad", "dilation", "group"), [(1, 0, 1, 1), (2, 1, 1, 2), (3, 2, 2, 1)])
def test_deconvolution_against_scattering(stride: int, pad: int, dilation: int, group: int) -> None:
    """Each element adds itself times the filter to a window of the output (Caffe's ``DeconvolutionLayer``)."""
    x = RNG.normal(size=(2, 4, 3, 5))
    fields = f"num_output: 6 kernel_size: 3 stride: {stride} pad: {pad} dilation: {dilation} group: {group}"
    net = layer_net(
        f'type: "Deconvolution" convolution_param {{ {fields} weight_filler {{ type: "gaussian" std: 1 }} '
        'bias_filler { type: "gaussian" std: 1 } }',
        x,
    )
    net.forward()
    weight, bias = (blob.data.astype(np.float64) for blob in net.params["subject"])
    assert weight.shape == (4, 6 // group, 3, 3)
    size = [stride * (count - 1) + 2 * dilation + 1 for count in x.shape[2:]]
    full = np.zeros((2, 6, *size))
    for c, h, w, i, j in itertools.product(range(4), range(3), range(5), range(3), range(3)):
        first = c // (4 // group) * (6 // group)
        full[:, first : first + 6 // group, h * stride + i * dilation, w * stride + j * dilation] += (
            x[:, c, h, w, None] * weight[c, :, i, j]
        )
    full = full[:, :, pad : size[0] - pad, pad : size[1] - pad] + bias[:, None, None]
    assert net.blobs["top"].data == pytest.approx(full, abs=1e-4)


def test_deconvolution_of_an_empty_batch() -> None:
    top, grad = run_layer(bilinear(4, 2, 2, "stride: 2 pad: 1"), np.ones((0, 2, 3, 3)))
    assert top.shape == (0, 2, 6, 6)
    assert grad.shape == (0, 2, 3, 3)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("num_output: 2 kernel_size: 2 pad: 4", r"pad \(4, 4\) leaves nothing of the output of kernel \(2, 2\)"),
        ("num_output: 3 kernel_size: 2 group: 2", "num_output to be a multiple of group 2, got 3"),
        ("kernel_size: 2", "num_output of 1 or more"),
    ],
)
def test_wrong_deconvolution_is_refused(fields: str, message: str) -> None:
    with pytest.raises(LayerError, match=rf"'subject' \(Deconvolution\).*{message}"):
        layer_net(f'type: "Deconvolution" convolution_param {{ {fields} }}', np.zeros((1, 2, 3, 3)))


# -- Im2col ----------------------------------------------------------------------------------------------------------


def test_im2col_against_a_loop() -> None:
    x = RNG.normal(size=(2, 3, 6, 5))
    fields = "kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 1"
    top, grad = run_layer(f'type: "Im2col" convolution_param {{ {fields} }}', x)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    counts = np.zeros_like(padded)
    assert top.shape == (2, 18, 3, 6)
    for h, w, i, j in itertools.product(range(3), range(6), range(3), range(2)):
        assert top[:, i * 2 + j :: 6, h, w] == pytest.approx(padded[:, :, 2 * h + i, w + j])
        counts[:, :, 2 * h + i, w + j] += 1
    assert np.array_equal(grad, counts[:, :, 1:-1, 1:-1])


@pytest.mark.parametrize(
    ("fields", "shape", "message"),
    [
        ("", (1, 2, 3, 3), "expected kernel_size, got none"),
        ("kernel_size: 4", (1, 2, 3, 3), r"kernel \(4, 4\).*does not fit into input \(3, 3\)"),
        ("kernel_size: 2", (1, 2), "expected an axis after 1"),
    ],
)
def test_wrong_im2col_is_refused(fields: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(LayerError, match=rf"'subject' \(Im2col\).*{message}"):
        layer_net(f'type: "Im2col" convolution_param {{ {fields} }}', np.zeros(shape))


# -- SPP -------------------------------------------------------------------------------------------------------------


def spp(fields: str) -> str:
    return f'type: "SPP" spp_param {{ {fields} }}'


@pytest.mark.parametrize(
    ("height", "shape", "expected"),
    [
        (3, (1, 2, 11, 11), (1, 42)),
        (1, (2, 3, 5, 4), (2, 3, 1, 1)),
        (2, (2, 3, 5, 4), (2, 15)),
        (4, (1, 1, 64, 48), (1, 85)),
    ],
)
def test_pyramid_gives_as_many_values_for_any_input(
    height: int, shape: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert layer_net(spp(f"pyramid_height: {height}"), np.zeros(shape)).blobs["top"].shape == expected


def test_pyramid_windows() -> None:
    """Five rows in two parts: windows of ceil(5 / 2) = 3 with a padding of 1, so rows 0-1 and 2-4."""
    x = np.arange(25.0).reshape(1, 1, 5, 5)
    top, grad = run_layer(spp("pyramid_height: 2"), x)
    assert top.tolist() == [[24, 6, 9, 21, 24]]
    assert grad.sum() == 5
    assert grad[0, 0, 4, 4] == 2
    mean, _ = run_layer(spp("pyramid_height: 2 pool: AVE"), x)
    assert mean[0, 0] == 12
    assert mean[0, 1] == pytest.approx((0 + 1 + 5 + 6) / 9)  # padding counts in the mean, as in Caffe's pooling


def test_pyramid_follows_the_input() -> None:
    net = layer_net(spp("pyramid_height: 2"), np.ones((1, 2, 5, 5)))
    net.forward()
    net.blobs["b0"].reshape(3, 2, 8, 6)
    net.blobs["b0"].data[...] = 7
    net.forward()
    assert net.blobs["top"].shape == (3, 10)
    assert (net.blobs["top"].data == 7).all()


@pytest.mark.parametrize(
    ("fields", "shape", "message"),
    [
        ("", (1, 2, 5, 5), "pyramid_height of 1 or more, got 0"),
        ("pyramid_height: 3", (1, 2, 5, 5), "splits into 4 windows a side.*5 pixels are too few"),
        ("pyramid_height: 2 pool: STOCHASTIC", (1, 2, 4, 5), "split evenly into 2 windows.*takes no padding"),
        ("pyramid_height: 1", (2, 5), r"4-D input .*got shape \(2, 5\)"),
    ],
)
def test_wrong_pyramid_is_refused(fields: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(LayerError, match=rf"'subject' \(SPP\).*{message}"):
        layer_net(spp(fields), np.zeros(shape))
