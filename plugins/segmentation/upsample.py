"""The way back through max pooling."""

from collections.abc import Sequence

from masks import places

from engine.api import Array, Blob, Layer

__all__ = ["UpsampleLayer"]


class UpsampleLayer(Layer):
    """Puts values back to where a ``Pooling`` layer found them (Badrinarayanan et al. 2015, section 3).

    Bottoms: values and mask, both ``(N, C, H, W)``; top ``(N, C, upsample_h, upsample_w)``, or ``scale`` times the
    size. The mask, the second top of max pooling, has for each value its index in the plane of the top; what no value
    names is 0, and of several with one index the last one stays. Without a mask each pixel becomes a block of
    ``scale * scale`` equal ones.
    """

    _fixed: tuple[int, int] | None = None
    _scale: tuple[int, int] = (1, 1)
    _missing: tuple[int, int] = (0, 0)

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``upsample_param``."""
        param = self.layer_param.upsample_param
        if len(bottom) == 1:
            self._scale = (int(param.scale), int(param.scale))
            if param.scale < 1:
                self.fail(f"expected scale of 1 or more, got {param.scale}.")
            return
        if param.HasField("upsample_h") and param.HasField("upsample_w"):
            self._fixed = (int(param.upsample_h), int(param.upsample_w))
            if min(self._fixed) < 2:
                self.fail(f"expected upsample_h and upsample_w of 2 or more, got {self._fixed}.")
            return
        named = param.HasField("scale_h"), param.HasField("scale_w")
        if any(named) and (not all(named) or param.HasField("scale")):
            self.fail("expected scale, or scale_h and scale_w.", next_step="Set upsample_h and upsample_w.")
        self._scale = (int(param.scale_h), int(param.scale_w)) if all(named) else (int(param.scale), int(param.scale))
        self._missing = (int(param.pad_out_h), int(param.pad_out_w))
        if min(self._scale) < 2:
            self.fail(f"expected a scale of 2 or more, got {self._scale}.", next_step="Set upsample_param scale.")
        if any(missing and scale != 2 for missing, scale in zip(self._missing, self._scale, strict=True)):
            self.fail("expected pad_out_h and pad_out_w only with a scale of 2.", next_step="Set upsample_h and _w.")

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the size of the top."""
        shape = bottom[0].shape
        if len(shape) != 4:
            self.fail_shape(f"expected a 4-D input (N, C, H, W), got shape {shape}.", bottom=0)
        if len(bottom) > 1 and bottom[1].shape != shape:
            self.fail_shape(f"expected a mask of shape {shape}, as bottom 0, got {bottom[1].shape}.", bottom=1)
        scaled = (
            size * scale - missing for size, scale, missing in zip(shape[2:], self._scale, self._missing, strict=True)
        )
        top[0].reshape(*shape[:2], *(self._fixed or scaled))

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Spread the values."""
        x, y = bottom[0].data, top[0].data
        if len(bottom) == 1:
            self._blocks(y, bottom[0].shape)[...] = x[:, :, :, None, :, None]
            return
        y[...] = 0
        if x.size:
            where = places(self, bottom[1], top[0])
            y.reshape(-1)[where] = x.reshape(-1)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Collect the gradient from where the values went."""
        if not propagate_down[0]:
            return
        dx, dy = bottom[0].diff, top[0].diff
        if len(bottom) == 1:
            dx[...] = self._blocks(dy, bottom[0].shape).sum(axis=(3, 5))
        elif dx.size:
            where = places(self, bottom[1], top[0])
            dx.reshape(-1)[...] = dy.reshape(-1)[where]

    def _blocks(self, array: Array, shape: tuple[int, ...]) -> Array:
        """Return a view in which axes 3 and 5 are the pixels of a block."""
        images, channels, height, width = shape
        return array.reshape((images, channels, height, self._scale[0], width, self._scale[1]))

    def allow_force_backward(self, bottom_index: int) -> bool:
        """A mask has no gradient."""
        return bottom_index == 0
