"""Reading the golden cases: small nets with what Caffe 1.0 computed for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.layer import Phase
from engine.net import Net
from engine.registry import default_registry
from engine.schema import read_net
from tests.support import shared_files

REGISTRY = default_registry()
TOLERANCE = 1e-4  # relative to the largest magnitude of the array


@dataclass(frozen=True)
class GoldenCase:
    """One net and Caffe's numbers."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def param(self) -> Any:
        return read_net((self.folder / "net.prototxt").read_text())


def golden_cases() -> list[GoldenCase]:
    return [GoldenCase(path.parent) for path in shared_files("golden/layers/*/net.prototxt")]


def assert_close(actual: npt.NDArray[Any], expected: npt.NDArray[Any], what: str) -> None:
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, Caffe has {expected.shape}"
    scale = float(np.abs(expected).max()) if expected.size else 0.0
    worst = float(np.abs(actual.astype(np.float64) - expected).max()) if expected.size else 0.0
    assert np.isfinite(actual).all() or not np.isfinite(expected).all(), f"{what}: not finite"
    assert worst <= TOLERANCE * max(scale, 1e-30), f"{what}: off by {worst} where the largest value is {scale}"


def check_case(case: GoldenCase, **net_options: Any) -> None:
    """Run a case and compare every array that Caffe recorded."""
    numbers = np.load(case.folder / "case.npz")
    net = Net(case.param, Phase(int(numbers["phase"])), seed=0, registry=REGISTRY, **net_options)
    for key in numbers.files:
        kind, _, rest = key.partition("/")
        if kind == "in":
            net.blobs[rest].data[...] = numbers[key]
        elif kind == "param":
            layer, _, index = rest.rpartition("/")
            net.params[layer][int(index)].data[...] = numbers[key]
    net.forward()
    for key in numbers.files:
        if key.startswith("out/"):
            assert_close(net.blobs[key[4:]].data, numbers[key], key)
    gradients = [key for key in numbers.files if key.startswith(("grad/", "pgrad/"))]
    for key in numbers.files:
        if key.startswith("topdiff/"):
            net.blobs[key[8:]].diff[...] = numbers[key]
    if gradients:
        net.clear_param_diffs()
        net.backward()
    for key in gradients:
        kind, _, rest = key.partition("/")
        if kind == "grad":
            assert_close(net.blobs[rest].diff, numbers[key], key)
        else:
            layer, _, index = rest.rpartition("/")
            assert_close(net.params[layer][int(index)].diff, numbers[key], key)
    for key in numbers.files:
        if key.startswith("pafter/"):
            layer, _, index = key[7:].rpartition("/")
            assert_close(net.params[layer][int(index)].data, numbers[key], key)
