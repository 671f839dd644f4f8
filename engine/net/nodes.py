"""One layer of a net with what the net knows of it, and calls that name the layer when they fail."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import Any

from engine.blob import Blob
from engine.errors import LayerError, NetcanvasError, PluginError
from engine.layer import Layer

__all__ = ["LAYER_FAULTS", "NetNode", "call_layer", "layer_failure"]

#: What must not leave a layer's method unnamed; a plugin that calls ``exit()`` does not end the process.
LAYER_FAULTS = (Exception, SystemExit)


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
    except LAYER_FAULTS as error:
        raise layer_failure(layer, method, error) from error


def layer_failure(layer: Layer, method: str, error: BaseException) -> NetcanvasError:
    """Return the error to raise for an exception that left a layer's method.

    Errors of ours pass as they are. Any other becomes a :class:`~engine.errors.PluginError` that names layer, class and
    method and carries the traceback of the user's own frames; for a built-in layer, a
    :class:`~engine.errors.LayerError` with the whole traceback.
    """
    if isinstance(error, NetcanvasError):
        if not isinstance(error, LayerError):
            error.add_note(f"In layer '{layer.name}' ({layer.layer_param.type}), {method}.")
        elif not error.method:
            error.method = method
        return error
    summary = f"{type(error).__name__}: {str(error).strip() or 'no message'}"
    if layer.info.builtin:
        text = "".join(traceback.format_exception(error))
        return LayerError(layer.name, layer.layer_param.type, summary, method=method, traceback_text=text)
    from engine.plugins import hint_for, place_of, plugin_traceback  # nets of built-in layers need no plugin code

    cls = type(layer)
    file, line = place_of(error)
    place = f", {file}:{line}" if file else ""
    return PluginError(
        layer.name,
        layer.layer_param.type,
        f"{summary} (class {cls.__module__}.{cls.__qualname__}{place})",
        method=method,
        next_step=hint_for(error) or "Mend the layer's code and run again.",
        traceback_text=plugin_traceback(error),
    )
