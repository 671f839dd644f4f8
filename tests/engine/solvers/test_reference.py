"""Whole trainings against float64 ones written from the formulas, over the settings that Caffe's solvers have.

The net is a linear regression, whose gradient is known: with E = sum (W x + b - t)^2 / 2N, dE/dW is
(W x + b - t)^T x / N.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from engine.solvers import Solver

ROWS, BATCH, ITERATIONS = 30, 5, 24
Floats = np.ndarray[Any, np.dtype[np.float64]]
NET = """
layer { name: "rows" type: "HDF5Data" top: "x" top: "t" hdf5_data_param { source: "list.txt" batch_size: 5 } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y"
  param { lr_mult: 0.5 decay_mult: 2 } param { lr_mult: 2 decay_mult: 0.25 }
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.5 }
    bias_filler { type: "constant" value: 0.3 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
"""
LR_MULT, DECAY_MULT = (0.5, 2.0), (2.0, 0.25)

CASES: list[dict[str, Any]] = [
    {"type": "SGD", "momentum": 0.9, "weight_decay": 0.02},
    {"type": "SGD", "momentum": 0.5, "weight_decay": 0.05, "regularization_type": "L1"},
    {"type": "SGD", "momentum": 0.9, "clip_gradients": 0.3, "weight_decay": 0.02, "iter_size": 3},
    {"type": "SGD", "lr_policy": "step", "stepsize": 7, "gamma": 0.4},
    {"type": "SGD", "lr_policy": "exp", "gamma": 0.93, "momentum": 0.8},
    {"type": "SGD", "lr_policy": "inv", "gamma": 0.1, "power": 0.75, "momentum": 0.9},
    {"type": "SGD", "lr_policy": "multistep", "stepvalue": [3, 9, 9, 20], "gamma": 0.5, "momentum": 0.9},
    {"type": "SGD", "lr_policy": "poly", "power": 2.0, "momentum": 0.9},
    {"type": "SGD", "lr_policy": "sigmoid", "gamma": -0.3, "stepsize": 12},
    {"type": "Nesterov", "momentum": 0.95, "weight_decay": 0.01, "lr_policy": "poly", "power": 0.5},
    {"type": "Nesterov", "momentum": 0.9, "regularization_type": "L1", "weight_decay": 0.02, "clip_gradients": 1.0},
    {"type": "AdaGrad", "delta": 1e-3, "weight_decay": 0.02, "iter_size": 2},
    {"type": "AdaGrad", "lr_policy": "inv", "gamma": 0.2, "power": 0.5},
    {"type": "RMSProp", "rms_decay": 0.8, "delta": 1e-4, "weight_decay": 0.02},
    {"type": "RMSProp", "lr_policy": "step", "stepsize": 5, "gamma": 0.5, "clip_gradients": 0.5},
    {"type": "AdaDelta", "momentum": 0.9, "delta": 1e-4, "base_lr": 1.0, "weight_decay": 0.01},
    {"type": "AdaDelta", "momentum": 0.95, "delta": 1e-6, "base_lr": 5.0, "iter_size": 2},
    {"type": "Adam", "momentum": 0.8, "momentum2": 0.99, "delta": 1e-4, "weight_decay": 0.05},
    {"type": "Adam", "momentum": 0.9, "lr_policy": "exp", "gamma": 0.95, "clip_gradients": 0.2, "iter_size": 2},
]
DEFAULTS: dict[str, Any] = {
    "base_lr": 0.05, "lr_policy": "fixed", "momentum": 0.0, "momentum2": 0.999, "delta": 1e-8, "rms_decay": 0.99,
    "weight_decay": 0.0, "regularization_type": "L2", "clip_gradients": -1.0, "iter_size": 1, "gamma": 0.0,
    "power": 0.0, "stepsize": 0, "stepvalue": [],
}  # fmt: skip


def text_of(case: dict[str, Any]) -> str:
    def spell(value: Any) -> str:
        return f'"{value}"' if isinstance(value, str) else repr(value)

    settings = {"base_lr": DEFAULTS["base_lr"], "lr_policy": "fixed", **case}
    fields = [
        f"{name}: {spell(one)}"
        for name, value in settings.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    return f'net: "net.prototxt" random_seed: 4 max_iter: {ITERATIONS} snapshot_after_train: false ' + " ".join(fields)


def rate(s: dict[str, Any], i: int, steps: int) -> float:
    base, gamma, power = s["base_lr"], s["gamma"], s["power"]
    rates: dict[str, Callable[[], float]] = {
        "fixed": lambda: base,
        "step": lambda: base * gamma ** (i // s["stepsize"]),
        "exp": lambda: base * gamma**i,
        "inv": lambda: base * (1 + gamma * i) ** -power,
        "multistep": lambda: base * gamma**steps,
        "poly": lambda: base * (1 - i / ITERATIONS) ** power,
        "sigmoid": lambda: base / (1 + math.exp(-gamma * (i - s["stepsize"]))),
    }
    return rates[s["lr_policy"]]()


def update(s: dict[str, Any], h: list[Floats], g: Floats, r: float, i: int) -> Floats:
    kind, m, delta = s["type"], s["momentum"], s["delta"]
    if kind == "SGD":
        h[0] = m * h[0] + r * g
        return h[0]
    if kind == "Nesterov":
        before, h[0] = h[0], m * h[0] + r * g
        return (1 + m) * h[0] - m * before
    if kind == "AdaGrad":
        h[0] = h[0] + g**2
        return r * g / (np.sqrt(h[0]) + delta)
    if kind == "RMSProp":
        h[0] = s["rms_decay"] * h[0] + (1 - s["rms_decay"]) * g**2
        return r * g / (np.sqrt(h[0]) + delta)
    if kind == "AdaDelta":
        h[0] = m * h[0] + (1 - m) * g**2
        step = g * np.sqrt((h[1] + delta) / (h[0] + delta))
        h[1] = m * h[1] + (1 - m) * step**2
        return r * step
    h[0] = m * h[0] + (1 - m) * g
    h[1] = s["momentum2"] * h[1] + (1 - s["momentum2"]) * g**2
    correction = math.sqrt(1 - s["momentum2"] ** (i + 1)) / (1 - m ** (i + 1))
    return r * correction * h[0] / (np.sqrt(h[1]) + delta)


def reference(case: dict[str, Any], x: Floats, t: Floats, w: Floats, b: Floats) -> tuple[list[Floats], list[float]]:
    s = {**DEFAULTS, **case}
    params, histories = [w, b], [[np.zeros_like(one)] * 2 for one in (w, b)]
    row = steps = 0
    losses = []
    for i in range(ITERATIONS):
        gradients = [np.zeros_like(one) for one in params]
        loss = 0.0
        for _ in range(s["iter_size"]):
            rows = np.arange(row, row + BATCH) % ROWS
            row += BATCH
            error = x[rows] @ params[0].T + params[1] - t[rows]
            loss += float((error**2).sum()) / (2 * BATCH)
            gradients = [gradients[0] + error.T @ x[rows] / BATCH, gradients[1] + error.sum(0) / BATCH]
        losses.append(loss / s["iter_size"])
        norm = math.sqrt(sum(float((g**2).sum()) for g in gradients))
        if 0 <= s["clip_gradients"] < norm:
            gradients = [g * s["clip_gradients"] / norm for g in gradients]
        if steps < len(s["stepvalue"]) and i >= s["stepvalue"][steps]:
            steps += 1  # one in an iteration at most
        for k, (h, g) in enumerate(zip(histories, gradients, strict=True)):
            penalty = params[k] if s["regularization_type"] == "L2" else np.sign(params[k])
            whole = g / s["iter_size"] + s["weight_decay"] * DECAY_MULT[k] * penalty
            params[k] = params[k] - update(s, h, whole, rate(s, i, steps) * LR_MULT[k], i)
    return params, losses


class Losses:
    def __init__(self) -> None:
        self.values: list[float] = []

    def on_iteration(self, report: Any) -> None:
        self.values.append(report.loss)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(value) for value in case.values()))
def test_a_training_follows_the_formulas(tmp_path: Path, case: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    x, t = rng.standard_normal((ROWS, 4)).astype(np.float32), rng.standard_normal((ROWS, 3)).astype(np.float32)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        file["x"], file["t"] = x, t
    (tmp_path / "list.txt").write_text("rows.h5\n")
    (tmp_path / "net.prototxt").write_text(NET)
    solver = Solver.create(text_of(case) + "\n", base_dirs=(tmp_path,))
    start = [blob.data.astype(np.float64) for blob in solver.net.params["ip"]]
    expected, losses = reference(case, x.astype(np.float64), t.astype(np.float64), *start)
    seen = Losses()
    solver.listeners.append(seen)
    solver.solve()
    solver.close()
    np.testing.assert_allclose(seen.values, losses, rtol=2e-5)
    for got, wanted, before in zip(solver.net.params["ip"], expected, start, strict=True):
        assert np.abs(wanted - before).max() > 0.01
        np.testing.assert_allclose(got.data, wanted, atol=1e-5 * np.abs(wanted).max())
