"""Where the greatest values are."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer

__all__ = ["ArgMaxLayer"]


class ArgMaxLayer(Layer):
    """Places of the ``top_k`` greatest values, greatest first (Caffe's ``ArgMaxLayer``).

    With ``axis`` that axis of the top has size ``top_k`` and holds places, or the values themselves with
    ``out_max_val``. Without it each item is searched as a whole: the top is ``(N, 1, top_k)``, or with ``out_max_val``
    ``(N, 2, top_k)``, places before values; a bottom with more than 3 axes gives as many, ones at the end. Of equal
    values the last comes first, as in Caffe; NaN comes before all numbers.
    """

    type = "ArgMax"

    _axis: int | None
    _top_k: int
    _values: bool

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``argmax_param``."""
        param = self.layer_param.argmax_param
        self._axis = self.axis(param.axis, bottom[0]) if param.HasField("axis") else None
        self._top_k = int(param.top_k)
        self._values = bool(param.out_max_val)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that there are ``top_k`` values to choose from."""
        shape = bottom[0].shape
        if self._axis is not None:
            found, where = shape[self._axis], f"the size of axis {self._axis}"
        elif not shape:
            self.fail_shape("expected an input with a batch axis, got a scalar.", bottom=0)
        else:
            found, where = (bottom[0].count // shape[0] if shape[0] else self._top_k), "the values of an item"
        if not 1 <= self._top_k <= found:
            self.fail_shape(f"expected top_k from 1 to {found} ({where}), got {self._top_k}.", bottom=0)
        if self._axis is not None:
            top[0].reshape(*shape[: self._axis], self._top_k, *shape[self._axis + 1 :])
        else:
            ones = (1,) * (len(shape) - 3)
            top[0].reshape(shape[0], 2 if self._values else 1, self._top_k, *ones)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Search."""
        values = bottom[0].data
        result = top[0].data
        if self._axis is not None:
            places = self._greatest(values, self._axis)
            result[...] = self.xp.take_along_axis(values, places, axis=self._axis) if self._values else places
        elif result.size:
            rows = values.reshape((len(values), -1))
            places = self._greatest(rows, 1)
            planes = result.reshape((len(values), -1, self._top_k))
            planes[:, 0] = places
            if self._values:
                planes[:, 1] = self.xp.take_along_axis(rows, places, axis=1)

    def _greatest(self, values: Array, axis: int) -> Array:
        """Return the places of the greatest values along an axis."""
        xp = self.xp
        last = values.shape[axis] - 1
        if self._top_k == 1:
            return last - xp.expand_dims(xp.argmax(xp.flip(values, axis), axis=axis), axis)
        rising = xp.argsort(values, axis=axis, kind="stable")
        return xp.flip(rising, axis)[(slice(None),) * axis + (slice(self._top_k),)]

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Places have no gradient."""
        if propagate_down[0]:
            self.fail("places have no gradient.", bottom=0, next_step="Set propagate_down: false.")

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Places have no gradient."""
        return False
