"""Arrays from HDF5 files."""

from __future__ import annotations

from nodes.data.reading import ReadingLayer

__all__ = ["HDF5DataLayer"]


class HDF5DataLayer(ReadingLayer):
    """Reads rows of HDF5 data sets named like the tops (Caffe's ``HDF5DataLayer``).

    Tops: shape (batch_size, ...) with the remaining axes of their data set, whatever they are. ``source`` names a text
    file with one path a line; a batch goes on into the next file and starts over after the last.
    """

    type = "HDF5Data"
    source_kind = "hdf5"
