"""Shape arithmetic shared by layers and backends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["canonical_axis", "convolved_size", "deconvolved_size", "product", "spatial_values"]


def product(dims: Iterable[int]) -> int:
    """Return the product of dimensions; 1 for none."""
    return math.prod(dims)


def canonical_axis(axis: int, axes: int) -> int:
    """Count a negative axis from the end.

    Parameters
    ----------
    axis : int
        From ``-axes`` to ``axes - 1``.
    axes : int
        Number of axes.

    Raises
    ------
    ValueError
        If the axis lies outside.
    """
    if not -axes <= axis < axes:
        raise ValueError(f"expected an axis from {-axes} to {axes - 1}, got {axis}")
    return axis + axes if axis < 0 else axis


def convolved_size(size: int, kernel: int, stride: int, pad: int, dilation: int) -> int:
    """Return the output size of a convolution along one axis; 0 or less where the kernel does not fit.

    ``floor((size + 2 pad - (dilation (kernel - 1) + 1)) / stride) + 1``, as in Caffe's
    ``ConvolutionLayer::compute_output_shape``.
    """
    extent = dilation * (kernel - 1) + 1
    return (size + 2 * pad - extent) // stride + 1


def deconvolved_size(size: int, kernel: int, stride: int, pad: int, dilation: int) -> int:
    """Return the output size of a deconvolution along one axis; 0 or less where padding leaves nothing.

    ``stride (size - 1) + dilation (kernel - 1) + 1 - 2 pad``, as in Caffe's
    ``DeconvolutionLayer::compute_output_shape``.
    """
    return stride * (size - 1) + dilation * (kernel - 1) + 1 - 2 * pad


def spatial_values(values: Sequence[int], axes: int, default: int, what: str) -> tuple[int, ...]:
    """Spread a repeated field over the spatial axes as Caffe does.

    Parameters
    ----------
    values : sequence of int
        None (the default for all axes), one (for all), or one for each axis.
    axes : int
        Number of spatial axes.
    default : int
        Value where the field is absent.
    what : str
        Name of the field, for the error.

    Raises
    ------
    ValueError
        If the number of values fits neither.
    """
    if len(values) == 0:
        return (default,) * axes
    if len(values) == 1:
        return (int(values[0]),) * axes
    if len(values) != axes:
        raise ValueError(f"expected {what} once or {axes} times (one for each spatial axis), got {len(values)} values")
    return tuple(int(value) for value in values)
