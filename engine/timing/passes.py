"""Running a net again and again, and looking at the clock between its layers."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
import numpy.typing as npt

from engine.net import Net
from engine.timing.times import LayerTimes, NetTimes, Spread

__all__ = ["time_net"]

_MILLISECONDS = 1000.0


def time_net(net: Net, iterations: int, after_each: Callable[[int, float], object]) -> NetTimes:
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
    found = (seconds.mean(), seconds.min(), np.median(seconds))
    return Spread(*(float(each) * _MILLISECONDS for each in found))
