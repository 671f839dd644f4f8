"""``caffe.SGDSolver`` and ``caffe.get_solver``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engine.backends import get_backend
from engine.compat.caffe.missing import not_offered
from engine.compat.caffe.net import Net
from engine.compat.caffe.session import session
from engine.paths import search_folders
from engine.schema import read_solver
from engine.solvers import Solver as EngineSolver

__all__ = ["SGDSolver", "Solver", "get_solver"]

_PathText = str | os.PathLike[str]


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
            param, base_dirs=search_folders(path.parent), backend=get_backend(session.backend), seed=session.seed
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
        """The solver's message."""
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

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise not_offered(f"caffe.{type(self).__name__}", name, dir(type(self)))


class SGDSolver(Solver):
    """Stochastic gradient descent with momentum, whatever type the file names."""

    _type = "SGD"


def get_solver(solver_file: _PathText) -> Solver:
    """Return a solver of the type that the file names."""
    return Solver(solver_file)
