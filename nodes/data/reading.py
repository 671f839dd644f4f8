"""What the layers that read files have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from engine.api import Blob, Layer, Phase
from engine.errors import MissingDataError

__all__ = ["ReadingLayer"]

_SEEDS = 2**63


class ReadingLayer(Layer):
    """A layer whose tops are filled from a source of batches.

    The source is opened in :meth:`setup` and draws from a seed of its own, taken from the layer's stream. Its position
    is the layer's state, so that a resumed run goes on with the record at which it was interrupted. Where only shapes
    are asked for and there is no source, what the text states is enough.
    """

    is_source = True
    #: Which source :meth:`engine.api.LayerContext.open_source` opens; its batches have an array for every top.
    source_kind: ClassVar[str] = ""
    _source: Any = None
    _shapes: Sequence[tuple[int, ...]]

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Open the source."""
        try:
            self._open(self.layer_param)
        except MissingDataError:
            if not self.context.shapes_only:
                raise
            image = self.stated_shape()
            if image is not None:
                self._shapes = (image, image[:1])[: len(top)]
            elif self.layer_param.transform_param.mean_file:  # which has no say in the shapes of records that are there
                self._open(_without_mean(self.layer_param))
            else:
                raise

    def _open(self, layer_param: Any) -> None:
        self._source = self.context.open_source(
            self.source_kind,
            layer_param,
            train=self.phase == Phase.TRAIN,
            seed=int(self.rng.integers(_SEEDS)),
            folders=self.context.base_dirs,
        )
        self._shapes = self._source.shapes

    def stated_shape(self) -> tuple[int, int, int, int] | None:
        """Return the shape of the images as far as it follows from the settings alone, whatever the source holds."""
        return None

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Shape the tops like the first record."""
        for blob, shape in zip(top, self._shapes, strict=True):
            blob.reshape(shape)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Fill the tops with the next batch."""
        batch = self._source.next()
        for blob, array in zip(top, batch.arrays, strict=True):
            blob.reshape(array.shape)
            blob.data[...] = self.to_backend(array)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing flows into a file."""

    def get_state(self) -> dict[str, Any]:
        """Return the position in the data."""
        state: dict[str, Any] = self._source.get_state()
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Go to a position in the data."""
        self._source.set_state(state)

    def close(self) -> None:
        """Let go of files and threads."""
        if self._source is not None:
            self._source.close()


def _without_mean(layer_param: Any) -> Any:
    bare = type(layer_param)()
    bare.CopyFrom(layer_param)
    bare.transform_param.ClearField("mean_file")
    return bare
