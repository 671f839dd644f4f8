"""Batch normalisation."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer, Phase
from nodes.memory import kept, scratch
from nodes.normalization.channels import block_sums, per_block, three_axes

__all__ = ["BatchNormLayer"]

MEAN, VARIANCE, FACTOR = 0, 1, 2  # its three parameters


class BatchNormLayer(Layer):
    """Subtracts the mean of each channel and divides by its standard deviation (Caffe's ``BatchNormLayer``).

    ``y = (x - mean) / sqrt(variance + eps)`` with the statistics of the batch while training, and the stored ones when
    testing; ``use_global_stats`` decides where it is set. Bottom ``(N, C, ...)``, or ``(N,)``, which is one channel.

    Parameters, which are statistics and never learned: sums of means ``(C,)`` and of variances ``(C,)``, and the
    factor ``(1,)`` that both are to be divided by. Each training pass multiplies all three by
    ``moving_average_fraction`` and adds the batch's mean, its variance times ``m / (m - 1)`` (``m`` values a channel),
    and 1. Source: Ioffe and Szegedy 2015.
    """

    type = "BatchNorm"

    _stored: bool
    _fraction: float
    _eps: float
    _channels: int
    _deviation: Array
    _normed: Array | None = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``batch_norm_param`` and make the statistics."""
        param = self.layer_param.batch_norm_param
        by_phase = self.phase is Phase.TEST
        self._stored = bool(param.use_global_stats) if param.HasField("use_global_stats") else by_phase
        self._fraction = float(param.moving_average_fraction)
        self._eps = float(param.eps)
        self._channels = self._channels_of(bottom[0])
        for size in (self._channels, self._channels, 1):
            self.blobs.add_blob(size)
        self._keep_from_learning()

    def _channels_of(self, blob: Blob) -> int:
        if not blob.axes:
            self.fail_shape("expected an input (N, C, ...), got a scalar.", bottom=0)
        return 1 if blob.axes == 1 else blob.shape[1]

    def _keep_from_learning(self) -> None:
        """Set the learning rates of the statistics to 0, where the file does not."""
        specs = self.layer_param.param
        for index in range(len(self.blobs)):
            if index >= len(specs):
                specs.add(lr_mult=0.0)
            elif specs[index].lr_mult != 0:
                self.fail(
                    f"expected lr_mult 0 for parameter {index}, which is a statistic, got {specs[index].lr_mult:g}.",
                    next_step="Remove its param blocks.",
                )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that there still are statistics for each channel."""
        if self._channels_of(bottom[0]) != self._channels:
            self.fail_shape(
                f"expected {self._channels} channels at axis 1 (the size of its statistics), got shape "
                f"{bottom[0].shape} from blob '{bottom[0].name}'.",
                bottom=0,
            )
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Normalise."""
        shape = three_axes(bottom[0].shape, 1, 2)
        if not bottom[0].count:
            return
        x, y = bottom[0].data.reshape(shape), top[0].data.reshape(shape)
        if self._stored:
            self._forward_stored(x, y)
        else:
            self._forward_batch(x, y)

    def _forward_stored(self, x: Array, y: Array) -> None:
        mean, variance, factor = (blob.data for blob in self.blobs)
        divisor = float(factor[0])
        scale = 0.0 if divisor == 0 else 1.0 / divisor
        self._deviation = self.xp.sqrt(variance * scale + self._eps)
        self.xp.subtract(x, per_block(mean * scale), out=y)
        y /= per_block(self._deviation)

    def _forward_batch(self, x: Array, y: Array) -> None:
        xp = self.xp
        count = x.shape[0] * x.shape[2]
        normed = self._normed = kept(self, self._normed, x)
        mean = block_sums(x) / count
        xp.subtract(x, per_block(mean), out=normed)
        xp.multiply(normed, normed, out=y)  # from here on the input, which may be the same memory, is not needed
        variance = block_sums(y) / count
        self._add_to_statistics(mean, variance, count)
        self._deviation = xp.sqrt(variance + self._eps)
        normed /= per_block(self._deviation)
        y[...] = normed

    def _add_to_statistics(self, mean: Array, variance: Array, count: int) -> None:
        unbiased = count / (count - 1) if count > 1 else 1.0
        for index, news in ((MEAN, mean), (VARIANCE, variance * unbiased), (FACTOR, 1.0)):
            statistic = self.blobs[index].data
            statistic *= self._fraction
            statistic += news

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute the bottom's gradient; the batch's statistics depend on the input, stored ones do not.

        With batch statistics ``dx = (dy - mean(dy) - mean(dy y) y) / sqrt(variance + eps)``.
        """
        if not propagate_down[0] or not bottom[0].count:
            return
        xp = self.xp
        shape = three_axes(bottom[0].shape, 1, 2)
        dy, dx = top[0].diff.reshape(shape), bottom[0].diff.reshape(shape)
        if not self._stored:
            count = shape[0] * shape[2]
            part = scratch(self, "part", dy)
            xp.multiply(dy, self._normed, out=part)
            along = block_sums(part) / count
            mean = block_sums(dy) / count
            xp.multiply(self._normed, per_block(along), out=part)
            part += per_block(mean)
            dy = xp.subtract(dy, part, out=dx)
        xp.divide(dy, per_block(self._deviation), out=dx)
