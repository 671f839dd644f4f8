"""Values kept within bounds."""

from __future__ import annotations

from engine.api import Array
from nodes.activation.elementwise import ElementwiseLayer

__all__ = ["ClipLayer"]


class ClipLayer(ElementwiseLayer):
    """``min(max(x, min), max)`` (Caffe's ``ClipLayer``); the gradient passes on and between the bounds."""

    type = "Clip"
    needs_input = True

    _least: float
    _most: float

    def read_param(self) -> None:
        """Read ``clip_param``, both fields of which must be given."""
        param = self.layer_param.clip_param
        missing = [field for field in ("min", "max") if not param.HasField(field)]
        if missing:
            self.fail(
                f"expected min and max, got no {' and no '.join(missing)}.", next_step="Set clip_param min and max."
            )
        self._least, self._most = float(param.min), float(param.max)

    def apply(self, x: Array, y: Array) -> None:
        """Clip."""
        self.xp.maximum(x, self._least, out=y)
        self.xp.minimum(y, self._most, out=y)

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Stop the gradient outside of the bounds."""
        self.xp.multiply(dy, (x >= self._least) & (x <= self._most), out=dx)
