"""Naming a part of a net: from one layer to another, both included."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from engine.errors import NetError

__all__ = ["UnknownLayerError", "layer_index"]


class UnknownLayerError(NetError, KeyError):
    """A layer name that the net does not have."""

    __str__ = Exception.__str__  # KeyError would show the text in quotes


def layer_index(
    key: str | int | None, default: int, count: int, index_by_name: Mapping[str, int], blobs: Collection[str]
) -> int:
    """Return the position of a layer.

    Parameters
    ----------
    key : str, int or None
        Name of a layer, its position, or ``None`` for the default.
    default : int
        Position meant by ``None``.
    count : int
        Number of layers.
    index_by_name : mapping
        Positions by layer name.
    blobs : collection of str
        Names of blobs, to tell when one was given instead.

    Raises
    ------
    UnknownLayerError
        If the net has no such layer.
    """
    if key is None:
        return default
    if isinstance(key, int):
        if not 0 <= key < count:
            raise UnknownLayerError(f"Expected a layer from 0 to {count - 1}, got {key}.")
        return key
    if key not in index_by_name:
        hint = f"'{key}' is a blob; name the layer that produces it." if key in blobs else "Look at net.layer_names."
        raise UnknownLayerError(f"The net has no layer '{key}'.", next_step=hint)
    return index_by_name[key]
