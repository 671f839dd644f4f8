"""Cases of activations, normalisation and vision for the harness."""

from __future__ import annotations

import numpy as np

from engine.layer import Phase
from engine.testing import LayerCase

__all__ = ["STEPS", "UNIT_CASES"]

RNG = np.random.default_rng(17)
STATISTICS = [np.array([0.4, -1.0, 0.2]), np.array([2.0, 1.0, 3.0]), np.array([2.0])]
OFFSET = 'filler { type: "gaussian" std: 1 }'


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def apart(*shape: int) -> np.ndarray:
    """Values of both signs at least 0.1 from 0, where many activations have a kink."""
    signs: np.ndarray = RNG.choice([-1.0, 1.0], shape)
    values: np.ndarray = RNG.uniform(0.1, 2, shape) * signs
    return values


def positive(*shape: int) -> np.ndarray:
    return RNG.uniform(0.3, 3, shape)


def _activations() -> dict[str, LayerCase]:
    exp = 'type: "Exp" exp_param { base: 2 scale: 0.5 shift: 1.5 }'
    log = 'type: "Log" log_param { base: 10 scale: 2 shift: 0.5 }'
    power = 'type: "Power" power_param { power: 2.5 scale: 0.5 shift: 1 }'
    prelu = 'type: "PReLU" prelu_param { filler { type: "uniform" min: 0.1 max: 0.4 } }'
    return {
        "absval": LayerCase('type: "AbsVal"', [apart(4, 5)]),
        "bnll": LayerCase('type: "BNLL"', [normal(4, 5)]),
        "clip": LayerCase('type: "Clip" clip_param { min: -0.55 max: 0.85 }', [normal(4, 5)]),
        "elu": LayerCase('type: "ELU" elu_param { alpha: 0.7 }', [apart(4, 5)]),
        "elu in place": LayerCase('type: "ELU" elu_param { alpha: 0.7 }', [apart(4, 5)], in_place=True),
        "exp": LayerCase('type: "Exp"', [normal(4, 5)]),
        "exp base": LayerCase(exp, [normal(4, 5)]),
        "exp in place": LayerCase(exp, [normal(4, 5)], in_place=True),
        "log": LayerCase('type: "Log"', [positive(4, 5)]),
        "log base": LayerCase(log, [positive(4, 5)]),
        "power": LayerCase(power, [positive(4, 5)]),
        "power in place": LayerCase(power, [positive(4, 5)], in_place=True),
        "power 1 in place": LayerCase('type: "Power" power_param { scale: 3 shift: 1 }', [normal(4, 5)], in_place=True),
        "power 2": LayerCase('type: "Power" power_param { power: 2 shift: -1 }', [normal(4, 5)]),
        "power negative": LayerCase('type: "Power" power_param { power: -1.5 }', [positive(4, 5)]),
        "power constant": LayerCase('type: "Power" power_param { power: 0 shift: 2 }', [normal(4, 5)]),
        "power scale 0": LayerCase('type: "Power" power_param { power: 3 scale: 0 shift: 2 }', [normal(4, 5)]),
        "prelu": LayerCase(prelu, [apart(3, 4, 2, 3)]),
        "prelu in place": LayerCase(prelu, [apart(3, 4, 2)], in_place=True),
        "prelu shared": LayerCase('type: "PReLU" prelu_param { channel_shared: true }', [apart(3, 4)]),
        "swish": LayerCase('type: "Swish" swish_param { beta: 1.5 }', [normal(4, 5)]),
        "swish in place": LayerCase('type: "Swish"', [normal(4, 5)], in_place=True),
    }


def _normalization() -> dict[str, LayerCase]:
    stored = 'type: "BatchNorm" batch_norm_param { use_global_stats: true }'
    within = "norm_region: WITHIN_CHANNEL"
    return {
        "batch norm": LayerCase('type: "BatchNorm"', [normal(4, 3, 2, 5)]),
        "batch norm in place": LayerCase('type: "BatchNorm"', [normal(4, 3, 5)], in_place=True),
        "batch norm vectors": LayerCase('type: "BatchNorm" batch_norm_param { eps: 0.01 }', [normal(6, 3)]),
        "batch norm numbers": LayerCase('type: "BatchNorm"', [normal(6)]),
        "batch norm stored": LayerCase(stored, [normal(2, 3, 4)], params=STATISTICS, fixed_params=[0, 1, 2]),
        "batch norm test in place": LayerCase(
            'type: "BatchNorm"',
            [normal(2, 3, 4)],
            in_place=True,
            phase=Phase.TEST,
            params=STATISTICS,
            fixed_params=[0, 1, 2],
        ),
        "scale": LayerCase(f'type: "Scale" scale_param {{ {OFFSET} }}', [normal(3, 4, 2, 3)]),
        "scale bias in place": LayerCase(
            f'type: "Scale" scale_param {{ bias_term: true {OFFSET} }}', [normal(3, 4, 2, 3)], in_place=True
        ),
        "scale to the end": LayerCase(
            f'type: "Scale" scale_param {{ axis: -2 num_axes: -1 bias_term: true {OFFSET} }}', [normal(3, 4, 2)]
        ),
        "scale everything": LayerCase(
            f'type: "Scale" scale_param {{ axis: 0 num_axes: -1 {OFFSET} }}', [normal(3, 4)], batched=False
        ),
        "scale by one number": LayerCase(f'type: "Scale" scale_param {{ num_axes: 0 {OFFSET} }}', [normal(3, 4)]),
        "scale by a bottom": LayerCase('type: "Scale" scale_param { axis: 0 }', [normal(3, 4, 2, 2), normal(3, 4)]),
        "scale by a bottom with bias": LayerCase(
            'type: "Scale" scale_param { bias_term: true bias_filler { type: "gaussian" std: 1 } }',
            [normal(3, 4, 2), normal(4)],
            batched=False,
        ),
        "scale by a bottom in place": LayerCase(
            'type: "Scale" scale_param { axis: 0 }', [normal(3, 4, 2), normal(3)], in_place=True
        ),
        "bias": LayerCase(f'type: "Bias" bias_param {{ {OFFSET} }}', [normal(3, 4, 2, 3)]),
        "bias in place": LayerCase(
            f'type: "Bias" bias_param {{ axis: -1 {OFFSET} }}', [normal(3, 4, 2)], in_place=True
        ),
        "bias of one number": LayerCase(f'type: "Bias" bias_param {{ num_axes: 0 {OFFSET} }}', [normal(3, 4)]),
        "bias from a bottom": LayerCase('type: "Bias" bias_param { axis: 0 }', [normal(3, 4, 2), normal(3, 4)]),
        "lrn": LayerCase('type: "LRN" lrn_param { alpha: 0.5 }', [normal(2, 7, 3, 2)]),
        "lrn k": LayerCase('type: "LRN" lrn_param { local_size: 3 alpha: 0.3 beta: 0.6 k: 2 }', [normal(2, 4, 3, 2)]),
        "lrn few channels": LayerCase('type: "LRN" lrn_param { local_size: 9 alpha: 2 }', [normal(2, 3, 2, 2)]),
        "lrn within": LayerCase(f'type: "LRN" lrn_param {{ local_size: 3 alpha: 2 {within} }}', [normal(2, 2, 5, 4)]),
        "lrn within small": LayerCase(f'type: "LRN" lrn_param {{ local_size: 7 {within} }}', [normal(2, 2, 3, 2)]),
        "mvn": LayerCase('type: "MVN"', [normal(2, 3, 4, 2)]),
        "mvn in place": LayerCase('type: "MVN"', [normal(2, 3, 4, 2)], in_place=True),
        "mvn across": LayerCase('type: "MVN" mvn_param { across_channels: true }', [normal(2, 3, 4)]),
        "mvn mean": LayerCase('type: "MVN" mvn_param { normalize_variance: false }', [normal(2, 3, 4, 2)]),
    }


def _vision() -> dict[str, LayerCase]:
    fill = 'weight_filler { type: "gaussian" std: 0.3 } bias_filler { type: "uniform" min: -0.5 max: 0.5 }'

    def deconv(fields: str) -> str:
        return f'type: "Deconvolution" convolution_param {{ {fields} {fill} }}'

    def im2col(fields: str) -> str:
        return f'type: "Im2col" convolution_param {{ {fields} }}'

    def stochastic(fields: str) -> str:
        return f'type: "Pooling" pooling_param {{ pool: STOCHASTIC {fields} }}'

    def spp(fields: str) -> str:
        return f'type: "SPP" spp_param {{ {fields} }}'

    return {
        "deconv": LayerCase(deconv("num_output: 4 kernel_size: 3"), [normal(3, 2, 4, 3)]),
        "deconv stride pad dilation": LayerCase(
            deconv("num_output: 4 kernel_size: 3 stride: 2 pad: 1 dilation: 2"), [normal(2, 3, 4, 5)]
        ),
        "deconv many images": LayerCase(deconv("num_output: 2 kernel_size: 2 stride: 2"), [normal(20, 3, 3, 2)]),
        "deconv group": LayerCase(
            deconv("num_output: 6 kernel_size: 4 stride: 2 pad: 1 group: 3"), [normal(2, 3, 3, 4)]
        ),
        "deconv 1x1 no bias": LayerCase(deconv("num_output: 3 kernel_size: 1 bias_term: false"), [normal(2, 4, 3, 3)]),
        "deconv h w": LayerCase(
            deconv("num_output: 2 kernel_h: 3 kernel_w: 2 stride_h: 1 stride_w: 2"), [normal(2, 2, 3, 3)]
        ),
        "deconv 1-d": LayerCase(deconv("num_output: 3 kernel_size: 3 stride: 2"), [normal(2, 2, 4)]),
        "deconv 3-d": LayerCase(deconv("num_output: 2 kernel_size: 2 stride: 2"), [normal(2, 2, 2, 3, 2)]),
        "deconv two bottoms": LayerCase(
            deconv("num_output: 3 kernel_size: 2"), [normal(2, 2, 3, 3), normal(2, 2, 3, 3)], tops=2
        ),
        "im2col": LayerCase(im2col("kernel_size: 3 stride: 2 pad: 1"), [normal(2, 3, 7, 6)]),
        "im2col dilation": LayerCase(im2col("kernel_size: 2 dilation: 2"), [normal(2, 3, 5, 4)]),
        "im2col 1-d axis 2": LayerCase(im2col("kernel_size: 3 axis: 2"), [normal(2, 2, 3, 6)]),
        "spp": LayerCase(spp("pyramid_height: 3"), [normal(2, 3, 9, 7)]),
        "spp mean": LayerCase(spp("pyramid_height: 2 pool: AVE"), [normal(2, 3, 5, 7)]),
        "stochastic pool": LayerCase(stochastic("kernel_size: 3 stride: 2"), [positive(2, 3, 6, 5)]),
        "stochastic pool gap": LayerCase(stochastic("kernel_h: 1 kernel_w: 2 stride: 3"), [positive(2, 2, 8, 7)]),
        "stochastic pool test": LayerCase(
            stochastic("kernel_size: 3 stride: 2"), [positive(2, 3, 6, 5)], phase=Phase.TEST
        ),
        "stochastic pool global": LayerCase(stochastic("global_pooling: true"), [positive(2, 2, 3, 4)]),
        "spp stochastic": LayerCase(spp("pyramid_height: 2 pool: STOCHASTIC"), [positive(2, 3, 4, 6)]),
        "spp one level": LayerCase(spp("pyramid_height: 1"), [normal(2, 3, 5, 4)]),
    }


UNIT_CASES = {**_activations(), **_normalization(), **_vision()}
#: Layers without a gradient.
STEPS = {
    "threshold": LayerCase(
        'type: "Threshold" threshold_param { threshold: 0.2 }', [normal(4, 5)], no_gradient=[0], ungraded_tops=[0]
    )
}
