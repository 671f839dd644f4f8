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

    def stated_shape(self) -> tuple[int, int, int, int] | None:
        """Return the shape where a crop is given, or to which size all images are brought."""
        data, crop = self.layer_param.image_data_param, self.layer_param.transform_param.crop_size
        height, width = (crop, crop) if crop else (data.new_height, data.new_width)
        return (data.batch_size, 3 if data.is_color else 1, height, width) if height and width else None
