"""Images and labels from a database."""

from __future__ import annotations

from engine.errors import NetcanvasError
from nodes.data.reading import ReadingLayer

__all__ = ["DataLayer"]


class DataLayer(ReadingLayer):
    """Reads ``Datum`` records from an LMDB or LevelDB database and transforms them (Caffe's ``DataLayer``).

    Tops: images, shape (batch_size, channels, height, width), and labels, shape (batch_size,), if there is a second
    top. All settings are those of ``data_param`` and ``transform_param``. A batch whose records have another size than
    the first record reshapes the tops.
    """

    type = "Data"
    source_kind = "datum"

    def stated_shape(self) -> tuple[int, int, int, int] | None:
        """Return the shape that the mean file tells, or a crop and a mean value for every channel.

        Records have to agree with either.
        """
        transform, batch = self.layer_param.transform_param, self.layer_param.data_param.batch_size
        channels, height, width = self._mean_shape() or (len(transform.mean_value), 0, 0)
        if transform.crop_size:
            height = width = transform.crop_size
        told = channels > 1 or bool(transform.mean_file)  # one mean value serves any number of channels
        return (batch, channels, height, width) if told and channels and height and batch else None

    def _mean_shape(self) -> tuple[int, int, int] | None:
        """Return the shape of the mean; None where there is none, or it cannot be read."""
        written = self.layer_param.transform_param.mean_file
        if not written:
            return None
        try:
            channels, height, width = self.context.read_mean(written, f"Layer '{self.name}' (Data)").shape
        except NetcanvasError:
            return None
        return channels, height, width
