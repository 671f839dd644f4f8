"""Convolution as a matrix product over columns of image patches.

A chunk of images is laid out channel by channel (*planes*, with their padding), unrolled into *columns* of shape
``(channels * taps, images * positions)``, and multiplied by the weights once. Where output planes are small the images
are the innermost axis, which keeps copies long; where they are large the positions are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.backends.base import Array, Primitive, Workspace
from engine.ops import Convolution, product

__all__ = ["ConvolutionKernel"]

#: Elements that the columns of one chunk may have; 32 MiB in float32.
COLUMN_BUDGET = 8 << 20
#: Fewer output positions than this, and enough images, put the images innermost.
SMALL_PLANE = 256
ENOUGH_IMAGES = 16
#: Long thin weight gradients are summed from pieces of at least this length: on OpenBLAS up to 3 times faster.
PIECE = 1024


@dataclass(frozen=True, slots=True)
class _Geometry:
    """Sizes for one pair of input and weight shapes."""

    images: int
    channels: int
    outputs: int
    size: tuple[int, ...]
    out: tuple[int, ...]
    chunk: int
    images_last: bool
    padded: bool
    pointwise: bool

    @property
    def positions(self) -> int:
        return product(self.out)


class ConvolutionKernel(Primitive):
    """Runs :class:`engine.ops.Convolution`.

    Parameters
    ----------
    spec : Convolution
        What to compute.
    xp : module
        Array module.
    workspace : Workspace
        Scratch memory.
    """

    def __init__(self, spec: Convolution, xp: Any, workspace: Workspace) -> None:
        self._spec = spec
        self._xp = xp
        self._workspace = workspace
        self._axes = len(spec.kernel)
        self._taps = product(spec.kernel)
        self._known: tuple[tuple[int, ...], tuple[int, ...], _Geometry] | None = None

    # -- passes --------------------------------------------------------------------------------------------------

    def forward(self, inputs: Sequence[Array], params: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute the output; see :class:`engine.ops.Convolution` for shapes."""
        (x,), (y,) = inputs, outputs
        geometry = self._geometry(x.shape, y.shape)
        if geometry.images == 0:
            return
        x = x.reshape((geometry.images, geometry.channels, *geometry.size))
        y = y.reshape((geometry.images, geometry.outputs, *geometry.out))
        weight = self._grouped(params[0], geometry)
        bias = params[1].reshape(-1) if len(params) > 1 else None
        if geometry.pointwise:
            self._forward_pointwise(geometry, x, weight, bias, y)
            return
        for start, stop in self._chunks(geometry):
            columns = self._columns(geometry, x[start:stop])
            product_ = self._take("product", (self._spec.group, weight.shape[1], columns.shape[2]), x.dtype)
            self._xp.matmul(weight, columns, out=product_)
            result = self._image_major(geometry, product_, stop - start)
            if bias is None:
                y[start:stop] = result
            else:
                self._xp.add(result, bias.reshape((-1,) + (1,) * self._axes), out=y[start:stop])

    def backward(
        self,
        inputs: Sequence[Array],
        params: Sequence[Array],
        outputs: Sequence[Array],
        output_grads: Sequence[Array],
        input_grads: Sequence[Array | None],
        param_grads: Sequence[Array | None],
    ) -> None:
        """Compute the gradients that are wanted."""
        (x,), (dy,), (dx,) = inputs, output_grads, input_grads
        geometry = self._geometry(x.shape, dy.shape)
        if geometry.images == 0:
            return
        x = x.reshape((geometry.images, geometry.channels, *geometry.size))
        dy = dy.reshape((geometry.images, geometry.outputs, *geometry.out))
        if dx is not None:
            dx = dx.reshape(x.shape)
        weight = self._grouped(params[0], geometry)
        dweight = None if param_grads[0] is None else self._grouped(param_grads[0], geometry)
        dbias = param_grads[1] if len(param_grads) > 1 else None
        if geometry.pointwise:
            self._backward_pointwise(geometry, x, weight, dy, dx, dweight, dbias)
            return
        for start, stop in self._chunks(geometry):
            grads = self._channel_major(geometry, dy[start:stop])
            if dbias is not None:
                dbias += grads.reshape((geometry.outputs, -1)).sum(axis=1).reshape(dbias.shape)
            if dweight is not None:
                self._add_weight_grad(grads, self._columns(geometry, x[start:stop]), dweight)
            if dx is not None:
                # the columns of the input are not needed any more, so their memory serves for their gradient
                columns = self._take("columns", (self._spec.group, weight.shape[2], grads.shape[2]), x.dtype)
                self._xp.matmul(weight.transpose(0, 2, 1), grads, out=columns)
                self._fold(geometry, columns, dx[start:stop])

    # -- 1x1 kernels: the input is its own columns ---------------------------------------------------------------

    def _forward_pointwise(self, geometry: _Geometry, x: Array, weight: Array, bias: Array | None, y: Array) -> None:
        flat_x, flat_y = self._by_group(geometry, x), self._by_group(geometry, y)
        self._xp.matmul(weight, flat_x, out=flat_y)
        if bias is not None:
            y += bias.reshape((-1,) + (1,) * self._axes)

    def _backward_pointwise(
        self,
        geometry: _Geometry,
        x: Array,
        weight: Array,
        dy: Array,
        dx: Array | None,
        dweight: Array | None,
        dbias: Array | None,
    ) -> None:
        flat_x, flat_dy = self._by_group(geometry, x), self._by_group(geometry, dy)
        if dbias is not None:
            dbias += dy.reshape((geometry.images, geometry.outputs, -1)).sum(axis=2).sum(axis=0).reshape(dbias.shape)
        if dweight is not None:
            piece = self._take("weight", dweight.shape, x.dtype)
            for image in range(geometry.images):
                self._xp.matmul(flat_dy[image], flat_x[image].transpose(0, 2, 1), out=piece)
                dweight += piece
        if dx is not None:
            self._xp.matmul(weight.transpose(0, 2, 1), flat_dy, out=self._by_group(geometry, dx))

    def _by_group(self, geometry: _Geometry, images: Array) -> Array:
        return images.reshape((geometry.images, self._spec.group, images.shape[1] // self._spec.group, -1))

    # -- layouts -------------------------------------------------------------------------------------------------

    def _geometry(self, x: tuple[int, ...], y: tuple[int, ...]) -> _Geometry:
        if self._known is not None and self._known[0] == x and self._known[1] == y:
            return self._known[2]
        spec = self._spec
        split = len(x) - self._axes
        images, channels = product(x[: split - 1]), x[split - 1]
        size, out = x[split:], y[split:]
        per_image = max(1, channels * self._taps * product(out))
        chunk = max(1, min(images, COLUMN_BUDGET // per_image))
        geometry = _Geometry(
            images=images if product(out) and channels else 0,
            channels=channels,
            outputs=y[split - 1],
            size=size,
            out=out,
            chunk=chunk,
            images_last=chunk >= ENOUGH_IMAGES and product(out) < SMALL_PLANE,
            padded=any(spec.pad),
            pointwise=self._taps == 1 and not any(spec.pad) and all(stride == 1 for stride in spec.stride),
        )
        self._known = (x, y, geometry)
        return geometry

    @staticmethod
    def _chunks(geometry: _Geometry) -> Iterator[tuple[int, int]]:
        for start in range(0, geometry.images, geometry.chunk):
            yield start, min(start + geometry.chunk, geometry.images)

    def _take(self, slot: str, shape: tuple[int, ...], dtype: Any) -> Array:
        return self._workspace.take(f"convolution.{slot}", shape, dtype)

    def _grouped(self, weight: Array, geometry: _Geometry) -> Array:
        return weight.reshape((self._spec.group, geometry.outputs // self._spec.group, -1))

    def _planes_shape(self, geometry: _Geometry, images: int) -> tuple[int, ...]:
        padded = tuple(size + 2 * pad for size, pad in zip(geometry.size, self._spec.pad, strict=True))
        inner = (*padded, images) if geometry.images_last else (images, *padded)
        return (geometry.channels, *inner)

    def _planes_from(self, geometry: _Geometry, x: Array) -> Array:
        """Return a view of images with channels outermost and the images where the layout wants them."""
        if geometry.images_last:
            return self._xp.moveaxis(x, 0, -1)
        return x.swapaxes(0, 1)

    def _inner(self, geometry: _Geometry, planes: Array) -> Array:
        """Return a view of planes without their padding."""
        lead = 1 if geometry.images_last else 2
        cut = tuple(slice(pad, pad + size) for pad, size in zip(self._spec.pad, geometry.size, strict=True))
        return planes[(slice(None),) * lead + cut]

    def _planes(self, geometry: _Geometry, x: Array) -> Array:
        source = self._planes_from(geometry, x)
        if not geometry.padded and not geometry.images_last:
            return source
        planes = self._take("planes", self._planes_shape(geometry, x.shape[0]), x.dtype)
        if geometry.padded:
            planes[...] = 0
        self._inner(geometry, planes)[...] = source
        return planes

    def _tap_slices(self, geometry: _Geometry) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """Return, for each tap of the kernel, its index and the part of the planes that it multiplies."""
        spec = self._spec
        lead = () if geometry.images_last else (slice(None),)
        for tap in itertools.product(*(range(kernel) for kernel in spec.kernel)):
            cut = tuple(
                slice(at * dilation, at * dilation + (out - 1) * stride + 1, stride)
                for at, dilation, out, stride in zip(tap, spec.dilation, geometry.out, spec.stride, strict=True)
            )
            yield tap, (slice(None), *lead, *cut)

    def _columns(self, geometry: _Geometry, x: Array) -> Array:
        """Unroll images into columns ``(group, channels / group * taps, images * positions)``."""
        planes = self._planes(geometry, x)
        inner = (*geometry.out, x.shape[0]) if geometry.images_last else (x.shape[0], *geometry.out)
        columns = self._take("columns", (geometry.channels, *self._spec.kernel, *inner), x.dtype)
        for tap, part in self._tap_slices(geometry):
            columns[(slice(None), *tap)] = planes[part]
        return columns.reshape((self._spec.group, -1, product(inner)))

    def _fold(self, geometry: _Geometry, columns: Array, dx: Array) -> None:
        """Sum columns back into images: the transpose of :meth:`_columns`."""
        images = dx.shape[0]
        inner = (*geometry.out, images) if geometry.images_last else (images, *geometry.out)
        columns = columns.reshape((geometry.channels, *self._spec.kernel, *inner))
        direct = not geometry.padded and not geometry.images_last
        if direct:
            planes = self._planes_from(geometry, dx)
        else:
            planes = self._take("planes", self._planes_shape(geometry, images), dx.dtype)
        planes[...] = 0
        for tap, part in self._tap_slices(geometry):
            planes[part] += columns[(slice(None), *tap)]
        if not direct:
            self._planes_from(geometry, dx)[...] = self._inner(geometry, planes)

    def _image_major(self, geometry: _Geometry, result: Array, images: int) -> Array:
        """Return a product ``(group, outputs / group, ...)`` as a view ``(images, outputs, spatial...)``."""
        if geometry.images_last:
            return self._xp.moveaxis(result.reshape((geometry.outputs, *geometry.out, images)), -1, 0)
        return result.reshape((geometry.outputs, images, *geometry.out)).swapaxes(0, 1)

    def _channel_major(self, geometry: _Geometry, dy: Array) -> Array:
        """Copy gradients ``(images, outputs, spatial...)`` to ``(group, outputs / group, images * positions)``."""
        source = self._planes_from(geometry, dy)
        grads = self._take("grads", source.shape, dy.dtype)
        grads[...] = source
        return grads.reshape((self._spec.group, geometry.outputs // self._spec.group, -1))

    def _add_weight_grad(self, grads: Array, columns: Array, dweight: Array) -> None:
        """Add ``grads @ columns.T`` to the weight gradient, group by group."""
        group, rows, length = grads.shape
        depth = columns.shape[1]
        pieces = 1
        while rows * depth <= PIECE * 64 and length % (2 * pieces) == 0 and length // (2 * pieces) >= PIECE:
            pieces *= 2
        partial = self._take("weight", (group, pieces, rows, depth), grads.dtype)
        left = grads.reshape((group, rows, pieces, -1)).transpose(0, 2, 1, 3)
        right = columns.reshape((group, depth, pieces, -1)).transpose(0, 2, 3, 1)
        self._xp.matmul(left, right, out=partial)
        for piece in range(pieces):
            dweight += partial[:, piece]
