"""Specs of the primitive operations: what is computed, without how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from engine.blob import Blob

__all__ = [
    "Convolution",
    "Deconvolution",
    "InnerProduct",
    "Op",
    "OpSpec",
    "PoolingAverage",
    "PoolingMax",
    "PoolingWindow",
    "ReLU",
    "Sigmoid",
    "Softmax",
    "TanH",
]


@dataclass(frozen=True, slots=True)
class OpSpec:
    """Base of all specs; ``kind`` is the name of the operation in listings."""

    kind: ClassVar[str] = ""
    in_place_ok: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Convolution(OpSpec):
    """N-dimensional cross-correlation, as Caffe's Convolution.

    Input ``(outer..., channels, spatial...)``; params: weight ``(outputs, channels / group, kernel...)`` and, where
    there are two, bias ``(outputs,)``; output ``(outer..., outputs, spatial...)``.

    Attributes
    ----------
    kernel, stride, pad, dilation : tuple of int
        One value for each spatial axis.
    group : int
        Input and output channels are split into this many independent groups.
    """

    kind: ClassVar[str] = "convolution"
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilation: tuple[int, ...]
    group: int = 1


@dataclass(frozen=True, slots=True)
class Deconvolution(OpSpec):
    """N-dimensional transposed convolution, as Caffe's Deconvolution: the gradient of a convolution's input.

    Input ``(outer..., channels, spatial...)``; params: weight ``(channels, outputs / group, kernel...)`` and, where
    there are two, bias ``(outputs,)``; output ``(outer..., outputs, spatial...)``.

    Attributes
    ----------
    kernel, stride, pad, dilation : tuple of int
        Of that convolution, which leads from the output to the input; one value for each spatial axis.
    group : int
        Input and output channels are split into this many independent groups.
    """

    kind: ClassVar[str] = "deconvolution"
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilation: tuple[int, ...]
    group: int = 1


@dataclass(frozen=True, slots=True)
class PoolingWindow:
    """Where pooling windows lie along one axis.

    Window ``i`` covers the elements from ``i * stride - pad`` on, ``kernel`` of them, clipped to the input.

    Attributes
    ----------
    kernel, stride, pad : int
        In elements.
    """

    kernel: int
    stride: int
    pad: int

    def output_size(self, size: int, *, floor: bool = False, padded: bool | None = None) -> int:
        """Return the number of windows over ``size`` elements (Caffe's ``PoolingLayer::Reshape``).

        The division rounds up unless ``floor``; with padding, a last window that starts in the padding is dropped.
        ``padded`` tells whether any axis has padding, which is what Caffe asks for each of them; it is this axis alone
        where it is omitted.
        """
        span = size + 2 * self.pad - self.kernel
        count = (span // self.stride if floor else -(-span // self.stride)) + 1
        padded = self.pad > 0 if padded is None else padded
        if padded and (count - 1) * self.stride >= size + self.pad:
            count -= 1
        return count


@dataclass(frozen=True, slots=True)
class PoolingMax(OpSpec):
    """Largest element of each window over the last axes, one window description an axis.

    A tie belongs to the element with the lower flat index; NaN wins over everything; an empty window gives the lowest
    finite number (Caffe's ``-FLT_MAX``). An optional second output holds the flat index of each maximum within its
    plane, -1 for an empty window.
    """

    kind: ClassVar[str] = "pooling_max"
    windows: tuple[PoolingWindow, ...]


@dataclass(frozen=True, slots=True)
class PoolingAverage(OpSpec):
    """Mean of each window over the last axes.

    The divisor counts padding up to ``pad`` elements beyond the input, as in Caffe's ``PoolingLayer``.
    """

    kind: ClassVar[str] = "pooling_average"
    windows: tuple[PoolingWindow, ...]


@dataclass(frozen=True, slots=True)
class InnerProduct(OpSpec):
    """Matrix product with a weight: ``output = input @ weight.T + bias``.

    Input is flattened to ``(rows, inputs)`` at ``axis``; params: weight ``(outputs, inputs)``, or ``(inputs, outputs)``
    with ``transpose``, and, where there are two, bias ``(outputs,)``; output has ``rows * outputs`` elements.
    """

    kind: ClassVar[str] = "inner_product"
    axis: int
    transpose: bool = False


@dataclass(frozen=True, slots=True)
class ReLU(OpSpec):
    """``max(x, 0) + negative_slope * min(x, 0)``; may work in place."""

    kind: ClassVar[str] = "relu"
    in_place_ok: ClassVar[bool] = True
    negative_slope: float = 0.0


@dataclass(frozen=True, slots=True)
class Sigmoid(OpSpec):
    """``1 / (1 + exp(-x))``; may work in place."""

    kind: ClassVar[str] = "sigmoid"
    in_place_ok: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class TanH(OpSpec):
    """Hyperbolic tangent; may work in place."""

    kind: ClassVar[str] = "tanh"
    in_place_ok: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Softmax(OpSpec):
    """``exp(x) / sum(exp(x))`` along one axis (counted from 0); may work in place."""

    kind: ClassVar[str] = "softmax"
    in_place_ok: ClassVar[bool] = True
    axis: int


@dataclass(frozen=True, slots=True)
class Op:
    """One operation with the blobs it works on.

    Attributes
    ----------
    spec : OpSpec
        What is computed.
    inputs, params, outputs : sequence of Blob
        Read, learned and written blobs, as the layer sees them. An input is a bottom of the layer, whose gradient is
        computed where it is wanted, or an output of an operation before it, whose gradient always is. No two operations
        read the same blob, because each would overwrite the other's gradient.
    """

    spec: OpSpec
    inputs: Sequence[Blob]
    params: Sequence[Blob]
    outputs: Sequence[Blob]
