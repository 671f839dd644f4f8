"""Test passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine.solvers.reports import TestReport

if TYPE_CHECKING:
    from engine.net import Net

__all__ = ["run_test"]


def run_test(
    net: Net, batches: int, *, iteration: int, net_index: int, with_loss: bool, go_on: Callable[[], bool]
) -> TestReport | None:
    """Average a test net's outputs over batches.

    Parameters
    ----------
    net : Net
    batches : int
        ``test_iter`` of the net.
    iteration, net_index : int
        Passed on to the report.
    with_loss : bool
        Whether to average the loss too.
    go_on : callable
        Asked after every batch; False ends the pass.

    Returns
    -------
    TestReport or None
        None if the pass was ended early; the net's data then stand where they stood before it.
    """
    sums: dict[str, npt.NDArray[Any]] = {}
    total = 0.0
    before = net.get_state()
    for done in range(batches):
        total += net.forward()
        for name in sorted(net.outputs):
            values = net.blobs[name].read_data()
            if done == 0:
                sums[name] = values.astype(np.float64)
            elif values.shape == sums[name].shape:
                sums[name] += values
            else:
                # Outputs of another shape (a smaller last batch, say) have no elementwise mean; the newest ones count.
                sums[name] = values.astype(np.float64) * (done + 1)
        if not go_on() and done + 1 < batches:
            net.set_state(before)
            return None
    outputs = {name: np.asarray(values / batches, dtype=np.float32) for name, values in sums.items()}
    return TestReport(iteration, net_index, outputs, total / batches if with_loss else float("nan"), batches)
