"""The arithmetic of depthwise convolution, on planes.

A block of planes is padded and split by the stride into *phases*, so that what a filter's element multiplies is always
one contiguous run of a phase: the output, laid out as wide as the phase, is a sum of shifted runs. The few columns that
this computes in vain cost less than stopping at the end of every row. A block is small enough to stay in the cache.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.api import Array

__all__ = ["DepthwisePlanes", "FilterPlace"]

#: Elements of a phase that a block may have.
BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class FilterPlace:
    """Size and place of a filter, height first.

    Attributes
    ----------
    kernel, stride, pad, dilation : tuple of int
        In pixels.
    """

    kernel: tuple[int, int]
    stride: tuple[int, int]
    pad: tuple[int, int]
    dilation: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What follows from one shape: sizes of the output and of a phase, length of a run, planes of a block."""

    out: tuple[int, int]
    phase: tuple[int, int]
    run: int
    block: int


class DepthwisePlanes:
    """Convolves planes, each with the filter of its channel.

    Parameters
    ----------
    place : FilterPlace
    xp : module
        Array module.
    workspace : engine.backends.base.Workspace
        Scratch memory.
    """

    def __init__(self, place: FilterPlace, xp: Any, workspace: Any) -> None:
        self.place = place
        self._xp = xp
        self._workspace = workspace

    def output_size(self, size: tuple[int, ...]) -> tuple[int, int]:
        """Return height and width of the output; 0 or less where the filter does not fit."""
        place = self.place
        height, width = (
            (length + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
            for length, pad, dilation, kernel, stride in zip(
                size, place.pad, place.dilation, place.kernel, place.stride, strict=True
            )
        )
        return height, width

    def forward(self, x: Array, weight: Array, bias: Array | None, y: Array) -> None:
        """Compute ``y``.

        Parameters
        ----------
        x : array of shape (N, C, H, W)
        weight : array of shape (C, 1, kernel_h, kernel_w)
        bias : array of shape (C,) or None
        y : array of shape (N, C, out_h, out_w)
            Overwritten.
        """
        sizes = self._sizes(x.shape)
        planes, results = _planes(x), _planes(y)
        filters = self._xp.tile(weight[:, 0], (x.shape[0], 1, 1))
        offsets = None if bias is None else self._xp.tile(bias, x.shape[0])
        for start in range(0, len(planes), sizes.block):
            block = slice(start, start + sizes.block)
            phases = self._phases(sizes, planes[block])
            count = phases.shape[2]
            total, part = (self._take(slot, (count, *sizes.phase), x) for slot in ("total", "part"))
            sums, products = (each.reshape((count, -1))[:, : sizes.run] for each in (total, part))
            for number, (row, column, run) in enumerate(self._runs(sizes, phases)):
                factor = filters[block, row, column, None]
                if number == 0:
                    self._xp.multiply(run, factor, out=sums)
                else:
                    self._xp.multiply(run, factor, out=products)
                    sums += products
            if offsets is not None:
                sums += offsets[block, None]
            results[block] = total[:, : sizes.out[0], : sizes.out[1]]

    def backward(self, x: Array, weight: Array, dy: Array, dx: Array | None, dweight: Array | None) -> None:
        """Compute the gradients that are wanted.

        Parameters
        ----------
        x, weight : array
            As in the forward pass.
        dy : array of shape (N, C, out_h, out_w)
        dx : array of shape (N, C, H, W) or None
            Overwritten.
        dweight : array of shape (C, 1, kernel_h, kernel_w) or None
            Added to.
        """
        sizes = self._sizes(x.shape)
        planes, above = _planes(x), _planes(dy)
        filters = self._xp.tile(weight[:, 0], (x.shape[0], 1, 1))
        found = None if dweight is None else self._xp.empty(filters.shape, x.dtype)
        for start in range(0, len(planes), sizes.block):
            block = slice(start, start + sizes.block)
            part = above[block]
            wide = self._take("total", (len(part), *sizes.phase), x)
            wide[...] = 0
            wide[:, : sizes.out[0], : sizes.out[1]] = part
            grads = wide.reshape((len(part), -1))[:, : sizes.run]
            if found is not None:
                for row, column, run in self._runs(sizes, self._phases(sizes, planes[block])):
                    found[block, row, column] = self._xp.einsum("pi,pi->p", grads, run)
            if dx is not None:
                self._backward_input(sizes, grads, filters[block], _planes(dx)[block])
        if dweight is not None and found is not None:
            dweight += found.reshape((x.shape[0], *weight.shape)).sum(axis=0)

    def _backward_input(self, sizes: _Sizes, grads: Array, filters: Array, dx: Array) -> None:
        phases = self._take("phases", self._phases_shape(sizes, len(dx)), dx)
        phases[...] = 0
        products = self._take("part", (len(dx), *sizes.phase), dx).reshape((len(dx), -1))[:, : sizes.run]
        for row, column, run in self._runs(sizes, phases):
            self._xp.multiply(grads, filters[:, row, column, None], out=products)
            run += products
        for inside, part in self._parts(sizes, dx.shape):
            dx[(slice(None), *inside)] = phases[part]

    def _sizes(self, shape: tuple[int, ...]) -> _Sizes:
        place = self.place
        out = self.output_size(shape[2:])
        reach = [dilation * (kernel - 1) for dilation, kernel in zip(place.dilation, place.kernel, strict=True)]
        needed = [
            max(length + 2 * pad, (count - 1) * stride + far + 1)
            for length, pad, count, stride, far in zip(shape[2:], place.pad, out, place.stride, reach, strict=True)
        ]
        height, width = (-(-length // stride) for length, stride in zip(needed, place.stride, strict=True))
        run = (out[0] - 1) * width + out[1]
        return _Sizes(out, (height, width), run, max(1, BLOCK // (height * width)))

    def _take(self, slot: str, shape: tuple[int, ...], like: Array) -> Array:
        return self._workspace.take(f"depthwise.{slot}", shape, like.dtype)

    def _phases_shape(self, sizes: _Sizes, planes: int) -> tuple[int, ...]:
        return (*self.place.stride, planes, *sizes.phase)

    def _phases(self, sizes: _Sizes, x: Array) -> Array:
        """Return padded planes, split by the stride: shape (stride_h, stride_w, planes, height, width)."""
        phases = self._take("phases", self._phases_shape(sizes, len(x)), x)
        phases[...] = 0
        for inside, part in self._parts(sizes, x.shape):
            phases[part] = x[(slice(None), *inside)]
        return phases

    def _parts(
        self, sizes: _Sizes, shape: tuple[int, ...]
    ) -> Iterator[tuple[tuple[slice, slice], tuple[int | slice, ...]]]:
        """Yield, for each phase, which pixels of the input it holds, and where."""
        (pad_h, pad_w), (step_h, step_w) = self.place.pad, self.place.stride
        for phase_h in range(step_h):
            first_h = (phase_h - pad_h) % step_h
            rows = len(range(first_h, shape[1], step_h))
            top = (first_h + pad_h) // step_h
            for phase_w in range(step_w):
                first_w = (phase_w - pad_w) % step_w
                columns = len(range(first_w, shape[2], step_w))
                left = (first_w + pad_w) // step_w
                inside = (slice(first_h, None, step_h), slice(first_w, None, step_w))
                yield inside, (phase_h, phase_w, slice(None), slice(top, top + rows), slice(left, left + columns))

    def _runs(self, sizes: _Sizes, phases: Array) -> Iterator[tuple[int, int, Array]]:
        """Yield, for each element of the filter, its place and what it multiplies, a view of shape (planes, run)."""
        place = self.place
        flat = phases.reshape((*place.stride, phases.shape[2], -1))
        for row in range(place.kernel[0]):
            down, phase_h = divmod(row * place.dilation[0], place.stride[0])
            for column in range(place.kernel[1]):
                right, phase_w = divmod(column * place.dilation[1], place.stride[1])
                begin = down * sizes.phase[1] + right
                yield row, column, flat[phase_h, phase_w, :, begin : begin + sizes.run]


def _planes(images: Array) -> Array:
    """Return a view of (N, C, H, W) as (N * C, H, W)."""
    return images.reshape((images.shape[0] * images.shape[1], *images.shape[2:]))
