"""The cases of the layers of plugins/segmentation."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.layer import Phase
from engine.testing import LayerCase
from tests.plugins.forks import Values, normal

SEGNET = 'scale_filler { type: "constant" value: 1.5 } shift_filler { type: "constant" value: 0.25 }'
CHEN = f"var_eps: 0.5 {SEGNET}"
PSPNET = 'slope_filler { type: "constant" value: 1.5 } bias_filler { type: "constant" value: 0.25 }'


def mask(shape: tuple[int, int, int, int], pixels: int) -> Values:
    """Return indices of pixels, each at most once a plane."""
    rng = np.random.default_rng(3)
    planes = [rng.permutation(pixels)[: shape[2] * shape[3]] for _ in range(shape[0] * shape[1])]
    return np.stack(planes).reshape(shape).astype(np.float32)


def bn(fields: str, **options: Any) -> LayerCase:
    return LayerCase(f'type: "BN" bn_param {{ {fields} }}', [1 + 2 * normal(3, 2, 4, 5)], **options)


def stored() -> list[Values]:
    """Return slope, bias, mean and variance for two channels."""
    return [normal(1, 2, 1, 1, seed=seed) for seed in (2, 3, 4)] + [1 + normal(1, 2, 1, 1, seed=5) ** 2]


def masked(kind: str, field: str, fields: str, shape: tuple[int, int, int, int], pixels: int) -> LayerCase:
    values = [normal(*shape), mask(shape, pixels)]
    return LayerCase(f'type: "{kind}" {field} {{ {fields} }}', values, no_gradient=[1])


CASES = {
    "upsample": masked("Upsample", "upsample_param", "scale: 2", (2, 3, 3, 2), 24),
    "upsample to a size": masked("Upsample", "upsample_param", "upsample_h: 5 upsample_w: 3", (2, 3, 3, 2), 15),
    "upsample, odd": masked("Upsample", "upsample_param", "pad_out_h: true pad_out_w: true", (2, 1, 3, 2), 15),
    "upsample without a mask": LayerCase('type: "Upsample" upsample_param { scale: 3 }', [normal(2, 3, 3, 2)]),
    "unpooling": masked("Unpooling", "unpooling_param", "kernel_size: 2 stride: 2 unpool_size: 6", (2, 3, 3, 3), 36),
    "unpooling without a mask": LayerCase(
        'type: "Unpooling" unpooling_param { kernel_size: 2 stride: 2 unpool_h: 5 unpool_w: 7 }', [normal(2, 3, 3, 3)]
    ),
    "unpooling, average": LayerCase(
        'type: "Unpooling" unpooling_param { unpool: AVE kernel_h: 3 kernel_w: 2 stride: 2 unpool_size: 6 }',
        [normal(2, 3, 3, 3)],
    ),
    "interp to a size": LayerCase('type: "Interp" interp_param { height: 7 width: 9 }', [normal(2, 3, 4, 5)]),
    "interp, smaller": LayerCase('type: "Interp" interp_param { height: 3 width: 1 }', [normal(2, 3, 7, 5)]),
    "interp, zoom and crop": LayerCase(
        'type: "Interp" interp_param { zoom_factor: 3 pad_beg: -1 pad_end: -2 }', [normal(2, 3, 6, 7)]
    ),
    "interp, shrink": LayerCase('type: "Interp" interp_param { shrink_factor: 2 }', [normal(2, 3, 6, 7)]),
    "interp, only a crop": LayerCase(
        'type: "Interp" interp_param { height: 4 width: 5 pad_beg: -1 pad_end: -1 }', [normal(2, 3, 6, 7)]
    ),
    "interp, shrink and zoom": LayerCase(
        'type: "Interp" interp_param { shrink_factor: 2 zoom_factor: 3 }', [normal(2, 3, 6, 7)]
    ),
    "interp, a size counts before both": LayerCase(
        'type: "Interp" interp_param { shrink_factor: 2 zoom_factor: 3 height: 5 width: 4 }', [normal(2, 3, 6, 7)]
    ),
    "interp, one factor counts before a size": LayerCase(
        'type: "Interp" interp_param { zoom_factor: 2 height: 5 width: 4 }', [normal(2, 3, 6, 7)]
    ),
    "interp, whole zoom": LayerCase('type: "Interp" interp_param { full_zoom_factor: 2 }', [normal(2, 3, 4, 5)]),
    "interp to a blob's size": LayerCase(
        'type: "Interp" interp_param { use_blob_size: true }', [normal(2, 3, 4, 5), normal(2, 1, 7, 9)], no_gradient=[1]
    ),
    "bn": bn(SEGNET),
    "bn in place": bn(SEGNET, in_place=True),
    "bn with statistics": bn(SEGNET, tops=3, ungraded_tops=[1, 2]),
    "bn, testing": bn(SEGNET, phase=Phase.TEST),
    "bn, inference": bn(f"bn_mode: INFERENCE {SEGNET}"),
    "bn, inference in place": bn(f"bn_mode: INFERENCE {SEGNET}", in_place=True),
    "pspnet bn": bn(PSPNET, fixed_params=[2, 3]),
    "pspnet bn in place": bn(PSPNET, fixed_params=[2, 3], in_place=True),
    "pspnet bn, testing": bn(PSPNET, fixed_params=[2, 3], phase=Phase.TEST, params=stored()),
    "pspnet bn, frozen": bn(f"frozen: true {PSPNET}", fixed_params=[0, 1, 2, 3], params=stored()),
    "pspnet bn by name": bn(f"icnet: true {SEGNET}", fixed_params=[2, 3], phase=Phase.TEST, params=stored()),
    "older bn": bn(CHEN, fixed_params=[2, 3]),
    "older bn in place": bn(CHEN, fixed_params=[2, 3], in_place=True),
    "older bn, testing": bn(CHEN, fixed_params=[2, 3], phase=Phase.TEST, params=stored()),
    "older bn, testing on averages": bn(
        f"moving_average: true {CHEN}", fixed_params=[2, 3], phase=Phase.TEST, params=stored()
    ),
    "older bn, nearly nothing added": bn(f"decay: 0.5 {SEGNET}", fixed_params=[2, 3]),
}


def windows(x: Values, size: tuple[int, int], kernel: tuple[int, int], stride: int, *, share: bool) -> Values:
    y = np.zeros((*x.shape[:2], *size))
    for n, c, row, column in np.ndindex(x.shape):
        part = y[n, c, row * stride : row * stride + kernel[0], column * stride : column * stride + kernel[1]]
        part += x[n, c, row, column] / (part.size if share else 1)
    return y
