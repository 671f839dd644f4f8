"""Sums and alignment over the axes of a channel-like block."""

from __future__ import annotations

from engine.api import Array, Blob, Layer
from engine.ops import product

__all__ = ["aligned_axes", "block_sums", "per_block", "three_axes"]


def three_axes(shape: tuple[int, ...], start: int, stop: int) -> tuple[int, int, int]:
    """Return a shape with the axes before ``start``, from there to ``stop``, and after joined."""
    return product(shape[:start]), product(shape[start:stop]), product(shape[stop:])


def block_sums(values: Array) -> Array:
    """Sum ``(outer, size, inner)`` to ``(size,)``, the contiguous axis first."""
    outer, _, inner = values.shape
    if outer == 1:
        return values[0].sum(axis=1)
    if inner == 1:
        return values[:, :, 0].sum(axis=0)
    return values.sum(axis=2).sum(axis=0)


def per_block(values: Array) -> Array:
    """Return ``(size,)`` values so that they line up with ``(outer, size, inner)``."""
    return values.reshape((1, -1, 1))


def aligned_axes(layer: Layer, bottom: Blob, operand: Blob, axis: int, *, port: int | None) -> tuple[int, int]:
    """Return the axes of a bottom that a smaller operand lines up with, as Caffe's Scale and Bias do.

    Parameters
    ----------
    layer : Layer
        Whose error it is when they do not.
    bottom, operand : Blob
        The operand's axes must equal the bottom's from ``axis`` on; one without axes fits everywhere.
    axis : int
        As written in the file.
    port : int or None
        Which bottom the operand is; ``None`` for a parameter.

    Returns
    -------
    tuple of int
        The first axis, and the one after the last.

    Raises
    ------
    engine.errors.ShapeError
        With both shapes, if they do not fit.
    """
    if operand.axes == 0:
        return 0, 0
    start = layer.axis(axis, bottom)
    stop = start + operand.axes
    if bottom.shape[start:stop] != operand.shape:
        what = "its parameter" if port is None else f"blob '{operand.name}'"
        layer.fail_shape(
            f"expected {what} to have the dimensions of blob '{bottom.name}' {bottom.shape} from axis {start} on, got "
            f"shape {operand.shape}.",
            bottom=port or 0,
            next_step="Set axis to where the two line up.",
        )
    return start, stop
