"""Memory that layers hold: scratch for one call, and arrays kept from a forward pass to its backward pass."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["is_in_place", "kept", "scratch"]


def is_in_place(bottom: Sequence[Blob], top: Sequence[Blob]) -> bool:
    """Whether the first top is the first bottom."""
    return top[0].on_host is bottom[0].on_host


def scratch(layer: Layer, slot: str, like: Array, shape: Sequence[int] | None = None) -> Array:
    """Return memory with undefined contents, for the present call only.

    Parameters
    ----------
    layer : Layer
        Who asks.
    slot : str
        Arrays that are needed at the same time have different slots.
    like : array
        Whose element type and, where none is given, shape are wanted.
    shape : sequence of int, optional
        Another shape.
    """
    return layer.context.workspace.take(f"{layer.type}.{slot}", like.shape if shape is None else shape, like.dtype)


def kept(layer: Layer, known: Array | None, like: Array, shape: Sequence[int] | None = None) -> Array:
    """Return ``known`` where it has the shape and type that are wanted, or new memory.

    Parameters
    ----------
    layer : Layer
        Whose array module makes it.
    known : array or None
        What the last pass used.
    like : array
        Whose element type and, where none is given, shape are wanted.
    shape : sequence of int, optional
        Another shape.
    """
    dims = tuple(like.shape if shape is None else shape)
    if known is not None and known.shape == dims and known.dtype == like.dtype:
        return known
    return layer.xp.empty(dims, like.dtype)
