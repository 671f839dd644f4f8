"""``caffe.coord_map``: where the pixels of one top lie in another, for nets written with ``caffe.NetSpec``.

A map says that place ``x`` of a layer's bottom, along a spatial axis, is place ``a * x + b`` of its top: ``a`` is how
much finer the top is, ``b`` how far it is shifted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.compat.caffe.net_spec import Function, Layers, Top
from engine.errors import NetError

__all__ = ["AxisMismatchException", "UndefinedMapException", "coord_map_from_to", "crop"]

_Numbers = npt.NDArray[np.floating[Any]]

# Layers whose tops lie as their bottoms do.
_IN_PLACE = frozenset(
    (
        "AbsVal",
        "BatchNorm",
        "Bias",
        "BNLL",
        "Clip",
        "Dropout",
        "ELU",
        "Eltwise",
        "Exp",
        "Log",
        "LRN",
        "MVN",
        "Power",
        "PReLU",
        "ReLU",
        "Scale",
        "Sigmoid",
        "SigmoidCrossEntropyLoss",
        "Softmax",
        "SoftmaxWithLoss",
        "Split",
        "Swish",
        "TanH",
        "Threshold",
    )
)
_WINDOWS = {"Convolution": "convolution_param", "Pooling": "pooling_param", "Im2col": "convolution_param"}
_PER_AXIS = frozenset({"kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w"})


class UndefinedMapException(NetError):
    """A layer whose tops do not lie as its bottoms do in any simple way."""


class AxisMismatchException(NetError):
    """Layers whose spatial axes begin at different ones."""


@dataclass(frozen=True, slots=True)
class _Map:
    """First spatial axis (None where the layer has none of its own), scale and shift."""

    axis: int | None
    a: _Numbers
    b: _Numbers

    def then(self, other: _Map) -> _Map:
        if None not in (self.axis, other.axis) and self.axis != other.axis:
            raise AxisMismatchException(
                f"The spatial axes begin at axis {self.axis} of one layer and {other.axis} of another.",
                next_step="Give these layers one axis.",
            )
        axis = other.axis if self.axis is None else self.axis
        return _Map(axis, self.a * other.a, self.a * other.b + self.b)

    def inverse(self) -> _Map:
        return _Map(self.axis, 1 / self.a, -self.b / self.a)


def coord_map_from_to(top_from: Top, top_to: Top) -> tuple[int | None, _Numbers, _Numbers]:
    """Return how a top lies in another one that has an ancestor in common with it.

    Parameters
    ----------
    top_from, top_to : Top
        Of a net that is being written.

    Returns
    -------
    axis : int or None
        The axis before the spatial ones.
    a, b : ndarray of float
        Scale and shift: one value for all spatial axes, or one each.

    Raises
    ------
    NetError
        If no spatial layers connect the two.
    """
    above = _maps_to_ancestors(top_from)
    for top, to_top in _maps_to_ancestors(top_to).items():
        if top in above:
            found = to_top.then(above[top].inverse())
            return found.axis, found.a, found.b
    raise _Unconnected("The two tops are not connected by spatial layers, so that neither can be laid over the other.")


def crop(top_from: Top, top_to: Top) -> Any:
    """Return a Crop of ``top_from`` to what lies under ``top_to``, with the offset computed.

    Raises
    ------
    AssertionError
        If the two are of different scale, or lie a negative or a broken number of pixels apart.
    """
    axis, a, b = coord_map_from_to(top_from, top_to)
    if not (a == 1).all():
        raise AssertionError(f"scale mismatch on crop (a = {a})")
    if not (b <= 0).all():
        raise AssertionError(f"cannot crop negative offset (b = {b})")
    if not (np.round(b) == b).all():
        raise AssertionError(f"cannot crop noninteger offset (b = {b})")
    offset = [int(each) for each in -np.atleast_1d(b)]
    return Layers().Crop(top_from, top_to, crop_param={"axis": (axis or 0) + 1, "offset": offset})


class _Unconnected(NetError, RuntimeError):
    """A RuntimeError too, which is what scripts await."""


def _maps_to_ancestors(top: Top) -> dict[Top, _Map]:
    """Return the map of a top to itself and to each ancestor that spatial layers lead to."""
    maps = {top: _Map(None, np.ones(1), np.zeros(1))}
    waiting = [top]
    while waiting:
        here = waiting.pop()
        try:
            own = _map_of(here.fn)
        except UndefinedMapException:
            continue
        inputs = here.fn.inputs[:1] if here.fn.type_name == "Crop" else here.fn.inputs
        for bottom in inputs:
            if bottom not in maps:
                maps[bottom] = maps[here].then(own)
                waiting.append(bottom)
    return maps


def _map_of(fn: Function) -> _Map:
    """Return the map of a layer's top to its bottoms."""
    if fn.type_name in _WINDOWS:
        axis, stride, kernel, pad = _window(fn, _WINDOWS[fn.type_name])
        return _Map(axis, 1 / stride, (pad - (kernel - 1) / 2) / stride)
    if fn.type_name == "Deconvolution":
        axis, stride, kernel, pad = _window(fn, "convolution_param")
        return _Map(axis, stride, (kernel - 1) / 2 - pad)
    if fn.type_name == "Crop":
        settings = fn.params.get("crop_param", fn.params)
        return _Map(settings.get("axis", 2) - 1, np.ones(1), -_numbers(settings.get("offset", 0)))
    if fn.type_name in _IN_PLACE:
        return _Map(None, np.ones(1), np.zeros(1))
    raise UndefinedMapException(f"L.{fn.type_name}: its tops do not lie as its bottoms do.")


def _window(fn: Function, field: str) -> tuple[int, _Numbers, _Numbers, _Numbers]:
    """Return axis, stride, kernel (what it spans) and pad of a layer with a window."""
    settings = fn.params.get(field, fn.params)
    if not _PER_AXIS.isdisjoint(settings):
        raise UndefinedMapException(
            f"L.{fn.type_name}: settings for single axes, such as kernel_h, are not followed.",
            next_step="Write kernel_size, stride and pad as lists.",
        )
    kernel = (_numbers(settings.get("kernel_size", 1)) - 1) * _numbers(settings.get("dilation", 1)) + 1
    return settings.get("axis", 1), _numbers(settings.get("stride", 1)), kernel, _numbers(settings.get("pad", 0))


def _numbers(value: Any) -> _Numbers:
    return np.atleast_1d(np.asarray(value, dtype=np.float64))
