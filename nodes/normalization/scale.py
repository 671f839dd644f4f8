"""Factors and offsets that line up with some axes of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Array, Blob, Layer
from nodes.memory import is_in_place, kept, scratch
from nodes.normalization.channels import aligned_axes, block_sums, per_block, three_axes

__all__ = ["BiasLayer", "ScaleLayer"]


class _AlignedLayer(Layer):
    """A bottom and an operand, learned or the second bottom, that lines up with some of its axes."""

    _cut: tuple[int, int, int]

    def add_operand(self, bottom: Blob, axis: int, num_axes: int) -> Blob:
        """Add a parameter that covers ``num_axes`` axes from ``axis`` on; all of them for -1, none for 0."""
        start = self.axis(axis, bottom)
        if num_axes < -1 or start + num_axes > bottom.axes:
            self.fail(
                f"expected num_axes from 0 to {bottom.axes - start}, or -1 for all from axis {start} on, got "
                f"{num_axes}; blob '{bottom.name}' has shape {bottom.shape}."
            )
        stop = bottom.axes if num_axes == -1 else start + num_axes
        return self.blobs.add_blob(bottom.shape[start:stop])

    def fill_operand(self, blob: Blob, param: Any, field: str, default: float) -> None:
        """Fill a parameter as the file says, or with a constant."""
        filler = getattr(param, field)
        self.fill(blob, filler if param.HasField(field) else type(filler)(value=default))

    def align(self, bottom: Sequence[Blob], top: Sequence[Blob], operand: Blob, axis: int) -> None:
        """Line the operand up with the first bottom, and give the top the bottom's shape."""
        port = 1 if len(bottom) > 1 else None
        self._cut = three_axes(bottom[0].shape, *aligned_axes(self, bottom[0], operand, axis, port=port))
        top[0].reshape_like(bottom[0])


def _give(grad: Array, sums: Array, *, add: bool) -> None:
    """Add sums to the gradient of a parameter, or overwrite that of a bottom with them."""
    if add:
        grad += sums.reshape(grad.shape)
    else:
        grad[...] = sums.reshape(grad.shape)


class BiasLayer(_AlignedLayer):
    """Adds a learned offset, or its second bottom, that lines up with ``axis`` (Caffe's ``BiasLayer``).

    Parameter, with one bottom: the bottom's dimensions of ``num_axes`` axes from ``axis`` on.
    """

    type = "Bias"

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``bias_param`` and make the offset."""
        param = self.layer_param.bias_param
        if len(bottom) == 1:
            self.fill_operand(self.add_operand(bottom[0], param.axis, param.num_axes), param, "filler", 0.0)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Line the offset up."""
        operand = bottom[1] if len(bottom) > 1 else self.blobs[0]
        self.align(bottom, top, operand, self.layer_param.bias_param.axis)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Add."""
        offset = bottom[1].data if len(bottom) > 1 else self.blobs[0].data
        self.xp.add(bottom[0].data.reshape(self._cut), per_block(offset), out=top[0].data.reshape(self._cut))

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Pass the gradient on, and sum it for the offset."""
        dy = top[0].diff
        learned = len(bottom) == 1
        if self.param_propagate_down[0] if learned else propagate_down[1]:
            grad = self.blobs[0].diff if learned else bottom[1].diff
            _give(grad, block_sums(dy.reshape(self._cut)), add=learned)
        if propagate_down[0] and not is_in_place(bottom, top):
            bottom[0].diff[...] = dy


class ScaleLayer(_AlignedLayer):
    """Multiplies with a learned factor, or its second bottom, that lines up with ``axis`` (Caffe's ``ScaleLayer``).

    Parameters: with one bottom the factor, of the bottom's dimensions of ``num_axes`` axes from ``axis`` on; with
    ``bias_term`` an offset of the factor's shape, which comes last. In place the input is kept. Where Caffe overwrites
    the factor's gradient (a factor that covers the whole input) it is added to here, as in every other layer.
    """

    type = "Scale"

    _has_bias: bool
    _input: Array | None = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``scale_param`` and make factor and offset."""
        param = self.layer_param.scale_param
        learned = len(bottom) == 1
        if learned:
            self.fill_operand(self.add_operand(bottom[0], param.axis, param.num_axes), param, "filler", 1.0)
        self._has_bias = bool(param.bias_term)
        if self._has_bias:
            num_axes = param.num_axes if learned else bottom[1].axes
            self.fill_operand(self.add_operand(bottom[0], param.axis, num_axes), param, "bias_filler", 0.0)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Line factor and offset up."""
        axis = self.layer_param.scale_param.axis
        self.align(bottom, top, bottom[1] if len(bottom) > 1 else self.blobs[0], axis)
        if self._has_bias:
            aligned_axes(self, bottom[0], self.blobs[-1], axis, port=None)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Multiply, and add the offset."""
        x, y = bottom[0].data.reshape(self._cut), top[0].data.reshape(self._cut)
        factor = bottom[1].data if len(bottom) > 1 else self.blobs[0].data
        if is_in_place(bottom, top):
            self._input = kept(self, self._input, x)
            self._input[...] = x
        self.xp.multiply(x, per_block(factor), out=y)
        if self._has_bias:
            y += per_block(self.blobs[-1].data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute the gradients of offset, factor and bottom."""
        xp = self.xp
        dy = top[0].diff.reshape(self._cut)
        learned = len(bottom) == 1
        if self._has_bias and self.param_propagate_down[-1]:
            _give(self.blobs[-1].diff, block_sums(dy), add=True)
        factor = self.blobs[0] if learned else bottom[1]
        if self.param_propagate_down[0] if learned else propagate_down[1]:
            x = self._input if is_in_place(bottom, top) else bottom[0].data.reshape(self._cut)
            product = scratch(self, "product", dy)
            xp.multiply(dy, x, out=product)
            _give(factor.diff, block_sums(product), add=learned)
        if propagate_down[0]:
            xp.multiply(dy, per_block(factor.data), out=bottom[0].diff.reshape(self._cut))
