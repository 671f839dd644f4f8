"""Made-up data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Blob, Layer

__all__ = ["DummyDataLayer"]

LEGACY_DIMS = ("num", "channels", "height", "width")


class DummyDataLayer(Layer):
    """Tops filled by fillers (Caffe's ``DummyDataLayer``).

    One shape, and one filler, serves all tops; otherwise there is one for each. The older ``num``, ``channels``,
    ``height`` and ``width`` are read as well. A constant is written once, so what a caller writes into such a top
    stays; any other filler draws anew in each pass.
    """

    type = "DummyData"

    _fillers: list[Any]

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Shape and fill the tops once."""
        param = self.layer_param.dummy_data_param
        self._fillers = [param.data_filler[index] for index in self._one_or_each("data_filler", len(top), least=0)]
        if not self._fillers:
            constant = type(self.layer_param)().dummy_data_param.data_filler.add()
            self._fillers = [constant] * len(top)
        for blob, dims, filler in zip(top, self._shapes(len(top)), self._fillers, strict=True):
            if any(dim < 0 for dim in dims):
                self.fail(f"expected dimensions of 0 or more, got {dims}.", next_step="Correct dummy_data_param shape.")
            blob.reshape(dims)
            self.fill(blob, filler, parameter=False)

    def _shapes(self, tops: int) -> list[tuple[int, ...]]:
        param = self.layer_param.dummy_data_param
        if not param.shape:
            sizes = [
                [int(getattr(param, name)[index]) for index in self._one_or_each(name, tops)] for name in LEGACY_DIMS
            ]
            return list(zip(*sizes, strict=True))
        given = [name for name in LEGACY_DIMS if len(getattr(param, name))]
        if given:
            self.fail(f"expected shape, or num, channels, height and width, got shape and {given[0]}.")
        return [tuple(int(dim) for dim in param.shape[index].dim) for index in self._one_or_each("shape", tops)]

    def _one_or_each(self, field: str, tops: int, *, least: int = 1) -> list[int]:
        """Return which entry of a repeated field each top takes."""
        entries = len(getattr(self.layer_param.dummy_data_param, field))
        if entries == 0 == least:
            return []
        if entries not in (1, tops):
            self.fail(
                f"expected one {field} for all tops, or one for each of its {tops}, got {entries}.",
                next_step=f"Set dummy_data_param {field}.",
            )
        return [0] * tops if entries == 1 else list(range(tops))

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """The shapes are known since :meth:`setup`."""

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Draw again for the tops that are not constant."""
        for blob, filler in zip(top, self._fillers, strict=True):
            if filler.type != "constant":
                self.fill(blob, filler, parameter=False)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing lies below."""
