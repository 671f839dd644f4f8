"""Parameters that layers share: gradients of all users are summed, and the solver steps once."""

from __future__ import annotations

import numpy as np
import pytest

from engine.net import Net
from engine.solvers import RULES
from tests.engine.net.support import build, fill_inputs, input_layer, layer
from tests.engine.solvers.support import solver_param

NO_BIAS = "bias_term: false weight_filler { type: 'gaussian' std: 0.5 }"


def user(name: str, bottom: str, outputs: int, param: str) -> str:
    return layer(
        name,
        "InnerProduct",
        bottom,
        None,
        f"inner_product_param {{ num_output: {outputs} {NO_BIAS} }} param {{ name: 'w' {param} }}",
    )


def siamese(mode: str, second: int, param: str = "") -> Net:
    """Return a net of two layers of one weight: 2 x 3 in the first, 2 x 3 or 3 x 2 in the second."""
    inputs = 6 // second
    text = input_layer("x", 4, 3) + input_layer("y", 4, inputs) + input_layer("t", 4, 2) + input_layer("u", 4, second)
    text += user("a", "x", 2, "") + user("b", "y", second, f"share_mode: {mode} {param}")
    net = build(text + layer("l", "EuclideanLoss", "a t") + layer("m", "EuclideanLoss", "b u"))
    fill_inputs(net)
    return net


def expected_gradient(net: Net, second: int) -> np.ndarray:
    """Return ``(dL/da)^T x + (dL/db)^T y`` in the owner's shape."""
    data = {name: net.blobs[name].data.astype(np.float64) for name in ("x", "y", "t", "u", "a", "b")}
    first = (data["a"] - data["t"]).T @ data["x"] / 4
    other = (data["b"] - data["u"]).T @ data["y"] / 4
    total: np.ndarray = first + other.reshape(first.shape)
    return total


@pytest.mark.parametrize(("mode", "second"), [("STRICT", 2), ("PERMISSIVE", 2), ("PERMISSIVE", 3)])
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_gradients_are_summed_and_one_step_is_taken(mode: str, second: int, kind: str) -> None:
    net, alone = siamese(mode, second), siamese(mode, second)
    for each in (net, alone):
        each.forward()
        each.backward()
    assert len(net.learnable) == 1
    gradient = expected_gradient(net, second)
    np.testing.assert_allclose(net.params["a"][0].diff, gradient, rtol=1e-5, atol=1e-6)
    before = net.params["a"][0].data.copy()
    param = solver_param(f'type: "{kind}" momentum: 0.9 iter_size: 1')
    rule = RULES[kind](param, net.learnable, net.backend)
    rule.apply(0.1, 0)
    if kind == "SGD":
        np.testing.assert_allclose(net.params["a"][0].data, before - 0.1 * gradient, rtol=1e-5, atol=1e-6)
    assert not np.array_equal(net.params["a"][0].data, before)
    np.testing.assert_array_equal(net.params["b"][0].data.reshape(-1), net.params["a"][0].data.reshape(-1))
    assert len(rule.history) == rule.sets


def test_a_user_with_a_rate_of_0_adds_no_gradient() -> None:
    net = siamese("STRICT", 2, "lr_mult: 0")
    net.forward()
    net.backward()
    data = {name: net.blobs[name].data.astype(np.float64) for name in ("x", "t", "a")}
    np.testing.assert_allclose(net.params["b"][0].diff, (data["a"] - data["t"]).T @ data["x"] / 4, rtol=1e-5, atol=1e-6)
    assert net.learnable[0].lr_mult == 0  # as in Caffe: the only one that is written counts
