"""Formulas of layers that look at windows, one element after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from engine.layer import Phase
from tests.nodes.references.reference import Reference, Values, normal, positive

__all__ = ["WINDOWS"]

FILL = 'weight_filler { type: "gaussian" std: 0.5 } bias_filler { type: "gaussian" std: 0.5 }'
GEOMETRY = "kernel_h: 3 kernel_w: 2 stride: 2 pad: 1 dilation: 2"
KERNEL, STRIDE, PAD, DILATION, GROUPS = (3, 2), 2, 1, 2, 2


def convolution(bottoms: Sequence[Values], params: Sequence[Values]) -> list[Values]:
    """Slide filters: ``y[o] = b[o] + sum x[c, s i - p + d k] w[o, c, k]`` over the channels of the group."""
    x, (weight, bias) = bottoms[0], params
    size = [(x.shape[2 + i] + 2 * PAD - DILATION * (KERNEL[i] - 1) - 1) // STRIDE + 1 for i in range(2)]
    y = np.zeros((x.shape[0], len(weight), *size)) + bias[None, :, None, None]
    depth = weight.shape[1]
    for item, out, i, j in np.ndindex(*y.shape):
        first = out // (len(weight) // GROUPS) * depth
        for channel, k, m in np.ndindex(*weight.shape[1:]):
            row, column = STRIDE * i - PAD + DILATION * k, STRIDE * j - PAD + DILATION * m
            if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
                y[item, out, i, j] += x[item, first + channel, row, column] * weight[out, channel, k, m]
    return [y]


def deconvolution(bottoms: Sequence[Values], params: Sequence[Values]) -> list[Values]:
    """Spread each element by the filters of its channel: ``y[o, s i - p + d k] += x[c, i] w[c, o, k]``."""
    x, (weight, bias) = bottoms[0], params
    size = [STRIDE * (x.shape[2 + i] - 1) + DILATION * (KERNEL[i] - 1) + 1 - 2 * PAD for i in range(2)]
    each = weight.shape[1]
    y = np.zeros((x.shape[0], each * GROUPS, *size)) + bias[None, :, None, None]
    for item, channel, i, j in np.ndindex(*x.shape):
        first = channel // (len(weight) // GROUPS) * each
        for out, k, m in np.ndindex(*weight.shape[1:]):
            row, column = STRIDE * i - PAD + DILATION * k, STRIDE * j - PAD + DILATION * m
            if 0 <= row < size[0] and 0 <= column < size[1]:
                y[item, first + out, row, column] += x[item, channel, i, j] * weight[channel, out, k, m]
    return [y]


def columns(bottoms: Sequence[Values], _: object) -> list[Values]:
    """Copy what each tap of a filter covers into a channel of its own."""
    x = bottoms[0]
    size = [(x.shape[2 + i] + 2 * PAD - DILATION * (KERNEL[i] - 1) - 1) // STRIDE + 1 for i in range(2)]
    y = np.zeros((x.shape[0], x.shape[1] * KERNEL[0] * KERNEL[1], *size))
    for item, channel, k, m, i, j in np.ndindex(*x.shape[:2], *KERNEL, *size):
        row, column = STRIDE * i - PAD + DILATION * k, STRIDE * j - PAD + DILATION * m
        if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
            y[item, (channel * KERNEL[0] + k) * KERNEL[1] + m, i, j] = x[item, channel, row, column]
    return [y]


def pooling(
    reduce: Callable[[Values, int], float], kernel: int, stride: int, pad: int
) -> Callable[[Sequence[Values], object], list[Values]]:
    """Return a formula that reduces each window to a number; it is told the window's size with its padding, too."""

    def formula(bottoms: Sequence[Values], _: object) -> list[Values]:
        x = bottoms[0]
        count = [math.ceil((size + 2 * pad - kernel) / stride) + 1 for size in x.shape[2:]]
        if pad:
            count = [n - ((n - 1) * stride >= size + pad) for n, size in zip(count, x.shape[2:], strict=True)]
        y = np.empty((*x.shape[:2], *count))
        for item, channel, i, j in np.ndindex(*y.shape):
            starts = [place * stride - pad for place in (i, j)]
            ends = [min(start + kernel, size + pad) for start, size in zip(starts, x.shape[2:], strict=True)]
            inside = tuple(slice(max(start, 0), end) for start, end in zip(starts, ends, strict=True))
            area = (ends[0] - starts[0]) * (ends[1] - starts[1])
            y[item, channel, i, j] = reduce(x[item, channel][inside], area)
        return [y]

    return formula


def largest(window: Values, _: int) -> float:
    return float(window.max())


def mean(window: Values, area: int) -> float:
    return float(window.sum() / area)


def expected(window: Values, _: int) -> float:
    return float((window**2).sum() / window.sum())


def pyramid(bottoms: Sequence[Values], _: object) -> list[Values]:
    """Pool grids of 1, 2 x 2 and 4 x 4 windows over sides that these divide."""
    x = bottoms[0]
    parts = []
    for bins in (1, 2, 4):
        high, wide = x.shape[2] // bins, x.shape[3] // bins
        for item in range(x.shape[0]):
            for channel, i, j in np.ndindex(x.shape[1], bins, bins):
                window = x[item, channel, i * high : (i + 1) * high, j * wide : (j + 1) * wide]
                parts.append((item, window.max()))
    return [np.array([[value for owner, value in parts if owner == item] for item in range(x.shape[0])])]


def pool(fields: str) -> str:
    return f'type: "Pooling" pooling_param {{ {fields} }}'


WINDOWS = [
    Reference(
        f'type: "Convolution" convolution_param {{ num_output: 4 group: 2 {GEOMETRY} {FILL} }}',
        [normal(2, 4, 7, 6)],
        convolution,
        "Dumoulin and Visin 2016, sections 2 and 5.1; sizes: Caffe's ConvolutionLayer",
    ),
    Reference(
        f'type: "Deconvolution" convolution_param {{ num_output: 6 group: 2 {GEOMETRY} {FILL} }}',
        [normal(2, 4, 3, 4)],
        deconvolution,
        "Dumoulin and Visin 2016, section 4; sizes: Caffe's DeconvolutionLayer",
    ),
    Reference(
        f'type: "Im2col" convolution_param {{ {GEOMETRY} }}', [normal(2, 3, 7, 6)], columns, "Caffe's Im2colLayer"
    ),
    Reference(
        pool("kernel_size: 3 stride: 2 pad: 1"), [normal(2, 2, 6, 7)], pooling(largest, 3, 2, 1), "Caffe's PoolingLayer"
    ),
    Reference(
        pool("pool: AVE kernel_size: 3 stride: 2 pad: 1"),
        [normal(2, 2, 6, 7)],
        pooling(mean, 3, 2, 1),
        "Caffe's PoolingLayer: padding counts as far as it lies within pad",
    ),
    Reference(
        pool("pool: STOCHASTIC kernel_size: 3 stride: 2"),
        [positive(2, 2, 6, 7)],
        pooling(expected, 3, 2, 0),
        "Zeiler and Fergus 2013, eq. 7",
        phase=Phase.TEST,
    ),
    Reference(
        'type: "SPP" spp_param { pyramid_height: 3 }', [normal(2, 3, 8, 4)], pyramid, "He et al. 2014, section 2.2"
    ),
]
