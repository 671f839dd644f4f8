"""Where filters lie on their input: the fields of ``convolution_param`` that several layers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.api import Layer
from engine.ops import convolved_size, deconvolved_size, spatial_values

__all__ = ["FilterWindow", "read_window"]


@dataclass(frozen=True, slots=True)
class FilterWindow:
    """Size and place of a filter, one value for each spatial axis.

    Attributes
    ----------
    kernel, stride, pad, dilation : tuple of int
        In elements.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilation: tuple[int, ...]

    def convolved(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Return how many places the filter has over an input; 0 or less where it does not fit."""
        return tuple(
            convolved_size(*values)
            for values in zip(sizes, self.kernel, self.stride, self.pad, self.dilation, strict=True)
        )

    def deconvolved(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Return the size of the input over which the filter has so many places."""
        return tuple(
            deconvolved_size(*values)
            for values in zip(sizes, self.kernel, self.stride, self.pad, self.dilation, strict=True)
        )


def read_window(layer: Layer, param: Any, spatial: int) -> FilterWindow:
    """Read kernel, stride, pad and dilation, as Caffe does.

    Parameters
    ----------
    layer : Layer
        Whose error it is when they are wrong.
    param : ConvolutionParameter
        The message.
    spatial : int
        Number of spatial axes.

    Raises
    ------
    engine.errors.LayerError
        If a field is missing, has too few or too many values, or one that is too small.
    """
    try:
        window = FilterWindow(
            kernel=_pair(layer, param, "kernel", param.kernel_size, spatial, None),
            stride=_pair(layer, param, "stride", param.stride, spatial, 1),
            pad=_pair(layer, param, "pad", param.pad, spatial, 0),
            dilation=spatial_values(param.dilation, spatial, 1, "dilation"),
        )
    except ValueError as error:
        layer.fail(f"{error}.")
    for what, values in (("kernel_size", window.kernel), ("stride", window.stride), ("dilation", window.dilation)):
        if any(value < 1 for value in values):
            layer.fail(f"expected {what} of 1 or more, got {values}.", next_step=f"Set convolution_param {what}.")
    return window


def _pair(
    layer: Layer, param: Any, stem: str, values: Sequence[int], spatial: int, default: int | None
) -> tuple[int, ...]:
    """Read a field that may be written as a list, or as ``_h`` and ``_w`` for two spatial axes."""
    named = param.HasField(f"{stem}_h") or param.HasField(f"{stem}_w")
    listed = "kernel_size" if stem == "kernel" else stem
    if not named:
        if default is None and not len(values) and spatial:
            layer.fail("expected kernel_size, got none.", next_step="Set convolution_param kernel_size.")
        return spatial_values(values, spatial, default or 0, listed)
    if spatial != 2:
        raise ValueError(f"expected {stem}_h and {stem}_w only with 2 spatial axes, got {spatial}")
    if len(values):
        raise ValueError(f"expected {listed}, or {stem}_h and {stem}_w, got both")
    return int(getattr(param, f"{stem}_h")), int(getattr(param, f"{stem}_w"))
