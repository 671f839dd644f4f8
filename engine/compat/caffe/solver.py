"""Solvers as pycaffe scripts use them: ``caffe.get_solver``, ``caffe.SGDSolver`` and its kin."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.backends import get_backend
from engine.compat.caffe.missing import not_offered
from engine.compat.caffe.net import Net
from engine.compat.caffe.session import session
from engine.paths import search_folders
from engine.schema import read_solver
from engine.solvers import Solver as EngineSolver

__all__ = [
    "AdaDeltaSolver",
    "AdaGradSolver",
    "AdamSolver",
    "NesterovSolver",
    "RMSPropSolver",
    "SGDSolver",
    "Solver",
    "get_solver",
]

_PathText = str | os.PathLike[str]


class _Callbacks:
    """A pair of a script's functions as a listener of the engine's solver."""

    def __init__(self, on_start: Callable[[], object], on_gradients_ready: Callable[[], object]) -> None:
        self._on_start = on_start
        self._on_gradients_ready = on_gradients_ready

    def on_start(self, _: EngineSolver) -> None:
        self._on_start()

    def on_gradients(self, _: EngineSolver) -> None:
        self._on_gradients_ready()


class Solver:
    """A solver as pycaffe scripts use it.

    Parameters
    ----------
    solver_file : path
        Prototxt of the solver.
    """

    _type = ""

    def __init__(self, solver_file: _PathText) -> None:
        path = Path(solver_file)
        param = read_solver(path)
        if self._type:
            param.type = self._type
        self._solver = EngineSolver.create(
            param,
            base_dirs=search_folders(path.parent),
            backend=get_backend(session.backend),
            seed=session.seed,
            source=path,
        )
        self._net = Net.wrap(self._solver.net)
        self._test_nets = [Net.wrap(net) for net in self._solver.test_nets]

    @property
    def net(self) -> Net:
        """The net that is trained."""
        return self._net

    @property
    def test_nets(self) -> list[Net]:
        """The nets that are tested; they share the parameters."""
        return self._test_nets

    @property
    def iter(self) -> int:
        """Number of iterations done."""
        return int(self._solver.iteration)

    @property
    def param(self) -> Any:
        """The solver's message; what is changed in it, such as ``base_lr``, holds from the next iteration."""
        return self._solver.param

    def step(self, iters: int) -> None:
        """Train for a number of iterations."""
        self._solver.step(iters)

    def solve(self, resume_file: _PathText | None = None) -> None:
        """Train to the end, first going on from a ``.solverstate`` file if one is given."""
        if resume_file is not None:
            self.restore(resume_file)
        self._solver.solve()

    def snapshot(self) -> None:
        """Write weights and solver state under the solver's ``snapshot_prefix``."""
        self._solver.snapshot()

    def restore(self, resume_file: _PathText) -> None:
        """Go on from a ``.solverstate`` file."""
        self._solver.restore(Path(resume_file))

    def add_callback(self, on_start: Callable[[], object], on_gradients_ready: Callable[[], object]) -> None:
        """Have functions called in every iteration.

        Parameters
        ----------
        on_start : callable
            Called without arguments before the forward pass.
        on_gradients_ready : callable
            Called between the backward pass and the update.
        """
        self._solver.listeners.append(_Callbacks(on_start, on_gradients_ready))

    def apply_update(self) -> None:
        """Update the parameters from their gradients once; the number of iterations stays."""
        self._solver.rule.apply(self._solver.lr, self._solver.iteration)

    def share_weights(self, net: Net) -> None:
        """Make the parameters of a net one memory with those that are trained."""
        net.share_with(self._net)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise not_offered(f"caffe.{type(self).__name__}", name, dir(type(self)))


class SGDSolver(Solver):
    """Stochastic gradient descent with momentum, whatever type the file names."""

    _type = "SGD"


class NesterovSolver(Solver):
    """Nesterov's accelerated gradient, whatever type the file names."""

    _type = "Nesterov"


class AdaGradSolver(Solver):
    """Steps that shrink with all squared gradients so far, whatever type the file names."""

    _type = "AdaGrad"


class RMSPropSolver(Solver):
    """Steps divided by a running mean of squared gradients, whatever type the file names."""

    _type = "RMSProp"


class AdaDeltaSolver(Solver):
    """Steps scaled by a running mean of earlier steps, whatever type the file names."""

    _type = "AdaDelta"


class AdamSolver(Solver):
    """Running means of gradients and of their squares, whatever type the file names."""

    _type = "Adam"


def get_solver(solver_file: _PathText) -> Solver:
    """Return a solver of the type that the file names."""
    return Solver(solver_file)
