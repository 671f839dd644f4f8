"""Transposed convolution over any number of spatial axes."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from engine.api import Blob
from engine.ops import Deconvolution, OpSpec
from nodes.vision.convolution import ConvolutionLayer

__all__ = ["DeconvolutionLayer"]

_log = logging.getLogger(__name__)


class DeconvolutionLayer(ConvolutionLayer):
    """Spreads every element over a window of its output by learned filters (Caffe's ``DeconvolutionLayer``).

    Bottom ``(outer..., C, spatial...)``; top ``(outer..., num_output, out...)`` with
    ``out = stride (size - 1) + dilation (kernel - 1) + 1 - 2 pad``. Parameters: weight ``(C, num_output / group,
    kernel...)``, bias ``(num_output,)``. Fields are those of ``convolution_param``.
    """

    type = "Deconvolution"

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``convolution_param``, make the filters, and tell of bilinear ones that mix channels."""
        super().setup(bottom, top)
        param = self.layer_param.convolution_param
        if param.weight_filler.type == "bilinear" and not self.channels == self.outputs == param.group:
            _log.warning(
                "Layer '%s' (Deconvolution): its bilinear filters add up %d channels for each output, so that the "
                "result is too large. Set group and num_output to the %d channels of its input.",
                self.name,
                self.channels // param.group,
                self.channels,
            )

    def make_spec(self, group: int) -> OpSpec:
        """Return the operation for the layer's window."""
        window = self.window
        return Deconvolution(window.kernel, window.stride, window.pad, window.dilation, group)

    def weight_shape(self, group: int) -> tuple[int, ...]:
        """Return the shape of the filters without their kernel."""
        return self.channels, self.outputs // group

    def output_sizes(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the spatial dimensions of the output for a bottom's shape, or fail."""
        window = self.window
        out = window.deconvolved(shape[self.channel_axis + 1 :])
        if any(size < 1 for size in out):
            self.fail_shape(
                f"pad {window.pad} leaves nothing of the output of kernel {window.kernel} with stride {window.stride} "
                f"over input {shape[self.channel_axis + 1 :]}.",
                bottom=0,
                next_step="Use less padding.",
            )
        return out
