"""One layer of a net with what the net knows of it, and calls that name the layer when they fail."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import Any

from engine.blob import Blob
from engine.errors import LayerError, NetcanvasError, PluginError
from engine.layer import Layer

__all__ = ["NetNode", "call_layer", "layer_failure"]


@dataclass(slots=True, eq=False)
class NetNode:
    """A layer in its place.

    Attributes
    ----------
    layer : Layer
        What computes.
    bottoms, tops : list of Blob
        Its blobs as users see them.
    bottom_views, top_views : list of Blob
        The same as the layer sees them.
    loss_weights : list of float
        Weight of each top in the loss; empty where all are 0.
    propagate_down : list of bool
        For each bottom, whether its gradient is wanted.
    needs_backward : bool
        Whether the backward pass calls the layer.
    reason : str
        Why, or why not.
    """

    layer: Layer
    bottoms: list[Blob]
    tops: list[Blob]
    bottom_views: list[Blob]
    top_views: list[Blob]
    loss_weights: list[float] = field(default_factory=list)
    propagate_down: list[bool] = field(default_factory=list)
    needs_backward: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """Name of the layer."""
        return self.layer.name


def call_layer(layer: Layer, method: str, *args: Any) -> Any:
    """Call a method of a layer; see :func:`layer_failure` for what it raises."""
    try:
        return getattr(layer, method)(*args)
    except Exception as error:
        raise layer_failure(layer, method, error) from error


def layer_failure(layer: Layer, method: str, error: Exception) -> NetcanvasError:
    """Return the error to raise for an exception that left a layer's method.

    Errors of ours pass as they are. Any other becomes a :class:`~engine.errors.PluginError` that names layer, class and
    method and carries the traceback from the layer's code on; for a built-in layer, a
    :class:`~engine.errors.LayerError`.
    """
    if isinstance(error, NetcanvasError):
        if not isinstance(error, LayerError):
            error.add_note(f"In layer '{layer.name}' ({layer.layer_param.type}), {method}.")
        elif not error.method:
            error.method = method
        return error
    own = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = "".join(traceback.format_exception(type(error), error, own))
    summary = str(error).strip() or "no message"
    kind: type[LayerError] = LayerError if layer.info.builtin else PluginError
    return kind(
        layer.name,
        layer.layer_param.type,
        f"{type(error).__name__}: {summary} {_place(layer, error)}",
        method=method,
        next_step="" if layer.info.builtin else "Mend the layer's code; the traceback shows the line.",
        traceback_text=text,
    )


def _place(layer: Layer, error: Exception) -> str:
    """Return the class at fault and, where its code was entered, file and line of the innermost frame in its file."""
    cls = type(layer)
    own = traceback.extract_tb(error.__traceback__)[1:]
    where = f", {own[-1].filename}:{own[-1].lineno}" if own else ""
    return f"(class {cls.__module__}.{cls.__qualname__}{where})"
