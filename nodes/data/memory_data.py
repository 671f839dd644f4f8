"""Arrays that a program hands over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Blob
from nodes.data.reading import ReadingLayer

__all__ = ["MemoryDataLayer"]


class MemoryDataLayer(ReadingLayer):
    """Serves arrays in batches, over and over (Caffe's ``MemoryDataLayer``).

    Tops: images, shape (batch_size, channels, height, width), and labels, shape (batch_size,). Data is handed over by
    :meth:`reset`, which serves it as it is, or by :meth:`add`, which applies ``transform_param`` first; the number of
    images is a multiple of the batch size.
    """

    type = "MemoryData"
    source_kind = "memory"
    is_source = False  # its shapes are in its settings, and it touches no file before it runs

    @property
    def batch_size(self) -> int:
        """Number of images in a batch."""
        return int(self._source.batch_size)

    @batch_size.setter
    def batch_size(self, size: int) -> None:
        self._source.batch_size = size

    def reset(self, data: Any, labels: Any) -> None:
        """Serve arrays as they are.

        Parameters
        ----------
        data : array, shape (n, channels, height, width)
        labels : array of n values

        Raises
        ------
        DataError
            If the shapes do not fit, or n is no multiple of the batch size.
        """
        self._source.reset(data, labels)

    def add(self, images: Sequence[Any], labels: Any) -> None:
        """Transform images and serve them.

        Parameters
        ----------
        images : sequence of arrays of shape (channels, height, width)
            Bytes or floats, of the size before the transform.
        labels : array of as many values

        Raises
        ------
        DataError
            If the shapes do not fit, the number is no multiple of the batch size, or images added before are left.
        """
        self._source.add(images, labels)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Shape the tops by the settings."""
        for blob, shape in zip(top, self._source.shapes, strict=True):
            blob.reshape(shape)
