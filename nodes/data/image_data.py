"""Images and labels from files."""

from __future__ import annotations

from nodes.data.reading import ReadingLayer

__all__ = ["ImageDataLayer"]


class ImageDataLayer(ReadingLayer):
    """Reads the image files that a list names and transforms them (Caffe's ``ImageDataLayer``).

    Tops: images, shape (batch_size, channels, height, width), channels in the order blue, green, red, and labels, shape
    (batch_size,). All settings are those of ``image_data_param`` and ``transform_param``. A batch whose images have
    another size than the first image reshapes the tops.
    """

    type = "ImageData"
    source_kind = "images"
