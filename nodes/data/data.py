"""Images and labels from a database."""

from __future__ import annotations

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
        """Return the shape where a crop and a mean value for every channel are given; records have to agree with it."""
        transform, data = self.layer_param.transform_param, self.layer_param.data_param
        channels = len(transform.mean_value)
        if channels < 2 or not transform.crop_size or not data.batch_size:
            return None
        return data.batch_size, channels, transform.crop_size, transform.crop_size
