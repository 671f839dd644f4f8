"""The layers of ``plugins/segmentation`` that compute: SegNet's, DeconvNet's, DeepLab's and PSPNet's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from engine.resources import plugins_path
from engine.testing import check_layer
from tests.plugins.forks import Values, check_against, losses_of
from tests.plugins.segmentation_cases import CASES, windows


@pytest.mark.parametrize("name", CASES)
def test_it_passes_the_checks_for_layers(name: str) -> None:
    check_layer(CASES[name])


def spread(x: Values, index: Values, height: int, width: int) -> Values:
    y = np.zeros((*x.shape[:2], height, width))
    for n, c, row, column in np.ndindex(x.shape):
        y[n, c].flat[int(index[n, c, row, column])] = x[n, c, row, column]
    return y


def bilinear(x: Values, height: int, width: int) -> Values:
    y = np.empty((*x.shape[:2], height, width))
    for row, column in np.ndindex(height, width):
        h, w = (
            np.float32(old - 1) / np.float32(new - 1) * np.float32(at) if new > 1 else np.float32(0)
            for old, new, at in zip(x.shape[2:], (height, width), (row, column), strict=True)
        )
        up, left = int(h), int(w)
        down, right = min(up + 1, x.shape[2] - 1), min(left + 1, x.shape[3] - 1)
        h, w = float(h - np.float32(up)), float(w - np.float32(left))
        y[:, :, row, column] = (1 - h) * ((1 - w) * x[:, :, up, left] + w * x[:, :, up, right]) + h * (
            (1 - w) * x[:, :, down, left] + w * x[:, :, down, right]
        )
    return y


def normalised(x: Values, scale: Values, shift: Values, mean: Values, variance: Values, eps: float) -> Values:
    return (x - mean) / np.sqrt(variance + eps) * scale + shift


def of_batch(x: Values, scale: Values, shift: Values, *_: Values, eps: float) -> Values:
    mean = x.mean(axis=(0, 2, 3), keepdims=True)
    variance = (x**2).mean(axis=(0, 2, 3), keepdims=True) - mean**2
    return normalised(x, scale, shift, mean, variance, eps)


REFERENCES: dict[str, Callable[..., Values]] = {
    "upsample": lambda x, index: spread(x, index, 6, 4),
    "upsample to a size": lambda x, index: spread(x, index, 5, 3),
    "upsample, odd": lambda x, index: spread(x, index, 5, 3),
    "upsample without a mask": lambda x: np.kron(x, np.ones((3, 3))),
    "unpooling": lambda x, index: spread(x, index, 6, 6),
    "unpooling, average": lambda x: windows(x, (6, 6), (3, 2), 2, share=True),
    "interp to a size": lambda x: bilinear(x, 7, 9),
    "interp, smaller": lambda x: bilinear(x, 3, 1),
    "interp, zoom and crop": lambda x: bilinear(x[:, :, 1:-2, 1:-2], 7, 10),
    "interp, shrink": lambda x: bilinear(x, 3, 4),
    "interp, only a crop": lambda x: x[:, :, 1:-1, 1:-1],
    "interp, shrink and zoom": lambda x: bilinear(x, 7, 10),
    "interp, a size counts before both": lambda x: bilinear(x, 5, 4),
    "interp, one factor counts before a size": lambda x: bilinear(x, 11, 13),
    "interp, whole zoom": lambda x: bilinear(x, 8, 10),
    "interp to a blob's size": lambda x, _: bilinear(x, 7, 9),
    "bn": lambda x, *p: of_batch(x, *p, eps=1e-9),
    "bn, testing": lambda x, *p: of_batch(x, *p, eps=1e-9),
    "bn, inference": lambda x, scale, shift: x * scale + shift,
    "pspnet bn": lambda x, *p: of_batch(x, *p, eps=float(np.float32(1e-5))),
    "pspnet bn, testing": lambda x, *p: normalised(x, *p, eps=float(np.float32(1e-5))),
    "pspnet bn, frozen": lambda x, *p: normalised(x, *p, eps=float(np.float32(1e-5))),
    "pspnet bn by name": lambda x, *p: normalised(x, *p, eps=float(np.float32(1e-5))),
    "older bn": lambda x, *p: of_batch(x, *p, eps=0.5),
    "older bn, testing": lambda x, *p: of_batch(x, *p, eps=0.5),
    "older bn, testing on averages": lambda x, *p: normalised(x, *p, eps=0.5),
    "older bn, nearly nothing added": lambda x, *p: of_batch(x, *p, eps=1e-10),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_numbers(name: str) -> None:
    check_against(CASES[name], REFERENCES[name])


def test_the_example_learns() -> None:
    losses = losses_of(plugins_path() / "segmentation" / "examples" / "solver.prototxt", 100)
    assert np.mean(losses[-10:]) < 0.6 * np.mean(losses[:5])
