"""Local response normalisation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.api import Array, Blob, Layer
from engine.ops import product
from nodes.memory import kept, scratch

__all__ = ["LRNLayer"]

WITHIN_CHANNEL = 1  # LRNParameter.NormRegion


class LRNLayer(Layer):
    """Divides each element by a power of the energy around it (Caffe's ``LRNLayer``).

    ``y = x * s ^ -beta`` with ``s = k + alpha / n * (sum of squares)`` over the ``n = local_size`` nearest channels at
    the same place, or, with ``WITHIN_CHANNEL``, ``s = 1 + alpha / n^2 * (sum of squares)`` over a square of side ``n``
    in the same plane, where ``k`` is not used, as in Caffe. What lies outside of the input counts as 0. Bottom
    ``(N, C, H, W)``. Source: Krizhevsky et al. 2012, section 3.3, with Caffe's ``alpha / n``.
    """

    type = "LRN"
    backward_reads = "values"

    _size: int
    _alpha: float
    _beta: float
    _shift: float
    _axes: tuple[int, ...]
    _energy: Array | None = None
    _factor: Array | None = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``lrn_param``."""
        param = self.layer_param.lrn_param
        within = param.norm_region == WITHIN_CHANNEL
        self._size = int(param.local_size)
        if self._size % 2 == 0:
            self.fail(
                f"expected an odd local_size, got {self._size}.",
                next_step=f"Set lrn_param local_size: {self._size + 1}.",
            )
        self._axes = (2, 3) if within else (1,)
        self._alpha = float(param.alpha) / self._size ** len(self._axes)
        self._beta = float(param.beta)
        self._shift = 1.0 if within else float(param.k)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the bottom's shape."""
        if bottom[0].axes != 4:
            self.fail_shape(f"expected a 4-D input (N, C, H, W), got shape {bottom[0].shape}.", bottom=0)
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Normalise."""
        xp = self.xp
        x, y = bottom[0].data, top[0].data
        energy = self._energy = kept(self, self._energy, x)
        factor = self._factor = kept(self, self._factor, x)
        xp.multiply(x, x, out=factor)
        self._sum_around(factor, energy)
        energy *= self._alpha
        energy += self._shift
        with np.errstate(divide="ignore", invalid="ignore"):
            self._raise(energy, factor)
        xp.multiply(x, factor, out=y)

    def _raise(self, energy: Array, out: Array) -> None:
        """Compute ``energy ^ -beta``; roots are fast on every processor, powers only on some."""
        xp = self.xp
        if self._beta == 0.75:
            root = scratch(self, "root", energy)
            xp.sqrt(energy, out=root)
            xp.sqrt(root, out=out)
            out *= root
            xp.reciprocal(out, out=out)
        else:
            xp.power(energy, -self._beta, out=out)

    def _sum_around(self, values: Array, out: Array) -> None:
        """Write to ``out`` the sums of ``values``, which is overwritten, over the window around each element."""
        reach = self._size // 2
        for axis in self._axes:
            if axis != self._axes[0]:
                values[...] = out
            shape = values.shape
            cut = (product(shape[:axis]), shape[axis], product(shape[axis + 1 :]))
            source, target = values.reshape(cut), out.reshape(cut)
            target[...] = source
            for step in range(1, min(reach, cut[1] - 1) + 1):
                target[:, step:] += source[:, :-step]
                target[:, :-step] += source[:, step:]

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute ``dx = dy s ^ -beta - 2 alpha beta / n * x * (sum around of dy y / s)``."""
        if not propagate_down[0]:
            return
        xp = self.xp
        dy, dx = top[0].diff, bottom[0].diff
        ratio, around = scratch(self, "ratio", dy), scratch(self, "root", dy)
        xp.multiply(dy, top[0].data, out=ratio)
        ratio /= self._energy
        self._sum_around(ratio, around)
        around *= bottom[0].data
        around *= 2 * self._alpha * self._beta
        xp.multiply(dy, self._factor, out=dx)
        dx -= around
