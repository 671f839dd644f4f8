"""The training loop."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.backends import Backend
from engine.errors import SolverError
from engine.files import LoadReport, load_weights
from engine.net import Net
from engine.registry import LayerRegistry
from engine.solvers import snapshots
from engine.solvers.building import build, rule_type
from engine.solvers.health import check_params, is_saturated, nonfinite_error, quiet
from engine.solvers.log import TrainingLog
from engine.solvers.policies import learning_rate, step_reached
from engine.solvers.reports import Action, IterationReport, SnapshotPaths, TestReport
from engine.solvers.smoothing import SmoothedLoss
from engine.solvers.testing import run_test
from engine.solvers.update import UpdateRule

__all__ = ["Solver"]

_log = logging.getLogger("engine.solvers")
_PAUSE_SECONDS = 0.02


class Solver:
    """Trains a net, tests it and takes snapshots, in the order in which Caffe's ``Solver::Step`` does.

    Made by :meth:`create`.

    Attributes
    ----------
    param : SolverParameter
    net : Net
        The training net.
    test_nets : list of Net
        They share the training net's parameters.
    rule : UpdateRule
        The solver type's arithmetic, with its histories.
    iteration : int
        Updates done so far.
    max_iter : int
        Updates that :meth:`solve` ends after.
    seed : int
        Seed of all random streams, drawn where the file has none.
    listeners : list
        Objects with any of ``on_iteration(IterationReport)``, ``on_test(TestReport)``, ``on_snapshot(SnapshotPaths)``,
        ``on_snapshot_failed(message)`` and ``on_gradients(solver)``; the last is called between backward and update.
    control : callable or None
        Asked for an :class:`Action` after every iteration and test batch. After ``SNAPSHOT`` and ``PAUSE`` it is asked
        again, so that a request is to be answered once.
    stopped : bool
        Whether the last :meth:`solve` or :meth:`step` was ended by ``control``.
    """

    def __init__(
        self,
        param: Any,
        net: Net,
        test_nets: Sequence[Net],
        *,
        prefix: str,
        seed: int,
        output_dir: Path | None = None,
    ) -> None:
        self.param = param
        self.net = net
        self.test_nets = list(test_nets)
        self.rule: UpdateRule = rule_type(param)(param, net.learnable, net.backend)
        self.iteration = 0
        self.seed = seed
        self.listeners: list[Any] = []
        self.control: Callable[[], Action] | None = None
        self.stopped = False
        self._current_step = 0
        self._prefix = prefix
        self._output_dir = output_dir
        self._loss = SmoothedLoss(int(param.average_loss))
        self._lines = TrainingLog()
        self._saturation_told = False

    @classmethod
    def create(
        cls,
        param: Any,
        *,
        net_text: str | None = None,
        base_dirs: Sequence[Path] = (),
        backend: str | Backend | None = None,
        registry: LayerRegistry | None = None,
        seed: int | None = None,
        output_dir: Path | None = None,
    ) -> Solver:
        """Build a solver and its nets.

        Parameters
        ----------
        param : SolverParameter, Path or str
            The message, a file's path or prototxt text.
        net_text : str, optional
            Prototxt that stands for the net the solver names.
        base_dirs : sequence of Path
            Folders in which relative paths are looked for; by default the working directory, then the solver's folder
            and its ancestors.
        backend : str or Backend, optional
            Where to compute.
        registry : LayerRegistry, optional
            Layer types; the built-in ones by default.
        seed : int, optional
            Stands for ``random_seed``.
        output_dir : Path, optional
            What a relative ``snapshot_prefix`` is relative to, made when missing; by default the working directory,
            where a missing folder is an error, as in Caffe.

        Raises
        ------
        SolverError
            If a setting is missing or wrong.
        NetcanvasError
            If a file cannot be read or a net cannot be built.
        """
        parts = build(param, net_text=net_text, base_dirs=base_dirs, backend=backend, registry=registry, seed=seed)
        solver = cls(
            parts.param, parts.net, parts.test_nets, prefix=parts.prefix, seed=parts.seed, output_dir=output_dir
        )
        for weights in parts.param.weights:
            for written in weights.split(","):
                solver.load_weights(parts.find(written.strip()))
        return solver

    @property
    def max_iter(self) -> int:
        """Updates that :meth:`solve` ends after."""
        return int(self.param.max_iter)

    @property
    def type(self) -> str:
        """Solver type, such as ``SGD``."""
        return self.rule.type

    @property
    def lr(self) -> float:
        """Learning rate of the next update."""
        self._current_step = step_reached(self.param, self.iteration, self._current_step)
        return learning_rate(self.param, self.iteration, self._current_step)

    # Training

    def solve(self, resume_file: Path | None = None) -> None:
        """Train to ``max_iter``; take a last snapshot and run a last test where Caffe does.

        Parameters
        ----------
        resume_file : Path, optional
            Solver state to go on from.

        Raises
        ------
        SolverError
            If the loss stops being finite, or the last snapshot cannot be written.
        """
        self._lines.start(self.net.name, self.param.lr_policy, self.seed)
        if resume_file is not None:
            self.restore(resume_file)
        param = self.param
        if param.snapshot or param.snapshot_after_train:
            self._check_snapshot_folder()
        self.step(self.max_iter - self.iteration)
        check_params(self.net, self.iteration)
        if param.snapshot_after_train and not self._snapshot_due():
            self.snapshot()
        if self.stopped:
            _log.info("Optimization stopped early.")
            return
        if param.display and self.iteration % param.display == 0:
            self._loss.add(self.net.forward())
            _log.info("Iteration %d, loss = %g", self.iteration, self._loss.value)
        if self.test_nets and self.iteration % param.test_interval == 0:
            self.test_all()
        _log.info("Optimization Done.")

    def step(self, iterations: int = 1) -> None:
        """Do a number of iterations, with tests and snapshots as they come due.

        Parameters
        ----------
        iterations : int
            Updates to do; fewer where ``control`` says stop.
        """
        if self.param.snapshot:
            self._check_snapshot_folder()
        end = self.iteration + iterations
        self.stopped = False
        self._loss = SmoothedLoss(int(self.param.average_loss))
        with quiet():
            self._train_to(end)

    def _train_to(self, end: int) -> None:
        while self.iteration < end:
            if self._test_due():
                self.test_all()
                if self.stopped:
                    return
            self._iterate()
            if self._snapshot_due():
                self._try_snapshot()
            if not self._go_on():
                return

    def _iterate(self) -> None:
        """Forward, backward and update once."""
        began, param = time.perf_counter(), self.param
        self.net.clear_param_diffs()
        passes = int(param.iter_size)
        loss = 0.0
        for _ in range(passes):
            loss += self.net.forward()
            if not math.isfinite(loss):
                raise nonfinite_error(self.net, self.iteration, loss)
            self.net.backward()
        loss /= passes
        self._warn_if_saturated(loss)
        self._loss.add(loss)
        shown = bool(param.display) and self.iteration % param.display == 0
        if shown:
            self._lines.iteration(self.iteration, self._loss.value, self.net)
        self._tell("on_gradients", self)
        rate = self.lr
        if shown:
            self._lines.rate(self.iteration, rate)
        self.rule.apply(rate, self.iteration)
        self.iteration += 1
        seconds = time.perf_counter() - began
        self._tell("on_iteration", IterationReport(self.iteration - 1, loss, self._loss.value, rate, seconds))

    # Testing

    def test_all(self) -> list[dict[str, Any]]:
        """Run every test net.

        Returns
        -------
        list of dict of str to ndarray
            For each net the elementwise means of its outputs over ``test_iter`` batches, by name in alphabetical order.
            Shorter if ``control`` stopped it.
        """
        results: list[dict[str, Any]] = []
        for index in range(len(self.test_nets)):
            report = self.test(index)
            if report is None:
                break
            results.append(dict(report.outputs))
        return results

    def test(self, index: int = 0) -> TestReport | None:
        """Run one test net; None if ``control`` stopped it."""
        net = self.test_nets[index]
        self._lines.test_started(self.iteration, index)
        report = run_test(
            net,
            int(self.param.test_iter[index]),
            iteration=self.iteration,
            net_index=index,
            with_loss=bool(self.param.test_compute_loss),
            go_on=self._go_on,
        )
        if report is None:
            _log.info("Test interrupted.")
            return None
        self._lines.tested(report, net)
        self._tell("on_test", report)
        return report

    # Snapshots and weights

    def snapshot(self) -> SnapshotPaths:
        """Write weights and solver state.

        Returns
        -------
        SnapshotPaths
            The files: ``<prefix>_iter_<N>.caffemodel`` and ``.solverstate``.

        Raises
        ------
        SolverError
            If a parameter is not finite, or a file cannot be written.
        """
        check_params(self.net, self.iteration)
        paths = snapshots.snapshot_paths(self._prefix, self.iteration, self._output_dir)
        _log.info("Snapshotting to binary proto file %s", paths.model)
        _log.info("Snapshotting solver state to binary proto file %s", paths.state)
        try:
            snapshots.save(paths, self.net, self.test_nets, self.rule, self._current_step)
        except OSError as error:
            raise SolverError(
                f"Snapshot '{paths.state}' could not be written: {error.strerror or error}.",
                next_step="Earlier snapshots are whole. Make room or correct the folder's permissions.",
            ) from error
        self._tell("on_snapshot", paths)
        return paths

    def restore(self, path: str | Path) -> None:
        """Go on from a solver state, Caffe's own or ours.

        Raises
        ------
        FileFormatError, SolverError, WeightsError
            If the file is of another kind or does not fit.
        """
        restored = snapshots.load(Path(path), self.net, self.test_nets, self.rule)
        self.iteration = restored.iteration
        self._current_step = restored.current_step
        _log.info("Restored '%s': going on at iteration %d.", path, self.iteration)

    def load_weights(self, path: str | Path) -> LoadReport:
        """Start from weights: layers of the same name take them, others keep their filling.

        Raises
        ------
        FileFormatError, WeightsError
            If the file is of another kind, or shapes differ.
        """
        report = load_weights(self.net, path)
        trained = set(self.net.params)
        for net in self.test_nets:
            if set(net.params) - trained:
                load_weights(net, path)
        return report

    def close(self) -> None:
        """Let go of the nets' files and threads."""
        for net in (self.net, *self.test_nets):
            net.close()

    # What happens between iterations

    def _test_due(self) -> bool:
        param = self.param
        if not self.test_nets or self.iteration % param.test_interval:
            return False
        return self.iteration > 0 or bool(param.test_initialization)

    def _snapshot_due(self) -> bool:
        return bool(self.param.snapshot) and self.iteration > 0 and self.iteration % self.param.snapshot == 0

    def _check_snapshot_folder(self) -> None:
        folder = snapshots.snapshot_paths(self._prefix, 0, self._output_dir).state.parent
        if self._output_dir is not None:
            folder.mkdir(parents=True, exist_ok=True)
        snapshots.check_writable(folder)

    def _try_snapshot(self) -> None:
        """Write a snapshot; a disk that fails does not end the training, a run gone wrong does."""
        try:
            self.snapshot()
        except SolverError as error:
            if not isinstance(error.__cause__, OSError):
                raise
            _log.warning("%s Training goes on.", error)
            self._tell("on_snapshot_failed", str(error))

    def _go_on(self) -> bool:
        """Do what ``control`` asks for; False once it asked to stop."""
        while self.control is not None and not self.stopped:
            action = Action(self.control())
            if action is Action.CONTINUE:
                break
            if action is Action.STOP:
                self.stopped = True
            elif action is Action.SNAPSHOT:
                self._try_snapshot()
            else:
                time.sleep(_PAUSE_SECONDS)
        return not self.stopped

    def _warn_if_saturated(self, loss: float) -> None:
        if is_saturated(loss) and not self._saturation_told:
            self._saturation_told = True
            _log.warning(
                "Iteration %d: the loss %g is that of probabilities gone to zero; training has probably diverged. "
                "Lower base_lr or scale the data.",
                self.iteration,
                loss,
            )

    def _tell(self, event: str, argument: Any) -> None:
        for listener in self.listeners:
            method = getattr(listener, event, None)
            if method is not None:
                method(argument)
