"""Windows of images, to train a detector on."""

from __future__ import annotations

from nodes.data.reading import ReadingLayer

__all__ = ["WindowDataLayer"]


class WindowDataLayer(ReadingLayer):
    """Samples windows with and without objects from listed images (Caffe's ``WindowDataLayer``).

    Tops: windows, shape (batch_size, 3, crop_size, crop_size), and classes, shape (batch_size,), 0 where nothing is
    shown. ``scale`` is read from ``window_data_param``, all else of the transformation from ``transform_param``.
    """

    type = "WindowData"
    source_kind = "windows"

    def stated_shape(self) -> tuple[int, int, int, int] | None:
        """Return the shape; windows are always cropped, from images in colour."""
        crop = self.layer_param.transform_param.crop_size
        return (self.layer_param.window_data_param.batch_size, 3, crop, crop) if crop else None
