"""The fully connected layer."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer, LowerContext, Primitive
from engine.ops import InnerProduct, Op, product

__all__ = ["InnerProductLayer"]


class InnerProductLayer(Layer):
    """Multiplies with a matrix and adds a bias (Caffe's ``InnerProductLayer``).

    Bottom: axes from ``axis`` on are flattened to ``inputs`` elements. Top: axes before ``axis``, then ``num_output``.
    Parameters: weight ``(num_output, inputs)``, or ``(inputs, num_output)`` with ``transpose``, and bias
    ``(num_output,)``.
    """

    type = "InnerProduct"

    spec: InnerProduct
    inputs: int
    outputs: int
    _primitive: Primitive

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``inner_product_param`` and make the matrix."""
        param = self.layer_param.inner_product_param
        self.outputs = int(param.num_output)
        if self.outputs < 1:
            self.fail(
                f"expected num_output of 1 or more, got {self.outputs}.",
                next_step="Set inner_product_param num_output.",
            )
        if not -bottom[0].axes <= param.axis < bottom[0].axes:
            self.fail_shape(
                f"expected an input with more than {param.axis} axes, got shape {bottom[0].shape}.",
                bottom=0,
                next_step="Connect a Flatten or set axis.",
            )
        axis = self.axis(param.axis, bottom[0])
        self.inputs = product(bottom[0].shape[axis:])
        self.spec = InnerProduct(axis, bool(param.transpose))
        shape = (self.inputs, self.outputs) if self.spec.transpose else (self.outputs, self.inputs)
        self.fill(self.blobs.add_blob(*shape), param.weight_filler)
        if param.bias_term:
            self.fill(self.blobs.add_blob(self.outputs), param.bias_filler)
        self._primitive = self.primitive(self.spec)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that the input still has as many elements as the matrix."""
        shape = bottom[0].shape
        inputs = product(shape[self.spec.axis :])
        if inputs != self.inputs:
            self.fail_shape(
                f"expected {self.inputs} elements from axis {self.spec.axis} on (the size of its weights), got "
                f"{inputs}: blob '{bottom[0].name}' has shape {shape}.",
                bottom=0,
                next_step="The size of the net's input changed; give it the old size, or rebuild the net.",
            )
        top[0].reshape(*shape[: self.spec.axis], self.outputs)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Multiply."""
        self._primitive.forward([bottom[0].data], [blob.data for blob in self.blobs], [top[0].data])

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute gradients of matrix, bias and bottom."""
        self._primitive.backward(
            [bottom[0].data],
            [blob.data for blob in self.blobs],
            [top[0].data],
            [top[0].diff],
            [bottom[0].diff if propagate_down[0] else None],
            [blob.diff if wanted else None for blob, wanted in zip(self.blobs, self.param_propagate_down, strict=True)],
        )

    def lower(self, ctx: LowerContext) -> Sequence[Op]:
        """Return one inner product."""
        return [Op(self.spec, list(ctx.bottom), list(self.blobs), list(ctx.top))]
