"""One layer of a net with what the net knows of it, and calls that name the layer when they fail."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.blob import Blob
from engine.blob_list import BlobList
from engine.errors import LayerError, NetcanvasError, PluginError
from engine.faults import is_fault, text_of
from engine.last_words import LastWords, last_words
from engine.layer import Binding, Layer, Phase, binding
from engine.net.converting import Conversion

__all__ = ["NetNode", "call_layer", "close_nodes", "last_readers", "layer_failure"]

_log = logging.getLogger(__name__)

_PYCAFFE = frozenset({"setup", "reshape", "forward", "backward"})


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
    conversions : list of Conversion
        Between its bottoms and what it sees of them, where their element type is not the net's.
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
    conversions: list[Conversion] = field(default_factory=list)

    @property
    def bound(self) -> Binding:
        """What the net gave the layer."""
        return binding(self.layer)

    @property
    def name(self) -> str:
        """Name of the layer."""
        return binding(self.layer).name

    @property
    def type(self) -> str:
        """Type of the layer."""
        return binding(self.layer).type

    @property
    def phase(self) -> Phase:
        """Phase of the layer."""
        return binding(self.layer).phase

    @property
    def layer_param(self) -> Any:
        """The layer's message."""
        return binding(self.layer).layer_param

    @property
    def blobs(self) -> BlobList:
        """The layer's parameters."""
        return binding(self.layer).blobs


def call_layer(layer: Layer, method: str, *args: Any) -> Any:
    """Call a method of a layer; see :func:`layer_failure` for what it raises.

    Methods that pycaffe does not have are those of the class: a plugin may keep a number as ``self.lower``.
    """
    try:
        if method == "setup" and not binding(layer).info.builtin:
            return _set_up(layer, args)
        if method in _PYCAFFE:
            return getattr(layer, method)(*args)
        return getattr(type(layer), method)(layer, *args)
    except BaseException as error:
        if not is_fault(error):
            raise
        raise layer_failure(layer, method, error) from error


def _plugins_part(error: BaseException) -> str:
    """Return what plugin code has to do with the fault of another's, in one sentence; empty where it has nothing."""
    from engine.plugins.tampering import blame, plugin_place

    place = plugin_place(error)
    return blame() or (f"It comes from a plugin's code, {place}." if place else "")


def _set_up(layer: Layer, blobs: Sequence[Any]) -> None:
    """Call the ``setup`` of a plugin's layer; what it replaces in shared modules stays its own."""
    from engine.plugins.tampering import watched  # nets of built-in layers need no plugin code

    bound = binding(layer)
    title, words = f"Layer '{bound.name}' ({bound.type})", last_words()
    if words is not None:
        words.note(LastWords.entry(f"{title} in setup"))
    with watched(title, "setup", type(layer)._netcanvas_module(layer)):
        layer.setup(*blobs)
    if words is not None:
        words.note()
    if not issubclass(type(layer), Layer) or getattr(layer, "_netcanvas_binding", None) is not bound:
        detail = "it changed the layer's own __class__ or emptied its __dict__, so that the net no longer knows it."
        step = "Keep what it needs in attributes of the layer."
        raise PluginError(bound.name, bound.type, detail, method="setup", next_step=step)


def close_nodes(nodes: Iterable[NetNode]) -> None:
    """Let every layer release its files and threads; one that fails at it is logged and keeps none of the others."""
    for node in nodes:
        try:
            call_layer(node.layer, "close")
        except NetcanvasError as error:
            _log.warning("%s", error)


def layer_failure(layer: Layer, method: str, error: BaseException) -> NetcanvasError:
    """Return the error to raise for an exception that left a layer's method.

    Errors of ours pass as they are. Any other becomes a :class:`~engine.errors.PluginError` that names layer, class and
    method and carries the traceback of the user's own frames; for a built-in layer, a
    :class:`~engine.errors.LayerError` with the whole traceback, or without one where memory ran out.
    """
    if isinstance(error, LayerError) and error.method:
        return error
    bound = binding(layer)
    if isinstance(error, NetcanvasError):
        if not isinstance(error, LayerError):
            error.add_note(f"In layer '{bound.name}' ({bound.type}), {method}.")
        else:
            error.method = method
        return error
    summary = f"{type(error).__name__}: {text_of(error)}"
    if bound.info.builtin and isinstance(error, MemoryError):
        summary = f"there is not enough memory: {text_of(error)}."
        step = "Lower the batch size or the layer's sizes."
        return LayerError(bound.name, bound.type, summary, method=method, next_step=step)
    if bound.info.builtin:
        text = "".join(traceback.format_exception(error))
        step = _plugins_part(error)
        return LayerError(bound.name, bound.type, summary, method=method, next_step=step, traceback_text=text)
    # Nets of built-in layers need no plugin code
    from engine.plugins import as_written, hint_for, place_of, plugin_traceback

    code, hint = type(layer)._netcanvas_code(layer), type(layer)._netcanvas_hint(layer, method)
    file, line = place_of(error)
    place = f", {file}:{line}" if file else ""
    return PluginError(
        bound.name,
        bound.type,
        as_written(f"{summary} ({code}{place})"),
        method=method,
        next_step=hint_for(error) or hint or "Mend the layer's code and run again.",
        traceback_text=plugin_traceback(error),
    )


def last_readers(nodes: Sequence[NetNode]) -> dict[Blob, int]:
    """Return, for each loss blob, the position of the layer that writes its gradient in the backward pass."""
    readers: dict[Blob, int] = {}
    losses = {blob for node in nodes for blob, weight in zip(node.tops, node.loss_weights, strict=False) if weight}
    for index, node in enumerate(nodes):
        for port, blob in enumerate(node.bottoms):
            if blob in losses and node.needs_backward and node.propagate_down[port]:
                readers[blob] = index
    return readers
