"""The cases of every built-in layer, for the harness."""

from __future__ import annotations

import numpy as np

from engine.layer import Phase
from engine.testing import LayerCase
from tests.nodes.loss_and_shape_cases import LOSS_CASES, PLACES, SHAPE_CASES
from tests.nodes.recurrent_cases import RECURRENT_CASES
from tests.nodes.unit_cases import STEPS, UNIT_CASES

RNG = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def labels(classes: int, *shape: int) -> np.ndarray:
    return RNG.integers(0, classes, shape).astype(float)


FILL = 'weight_filler { type: "gaussian" std: 0.3 } bias_filler { type: "uniform" min: -0.5 max: 0.5 }'


def conv(fields: str) -> str:
    return f'type: "Convolution" convolution_param {{ {fields} {FILL} }}'


def pool(fields: str) -> str:
    return f'type: "Pooling" pooling_param {{ {fields} }}'


CASES = {
    "conv": LayerCase(conv("num_output: 4 kernel_size: 3"), [normal(3, 2, 6, 5)]),
    "conv many images": LayerCase(conv("num_output: 4 kernel_size: 3 pad: 1"), [normal(20, 2, 5, 4)]),
    "conv stride pad dilation": LayerCase(
        conv("num_output: 4 kernel_size: 3 stride: 2 pad: 2 dilation: 2"), [normal(2, 3, 9, 8)]
    ),
    "conv group": LayerCase(conv("num_output: 6 kernel_size: 2 group: 3"), [normal(2, 6, 4, 5)]),
    "conv 1x1": LayerCase(conv("num_output: 5 kernel_size: 1"), [normal(3, 4, 3, 3)]),
    "conv 1x1 group": LayerCase(conv("num_output: 6 kernel_size: 1 group: 2"), [normal(3, 4, 3, 3)]),
    "conv 1x1 stride": LayerCase(conv("num_output: 6 kernel_size: 1 stride: 2"), [normal(3, 4, 5, 5)]),
    "conv no bias": LayerCase(conv("num_output: 3 kernel_size: 3 bias_term: false"), [normal(2, 2, 5, 5)]),
    "conv h w": LayerCase(
        conv("num_output: 3 kernel_h: 3 kernel_w: 2 stride_h: 1 stride_w: 2 pad_h: 1 pad_w: 0"), [normal(2, 2, 5, 6)]
    ),
    "conv 1-d": LayerCase(conv("num_output: 3 kernel_size: 3"), [normal(2, 2, 7)]),
    "conv 3-d": LayerCase(conv("num_output: 3 kernel_size: 2 pad: 1"), [normal(2, 2, 3, 4, 3)]),
    "conv axis 2": LayerCase(conv("num_output: 3 kernel_size: 2 axis: 2"), [normal(2, 2, 3, 4, 4)]),
    "conv two bottoms": LayerCase(
        conv("num_output: 3 kernel_size: 2"), [normal(2, 2, 4, 4), normal(2, 2, 4, 4)], tops=2
    ),
    "max pool 2": LayerCase(pool("kernel_size: 2 stride: 2"), [normal(3, 2, 6, 4)]),
    "max pool clipped": LayerCase(pool("kernel_size: 3 stride: 2"), [normal(2, 2, 6, 8)]),
    "max pool pad": LayerCase(pool("kernel_size: 3 stride: 2 pad: 1"), [normal(2, 2, 7, 6)]),
    "max pool gap": LayerCase(pool("kernel_size: 2 stride: 3"), [normal(2, 2, 8, 4)]),
    "max pool mask": LayerCase(pool("kernel_size: 3 stride: 2"), [normal(2, 2, 6, 5)], tops=2, ungraded_tops=[1]),
    "max pool global": LayerCase(pool("global_pooling: true"), [normal(2, 2, 4, 5)]),
    "mean pool": LayerCase(pool("pool: AVE kernel_size: 3 stride: 2"), [normal(2, 2, 6, 7)]),
    "mean pool pad": LayerCase(pool("pool: AVE kernel_size: 3 stride: 2 pad: 1"), [normal(2, 2, 6, 7)]),
    "mean pool h w": LayerCase(pool("pool: AVE kernel_h: 2 kernel_w: 3 round_mode: FLOOR"), [normal(2, 2, 6, 7)]),
    "mean pool global": LayerCase(pool("pool: AVE global_pooling: true"), [normal(2, 2, 4, 5)]),
    "inner product": LayerCase(
        f'type: "InnerProduct" inner_product_param {{ num_output: 4 {FILL} }}', [normal(3, 2, 5)]
    ),
    "inner product transpose": LayerCase(
        f'type: "InnerProduct" inner_product_param {{ num_output: 4 axis: -1 transpose: true {FILL} }}',
        [normal(3, 2, 5)],
    ),
    "inner product no bias": LayerCase(
        f'type: "InnerProduct" inner_product_param {{ num_output: 4 bias_term: false {FILL} }}', [normal(3, 5)]
    ),
    "relu": LayerCase('type: "ReLU"', [normal(4, 5)]),
    "relu in place": LayerCase('type: "ReLU"', [normal(4, 5)], in_place=True),
    "relu leaky": LayerCase('type: "ReLU" relu_param { negative_slope: 0.2 }', [normal(4, 5)]),
    "relu leaky in place": LayerCase('type: "ReLU" relu_param { negative_slope: 0.2 }', [normal(4, 5)], in_place=True),
    "relu falling": LayerCase('type: "ReLU" relu_param { negative_slope: -0.2 }', [normal(4, 5)]),
    "sigmoid": LayerCase('type: "Sigmoid"', [normal(4, 5)]),
    "sigmoid in place": LayerCase('type: "Sigmoid"', [normal(4, 5)], in_place=True),
    "tanh": LayerCase('type: "TanH"', [normal(4, 5)]),
    "tanh in place": LayerCase('type: "TanH"', [normal(4, 5)], in_place=True),
    "softmax": LayerCase('type: "Softmax"', [normal(3, 4, 2)]),
    "softmax in place": LayerCase('type: "Softmax"', [normal(3, 4)], in_place=True),
    "softmax last axis": LayerCase('type: "Softmax" softmax_param { axis: -1 }', [normal(3, 4, 2)]),
    "dropout": LayerCase('type: "Dropout" dropout_param { dropout_ratio: 0.3 }', [normal(5, 6)]),
    "dropout in place": LayerCase('type: "Dropout"', [normal(5, 6)], in_place=True),
    "dropout test": LayerCase('type: "Dropout"', [normal(5, 6)], phase=Phase.TEST),
    "flatten": LayerCase('type: "Flatten"', [normal(3, 2, 4)]),
    "concat": LayerCase('type: "Concat"', [normal(2, 3, 2), normal(2, 1, 2), normal(2, 2, 2)]),
    "concat one": LayerCase('type: "Concat"', [normal(2, 3, 2)]),
    "eltwise sum": LayerCase('type: "Eltwise"', [normal(3, 4), normal(3, 4), normal(3, 4)]),
    "eltwise sum in place": LayerCase('type: "Eltwise"', [normal(3, 4), normal(3, 4)], in_place=True),
    "eltwise coeff": LayerCase(
        'type: "Eltwise" eltwise_param { coeff: 1 coeff: -0.5 coeff: 2 }', [normal(3, 4), normal(3, 4), normal(3, 4)]
    ),
    "eltwise prod": LayerCase(
        'type: "Eltwise" eltwise_param { operation: PROD }', [normal(3, 4), normal(3, 4), normal(3, 4)]
    ),
    "eltwise max": LayerCase(
        'type: "Eltwise" eltwise_param { operation: MAX }', [normal(3, 4), normal(3, 4), normal(3, 4)]
    ),
    "split": LayerCase('type: "Split"', [normal(3, 4)], tops=3),
    "silence": LayerCase('type: "Silence"', [normal(3, 4)], tops=0),
    "softmax loss": LayerCase('type: "SoftmaxWithLoss"', [normal(5, 4), labels(4, 5)], no_gradient=[1]),
    "softmax loss two tops": LayerCase(
        'type: "SoftmaxWithLoss" loss_weight: 2', [normal(5, 4), labels(4, 5)], tops=2, no_gradient=[1]
    ),
    "softmax loss spatial": LayerCase(
        'type: "SoftmaxWithLoss" loss_param { ignore_label: 1 }',
        [normal(2, 4, 3, 2), labels(4, 2, 3, 2)],
        no_gradient=[1],
    ),
    "softmax loss axis 2": LayerCase(
        'type: "SoftmaxWithLoss" softmax_param { axis: 2 } loss_param { normalization: FULL }',
        [normal(2, 3, 4), labels(4, 2, 3)],
        no_gradient=[1],
    ),
    "euclidean": LayerCase('type: "EuclideanLoss"', [normal(4, 3), normal(4, 3)]),
    **UNIT_CASES,
    **LOSS_CASES,
    **SHAPE_CASES,
    **RECURRENT_CASES,
}
COUNTING = {
    **STEPS,
    **PLACES,
    "accuracy": LayerCase('type: "Accuracy"', [normal(6, 4), labels(4, 6)], no_gradient=[0, 1]),
    "accuracy per class": LayerCase(
        'type: "Accuracy" accuracy_param { top_k: 2 ignore_label: 0 }',
        [normal(6, 4), labels(4, 6)],
        2,
        no_gradient=[0, 1],
    ),
}
