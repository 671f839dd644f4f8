"""Images and labels from a database."""

from __future__ import annotations

from typing import Any

from engine.api import Phase
from nodes.data.reading import ReadingLayer

__all__ = ["DataLayer"]


class DataLayer(ReadingLayer):
    """Reads ``Datum`` records from an LMDB database and transforms them (Caffe's ``DataLayer``).

    Tops: images, shape (batch_size, channels, height, width), and labels, shape (batch_size,), if there is a second
    top. All settings are those of ``data_param`` and ``transform_param``. A batch whose records have another size than
    the first record reshapes the tops.
    """

    type = "Data"

    def open_source(self, seed: int) -> Any:
        """Open the database."""
        return self.context.open_source(
            "datum",
            self.layer_param,
            train=self.phase == Phase.TRAIN,
            seed=seed,
            folders=self.context.base_dirs,
        )
