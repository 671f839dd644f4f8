from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.backends import get_backend
from engine.blob import Blob
from engine.errors import SolverError
from engine.net import LearnableParam
from engine.solvers import RULES, UpdateRule
from engine.solvers.update import _BLOCK
from tests.engine.solvers.support import solver_param

Floats = np.ndarray[Any, np.dtype[np.float64]]
SETTINGS = {
    "SGD": "momentum: 0.9",
    "Nesterov": "momentum: 0.9",
    "AdaGrad": "delta: 1e-6",
    "RMSProp": "delta: 1e-6 rms_decay: 0.9",
    "AdaDelta": "momentum: 0.95 delta: 1e-6",
    "Adam": "momentum: 0.9 momentum2: 0.999 delta: 1e-8",
}


def reference(kind: str, history: list[Floats], g: Floats, rate: float, step: int) -> Floats:
    """One update in float64, from the papers' formulas."""
    if kind == "SGD":
        history[0] = 0.9 * history[0] + rate * g
        return history[0]
    if kind == "Nesterov":
        before, history[0] = history[0], 0.9 * history[0] + rate * g
        return 1.9 * history[0] - 0.9 * before
    if kind == "AdaGrad":
        history[0] = history[0] + g * g
        return rate * g / (np.sqrt(history[0]) + 1e-6)
    if kind == "RMSProp":
        history[0] = 0.9 * history[0] + 0.1 * g * g
        return rate * g / (np.sqrt(history[0]) + 1e-6)
    if kind == "AdaDelta":
        history[0] = 0.95 * history[0] + 0.05 * g * g
        update = g * np.sqrt((history[1] + 1e-6) / (history[0] + 1e-6))
        history[1] = 0.95 * history[1] + 0.05 * update * update
        return rate * update
    history[0] = 0.9 * history[0] + 0.1 * g
    history[1] = 0.999 * history[1] + 0.001 * g * g
    mean, square = history[0] / (1 - 0.9**step), history[1] / (1 - 0.999**step)
    return rate * mean / (np.sqrt(square) + 1e-8 / np.sqrt(1 - 0.999**step))


def make(
    kind: str, settings: str, shapes: list[tuple[int, ...]], backend: str = "numpy", **factors: float
) -> UpdateRule:
    where = get_backend(backend)
    learnable = []
    rng = np.random.default_rng(0)
    for index, shape in enumerate(shapes):
        blob = Blob(shape, backend=where, name=f"p{index}")
        blob.data[...] = rng.standard_normal(shape)
        learnable.append(
            LearnableParam(blob, f"p{index}", f"layer{index}", 0, factors.get("lr", 1), factors.get("decay", 1))
        )
    return RULES[kind](solver_param(settings), learnable, where)


def values(rule: UpdateRule) -> list[Floats]:
    return [item.blob.read_data().astype(np.float64) for item in rule.learnable]


def seed_gradients(rule: UpdateRule, step: int) -> list[Floats]:
    rng = np.random.default_rng(step)
    for item in rule.learnable:
        item.blob.diff[...] = rng.standard_normal(item.blob.shape)
    return [item.blob.read_diff().astype(np.float64) for item in rule.learnable]


@pytest.mark.parametrize("backend", ["numpy", "strict"])
@pytest.mark.parametrize("kind", sorted(RULES))
def test_updates_follow_the_formula(kind: str, backend: str) -> None:
    shapes: list[tuple[int, ...]] = [(3, 5), (_BLOCK + 7,), ()]
    settings = SETTINGS[kind] + " weight_decay: 0.02 iter_size: 2"
    rule = make(kind, settings, shapes, backend, lr=0.5, decay=3)
    expected = values(rule)
    history = [[np.zeros(shape) for _ in range(rule.sets)] for shape in shapes]
    for step in range(1, 6):
        gradients = seed_gradients(rule, step)
        rule.apply(0.1, step - 1)
        for index, gradient in enumerate(gradients):
            whole = gradient / 2 + 0.06 * expected[index]
            update = reference(kind, history[index], whole, 0.05, step)
            expected[index] = expected[index] - update
            np.testing.assert_allclose(rule.learnable[index].blob.read_diff(), update, rtol=2e-4, atol=1e-6)
        for got, wanted in zip(values(rule), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)
    for index in range(len(shapes)):
        for number in range(rule.sets):
            got = rule.get_history()[number * len(shapes) + index]
            np.testing.assert_allclose(got, history[index][number], rtol=1e-4, atol=1e-7)


def test_l1_decay() -> None:
    rule = make("SGD", 'weight_decay: 0.5 regularization_type: "L1"', [(4,)])
    (before,) = values(rule)
    rule.apply(0.1, 0)
    np.testing.assert_allclose(values(rule)[0], before - 0.05 * np.sign(before), rtol=1e-6)


def test_unknown_regularization() -> None:
    with pytest.raises(SolverError, match="L1 or L2, got 'L3'"):
        make("SGD", 'regularization_type: "L3"', [(1,)]).apply(0.1, 0)


@pytest.mark.parametrize(("limit", "factor"), [(1.0, 0.1), (20.0, 1.0), (-1.0, 1.0)])
def test_clipping_acts_on_the_whole_gradient_before_iter_size(limit: float, factor: float) -> None:
    rule = make("SGD", f"clip_gradients: {limit} iter_size: 2", [(1,), (1,)])
    before = values(rule)
    for item, value in zip(rule.learnable, (6.0, 8.0), strict=True):
        item.blob.diff[...] = value
    rule.apply(1.0, 0)
    for item, value, start in zip(rule.learnable, (6.0, 8.0), before, strict=True):
        np.testing.assert_allclose(item.blob.data, start - value * factor / 2, rtol=1e-5)


def test_moved_memory_is_followed() -> None:
    rule = make("SGD", "", [(2,)])
    rule.apply(0.1, 0)
    blob = rule.learnable[0].blob
    other = Blob((2,))
    blob.share_data(other)
    blob.diff[...] = 1
    rule.apply(0.5, 1)
    np.testing.assert_allclose(other.data, [-0.5, -0.5])


def test_histories_of_another_solver_are_refused_with_both_counts() -> None:
    sgd, adam = make("SGD", "", [(2,), (3,)]), make("Adam", SETTINGS["Adam"], [(2,), (3,)])
    with pytest.raises(
        SolverError, match=r"expected 4 histories in 'file', 2 for each of 2 parameters, got 2.*Adam and AdaDelta"
    ):
        adam.check_history(sgd.get_history(), "file")
    with pytest.raises(SolverError, match=r"shape \(2,\).*got \(5,\)"):
        sgd.check_history([np.zeros(5), np.zeros(3)], "file")
    sgd.check_history([np.zeros((1, 1, 1, 2)), np.zeros(3)], "file")


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("AdaGrad", "momentum: 0.9", "expected no momentum, got 0.9"),
        ("RMSProp", "momentum: 0.9", "expected no momentum"),
        ("RMSProp", "rms_decay: 1", "rms_decay"),
        ("Adam", "momentum: 1", "momentum from 0"),
        ("Adam", "momentum2: 1.5", "momentum2"),
    ],
)
def test_settings_that_cannot_work(kind: str, settings: str, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        make(kind, settings, [(1,)])


def test_nothing_is_allocated_after_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = make("Adam", SETTINGS["Adam"] + " weight_decay: 0.1", [(_BLOCK * 2,)])
    rule.apply(0.1, 0)
    backend = type(rule.backend)
    for name in ("empty", "zeros"):
        refuse: Callable[..., Any] = lambda *args, **kwargs: pytest.fail("allocated")  # noqa: E731
        monkeypatch.setattr(backend, name, refuse)
    rule.apply(0.1, 1)
