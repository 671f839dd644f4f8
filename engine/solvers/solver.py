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
from engine.forks import one_process
from engine.net import DebugInfo
from engine.registry import LayerRegistry
from engine.solvers.building import SolverParts, build, rule_type
from engine.solvers.course import Course
from engine.solvers.health import GradientCheck, check_params, is_saturated, nonfinite_error, quiet
from engine.solvers.keeping import SnapshotKeeper
from engine.solvers.log import TrainingLog
from engine.solvers.rates import RateCourse
from engine.solvers.reports import Action, IterationReport, SnapshotPaths, TestReport
from engine.solvers.smoothing import SmoothedLoss
from engine.solvers.snapshots import SnapshotPlace
from engine.solvers.testing import Tester
from engine.solvers.update import UpdateRule

__all__ = ["Solver"]

_log = logging.getLogger("engine.solvers")
_PAUSE_SECONDS = 0.02
_HDF5 = 0  # SolverParameter.SnapshotFormat


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
        ``on_snapshot_failed(message)``, ``on_start(solver)`` and ``on_gradients(solver)``; the last two are called
        before the forward pass of an iteration, and between its backward pass and the update.
    control : callable or None
        Asked for an :class:`Action` after every iteration and test batch. After ``SNAPSHOT`` and ``PAUSE`` it is asked
        again, so that a request is to be answered once.
    stopped : bool
        Whether the last :meth:`solve` or :meth:`step` was ended by ``control``.
    ended_early : str
        Why early stopping ended the last of them, or nothing.
    """

    def __init__(self, parts: SolverParts, output_dir: Path | None = None) -> None:
        self.param: Any = parts.param
        self.net = parts.net
        self.test_nets = list(parts.test_nets)
        self.rule: UpdateRule = rule_type(self.param)(self.param, self.net.learnable, self.net.backend)
        self.iteration = 0
        self.seed = parts.seed
        self.listeners: list[Any] = []
        self.control: Callable[[], Action] | None = None
        self.stopped = False
        self.ended_early = ""
        hdf5 = self.param.snapshot_format == _HDF5
        place = SnapshotPlace(parts.prefix, output_dir, hdf5, bool(self.param.snapshot_diff))
        self._course = Course(parts.extras, self.test_nets, place.files)
        self._keeper = SnapshotKeeper(place, self._course, self.net, self.test_nets, self.rule)
        self._loss = SmoothedLoss(int(self.param.average_loss))
        self._lines = TrainingLog()
        self._rate = RateCourse(self.param, parts.extras.warm_up, self._lines)
        self._tester = Tester(
            self.param, self.test_nets, self._lines, self._go_on, lambda report: self._tell("on_test", report)
        )
        self._gradients = GradientCheck(self.net)

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
        source: Path | None = None,
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
        source : Path, optional
            Where a message or text came from: ``source.extras.json`` is read (see :mod:`engine.solvers.extras`), and
            snapshots are named after it where ``snapshot_prefix`` does not name them.

        Raises
        ------
        SolverError
            If a setting is missing or wrong.
        NetcanvasError
            If a file cannot be read or a net cannot be built.
        """
        with one_process():
            parts = build(
                param,
                net_text=net_text,
                base_dirs=base_dirs,
                backend=backend,
                registry=registry,
                seed=seed,
                source=source,
                output_dir=output_dir,
            )
        solver = cls(parts, output_dir)
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
        """Learning rate of the next update, warm-up included."""
        return self._rate.peek(self.iteration)

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
        self._lines.start(self.net.name, self.param.lr_policy, self.seed, self._course.extras.lines())
        if resume_file is not None:
            self.restore(resume_file)
        param = self.param
        if param.snapshot or param.snapshot_after_train:
            self._keeper.check()
        self.step(self.max_iter - self.iteration)
        check_params(self.net, self.iteration)
        if param.snapshot_after_train and (self._keeper.unsaved or not self._snapshot_due()):
            self.snapshot()
        if self.stopped or self.ended_early:
            _log.info("Optimization stopped early.")
            return
        if param.display and self.iteration % param.display == 0:
            with one_process():
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
            self._keeper.check()
        end = self.iteration + iterations
        self.stopped, self.ended_early = False, ""
        self._loss = SmoothedLoss(int(self.param.average_loss))
        with quiet():
            self._train_to(end)

    def _train_to(self, end: int) -> None:
        while self.iteration < end:
            if self._test_due() and not self._test_on_the_way():
                return
            self._iterate()
            if self._snapshot_due():
                self._try_snapshot()
            if not self._go_on():
                return

    def _iterate(self) -> None:
        """Forward, backward and update once."""
        began, param = time.perf_counter(), self.param
        self._keeper.release()
        self.net.clear_param_diffs()
        self._tell("on_start", self)
        shown = bool(param.display) and self.iteration % param.display == 0
        self.net.debug_info = debugged = shown and bool(param.debug_info)
        with one_process():
            loss = self._pass()
        if is_saturated(loss):
            self._lines.saturated(self.iteration, loss)
        self._loss.add(loss)
        if shown:
            self._lines.iteration(self.iteration, self._loss.value, self.net)
        self._tell("on_gradients", self)
        rate = self._rate.advance(self.iteration)
        if shown:
            self._lines.rate(self.iteration, rate)
        self._update(rate, debugged)
        self.iteration += 1
        seconds = time.perf_counter() - began
        self._tell("on_iteration", IterationReport(self.iteration - 1, loss, self._loss.value, rate, seconds))

    def _pass(self) -> float:
        """Return the loss of ``iter_size`` passes forward and backward."""
        passes = int(self.param.iter_size)
        loss = 0.0
        for _ in range(passes):
            loss += self.net.forward()
            if not math.isfinite(loss):
                raise nonfinite_error(self.net, self.iteration, loss)
            self.net.backward()
            self._gradients.check(self.iteration)
        return loss / passes

    def _update(self, rate: float, debugged: bool) -> None:
        before = DebugInfo.magnitudes(self.net.nodes) if debugged else ()
        self.rule.apply(rate, self.iteration)
        if debugged:
            DebugInfo().updated(self.net.nodes, before)

    # Testing

    def _test_on_the_way(self) -> bool:
        """Test; False if the training is to end. A snapshot taken meanwhile goes back to before the test."""
        self._keeper.hold()
        reports = self._tester.run_all(self.iteration)
        if self.stopped:
            return False
        wanted = [report for report in reports if self._course.watch(report)]
        if wanted and not self._course.has(self.iteration):
            self._try_snapshot()
        self.ended_early = self._course.ended
        if self.ended_early:
            _log.info("%s", self.ended_early)
        return not self.ended_early

    def test_all(self) -> list[dict[str, Any]]:
        """Run every test net.

        Returns
        -------
        list of dict of str to ndarray
            For each net the elementwise means of its outputs over ``test_iter`` batches, by name in alphabetical order.
            Shorter if ``control`` stopped it.
        """
        return [dict(report.outputs) for report in self._tester.run_all(self.iteration)]

    def test(self, index: int = 0) -> TestReport | None:
        """Run one test net; None if ``control`` stopped it."""
        return self._tester.run(index, self.iteration)

    # Snapshots and weights

    def snapshot(self) -> SnapshotPaths:
        """Write weights and solver state.

        Returns
        -------
        SnapshotPaths
            The files: ``<prefix>_iter_<N>.caffemodel`` and ``.solverstate``, both with ``.h5`` behind for
            ``snapshot_format: HDF5``.

        Raises
        ------
        SolverError
            If a parameter is not finite, or a file cannot be written.
        """
        check_params(self.net, self.iteration)
        paths = self._keeper.write(self.iteration, self._rate.current_step)
        self._tell("on_snapshot", paths)
        return paths

    def restore(self, path: str | Path) -> None:
        """Go on from a solver state, Caffe's own or ours.

        Raises
        ------
        FileFormatError, SolverError, WeightsError
            If the file is of another kind or does not fit.
        """
        _log.info("Restoring previous solver status from %s", path)
        restored = self._keeper.restore(Path(path))
        self.iteration = restored.iteration
        self._rate.current_step = restored.current_step
        _log.info("Restored '%s': going on at iteration %d.", path, self.iteration)

    def load_weights(self, path: str | Path) -> LoadReport:
        """Start from weights: layers of the same name take them, others keep their filling.

        Raises
        ------
        FileFormatError, WeightsError
            If the file is of another kind, or shapes differ.
        """
        _log.info("Finetuning from %s", path)
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

    def _tell(self, event: str, argument: Any) -> None:
        for listener in self.listeners:
            method = getattr(listener, event, None)
            if method is not None:
                method(argument)
