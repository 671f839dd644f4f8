"""Whole nets against finite differences: splits, chains in place, weighted blobs that are read, shared parameters."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.net.support import build, fill_inputs, input_layer, ip, layer

X = input_layer("x", 3, 4)
T = input_layer("t", 3, 4)
IMAGES = input_layer("x", 2, 2, 6, 6) + input_layer("label", 2)
CONV = "convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: 'gaussian' std: 0.4 } }"
CHAIN = layer("bn", "BatchNorm", "c", "c") + layer("sc", "Scale", "c", "c", "scale_param { bias_term: true }")
LEAKY = "relu_param { negative_slope: 0.3 }"
SHARED = "param { name: 'w' share_mode: PERMISSIVE } param { name: 'b' }"

NETS = {
    "three readers, one of them behind a chain in place": X
    + T
    + ip("a", "x", 4)
    + layer("s", "Sigmoid", "a", "a")
    + layer("e", "Eltwise", "a a", body="eltwise_param { operation: PROD }")
    + ip("b", "a", 4)
    + layer("sum", "Eltwise", "e b a", body="eltwise_param { coeff: 1 coeff: -2 coeff: 0.5 }")
    + layer("loss", "EuclideanLoss", "sum t"),
    "a residual block": IMAGES
    + layer("c", "Convolution", "x", body=CONV)
    + CHAIN
    + layer("r", "ReLU", "c", "c", LEAKY)
    + layer("d", "Convolution", "c", body=CONV)
    + layer("sum", "Eltwise", "d c")
    + layer("p", "Pooling", "sum", body="pooling_param { pool: AVE kernel_size: 2 stride: 2 }")
    + ip("score", "p", 3)
    + layer("loss", "SoftmaxWithLoss", "score label"),
    "weights on blobs that are read": X
    + T
    + ip("a", "x", 4, "loss_weight: 0.5")
    + layer("s", "TanH", "a", body="loss_weight: -2")
    + layer("m", "Reduction", "s", body="reduction_param { operation: SUMSQ axis: 1 } loss_weight: 0.1")
    + layer("loss", "EuclideanLoss", "s t", body="loss_weight: 3")
    + layer("again", "Power", "loss", body="power_param { power: 2 } loss_weight: 0.25"),
    "one weight in three layers": X
    + T
    + ip("a", "x", 4, SHARED)
    + ip("b", "a", 4, SHARED)
    + layer("s", "TanH", "b", "b")
    + ip("d", "b", 4, SHARED)
    + layer("loss", "EuclideanLoss", "d t"),
    "branches that are cut, joined and looked up": X
    + T
    + ip("a", "x", 4)
    + layer("cut", "Slice", "a", "u v", "slice_param { slice_point: 1 }")
    + layer("j", "Concat", "v u v")
    + layer("f", "Reshape", "j", body="reshape_param { shape { dim: 0 dim: 7 dim: 1 } }")
    + layer("flat", "Flatten", "f")
    + ip("b", "flat", 4)
    + layer("loss", "EuclideanLoss", "b t")
    + layer("other", "Silence", "u", ""),
    "a parameter as data": X
    + T
    + layer("w", "Parameter", "", "w", "parameter_param { shape { dim: 3 dim: 4 } }")
    + layer("y", "Eltwise", "x w w", body="eltwise_param { operation: PROD }")
    + layer("loss", "EuclideanLoss", "y t"),
}


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("use_plan", [False, True])
def test_gradients_of_a_whole_net(name: str, use_plan: bool) -> None:
    net = build("force_backward: true " + NETS[name], dtype=np.float64, use_plan=use_plan)
    fill_inputs(net)
    rng = np.random.default_rng(4)
    learned = [item.blob for item in net.learnable if "bn" not in item.layer]
    for blob in learned:
        blob.data[...] = rng.normal(size=blob.shape)
    inputs = [net.blobs[top] for top in net.inputs if top != "label"]
    net.forward()
    net.clear_param_diffs()
    net.backward()
    gradients = [blob.diff.copy() for blob in (*learned, *inputs)]
    for blob, gradient in zip((*learned, *inputs), gradients, strict=True):
        direction = rng.normal(size=blob.shape)
        kept = blob.data.copy()
        ends = []
        for step in (1e-5, -1e-5):
            blob.data[...] = kept + step * direction
            ends.append(net.forward())
        blob.data[...] = kept
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(float((gradient * direction).sum()), rel=1e-5, abs=1e-7)
