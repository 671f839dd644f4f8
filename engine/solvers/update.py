"""From gradients to updates: what all of Caffe's update rules share.

An update clips, divides by ``iter_size``, adds weight decay, lets the rule work and subtracts, in this order, as
Caffe's ``SGDSolver::ApplyUpdate``. It runs over blocks that fit the processor's cache, so that the passes of numpy read
memory once, and allocates nothing after the first step.
"""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from engine.backends.base import Array, Backend
from engine.errors import SolverError
from engine.net.params import LearnableParam

__all__ = ["Block", "UpdateRule"]

_log = logging.getLogger("engine.solvers")
_BLOCK = 16384


class UpdateRule(ABC):
    """One of Caffe's solver types.

    Parameters
    ----------
    param : SolverParameter
    learnable : sequence of LearnableParam
        The net's parameters, shared ones once.
    backend : Backend
        Where the net computes.

    Attributes
    ----------
    type : str
        Name in ``SolverParameter.type``.
    sets : int
        Number of histories kept for each parameter.
    history : list of ndarray
        Histories in the order of Caffe's solver state: the first of every parameter, then the second.
    """

    type: ClassVar[str]
    sets: ClassVar[int] = 1

    def __init__(self, param: Any, learnable: Sequence[LearnableParam], backend: Backend) -> None:
        self.param = param
        self.learnable = tuple(learnable)
        self.backend = backend
        self.check()
        self.history: list[Array] = [
            backend.zeros(item.blob.shape, item.blob.dtype) for _ in range(self.sets) for item in self.learnable
        ]
        scratch = _Scratch(backend)
        self._slots = [
            _Slot(item, self.history[index :: len(self.learnable)], backend, scratch)
            for index, item in enumerate(self.learnable)
        ]

    def check(self) -> None:  # noqa: B027 - most rules need no more than the defaults
        """Refuse settings the rule cannot work with; raises SolverError."""

    @abstractmethod
    def compute(self, block: Block, rate: float, iteration: int) -> None:
        """Turn the gradient of a block into the amount to subtract, in place, and advance its histories.

        Parameters
        ----------
        block : Block
        rate : float
            Learning rate of the parameter, ``lr_mult`` included.
        iteration : int
            Updates done before this one.
        """

    def apply(self, rate: float, iteration: int) -> None:
        """Update all parameters; their diffs hold what was subtracted afterwards, as in Caffe.

        Parameters
        ----------
        rate : float
            Learning rate before ``lr_mult``.
        iteration : int
            Updates done before this one.
        """
        self._clip()
        scale = 1.0 / max(int(self.param.iter_size), 1)
        decay, regularize = float(self.param.weight_decay), self._regularizer()
        for slot in self._slots:
            if not slot.learnable.lr_mult:
                continue  # frozen, and the net does not compute its gradient
            local_rate = rate * slot.learnable.lr_mult
            local_decay = decay * slot.learnable.decay_mult
            for block in slot.blocks():
                if scale != 1.0:
                    block.diff *= scale
                if local_decay:
                    regularize(block, local_decay)
                self.compute(block, local_rate, iteration)
                block.data -= block.diff

    def gradient_norm(self) -> float:
        """Return the L2 norm of all gradients together."""
        total = 0.0
        for item in self.learnable:
            flat = item.blob.on_device().diff.reshape(-1)
            total += float(flat @ flat)
        return math.sqrt(total)

    def check_history(self, history: Sequence[npt.NDArray[Any]], source: str) -> None:
        """Refuse the histories of a solver state that do not fit.

        Raises
        ------
        SolverError
            If their number or a shape differs; the message gives both.
        """
        if len(history) != len(self.history):
            raise SolverError(
                f"Solver ({self.type}): expected {len(self.history)} histories in '{source}', {self.sets} for each of "
                f"{len(self.learnable)} parameters, got {len(history)}. Adam and AdaDelta keep two for each parameter, "
                "the other types one.",
                next_step="Resume with the net and solver type that wrote it, or start from its weights only.",
            )
        for index, (mine, theirs) in enumerate(zip(self.history, history, strict=True)):
            item = self.learnable[index % len(self.learnable)]
            if mine.shape != theirs.shape and mine.size != theirs.size:
                raise SolverError(
                    f"Solver ({self.type}): expected history {index} of shape {mine.shape} in '{source}' for "
                    f"'{item.name}' of layer '{item.layer}', got {theirs.shape}.",
                    next_step="Resume with the net that wrote it, or start from its weights only.",
                )

    def set_history(self, history: Sequence[npt.NDArray[Any]]) -> None:
        """Take over histories that :meth:`check_history` let pass."""
        for mine, theirs in zip(self.history, history, strict=True):
            self.backend.copy_from_host(np.ascontiguousarray(theirs.reshape(mine.shape), mine.dtype), mine)

    def get_history(self) -> list[npt.NDArray[Any]]:
        """Return the histories as host arrays."""
        return [self.backend.to_host(array) for array in self.history]

    def _clip(self) -> None:
        limit = float(self.param.clip_gradients)
        if limit < 0:
            return
        norm = self.gradient_norm()
        if norm > limit:
            _log.info(
                "Gradient clipping: scaling down gradients (L2 norm %g > %g) by scale factor %g",
                *(norm, limit, limit / norm),
            )
            for item in self.learnable:
                diff = item.blob.on_device().diff
                diff *= limit / norm

    def _regularizer(self) -> Any:
        kind = self.param.regularization_type or "L2"
        if kind not in ("L1", "L2"):
            raise SolverError(f"Solver: expected a regularization_type of L1 or L2, got '{kind}'.")
        return _decay_l2 if kind == "L2" else _decay_l1


class Block:
    """A piece of a parameter: flat views of data, gradient and histories, and two scratch arrays of the same size."""

    __slots__ = ("data", "diff", "history", "scratch", "second", "xp")

    def __init__(
        self, xp: Any, data: Array, diff: Array, history: Sequence[Array], scratch: tuple[Array, Array]
    ) -> None:
        self.xp = xp
        self.data = data
        self.diff = diff
        self.history = tuple(history)
        self.scratch, self.second = (array[: len(data)] for array in scratch)


class _Scratch:
    """Two arrays for each element type, shared by all parameters so that they stay in the cache."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._arrays: dict[Any, tuple[Array, Array]] = {}

    def get(self, size: int, dtype: Any) -> tuple[Array, Array]:
        arrays = self._arrays.get(dtype)
        if arrays is None or len(arrays[0]) < size:
            arrays = (self._backend.empty((size,), dtype), self._backend.empty((size,), dtype))
            self._arrays[dtype] = arrays
        return arrays


class _Slot:
    """One parameter cut into blocks; cut again when its memory has moved."""

    __slots__ = ("_backend", "_blob", "_blocks", "_data", "_diff", "_histories", "_scratch", "learnable")

    def __init__(
        self, learnable: LearnableParam, histories: Sequence[Array], backend: Backend, scratch: _Scratch
    ) -> None:
        self.learnable = learnable
        self._backend = backend
        self._blob = learnable.blob.on_device()
        self._histories = histories
        self._scratch = scratch
        self._data: Array = None
        self._diff: Array = None
        self._blocks: list[Block] = []

    def blocks(self) -> list[Block]:
        data, diff = self._blob.data, self._blob.diff
        if data is not self._data or diff is not self._diff:
            self._data, self._diff = data, diff
            self._blocks = self._cut(data.reshape(-1), diff.reshape(-1))
        return self._blocks

    def _cut(self, data: Array, diff: Array) -> list[Block]:
        # On a device every operation has its price, so a parameter is one block there.
        size = min(_BLOCK, len(data)) if self._backend.is_host else len(data)
        flats = [history.reshape(-1) for history in self._histories]
        scratch = self._scratch.get(size, data.dtype)
        return [
            Block(
                self._backend.xp,
                data[start : start + size],
                diff[start : start + size],
                [flat[start : start + size] for flat in flats],
                scratch,
            )
            for start in range(0, len(data), size or 1)
        ]


def _decay_l2(block: Block, decay: float) -> None:
    block.xp.multiply(block.data, decay, out=block.scratch)
    block.diff += block.scratch


def _decay_l1(block: Block, decay: float) -> None:
    block.xp.sign(block.data, out=block.scratch)
    block.scratch *= decay
    block.diff += block.scratch
