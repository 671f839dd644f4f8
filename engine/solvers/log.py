"""Lines of a training log in Caffe's wording, so that programs which read Caffe's logs read ours."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine.solvers.reports import TestReport

if TYPE_CHECKING:
    from engine.net import Net

__all__ = ["TrainingLog"]

_log = logging.getLogger("engine.solvers")
_MOST_VALUES = 32


class TrainingLog:
    """Writes what Caffe's solver prints."""

    def __init__(self) -> None:
        self._time: float | None = None
        self._iteration = 0
        self._saturation_told = False

    def start(self, net_name: str, policy: str, seed: int, extras: Sequence[str] = ()) -> None:
        """Write the head of a training, with lines about options beyond Caffe's."""
        self._time = None
        _log.info("Solving %s", net_name)
        _log.info("Learning Rate Policy: %s", policy)
        _log.info("Random seed: %d", seed)
        for line in extras:
            _log.info("%s", line)

    def iteration(self, iteration: int, smoothed_loss: float, net: Net) -> None:
        """Write loss, speed since the last such line, and the training net's outputs."""
        now = time.monotonic()
        done = iteration - self._iteration
        seconds = now - self._time if self._time is not None and done > 0 else 0.0
        speed = done / seconds if seconds else 0.0
        _log.info(
            "Iteration %d (%g iter/s, %gs/%d iters), loss = %g", iteration, speed, seconds, max(done, 0), smoothed_loss
        )
        self._time, self._iteration = now, iteration
        self._outputs("Train", net, {name: net.blobs[name].read_data() for name in sorted(net.outputs)})

    def rate(self, iteration: int, rate: float) -> None:
        """Write the learning rate."""
        _log.info("Iteration %d, lr = %g", iteration, rate)

    def step_taken(self, iteration: int, step: int) -> None:
        """Write that the policy ``multistep`` took a step."""
        _log.info("MultiStep Status: Iteration %d, step = %d", iteration, step)

    def saturated(self, iteration: int, loss: float) -> None:
        """Warn, once, of a loss at which softmax has run out of numbers."""
        if not self._saturation_told:
            self._saturation_told = True
            _log.warning(
                "Iteration %d: the loss %g is that of probabilities gone to zero; training has probably diverged. "
                "Lower base_lr or scale the data.",
                *(iteration, loss),
            )

    def test_started(self, iteration: int, net_index: int) -> None:
        """Write that a test net runs."""
        _log.info("Iteration %d, Testing net (#%d)", iteration, net_index)

    def tested(self, report: TestReport, net: Net) -> None:
        """Write the scores of a test net."""
        if not np.isnan(report.loss):
            _log.info("Test loss: %g", report.loss)
        self._outputs("Test", net, report.outputs)

    def _outputs(self, kind: str, net: Net, outputs: Mapping[str, npt.NDArray[Any]]) -> None:
        number = 0
        for name, values in outputs.items():
            flat = values.reshape(-1)
            if len(flat) > _MOST_VALUES:
                _log.info(
                    "    %s net output #%d: %s = %g (mean of %d values of shape %s, from %g to %g)",
                    *(kind, number, name, flat.mean(), len(flat), values.shape, flat.min(), flat.max()),
                )
                number += 1
                continue
            weight = float(net.loss_weights.get(name, 0.0))
            for value in flat:
                loss = f" (* {weight:g} = {weight * value:g} loss)" if weight else ""
                _log.info("    %s net output #%d: %s = %g%s", kind, number, name, value, loss)
                number += 1
