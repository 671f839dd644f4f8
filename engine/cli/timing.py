"""How long the layers of a net take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

from engine.net import Net

__all__ = ["LayerTimes", "NetTimes", "Spread", "time_net"]

_MILLISECONDS = 1000.0


@dataclass(frozen=True, slots=True)
class Spread:
    """Times of one thing that was done again and again.

    Attributes
    ----------
    mean, min : float
        Milliseconds.
    """

    mean: float
    min: float


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """One layer.

    Attributes
    ----------
    name, type : str
    forward, backward : Spread
        The forward pass with the layer's reshape, and the backward pass: next to nothing where it needs none.
    """

    name: str
    type: str
    forward: Spread
    backward: Spread


@dataclass(frozen=True, slots=True)
class NetTimes:
    """A whole net.

    Attributes
    ----------
    layers : tuple of LayerTimes
        In the order in which they run.
    forward, backward, both : Spread
        Whole passes.
    total : float
        Milliseconds of all passes together.
    """

    layers: tuple[LayerTimes, ...]
    forward: Spread
    backward: Spread
    both: Spread
    total: float


def time_net(net: Net, iterations: int, after_each: Callable[[int, float], None]) -> NetTimes:
    """Run a net forward and backward, layer by layer, as Caffe's ``time`` does.

    Parameters
    ----------
    net : Net
        Run once already, so that its memory is there.
    iterations : int
        Passes each way.
    after_each : callable
        Called with the number of iterations done and the milliseconds of the last one; its own time does not count.
    """
    layers = range(len(net.layers))
    forward, backward = np.zeros((iterations, len(layers))), np.zeros((iterations, len(layers)))
    passes = np.zeros((iterations, 2))
    for done in range(iterations):
        net.clear_param_diffs()
        began = before = perf_counter()
        for index in layers:
            net.forward(index, index)
            now = perf_counter()
            forward[done, index], before = now - before, now
        middle = before
        for index in reversed(layers):
            net.backward(index, index)
            now = perf_counter()
            backward[done, index], before = now - before, now
        passes[done] = middle - began, before - middle
        after_each(done + 1, float(passes[done].sum()) * _MILLISECONDS)
    return NetTimes(
        tuple(
            LayerTimes(node.name, node.type, _spread(forward[:, index]), _spread(backward[:, index]))
            for index, node in enumerate(net.nodes)
        ),
        _spread(passes[:, 0]),
        _spread(passes[:, 1]),
        _spread(passes.sum(axis=1)),
        float(passes.sum()) * _MILLISECONDS,
    )


def _spread(seconds: npt.NDArray[np.float64]) -> Spread:
    return Spread(float(seconds.mean()) * _MILLISECONDS, float(seconds.min()) * _MILLISECONDS)
