"""Activations: formulas in float64, odd points, and what is refused."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.errors import LayerError, ShapeError
from engine.layer import Phase
from tests.nodes.support import layer_net, run_layer

POINTS = np.array([-3.0, -1.2, -0.7, -0.25, 0.0, 0.1, 0.4, 0.9, 1.5, 4.0])
POSITIVE = POINTS + 3.5

# Formulas as Caffe documents them in caffe.proto and its layer headers.
FORMULAS: dict[str, tuple[str, Callable[[Any], Any], Any]] = {
    "absval": ('type: "AbsVal"', np.abs, POINTS),
    "bnll": ('type: "BNLL"', lambda x: np.log(1 + np.exp(x)), POINTS),
    "clip": ('type: "Clip" clip_param { min: -1 max: 1 }', lambda x: np.clip(x, -1, 1), POINTS),
    "elu": ('type: "ELU" elu_param { alpha: 2 }', lambda x: np.where(x > 0, x, 2 * (np.exp(x) - 1)), POINTS),
    "exp": ('type: "Exp"', np.exp, POINTS),
    "exp shift": ('type: "Exp" exp_param { scale: 0.5 shift: 1 }', lambda x: np.exp(0.5 * x + 1), POINTS),
    "exp base": ('type: "Exp" exp_param { base: 2 shift: -1 }', lambda x: 2 ** (x - 1), POINTS),
    "log": ('type: "Log"', np.log, POSITIVE),
    "log base": ('type: "Log" log_param { base: 2 scale: 3 shift: 1 }', lambda x: np.log2(3 * x + 1), POSITIVE),
    "power": ('type: "Power" power_param { power: 1.5 scale: 2 shift: 1 }', lambda x: (2 * x + 1) ** 1.5, POSITIVE),
    "power 3": ('type: "Power" power_param { power: 3 }', lambda x: x**3, POINTS),
    "power 0": ('type: "Power" power_param { power: 0 }', lambda x: x**0, POINTS),
    "power scale 0": ('type: "Power" power_param { power: 2 scale: 0 shift: 3 }', lambda x: 9 + 0 * x, POINTS),
    "prelu": ('type: "PReLU"', lambda x: np.where(x > 0, x, 0.25 * x), POINTS),
    "swish": ('type: "Swish" swish_param { beta: 2 }', lambda x: x / (1 + np.exp(-2 * x)), POINTS),
    "threshold": (
        'type: "Threshold" threshold_param { threshold: 0.4 }',
        lambda x: 1.0 * (x > np.float32(0.4)),
        POINTS,
    ),
}


@pytest.mark.parametrize(
    ("name", "in_place"),
    [(name, in_place) for name in FORMULAS for in_place in (False, True) if (name, in_place) != ("absval", True)],
)
def test_formula(name: str, in_place: bool) -> None:
    text, formula, points = FORMULAS[name]
    net = layer_net(text, points[None], tops="b0" if in_place else "top", phase=Phase.TEST)
    net.forward()
    top = net.blobs[net.top_names["subject"][0]].data
    assert top[0] == pytest.approx(formula(points.astype(np.float32).astype(np.float64)), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "at", "gradient"),
    [
        ('type: "AbsVal"', 0, 0),
        ('type: "Clip" clip_param { min: -1 max: 1 }', 1, 1),
        ('type: "ELU" elu_param { alpha: 0.5 }', 0, 0.5),
        ('type: "PReLU"', 0, 0.25),
        ('type: "Power" power_param { power: 3 }', 0, 0),  # Caffe divides y by x and gets NaN
        ('type: "Power" power_param { power: 0 shift: 2 }', 1, 0),
        ('type: "Power" power_param { power: 2 scale: 0 }', 1, 0),
    ],
)
def test_gradient_at_odd_points(text: str, at: float, gradient: float) -> None:
    assert run_layer(text, [[at]])[1] == pytest.approx(gradient)


@pytest.mark.parametrize("kind", ["BNLL", "Swish"])
def test_large_inputs_do_not_overflow(kind: str) -> None:
    top, grad = run_layer(f'type: "{kind}"', [-1e4, 1e4])
    assert top.tolist() == [0, 1e4]
    assert grad.tolist() == [0, 1]


def test_power_in_place_keeps_the_gradient_from_above() -> None:
    net = layer_net('type: "Power" power_param { power: 3 scale: 2 }', [1.0, 2.0], tops="b0")
    net.forward()
    assert net.blobs["b0"].data.tolist() == [8, 64]
    net.blobs["b0"].diff[...] = [1, 10]
    net.backward()
    assert net.blobs["b0"].diff.tolist() == [24, 960]  # 2 * 3 * (2 x)^2


@pytest.mark.parametrize(
    ("text", "gradient"),
    [
        ('type: "BNLL"', 2 / 3),  # y = log(2), so exp(y) / (1 + exp(y)) = 2 / 3; the true gradient is 1 / 2
        ('type: "Clip" clip_param { min: 1 max: 2 }', 1),  # the true gradient is 0
        ('type: "Log" log_param { shift: 2 }', 1 / (2 + np.log(2))),
    ],
)
def test_in_place_gradients_that_are_wrong_in_caffe_are_told_of(
    text: str, gradient: float, caplog: pytest.LogCaptureFixture
) -> None:
    net = layer_net(text, [0.0], tops="b0")
    assert "in place its gradient is wrong, as in Caffe" in caplog.text
    net.forward()
    net.blobs["b0"].diff[...] = 1
    net.backward()
    assert net.blobs["b0"].diff == pytest.approx(gradient)


def test_in_place_is_quiet_when_testing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        layer_net('type: "BNLL"', [0.0], tops="b0", phase=Phase.TEST)
    assert not caplog.records


@pytest.mark.parametrize("shared", [False, True])
def test_prelu_slopes(shared: bool) -> None:
    net = layer_net(f'type: "PReLU" prelu_param {{ channel_shared: {str(shared).lower()} }}', np.full((2, 3, 2), -2.0))
    slopes = net.params["subject"][0]
    assert slopes.shape == (() if shared else (3,))
    net.forward()
    assert (net.blobs["top"].data == -0.5).all()
    net.blobs["top"].diff[...] = 1
    net.clear_param_diffs()
    net.backward()
    assert (slopes.diff == (-24 if shared else -8)).all()
    assert (net.blobs["b0"].diff == 0.25).all()


def test_step_has_no_gradient() -> None:
    text = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
    layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 2 } }
    layer { name: "step" type: "Threshold" bottom: "ip" top: "step" loss_weight: 1 }
    """
    from engine.net import Net

    net = Net(text, Phase.TRAIN)
    net.forward()
    with pytest.raises(LayerError, match=r"'step' \(Threshold\), bottom 0: a step has no gradient"):
        net.backward()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('type: "Clip" clip_param { min: 1 }', "expected min and max, got no max"),
        ('type: "Clip"', "got no min and no max"),
        ('type: "Exp" exp_param { base: 0 }', "base above 0, or -1 for e, got 0"),
        ('type: "Log" log_param { base: -2 }', "base above 0, or -1 for e, got -2"),
        ('type: "Log" log_param { base: 1 }', "base other than 1"),
    ],
)
def test_wrong_settings_are_refused(text: str, message: str) -> None:
    with pytest.raises(LayerError, match=f"'subject'.*{message}"):
        layer_net(text, [1.0])


def test_absval_does_not_work_in_place() -> None:
    with pytest.raises(LayerError, match=r"'subject' \(AbsVal\).*cannot work in place on 'b0'"):
        layer_net('type: "AbsVal"', [1.0], tops="b0")


def test_prelu_wants_channels() -> None:
    with pytest.raises(ShapeError, match=r"\(N, C, ...\), got shape \(3,\)"):
        layer_net('type: "PReLU"', [1.0, 2, 3])
    net = layer_net('type: "PReLU"', np.zeros((2, 3)))
    net.blobs["b0"].reshape(2, 4)
    with pytest.raises(ShapeError, match=r"3 channels at axis 1 .*got shape \(2, 4\)"):
        net.forward()
