"""``caffe.io.Transformer``: images into a net's input, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.compat.caffe.interpolation import Floats, resize_image
from engine.compat.caffe.missing import ArrayError

__all__ = ["Transformer"]

_Order = Sequence[int]


class Transformer:
    """Prepares images for the inputs of a net.

    In this order: resize, transpose axes, swap channels, multiply by the raw scale, subtract the mean, multiply by the
    input scale. Steps that were not set are left out. The caller's arrays stay as they are.

    Parameters
    ----------
    inputs : mapping of str to sequence of int
        Shape (items, channels, height, width) of each input, as in ``{"data": net.blobs["data"].data.shape}``.

    Attributes
    ----------
    inputs : mapping
        As given.
    transpose, channel_swap, raw_scale, mean, input_scale : dict
        What was set, by input.
    is_flow : dict
        What :meth:`set_is_flow` was told, by input.
    """

    def __init__(self, inputs: Mapping[str, Sequence[int]]) -> None:
        self.inputs = inputs
        self.transpose: dict[str, _Order] = {}
        self.channel_swap: dict[str, _Order] = {}
        self.raw_scale: dict[str, Any] = {}
        self.mean: dict[str, npt.NDArray[Any]] = {}
        self.input_scale: dict[str, Any] = {}
        self.is_flow: dict[str, bool] = {}

    def preprocess(self, in_: str, data: npt.ArrayLike) -> Floats:
        """Return an image as the input wants it.

        Parameters
        ----------
        in_ : str
            Name of the input.
        data : array, shape (height, width, channels) or (height, width)

        Returns
        -------
        ndarray of float32
            Of shape (channels, height, width) where the axes are transposed by (2, 0, 1).
        """
        size = tuple(self._shape(in_)[2:])
        image = np.array(data, dtype=np.float32)
        order = self.transpose.get(in_)
        if order is not None and image.ndim == len(order) - 1:  # grey, without an axis for its channel
            image = image[..., np.newaxis]
        if image.shape[:2] != size:
            image = resize_image(image, size)
        if order is not None:
            image = image.transpose(order)
        swap = self.channel_swap.get(in_)
        if swap is not None:
            image = image[list(swap)]
        if in_ in self.raw_scale:
            image *= self.raw_scale[in_]
        if in_ in self.mean:
            image -= self.mean[in_]
        if in_ in self.input_scale:
            image *= self.input_scale[in_]
        return image

    def deprocess(self, in_: str, data: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return what :meth:`preprocess` had been given, but for its size.

        Parameters
        ----------
        in_ : str
            Name of the input.
        data : array
            As the input holds it; axes of length 1 in front, such as that of a batch of one, may be there.
        """
        self._shape(in_)
        values = np.array(data)
        if values.dtype.kind != "f":
            values = values.astype(np.float32)
        order, swap = self.transpose.get(in_), self.channel_swap.get(in_)
        if order is None and swap is None:
            values = values.squeeze()
        while values.ndim > 3 and values.shape[0] == 1:
            values = values[0]
        if in_ in self.input_scale:
            values = values / self.input_scale[in_]
        if in_ in self.mean:
            values = values + self.mean[in_]
        if in_ in self.raw_scale:
            values = values / self.raw_scale[in_]
        if swap is not None:
            values = values[np.argsort(swap)]
        if order is not None:
            values = values.transpose(np.argsort(order))
        return values

    def set_transpose(self, in_: str, order: _Order) -> None:
        """Set the order of axes; (2, 0, 1) makes (height, width, channels) into (channels, height, width)."""
        expected = len(self._shape(in_)) - 1
        self.transpose[in_] = _of_length(f"the transpose of input '{in_}'", order, expected, "axes")

    def set_channel_swap(self, in_: str, order: _Order) -> None:
        """Set the order of channels, which are the first axis by then; (2, 1, 0) makes RGB into BGR."""
        expected = self._shape(in_)[1]
        self.channel_swap[in_] = _of_length(f"the channel swap of input '{in_}'", order, expected, "channels")

    def set_raw_scale(self, in_: str, scale: float) -> None:
        """Set the factor before the mean is subtracted; 255 for a mean of bytes and images in [0, 1]."""
        self._shape(in_)
        self.raw_scale[in_] = scale

    def set_mean(self, in_: str, mean: npt.ArrayLike) -> None:
        """Set what is subtracted.

        Parameters
        ----------
        in_ : str
            Name of the input.
        mean : array
            A value for each channel, or an image of shape (channels, height, width) or (height, width), which is
            resized if it is not of the input's size.
        """
        shape = tuple(self._shape(in_)[1:])
        values = np.asarray(mean)
        if values.ndim == 1:
            values = _of_length(f"the mean of input '{in_}'", values, shape[0], "channels")[:, np.newaxis, np.newaxis]
        else:
            values = values[np.newaxis] if values.ndim == 2 else values
            if values.ndim != 3 or values.shape[0] not in (1, shape[0]):
                raise ArrayError(
                    f"caffe.io.Transformer: expected the mean of input '{in_}' to have the shape {shape} or "
                    f"{shape[:1]}, got {values.shape}.",
                    next_step="Leave out the first axis of a mean file's array: mean[0].",
                )
            if values.shape[1:] != shape[1:]:
                values = resize_image(values.transpose(1, 2, 0), shape[1:]).transpose(2, 0, 1)
        self.mean[in_] = values

    def set_input_scale(self, in_: str, scale: float) -> None:
        """Set the factor after the mean was subtracted."""
        self._shape(in_)
        self.input_scale[in_] = scale

    def set_is_flow(self, in_: str, is_flow: bool) -> None:
        """Note that an input is optical flow, as the fork for video (LRCN) does; it changes nothing here or there."""
        self._shape(in_)
        self.is_flow[in_] = is_flow

    def _shape(self, in_: str) -> Sequence[int]:
        if in_ not in self.inputs:
            raise ArrayError(
                f"caffe.io.Transformer: '{in_}' is not one of the inputs.",
                next_step=f"Inputs: {', '.join(self.inputs) or 'none'}.",
            )
        return self.inputs[in_]


def _of_length(what: str, values: Any, expected: int, unit: str) -> Any:
    if len(values) != expected:
        raise ArrayError(f"caffe.io.Transformer: expected {what} to have {expected} {unit}, got {len(values)}.")
    return values
