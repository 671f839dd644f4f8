"""Memory that layers hold: scratch for one call, and arrays kept from a forward pass to its backward pass."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["is_in_place", "kept", "scratch"]


def is_in_place(bottom: Sequence[Blob], top: Sequence[Blob]) -> bool:
    """Whether the first top is the first bottom."""
    return top[0].on_host is bottom[0].on_host


def scratch(layer: Layer, slot: str, like: Array) -> Array:
    """Return memory of an array's shape and type with undefined contents, for the present call only.

    Parameters
    ----------
    layer : Layer
        Who asks.
    slot : str
        Arrays that are needed at the same time have different slots.
    like : array
        Whose shape and element type are wanted.
    """
    return layer.context.workspace.take(f"{layer.type}.{slot}", like.shape, like.dtype)


def kept(layer: Layer, known: Array | None, like: Array) -> Array:
    """Return ``known`` where it has an array's shape and type, or new memory that has.

    Parameters
    ----------
    layer : Layer
        Whose array module makes it.
    known : array or None
        What the last pass used.
    like : array
        Whose shape and element type are wanted.
    """
    if known is not None and known.shape == like.shape and known.dtype == like.dtype:
        return known
    return layer.xp.empty(like.shape, like.dtype)
