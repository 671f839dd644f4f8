"""Test passes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine.solvers.health import find_in_forward
from engine.solvers.log import TrainingLog
from engine.solvers.reports import TestReport

if TYPE_CHECKING:
    from engine.net import Net

__all__ = ["Tester", "run_test"]

_log = logging.getLogger("engine.solvers")


class Tester:
    """Runs the test nets of a solver.

    Parameters
    ----------
    param : SolverParameter
    nets : sequence of Net
    lines : TrainingLog
        Told of what comes out.
    go_on : callable
        Asked after every batch; False ends the pass.
    tell : callable
        Called with each report.
    """

    __test__ = False  # no test case, whatever pytest makes of the name

    def __init__(
        self,
        param: Any,
        nets: Sequence[Net],
        lines: TrainingLog,
        go_on: Callable[[], bool],
        tell: Callable[[TestReport], None],
    ) -> None:
        self._param = param
        self._nets = nets
        self._lines = lines
        self._go_on = go_on
        self._tell = tell

    def run_all(self, iteration: int) -> list[TestReport]:
        """Run every test net; fewer reports if the pass was ended."""
        reports: list[TestReport] = []
        for index in range(len(self._nets)):
            report = self.run(index, iteration)
            if report is None:
                break
            reports.append(report)
        return reports

    def run(self, index: int, iteration: int) -> TestReport | None:
        """Run one test net; None if the pass was ended."""
        net = self._nets[index]
        net.debug_info = bool(self._param.debug_info)
        self._lines.test_started(iteration, index)
        report = run_test(
            net,
            int(self._param.test_iter[index]),
            iteration=iteration,
            net_index=index,
            with_loss=bool(self._param.test_compute_loss),
            go_on=self._go_on,
        )
        if report is None:
            _log.info("Test interrupted.")
            return None
        self._lines.tested(report, net)
        _warn_of_nonfinite(report, net)
        self._tell(report)
        return report


def _warn_of_nonfinite(report: TestReport, net: Net) -> None:
    bad = [name for name, values in report.outputs.items() if not np.isfinite(values).all()]
    if bad:
        finding = find_in_forward(net)
        began = f" In the last batch it began in {finding}." if finding is not None else ""
        _log.warning(
            "Iteration %d, test net #%d: output '%s' is not finite.%s",
            report.iteration,
            report.net_index,
            bad[0],
            began,
        )


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
