"""Caffe's update rules, each a few lines over blocks of a parameter.

Notation: g gradient with decay, r rate of the parameter, h histories. Every rule leaves in ``block.diff`` what is
subtracted from the parameter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from engine.backends.base import Array
from engine.errors import SolverError
from engine.solvers.update import Block, UpdateRule

__all__ = ["RULES", "AdaDelta", "AdaGrad", "Adam", "Nesterov", "RmsProp", "Sgd"]


class Sgd(UpdateRule):
    """Gradient descent with momentum that carries the rate inside: ``h = m h + r g``, subtract ``h``."""

    type = "SGD"

    def compute(self, block: Block, rate: float, iteration: int) -> None:
        """See the class."""
        (velocity,) = block.history
        velocity *= float(self.param.momentum)
        block.diff *= rate
        velocity += block.diff
        block.diff[...] = velocity


class Nesterov(UpdateRule):
    """Nesterov's accelerated gradient: ``h' = m h + r g``, subtract ``(1 + m) h' - m h`` (Caffe's form)."""

    type = "Nesterov"

    def compute(self, block: Block, rate: float, iteration: int) -> None:
        """See the class."""
        momentum = float(self.param.momentum)
        (velocity,) = block.history
        block.xp.multiply(velocity, momentum, out=block.scratch)
        block.diff *= rate
        block.xp.add(block.scratch, block.diff, out=velocity)
        block.xp.multiply(velocity, 1.0 + momentum, out=block.diff)
        block.diff -= block.scratch


class AdaGrad(UpdateRule):
    """Duchi, Hazan and Singer 2011: ``h += g^2``, subtract ``r g / (sqrt(h) + delta)``."""

    type = "AdaGrad"

    def check(self) -> None:
        """Refuse momentum, which the rule does not have."""
        _refuse_momentum(self)

    def compute(self, block: Block, rate: float, iteration: int) -> None:
        """See the class."""
        (squares,) = block.history
        block.xp.multiply(block.diff, block.diff, out=block.scratch)
        squares += block.scratch
        _divide_by_root(block, squares, float(self.param.delta))
        block.diff *= rate


class RmsProp(UpdateRule):
    """Tieleman and Hinton 2012: ``h = d h + (1 - d) g^2``, d ``rms_decay``; subtract ``r g / (sqrt(h) + delta)``."""

    type = "RMSProp"

    def check(self) -> None:
        """Refuse momentum, which the rule does not have, and a decay outside 0 to 1."""
        _refuse_momentum(self)
        if not 0 <= self.param.rms_decay < 1:
            raise SolverError(f"Solver (RMSProp): expected an rms_decay from 0 to below 1, got {self.param.rms_decay}.")

    def compute(self, block: Block, rate: float, iteration: int) -> None:
        """See the class."""
        decay = float(self.param.rms_decay)
        (squares,) = block.history
        _average_square(block, squares, decay)
        _divide_by_root(block, squares, float(self.param.delta))
        block.diff *= rate


class AdaDelta(UpdateRule):
    """Zeiler 2012, algorithm 1: ``h1 = m h1 + (1 - m) g^2``, ``u = g sqrt((h2 + delta) / (h1 + delta))``,
    ``h2 = m h2 + (1 - m) u^2``, subtract ``r u``.
    """  # noqa: D205 - the formula needs two lines

    type = "AdaDelta"
    sets = 2

    def compute(self, block: Block, rate: float, iteration: int) -> None:
        """See the class."""
        momentum, delta = float(self.param.momentum), float(self.param.delta)
        squares, updates = block.history
        _average_square(block, squares, momentum)
        block.xp.add(updates, delta, out=block.scratch)
        block.xp.add(squares, delta, out=block.second)
        block.scratch /= block.second
        block.xp.sqrt(block.scratch, out=block.scratch)
        block.diff *= block.scratch
        _average_square(block, updates, momentum)
        block.diff *= rate


class Adam(UpdateRule):
    """Kingma and Ba 2015, end of section 2: ``m = b1 m + (1 - b1) g``, ``v = b2 v + (1 - b2) g^2``, subtract
    ``r sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + delta)`` with b1 ``momentum``, b2 ``momentum2`` and t from 1.
    """  # noqa: D205 - the formula needs two lines

    type = "Adam"
    sets = 2

    def check(self) -> None:
        """Refuse averages that never settle."""
        for field in ("momentum", "momentum2"):
            value = getattr(self.param, field)
            if not 0 <= value < 1:
                raise SolverError(f"Solver (Adam): expected a {field} from 0 to below 1, got {value}.")

    def compute(self, block: Block, rate: float, iteration: int) -> None:
        """See the class."""
        first, second = float(self.param.momentum), float(self.param.momentum2)
        means, squares = block.history
        means *= first
        block.xp.multiply(block.diff, 1.0 - first, out=block.scratch)
        means += block.scratch
        _average_square(block, squares, second)
        block.diff[...] = means
        _divide_by_root(block, squares, float(self.param.delta))
        step = iteration + 1
        block.diff *= rate * math.sqrt(1.0 - second**step) / (1.0 - first**step)


RULES: Mapping[str, type[UpdateRule]] = MappingProxyType(
    {rule.type: rule for rule in (Sgd, Nesterov, AdaGrad, RmsProp, AdaDelta, Adam)}
)


def _average_square(block: Block, average: Array, keep: float) -> None:
    """Move ``average`` towards the square of the diff: ``average = keep average + (1 - keep) diff^2``."""
    average *= keep
    block.xp.multiply(block.diff, block.diff, out=block.scratch)
    block.scratch *= 1.0 - keep
    average += block.scratch


def _divide_by_root(block: Block, squares: Array, delta: float) -> None:
    block.xp.sqrt(squares, out=block.scratch)
    block.scratch += delta
    block.diff /= block.scratch


def _refuse_momentum(rule: UpdateRule) -> None:
    if rule.param.momentum:
        raise SolverError(
            f"Solver ({rule.type}): expected no momentum, got {rule.param.momentum:g}.",
            next_step="Remove momentum, or use a type that has it.",
        )
