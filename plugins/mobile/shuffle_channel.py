"""Mixing groups of channels, as ShuffleNet does."""

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["ShuffleChannelLayer"]


class ShuffleChannelLayer(Layer):
    """Moves channel ``i`` of group ``g`` to ``i * group + g`` (Zhang et al. 2017, section 3.1).

    Bottom and top ``(N, C, ...)``.
    """

    _group: int

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``shuffle_channel_param``."""
        self._group = int(self.layer_param.shuffle_channel_param.group)
        if self._group < 1:
            self.fail(f"expected group of 1 or more, got {self._group}.", next_step="Set shuffle_channel_param group.")
        if bottom[0].on_host is top[0].on_host:
            self.fail("expected a top with a name of its own.", next_step="Rename the top.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the bottom's shape."""
        shape = bottom[0].shape
        if len(shape) < 2:
            self.fail_shape(f"expected an input (N, C, ...), got shape {shape}.", bottom=0)
        if shape[1] % self._group:
            self.fail_shape(
                f"expected channels to be a multiple of group {self._group}, got shape {shape}.",
                bottom=0,
                next_step="Set shuffle_channel_param group to a divisor of the number of channels.",
            )
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Deal the groups out."""
        self._move(bottom[0].data, top[0].data, self._group)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Collect the groups again."""
        if propagate_down[0]:
            self._move(top[0].diff, bottom[0].diff, bottom[0].shape[1] // self._group)

    @staticmethod
    def _move(source: Array, target: Array, rows: int) -> None:
        """Read the channels as a matrix with so many rows, and write them column by column."""
        images, channels, *rest = source.shape
        if not source.size:
            return
        matrix = source.reshape((images, rows, channels // rows, *rest))
        target.reshape((images, channels // rows, rows, *rest))[...] = matrix.swapaxes(1, 2)
