"""The whole gradient check of a layer, of any kind: values, blocked bottoms, parameters, backends."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.backends import backend_names
from engine.errors import NetcanvasError
from engine.plugins import seed_global_generators
from engine.testing.case import LayerCase, Outcome, Rig, Values
from engine.testing.directions import compare_gradient
from engine.testing.reports import GradientFinding, GradientReport

__all__ = ["check_layer_gradients"]

_TOLERANCE = 1e-5
_DIRECTIONS = 4
_SPREAD = 0.3
_CLOSE = 1e-4
_MOST_COMBINATIONS = 16


class _CheckedRig(Rig):
    """A rig whose passes draw the same numbers every time, from the global generators too."""

    def __init__(self, case: LayerCase, **options: Any) -> None:
        self.ones = False
        with _quiet_nets():
            super().__init__(case, **options)
        self.node = next(node for node in self.net.nodes if node.layer is self.layer)
        # force_backward, without which nothing would run backward, also forces what is blocked
        flags = enumerate(self.node.propagate_down)
        self.node.propagate_down = [flag and index not in case.no_gradient for index, flag in flags]

    def forward(self) -> float:
        seed_global_generators(7)
        return super().forward()

    def top_grads(self) -> dict[str, Values]:
        grads = super().top_grads()
        return {name: np.ones_like(values) for name, values in grads.items()} if self.ones else grads

    def graded_tops(self) -> list[str]:
        return [name for name in super().graded_tops() if self.net.blobs[name].dtype.kind == "f"]

    def spread_params(self, rng: np.random.Generator) -> None:
        """Move parameters away from where they begin, so that none is at a special place such as 0."""
        for blob in self.params:
            blob.data[...] += _SPREAD * rng.normal(size=blob.shape)


@contextmanager
def _quiet_nets() -> Iterator[None]:
    """Keep nets from telling that a layer by itself trains nothing."""
    logger = logging.getLogger("engine.net.net")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def check_layer_gradients(
    case: LayerCase,
    *,
    layer: str,
    base_dirs: Sequence[Any] = (),
    seed: int = 0,
    tolerance: float = _TOLERANCE,
    directions: int = _DIRECTIONS,
) -> GradientReport:
    """Check all that the backward pass of a layer computes.

    In float64, each bottom's and parameter's gradient against finite differences along random directions; the gradients
    again with bottoms blocked by ``propagate_down``; that parameter gradients are added to; and in float32, that other
    backends compute what the CPU does.

    Parameters
    ----------
    case : LayerCase
        The layer and its inputs; ``no_gradient`` lists bottoms that have none.
    layer : str
        What the report calls it.
    base_dirs : sequence of Path
        Where Python modules are looked for.
    seed : int
        Of directions, gradients of tops and parameters.
    tolerance : float
        Allowed difference of derivatives, relative to the larger, or absolute below 1.
    directions : int
        For each bottom and each parameter.

    Returns
    -------
    GradientReport
        With a finding for each of these.

    Raises
    ------
    engine.errors.NetcanvasError
        If the layer cannot be made or run.
    """
    checked = _Check(case, tuple(base_dirs), seed, tolerance, directions)
    findings = tuple(checked.findings())
    return GradientReport(layer, findings, tuple(checked.warnings))


class _Check:
    def __init__(
        self, case: LayerCase, base_dirs: tuple[Any, ...], seed: int, tolerance: float, directions: int
    ) -> None:
        self._case = case
        self._base_dirs = base_dirs
        self._tolerance = tolerance
        self._directions = directions
        self._rng = np.random.default_rng(seed)
        self._rig = self._make_rig(np.float64)
        self._rig.spread_params(self._rng)
        self._bottoms = [np.array(values, np.float64) for values in case.bottoms]
        self._random = False
        self.warnings: list[str] = []

    def _make_rig(self, dtype: Any, backend: str = "numpy") -> _CheckedRig:
        return _CheckedRig(self._case, base_dirs=self._base_dirs, dtype=dtype, backend=backend)

    def findings(self) -> Iterator[GradientFinding]:
        rig = self._rig
        self._look_at_top_diff()
        outcome = self._run()
        flags = self._flags()
        for index, grad in enumerate(outcome.bottom_grads):
            if grad is None or not flags[index]:
                yield GradientFinding(f"bottom {index}", "skipped", "no gradient is wanted.")
            else:
                yield self._compare(f"bottom {index}", grad, self._bottom(index))
        for index, grad in enumerate(outcome.param_grads):
            yield self._compare(f"parameter {index}", grad, self._param(index))
        if any(flags) or rig.params:
            yield from self._blocked(outcome, flags)
            self._look_at_adding(outcome)
            if not self._random:
                yield from self._backends()

    def _look_at_top_diff(self) -> None:
        """Take 1 as the gradient of a loss that does not look at it, as many for Caffe do not, and say so."""
        rig = self._rig
        tops = rig.graded_tops()
        if len(tops) != 1 or rig.net.blobs[tops[0]].count != 1:
            return
        drawn = self._run()
        rig.ones = True
        unit = self._run()
        grads = [*zip(drawn.bottom_grads + drawn.param_grads, unit.bottom_grads + unit.param_grads, strict=True)]  # type: ignore[operator]
        moved = any(mine is not None and mine.any() for mine, _ in grads)
        rig.ones = moved and all(_same(mine, theirs) for mine, theirs in grads)
        if rig.ones:
            self._warn(
                "its backward does not use the gradient of its top, so it is right with a loss_weight of 1 only."
            )

    def _flags(self) -> list[bool]:
        return list(self._rig.node.propagate_down)

    def _run(self, flags: Sequence[bool] | None = None, *, clear: bool = True) -> Outcome:
        rig, node = self._rig, self._rig.node
        kept = node.propagate_down
        node.propagate_down = list(kept if flags is None else flags)
        try:
            return rig.run(self._bottoms, clear=clear)
        finally:
            node.propagate_down = kept

    def _compare(self, target: str, grad: Values, value: Any) -> GradientFinding:
        grad = np.asarray(grad, np.float64)
        finding = compare_gradient(
            target, grad, value, rng=self._rng, tolerance=self._tolerance, directions=self._directions
        )
        self._random = self._random or finding.status == "random"
        return finding

    def _bottom(self, index: int) -> Any:
        def value(offset: Values) -> float:
            self._rig.load([values + offset if at == index else values for at, values in enumerate(self._bottoms)])
            return self._rig.value()

        return value

    def _param(self, index: int) -> Any:
        def value(offset: Values) -> float:
            blob = self._rig.params[index]
            kept = blob.data.copy()
            blob.data[...] += offset
            self._rig.load(self._bottoms)
            result = self._rig.value()
            blob.data[...] = kept
            return result

        return value

    def _blocked(self, full: Outcome, flags: Sequence[bool]) -> Iterator[GradientFinding]:
        """Ask for some of the gradients only: they must be what they are when all are asked for."""
        wanted = [index for index, flag in enumerate(flags) if flag]
        if len(wanted) < 2 and not (wanted and self._rig.params):
            return
        subsets = [
            subset
            for size in range(len(wanted))
            for subset in itertools.combinations(wanted, size)
            if subset or self._rig.params
        ]
        for subset in subsets[:_MOST_COMBINATIONS]:
            fault = self._fault_of(subset, full, flags)
            if fault:
                yield GradientFinding("blocked bottoms", "wrong", fault)
                return
        yield GradientFinding("blocked bottoms", "right")

    def _fault_of(self, subset: tuple[int, ...], full: Outcome, flags: Sequence[bool]) -> str:
        chosen = [index in subset for index in range(len(flags))]
        names = self._case.bottom_names
        blocked = [index for index, flag in enumerate(flags) if flag and not chosen[index]]
        for index in blocked:
            self._rig.net.blobs[names[index]].diff[...] = 5
        try:
            outcome = self._run(chosen)
        except NetcanvasError as error:
            return f"with propagate_down {chosen}: {error}"
        for index in blocked:
            if (self._rig.net.blobs[names[index]].diff != 5).any():
                self._warn(f"bottom {index} is written although its propagate_down is false.")
        for index in subset:
            if not _same(outcome.bottom_grads[index], full.bottom_grads[index]):
                return f"with propagate_down {chosen}, the gradient of bottom {index} is another."
        for index, (mine, theirs) in enumerate(zip(outcome.param_grads, full.param_grads, strict=True)):
            if not _same(mine, theirs):
                return f"with propagate_down {chosen}, the gradient of parameter {index} is another."
        return ""

    def _look_at_adding(self, full: Outcome) -> None:
        self._run()
        twice = self._run(clear=False)
        for index, (both, once) in enumerate(zip(twice.param_grads, full.param_grads, strict=True)):
            if not _same(both, 2 * once):
                self._warn(
                    f"the gradient of parameter {index} is not added to; write self.blobs[{index}].diff[...] += …, or "
                    "iter_size and shared parameters go wrong."
                )

    def _backends(self) -> Iterator[GradientFinding]:
        expected: Outcome | None = None
        for name in backend_names():
            target = f"backend {name}"
            try:
                rig = self._make_rig(np.float32, name)
                rig.ones = self._rig.ones
                for blob, values in zip(rig.params, self._rig.params, strict=True):
                    blob.data[...] = values.data
                outcome = rig.run()
            except NetcanvasError as error:
                if name == "numpy":
                    raise
                yield GradientFinding(target, "wrong", str(error))
                continue
            if expected is None:
                expected = outcome
                continue
            pairs = zip(outcome.arrays(), expected.arrays(), strict=True)
            differing = [what for (what, mine), (_, theirs) in pairs if not _same(mine, theirs, _CLOSE)]
            if differing:
                yield GradientFinding(target, "wrong", f"{differing[0]} is not what the CPU computes.")
            else:
                yield GradientFinding(target, "right")

    def _warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)


def _same(mine: Values | None, theirs: Values | None, close: float = 1e-6) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=close, atol=close, equal_nan=True)
