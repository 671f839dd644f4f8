"""Max, average and stochastic pooling."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from engine.api import Blob, Layer, LowerContext, Primitive
from engine.ops import Op, PoolingAverage, PoolingMax, PoolingWindow
from nodes.vision.stochastic import StochasticPooling

__all__ = ["PoolingLayer"]

MAX, AVE, STOCHASTIC = 0, 1, 2  # PoolingParameter.PoolMethod
FLOOR = 1  # PoolingParameter.RoundMode

_log = logging.getLogger(__name__)


class PoolingLayer(Layer):
    """Pools windows of the last two axes (Caffe's ``PoolingLayer``).

    Bottom ``(N, C, H, W)``; top ``(N, C, out_h, out_w)`` with ``out = ceil((size + 2 pad - kernel) / stride) + 1``
    (rounded down with ``round_mode: FLOOR``, or ``ceil_mode: false`` as forks write it; a last window that would start
    in the padding is dropped). A second top of max pooling holds the flat index of each maximum within its plane. A
    window that lies outside of the input altogether (a stride larger than the kernel) gives the lowest finite number,
    or 0 for the other methods, and is warned of. Stochastic pooling, which Caffe has on GPUs only, is
    :class:`~nodes.vision.stochastic.StochasticPooling`.
    """

    type = "Pooling"

    _windows: tuple[PoolingWindow, ...] = ()
    _method: int
    _floor: bool
    _global: bool
    _warned: bool = False
    _spec: PoolingMax | PoolingAverage
    _primitive: Primitive | None = None
    _stochastic: StochasticPooling | None = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``pooling_param``."""
        param = self.layer_param.pooling_param
        self._global = bool(param.global_pooling)
        # forks that are older than round_mode have ceil_mode in its place; a plugin's schema knows it
        self._floor = param.round_mode == FLOOR or not getattr(param, "ceil_mode", True)
        self._method = int(param.pool)
        if len(top) > 1 and param.pool != MAX:
            self.fail("expected 1 top: only max pooling has a mask.", top=1, next_step="Remove the second top.")
        if bottom[0].axes != 4:
            self.fail_shape(f"expected a 4-D input (N, C, H, W), got shape {bottom[0].shape}.", bottom=0)
        if self._global:
            self._check_global(param)
        else:
            self._use(self._read_windows(param))

    def _check_global(self, param: Any) -> None:
        if any(param.HasField(field) for field in ("kernel_size", "kernel_h", "kernel_w")):
            self.fail("expected no kernel size with global_pooling: true.", next_step="Remove kernel_size.")
        strides = [getattr(param, field) for field in ("stride", "stride_h", "stride_w") if param.HasField(field)]
        pads = [getattr(param, field) for field in ("pad", "pad_h", "pad_w") if param.HasField(field)]
        if any(pads) or any(stride != 1 for stride in strides):
            self.fail("expected pad 0 and stride 1 with global_pooling: true.", next_step="Remove pad and stride.")

    def _read_windows(self, param: Any) -> tuple[PoolingWindow, ...]:
        kernel = self._pair(param, "kernel", "kernel_size", 0)
        stride = self._pair(param, "stride", "stride", 1)
        pad = self._pair(param, "pad", "pad", 0)
        if min(kernel) < 1:
            self.fail(
                "expected kernel_size of 1 or more.", next_step="Set pooling_param kernel_size, or global_pooling."
            )
        if min(stride) < 1:
            self.fail(f"expected stride of 1 or more, got {stride}.")
        if any(p >= k for p, k in zip(pad, kernel, strict=True)):
            self.fail(f"expected pad smaller than the kernel {kernel}, got {pad}.", next_step="Reduce pad.")
        if self._method == STOCHASTIC and any(pad):
            self.fail(f"expected no pad with pool: STOCHASTIC, got {pad}.", next_step="Remove pad, as Caffe asks, too.")
        return tuple(PoolingWindow(*values) for values in zip(kernel, stride, pad, strict=True))

    def _pair(self, param: Any, stem: str, square: str, default: int) -> tuple[int, int]:
        """Read a field that is written once, or as ``_h`` and ``_w``."""
        height, width = f"{stem}_h", f"{stem}_w"
        named = param.HasField(height) or param.HasField(width)
        if named and param.HasField(square):
            self.fail(f"expected {square}, or {height} and {width}, got both.")
        if named:
            if not (param.HasField(height) and param.HasField(width)):
                self.fail(f"expected {height} and {width}, got one of them.")
            return int(getattr(param, height)), int(getattr(param, width))
        value = int(getattr(param, square)) if param.HasField(square) else default
        return value, value

    def _use(self, windows: tuple[PoolingWindow, ...]) -> None:
        self._windows = windows
        if self._method == STOCHASTIC:
            self._stochastic = StochasticPooling(self, windows)
            return
        self._spec = PoolingAverage(windows) if self._method == AVE else PoolingMax(windows)
        self._primitive = self.primitive(self._spec)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the number of windows."""
        shape = bottom[0].shape
        if len(shape) != 4:
            self.fail_shape(f"expected a 4-D input (N, C, H, W), got shape {shape}.", bottom=0)
        if self._global:
            windows = tuple(PoolingWindow(max(size, 1), 1, 0) for size in shape[2:])
            if windows != self._windows:
                self._use(windows)
        padded = any(window.pad for window in self._windows)
        out = tuple(
            window.output_size(size, floor=self._floor, padded=padded)
            for window, size in zip(self._windows, shape[2:], strict=True)
        )
        if min(out) < 1:
            self.fail_shape(
                f"kernel {tuple(window.kernel for window in self._windows)} does not fit into input {shape[2:]}.",
                bottom=0,
                next_step="Use a smaller kernel, or global_pooling.",
            )
        self._warn_of_empty_windows(shape[2:], out)
        for blob in top:
            blob.reshape(*shape[:2], *out)

    def _warn_of_empty_windows(self, sizes: tuple[int, ...], out: tuple[int, ...]) -> None:
        if self._warned:
            return
        for window, size, count in zip(self._windows, sizes, out, strict=True):
            if (count - 1) * window.stride - window.pad >= size:
                self._warned = True
                _log.warning(
                    "Layer '%s' (Pooling): the last window starts at %d, outside of the input of size %d, because "
                    "stride %d is larger than kernel %d; it holds no data. Set round_mode: FLOOR or a smaller stride.",
                    self.name,
                    (count - 1) * window.stride - window.pad,
                    size,
                    window.stride,
                    window.kernel,
                )
                return

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Pool."""
        if self._stochastic is not None:
            self._stochastic.forward(bottom[0].data, top[0].data)
            return
        assert self._primitive is not None  # reshape came first
        self._primitive.forward([bottom[0].data], [], [blob.data for blob in top])

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Send gradients to the elements they came from; a mask has none."""
        if not propagate_down[0]:
            return
        if self._stochastic is not None:
            self._stochastic.backward(bottom[0].data, top[0].diff, bottom[0].diff)
            return
        assert self._primitive is not None  # reshape came first
        self._primitive.backward([bottom[0].data], [], [top[0].data], [top[0].diff], [bottom[0].diff], [])

    def lower(self, ctx: LowerContext) -> Sequence[Op] | None:
        """Return one pooling; stochastic pooling is called as it is."""
        if self._stochastic is not None:
            return None
        return [Op(self._spec, list(ctx.bottom), [], list(ctx.top))]
