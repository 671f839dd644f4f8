"""Convolution over any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Blob, Layer, LowerContext, Primitive
from engine.ops import Convolution, Op, convolved_size, spatial_values

__all__ = ["ConvolutionLayer"]


class ConvolutionLayer(Layer):
    """Cross-correlates its input with learned filters (Caffe's ``ConvolutionLayer``).

    Bottom ``(outer..., C, spatial...)`` with channels at ``axis``; top ``(outer..., num_output, out...)`` with
    ``out = floor((size + 2 pad - (dilation (kernel - 1) + 1)) / stride) + 1``. Several bottoms of one shape share the
    filters. Parameters: weight ``(num_output, C / group, kernel...)``, bias ``(num_output,)``.
    """

    type = "Convolution"

    spec: Convolution
    channel_axis: int
    channels: int
    outputs: int
    _primitives: list[Primitive]

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``convolution_param`` and make the filters."""
        param = self.layer_param.convolution_param
        self.channel_axis = self.axis(param.axis, bottom[0])
        spatial = bottom[0].axes - self.channel_axis - 1
        self.channels = bottom[0].shape[self.channel_axis]
        self.outputs = int(param.num_output)
        if self.outputs < 1:
            self.fail(
                f"expected num_output of 1 or more, got {self.outputs}.", next_step="Set convolution_param num_output."
            )
        self.spec = self._read_spec(param, spatial)
        for what, count in (("its input's channels", self.channels), ("num_output", self.outputs)):
            if count % self.spec.group:
                self.fail(f"expected {what} to be a multiple of group {self.spec.group}, got {count}.")
        self._output_sizes(bottom[0].shape)  # a kernel that does not fit is refused before it takes memory
        weight = self.blobs.add_blob(self.outputs, self.channels // self.spec.group, *self.spec.kernel)
        self.fill(weight, param.weight_filler)
        if param.bias_term:
            self.fill(self.blobs.add_blob(self.outputs), param.bias_filler)
        self._primitives = [self.primitive(self.spec) for _ in bottom]

    def _read_spec(self, param: Any, spatial: int) -> Convolution:
        if param.group < 1:
            self.fail(f"expected group of 1 or more, got {param.group}.")
        try:
            spec = Convolution(
                kernel=self._pair(param, "kernel", param.kernel_size, spatial, None),
                stride=self._pair(param, "stride", param.stride, spatial, 1),
                pad=self._pair(param, "pad", param.pad, spatial, 0),
                dilation=spatial_values(param.dilation, spatial, 1, "dilation"),
                group=int(param.group),
            )
        except ValueError as error:
            self.fail(f"{error}.")
        for what, values, least in (
            ("kernel_size", spec.kernel, 1),
            ("stride", spec.stride, 1),
            ("dilation", spec.dilation, 1),
        ):
            if any(value < least for value in values):
                self.fail(
                    f"expected {what} of {least} or more, got {values}.", next_step=f"Set convolution_param {what}."
                )
        return spec

    def _pair(self, param: Any, stem: str, values: Sequence[int], spatial: int, default: int | None) -> tuple[int, ...]:
        """Read a field that may be written as a list, or as ``_h`` and ``_w`` for two spatial axes."""
        named = param.HasField(f"{stem}_h") or param.HasField(f"{stem}_w")
        listed = "kernel_size" if stem == "kernel" else stem
        if not named:
            if default is None and not len(values) and spatial:
                self.fail("expected kernel_size, got none.", next_step="Set convolution_param kernel_size.")
            return spatial_values(values, spatial, default or 0, listed)
        if spatial != 2:
            raise ValueError(f"expected {stem}_h and {stem}_w only with 2 spatial axes, got {spatial}")
        if len(values):
            raise ValueError(f"expected {listed}, or {stem}_h and {stem}_w, got both")
        return int(getattr(param, f"{stem}_h")), int(getattr(param, f"{stem}_w"))

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the size of the output."""
        shape = bottom[0].shape
        if len(shape) != self.channel_axis + 1 + len(self.spec.kernel):
            self.fail_shape(
                f"expected {self.channel_axis + 1 + len(self.spec.kernel)} axes as at set-up, got shape {shape}.",
                bottom=0,
            )
        if shape[self.channel_axis] != self.channels:
            self.fail_shape(
                f"expected {self.channels} channels at axis {self.channel_axis} (the filters' depth), got shape "
                f"{shape} from blob '{bottom[0].name}'.",
                bottom=0,
                next_step="The input's channels changed; rebuild the net for the new input.",
            )
        for index, blob in enumerate(bottom[1:], 1):
            if blob.shape != shape:
                self.fail_shape(f"expected shape {shape}, as bottom 0, got {blob.shape}.", bottom=index)
        out = self._output_sizes(shape)
        for blob in top:
            blob.reshape(*shape[: self.channel_axis], self.outputs, *out)

    def _output_sizes(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        out = tuple(
            convolved_size(*values)
            for values in zip(
                shape[self.channel_axis + 1 :],
                self.spec.kernel,
                self.spec.stride,
                self.spec.pad,
                self.spec.dilation,
                strict=True,
            )
        )
        if any(size < 1 for size in out):
            self.fail_shape(
                f"kernel {self.spec.kernel} with dilation {self.spec.dilation} does not fit into input "
                f"{shape[self.channel_axis + 1 :]} with pad {self.spec.pad}.",
                bottom=0,
                next_step="Use a smaller kernel or more padding.",
            )
        return out

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Convolve each bottom."""
        params = [blob.data for blob in self.blobs]
        for source, target, primitive in zip(bottom, top, self._primitives, strict=True):
            primitive.forward([source.data], params, [target.data])

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute gradients of filters, bias and bottoms."""
        params = [blob.data for blob in self.blobs]
        grads = [
            blob.diff if wanted else None for blob, wanted in zip(self.blobs, self.param_propagate_down, strict=True)
        ]
        for source, target, wanted, primitive in zip(bottom, top, propagate_down, self._primitives, strict=True):
            primitive.backward(
                [source.data], params, [target.data], [target.diff], [source.diff if wanted else None], grads
            )

    def lower(self, ctx: LowerContext) -> Sequence[Op]:
        """Return one convolution for each bottom."""
        return [
            Op(self.spec, [source], list(self.blobs), [target])
            for source, target in zip(ctx.bottom, ctx.top, strict=True)
        ]
