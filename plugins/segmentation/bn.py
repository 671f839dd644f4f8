"""Batch normalisation with scale and shift, as SegNet, PSPNet and older forks have it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.api import Array, Blob, Layer, Phase

__all__ = ["BNLayer"]

SCALE, SHIFT, MEAN, VARIANCE = range(4)  # its parameters
INFERENCE = 1  # BNParameter.BNMode
SEGNET_EPS = 1e-9
_OF_PSPNET = ("slope_filler", "bias_filler", "momentum", "eps", "frozen", "engine")
_OF_CHEN = ("var_eps", "moving_average", "decay")


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a layer of one fork does.

    Attributes
    ----------
    eps : float
        Added to the variance.
    fillers : pair of FillerParameter
        Of scale and shift.
    momentum : float or None
        What is left of the stored mean and variance in each pass; None where none are stored.
    tested_on_stored : bool
        Take the stored ones when testing.
    frozen : bool
        Take them while training too, and learn nothing.
    scales_only : bool
        Do not normalise.
    """

    eps: float
    fillers: tuple[Any, Any]
    momentum: float | None = None
    tested_on_stored: bool = False
    frozen: bool = False
    scales_only: bool = False


def _kind_of(param: Any) -> _Kind:
    """Find out whose layer it is from the fields that are set."""
    if param.icnet or any(param.HasField(field) for field in _OF_PSPNET):
        fillers = (param.slope_filler, param.bias_filler)
        return _Kind(param.eps, fillers, param.momentum, tested_on_stored=True, frozen=param.frozen)
    fillers = (param.scale_filler, param.shift_filler)
    if any(param.HasField(field) for field in _OF_CHEN):
        return _Kind(param.var_eps, fillers, param.decay, tested_on_stored=param.moving_average)
    return _Kind(SEGNET_EPS, fillers, scales_only=param.bn_mode == INFERENCE)


class BNLayer(Layer):
    """``scale * (x - mean) / sqrt(variance + eps) + shift``, channel by channel.

    Bottom ``(N, C, ...)`` with up to four axes; parameters of shape ``(1, C, 1, 1)``. The variance is that of the
    values, not an estimate from a sample. There are three kinds, told apart by the fields that are set:

    * SegNet's has scale and shift. It takes mean and variance from the batch, whatever the phase, with ``eps`` 1e-9;
      tops two and three are these means and variances, shape ``(1, C, 1, 1)``, which pass no gradient on. With
      ``bn_mode: INFERENCE`` it only scales and shifts.
    * PSPNet's also has a mean and a variance, never learned. While training it takes those of the batch and moves its
      own towards them by ``1 - momentum``; when testing, or ``frozen``, it takes its own. Frozen it learns nothing.
    * C. Chen's, the oldest, moves its own mean and variance by ``1 - decay`` while training, and takes them when
      testing if ``moving_average`` is set.

    Unlike SegNet's layer the variance is summed from differences to the mean, so that it is never negative.
    """

    _channels: int
    _kind: _Kind
    _normed: Array | None = None
    _deviation: Array

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``bn_param``, find out whose layer it is, and make the parameters."""
        kind = self._kind = _kind_of(self.layer_param.bn_param)
        self._channels = self._channels_of(bottom[0])
        shape = (1, self._channels, 1, 1)
        for filler in kind.fillers:
            self.fill(self.blobs.add_blob(shape), filler)
        if kind.momentum is None:
            return
        if len(top) > 1:
            self.fail("expected 1 top, as a BN that stores its statistics.", top=1, next_step="Remove the other tops.")
        self.blobs.add_blob(shape)
        variance = self.blobs.add_blob(shape)
        if kind.frozen and self.context.fill_params and not self.context.shapes_only:
            variance.data[...] = 1
        self._keep_from_learning((SCALE, SHIFT, MEAN, VARIANCE) if kind.frozen else (MEAN, VARIANCE))

    def _keep_from_learning(self, fixed: Sequence[int]) -> None:
        """Set learning rate and decay of parameters to 0, whatever the file says."""
        specs = self.layer_param.param
        while len(specs) < len(self.blobs):
            specs.add()
        for index in fixed:
            specs[index].lr_mult = specs[index].decay_mult = 0.0

    @property
    def _takes_own(self) -> bool:
        """Whether mean and variance are the stored ones."""
        return self._kind.frozen or (self._kind.tested_on_stored and self.phase is Phase.TEST)

    def _channels_of(self, blob: Blob) -> int:
        if not 2 <= blob.axes <= 4:
            self.fail_shape(f"expected an input (N, C, H, W), got shape {blob.shape}.", bottom=0)
        return blob.shape[1]

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that there still are parameters for each channel."""
        if self._channels_of(bottom[0]) != self._channels:
            self.fail_shape(f"expected {self._channels} channels as at set-up, got {bottom[0].shape}.", bottom=0)
        top[0].reshape_like(bottom[0])
        for blob in top[1:]:
            blob.reshape(1, self._channels, 1, 1)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Normalise, scale and shift."""
        xp = self.xp
        x, y = self._planes(bottom[0].data), self._planes(top[0].data)
        for blob in top[1:]:
            blob.data[...] = 0
        if not x.size:
            return
        normed = self._normed
        if normed is None or normed.shape != x.shape or normed.dtype != x.dtype:
            normed = self._normed = xp.empty(x.shape, x.dtype)
        if self._kind.scales_only:
            normed[...] = x
        else:
            self._normalise(x, normed, top)
        xp.multiply(normed, self._param(SCALE), out=y)
        y += self._param(SHIFT)

    def _normalise(self, x: Array, normed: Array, top: Sequence[Blob]) -> None:
        xp = self.xp
        own = self._takes_own
        mean = self._param(MEAN) if own else _mean(x)
        xp.subtract(x, mean, out=normed)
        variance = self._param(VARIANCE) if own else _mean(normed * normed)
        momentum = self._kind.momentum
        if momentum is not None and not own and self.phase is Phase.TRAIN:
            self._average(MEAN, mean, momentum)
            self._average(VARIANCE, variance, momentum)
        for blob, values in zip(top[1:], (mean, variance), strict=False):
            blob.data[...] = values.reshape(blob.shape)
        self._deviation = xp.sqrt(variance + self._kind.eps)
        normed /= self._deviation

    def _average(self, index: int, news: Array, momentum: float) -> None:
        average = self.blobs[index].data.reshape((1, -1, 1))
        average *= momentum
        average += (1 - momentum) * news

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute gradients of scale, shift and bottom; those of stored statistics do not depend on the input."""
        dy, normed = self._planes(top[0].diff), self._normed
        if not dy.size or normed is None:
            return
        products = dy * normed
        for index, values in ((SCALE, products), (SHIFT, dy)):
            if self.param_propagate_down[index] and not self._kind.frozen:
                diff = self.blobs[index].diff
                diff += values.sum(axis=2).sum(axis=0).reshape(diff.shape)
        if not propagate_down[0]:
            return
        dx = self._planes(bottom[0].diff)
        scale = self._param(SCALE)
        if self._kind.scales_only:
            self.xp.multiply(dy, scale, out=dx)
            return
        if not self._takes_own:
            dy = dy - _mean(dy) - _mean(products) * normed
        self.xp.multiply(dy, scale / self._deviation, out=dx)

    def _planes(self, array: Array) -> Array:
        """Return a view with the spatial axes joined."""
        return array.reshape((array.shape[0], self._channels, -1)) if array.size else array

    def _param(self, index: int) -> Array:
        return self.blobs[index].data.reshape((1, -1, 1))


def _mean(values: Array) -> Array:
    """Return the mean of each channel of ``(N, C, L)``, shape (1, C, 1)."""
    images, _, length = values.shape
    return (values.sum(axis=2).sum(axis=0) / (images * length)).reshape((1, -1, 1))
