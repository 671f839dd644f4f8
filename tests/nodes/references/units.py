"""Formulas of activations, normalisation and dense layers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from engine.layer import Phase
from tests.nodes.references.reference import Reference, Values, integers, normal, positive

__all__ = ["UNITS"]

FILL = 'weight_filler { type: "gaussian" std: 0.5 } bias_filler { type: "gaussian" std: 0.5 }'
OFFSET = 'filler { type: "gaussian" std: 1 }'


def elementwise(text: str, formula: Callable[[float], float], source: str, bottom: Values | None = None) -> Reference:
    """Return a reference that applies a function of one number to every element."""
    return Reference(
        text,
        [normal(3, 4) if bottom is None else bottom],
        lambda bottoms, _: [np.array([formula(x) for x in bottoms[0].reshape(-1).tolist()]).reshape(bottoms[0].shape)],
        source,
    )


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


ACTIVATIONS = [
    elementwise('type: "AbsVal"', abs, "the magnitude"),
    elementwise('type: "BNLL"', lambda x: math.log(1 + math.exp(x)), "log(1 + exp(x)), Caffe's BNLLLayer"),
    elementwise(
        'type: "Clip" clip_param { min: -0.5 max: 0.25 }', lambda x: min(max(x, -0.5), 0.25), "Caffe's ClipLayer"
    ),
    elementwise(
        'type: "ELU" elu_param { alpha: 0.75 }',
        lambda x: x if x > 0 else 0.75 * (math.exp(x) - 1),
        "Clevert, Unterthiner and Hochreiter 2015, eq. 15",
    ),
    elementwise(
        'type: "Exp" exp_param { base: 2 scale: 0.5 shift: 1.5 }',
        lambda x: 2 ** (1.5 + 0.5 * x),
        "Caffe's ExpParameter",
    ),
    elementwise(
        'type: "Log" log_param { base: 10 scale: 2 shift: 0.5 }',
        lambda x: math.log10(0.5 + 2 * x),
        "Caffe's LogParameter",
        positive(3, 4),
    ),
    elementwise(
        'type: "Power" power_param { power: 2.5 scale: 0.5 shift: 1 }',
        lambda x: (1 + 0.5 * x) ** 2.5,
        "Caffe's PowerParameter",
        positive(3, 4),
    ),
    elementwise(
        'type: "ReLU" relu_param { negative_slope: 0.125 }',
        lambda x: x if x > 0 else 0.125 * x,
        "Maas, Hannun and Ng 2013, eq. 2",
    ),
    elementwise('type: "Sigmoid"', sigmoid, "the logistic function"),
    elementwise(
        'type: "Swish" swish_param { beta: 1.5 }', lambda x: x * sigmoid(1.5 * x), "Ramachandran, Zoph and Le 2017"
    ),
    elementwise('type: "TanH"', math.tanh, "the hyperbolic tangent"),
    elementwise(
        'type: "Threshold" threshold_param { threshold: 0.25 }', lambda x: float(x > 0.25), "Caffe's ThresholdLayer"
    ),
    Reference(
        'type: "PReLU" prelu_param { filler { type: "uniform" min: 0.1 max: 0.4 } }',
        [normal(2, 3, 4)],
        lambda b, p: [np.maximum(b[0], 0) + p[0][None, :, None] * np.minimum(b[0], 0)],
        "He et al. 2015, eq. 1",
    ),
    Reference(
        'type: "Softmax"',
        [normal(2, 3, 4)],
        lambda b, _: [np.exp(b[0]) / np.exp(b[0]).sum(axis=1, keepdims=True)],
        "Bishop 2006, eq. 4.104",
    ),
    Reference(
        'type: "Dropout" dropout_param { dropout_ratio: 0.3 }',
        [normal(3, 4)],
        lambda b, _: [b[0]],
        "Caffe scales in training, so that testing passes on",
        phase=Phase.TEST,
    ),
]


def batch_norm(bottoms: list[Values], _: object) -> list[Values]:
    result = np.empty(bottoms[0].shape)
    for channel in range(bottoms[0].shape[1]):
        values = bottoms[0][:, channel]
        result[:, channel] = (values - values.mean()) / math.sqrt(values.var() + 1e-5)
    return [result]


def mvn(bottoms: list[Values], _: object) -> list[Values]:
    result = np.empty(bottoms[0].shape)
    for item, channel in np.ndindex(*bottoms[0].shape[:2]):
        values = bottoms[0][item, channel]
        result[item, channel] = (values - values.mean()) / (values.std() + 1e-9)
    return [result]


def lrn_across(bottoms: list[Values], _: object) -> list[Values]:
    x, result = bottoms[0], np.empty(bottoms[0].shape)
    for channel in range(x.shape[1]):
        near = x[:, max(channel - 1, 0) : channel + 2]
        result[:, channel] = x[:, channel] / (2 + 0.375 / 3 * (near**2).sum(axis=1)) ** 0.625
    return [result]


def lrn_within(bottoms: list[Values], _: object) -> list[Values]:
    x, result = bottoms[0], np.empty(bottoms[0].shape)
    for row, column in np.ndindex(*x.shape[2:]):
        near = x[:, :, max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        result[:, :, row, column] = x[:, :, row, column] / (1 + 0.375 / 9 * (near**2).sum(axis=(2, 3))) ** 0.625
    return [result]


NORMALIZATION = [
    Reference('type: "BatchNorm"', [normal(4, 3, 2)], batch_norm, "Ioffe and Szegedy 2015, algorithm 1"),
    Reference('type: "MVN"', [normal(2, 3, 4)], mvn, "Caffe's MVNLayer: eps is added to the deviation"),
    Reference(
        'type: "LRN" lrn_param { local_size: 3 alpha: 0.375 beta: 0.625 k: 2 }',
        [normal(2, 5, 2, 3)],
        lrn_across,
        "Krizhevsky, Sutskever and Hinton 2012, section 3.3, alpha divided by the size as in Caffe",
    ),
    Reference(
        'type: "LRN" lrn_param { local_size: 3 alpha: 0.375 beta: 0.625 norm_region: WITHIN_CHANNEL }',
        [normal(2, 2, 4, 3)],
        lrn_within,
        "Caffe's LRNLayer: alpha is divided by the area, the shift is 1",
    ),
    Reference(
        f'type: "Scale" scale_param {{ bias_term: true {OFFSET} bias_filler {{ type: "gaussian" std: 1 }} }}',
        [normal(2, 3, 4)],
        lambda b, p: [b[0] * p[0][None, :, None] + p[1][None, :, None]],
        "Caffe's ScaleLayer",
    ),
    Reference(
        f'type: "Bias" bias_param {{ axis: -1 {OFFSET} }}',
        [normal(2, 3, 4)],
        lambda b, p: [b[0] + p[0][None, None, :]],
        "Caffe's BiasLayer",
    ),
]
DENSE = [
    Reference(
        f'type: "InnerProduct" inner_product_param {{ num_output: 4 {FILL} }}',
        [normal(3, 2, 5)],
        lambda b, p: [np.array([[np.dot(row, weights) for weights in p[0]] for row in b[0].reshape(3, -1)]) + p[1]],
        "a matrix product: Bishop 2006, eq. 5.2",
    ),
    Reference(
        f'type: "Embed" embed_param {{ num_output: 4 input_dim: 6 {FILL} }}',
        [integers(6, 3, 2)],
        lambda b, p: [np.array([[p[0][int(word)] + p[1] for word in row] for row in b[0]])],
        "Caffe's EmbedLayer: the row of a matrix",
    ),
]
UNITS = [*ACTIVATIONS, *NORMALIZATION, *DENSE]
