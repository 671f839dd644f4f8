"""Images with a label for each pixel, from files."""

from collections.abc import Sequence
from typing import Any

from engine.api import Blob, Layer, Phase

__all__ = ["DenseImageDataLayer"]

_SEEDS = 2**63


class DenseImageDataLayer(Layer):
    """Reads pairs of images that a list names: one to look at, one whose pixels are its labels.

    Tops: images, shape (batch_size, channels, height, width), channels in the order blue, green, red, and labels, shape
    (batch_size, 1, height, width), the latter divided by ``label_divide_factor``. Settings are those of
    ``dense_image_data_param`` and ``transform_param``. All that is drawn comes from the layer's own stream, and the
    position in the list is its state, so that a resumed run goes on where it was.
    """

    is_source = True
    _source: Any

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Open the source."""
        self._source = self.context.open_source(
            "image pairs",
            self.layer_param,
            train=self.phase is Phase.TRAIN,
            seed=int(self.rng.integers(_SEEDS)),
            folders=self.context.base_dirs,
        )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Shape the tops like the first pair."""
        for blob, shape in zip(top, self._source.shapes, strict=True):
            blob.reshape(shape)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Fill the tops with the next batch."""
        for blob, array in zip(top, self._source.next().arrays, strict=True):
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
        self._source.close()
