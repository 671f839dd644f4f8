"""Images with the boxes of their objects, from a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from annotated_image import AnnotatedImage, crop, expand, move_boxes, resize_image, resized_boxes, resized_size
from colors import distort
from noise import add_noise, check_noise
from sampling import check_samplers, sample_patches

from engine.api import Blob, DataError, Layer, Phase, resolve

__all__ = ["AnnotatedDataLayer"]

_FIT_SMALL = 2  # ResizeParameter.Resize_mode


class AnnotatedDataLayer(Layer):
    """Reads ``AnnotatedDatum`` records and augments them (SSD's ``AnnotatedDataLayer``).

    Tops: images ``(batch_size, C, H, W)``, and labels ``(1, 1, objects, 8)`` as rows (item, label, instance, xmin,
    ymin, xmax, ymax, difficult), or one row of -1; ``(batch_size, 1, 1, 1)`` labels where the records hold no boxes.

    In this order an image is distorted, expanded, cut to a patch that a batch sampler has drawn, resized, put noise on,
    cropped and mirrored; then the mean is taken off and the rest is scaled. All is drawn from the layer's own stream,
    and the record that comes next is its state.

    Where this departs from SSD's Caffe: between the steps images are not squeezed through JPEG; images that are stored
    as bytes are treated like encoded ones (there, they are neither distorted nor resized).
    """

    type = "AnnotatedData"
    host_arrays = True
    is_source = True

    _reader: Any = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Open the database and look at its first record."""
        data, self.param = self.layer_param.data_param, self.layer_param.transform_param
        self.batch = int(data.batch_size)
        self.samplers = list(self.layer_param.annotated_data_param.batch_sampler)
        self._check()
        self._mean = self._read_mean()
        self._reader = self.context.open_records(data.source, f"Layer '{self.name}' ({self.layer_param.type})")
        start = self._reader.get_state()
        _, record = self._read()
        self._reader.set_state(start)
        if data.rand_skip:
            self._reader.skip(int(self.rng.integers(data.rand_skip)))
        first = self._image(record)
        self.has_boxes = record.HasField("type") or self.layer_param.annotated_data_param.HasField("anno_type")
        self.shape = self._shape_of(first.pixels)
        self.labels = (1, 1, max(len(first.boxes), 1), 8) if self.has_boxes else (self.batch, 1, 1, 1)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Shape the tops like the first record."""
        top[0].reshape(self.batch, *self.shape)
        if len(top) > 1:
            top[1].reshape(self.labels)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Fill the tops with the next batch."""
        images: list[Any] = []
        labels: list[Any] = []
        for item in range(self.batch):
            name, record = self._read()
            values, found = self._augmented(self._image(record))
            if images and values.shape != images[0].shape:
                raise DataError(
                    f"{name}: expected shape {images[0].shape} like the first image of its batch, got {values.shape}.",
                    next_step="Set resize_param, or a batch_size of 1.",
                )
            images.append(values)
            if self.has_boxes:
                items = np.full((len(found.boxes), 1), item, np.float32)
                labels.append(np.concatenate((items, found.facts[:, :2], found.boxes, found.facts[:, 2:]), axis=1))
            else:
                labels.append(np.full((1, 1), record.datum.label, np.float32))
        top[0].reshape(self.batch, *images[0].shape)
        for target, values in zip(top[0].data, images, strict=True):
            target[...] = values
        if len(top) > 1:
            rows = np.concatenate(labels)
            if self.has_boxes and not len(rows):
                rows = np.full((1, 8), -1, np.float32)
            top[1].reshape((1, 1, *rows.shape) if self.has_boxes else (self.batch, 1, 1, 1))
            top[1].data[...] = rows.reshape(top[1].shape)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Nothing flows into a file."""

    def get_state(self) -> dict[str, Any]:
        """Return the record that comes next."""
        state: dict[str, Any] = self._reader.get_state()
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Go to a record."""
        self._reader.set_state(state)

    def close(self) -> None:
        """Let go of the database."""
        if self._reader is not None:
            self._reader.close()

    # -- settings ------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        param = self.param
        if self.batch < 1:
            self.fail(f"expected a batch_size of at least 1, got {self.batch}.", next_step="Set it in data_param.")
        if param.HasField("resize_param"):
            if not (param.resize_param.height and param.resize_param.width):
                self.fail("expected height and width in resize_param.", next_step="Set both, in pixels.")
            if param.resize_param.resize_mode == _FIT_SMALL and self.batch > 1:
                self.fail(f"expected a batch_size of 1 with FIT_SMALL_SIZE, got {self.batch}.")
        if param.HasField("expand_param") and not param.expand_param.max_expand_ratio > 1:
            self.fail(f"expected a max_expand_ratio above 1, got {param.expand_param.max_expand_ratio:g}.")
        if param.mean_file and param.mean_value:
            self.fail("expected mean_file or mean_value, got both.", next_step="Remove one of them.")
        if param.force_color and param.force_gray:
            self.fail("expected force_color or force_gray, got both.", next_step="Remove one of them.")
        check_noise(self, param.noise_param)
        check_samplers(self, self.samplers)

    def _read_mean(self) -> Any:
        """Return what is taken off, shape (C, H, W), or (C, 1, 1) or (1, 1, 1) of mean values."""
        param = self.param
        if not param.mean_file:
            return np.array(param.mean_value or [0], np.float32).reshape(-1, 1, 1)
        if param.HasField("expand_param"):
            self.fail(
                "expected mean_value with expand_param, got mean_file.", next_step="Give a value for each channel."
            )
        found = resolve(param.mean_file, self.context.base_dirs)
        if not found.found:
            tried = ", ".join(f"'{path}'" for path in found.tried)
            raise DataError(f"Layer '{self.name}': mean_file '{param.mean_file}' was not found; tried {tried}.")
        mean = self.context.read_blob(found.path)
        return mean.reshape(mean.shape[-3:])

    def _crop_size(self) -> tuple[int, int]:
        side = int(self.param.crop_size)
        return (side, side) if side else (int(self.param.crop_h), int(self.param.crop_w))

    def _shape_of(self, pixels: Any) -> tuple[int, int, int]:
        """Return the shape of an image after the transforms."""
        channels, height, width = pixels.shape
        if self.param.HasField("resize_param"):
            height, width = resized_size(self.param.resize_param, height, width)
        high, wide = self._crop_size()
        return (channels, high or height, wide or width)

    # -- one image -----------------------------------------------------------------------------------------------

    def _read(self) -> tuple[str, Any]:
        """Return name and message of the next record."""
        key, value = self._reader.next()
        name = f"Record {key.decode('utf-8', 'backslashreplace')!r} of '{self._reader.path}'"
        record = self.message("AnnotatedDatum")
        try:
            record.ParseFromString(bytes(value))
        except Exception as error:  # protobuf's own errors, of which plugins know nothing
            raise DataError(
                f"{name}: expected an AnnotatedDatum, got {len(value)} other bytes.",
                next_step="Write the database with SSD's convert_annoset.",
            ) from error
        return name, record

    def _image(self, record: Any) -> AnnotatedImage:
        """Decode a record."""
        datum = record.datum
        if datum.encoded:
            color = True if self.param.force_color else False if self.param.force_gray else None
            pixels = self.context.decode_image(datum.data, color=color)
        else:
            shape = (datum.channels, datum.height, datum.width)
            if not datum.data or len(datum.data) != np.prod(shape):
                raise DataError(
                    f"Layer '{self.name}': expected an AnnotatedDatum with an image, got one of shape {shape} with "
                    f"{len(datum.data)} bytes.",
                    next_step="Write the database with SSD's convert_annoset.",
                )
            pixels = np.frombuffer(datum.data, np.uint8).reshape(shape)
        found = [
            (*_corners(each.bbox), group.group_label, each.instance_id, each.bbox.difficult)
            for group in record.annotation_group
            for each in group.annotation
        ]
        rows = np.array(found, np.float32).reshape(-1, 7)
        return AnnotatedImage(pixels, rows[:, :4], rows[:, 4:])

    def _augmented(self, image: AnnotatedImage) -> tuple[Any, AnnotatedImage]:
        """Return the values of an image after all transforms, and its boxes."""
        param, rng = self.param, self.rng
        constraint = param.emit_constraint if param.HasField("emit_constraint") else None
        if param.HasField("distort_param"):
            image = self._distorted(image)
        if param.HasField("expand_param") and rng.random() <= param.expand_param.prob:
            ratio = rng.uniform(1, param.expand_param.max_expand_ratio)
            fill = np.resize(np.rint(self._mean).clip(0, 255).astype(np.uint8), len(image.pixels))
            image = expand(image, ratio, fill, constraint, rng)
        if self.samplers:
            patches = sample_patches(image.boxes, self.samplers, rng)
            if len(patches):
                image = crop(image, patches[int(rng.integers(len(patches)))], constraint)
        size = image.pixels.shape[1:]
        if param.HasField("resize_param"):
            boxes = resized_boxes(image.boxes, param.resize_param, *size)
            image = replace(image, pixels=resize_image(image.pixels, param.resize_param, rng), boxes=boxes)
        if param.HasField("noise_param"):
            image = replace(image, pixels=add_noise(self, image.pixels, param.noise_param))
        return self._finished(image, constraint)

    def _distorted(self, image: AnnotatedImage) -> AnnotatedImage:
        if len(image.pixels) != 3:
            self.fail(
                f"expected images of 3 channels with distort_param, got {len(image.pixels)}.",
                next_step="Set force_color, or remove distort_param.",
            )
        return replace(image, pixels=distort(image.pixels, self.param.distort_param, self.rng))

    def _finished(self, image: AnnotatedImage, constraint: Any) -> tuple[Any, AnnotatedImage]:
        """Crop, mirror, take the mean off and scale; the mean of a pixel is that of its place in the result."""
        pixels = image.pixels
        mirrored = self.param.mirror and bool(self.rng.integers(2))
        _, height, width = pixels.shape
        high, wide = self._crop_size()
        y = x = 0
        if high and wide:
            if high > height or wide > width:
                self.fail(f"expected images of at least {high} by {wide} pixels, got {height} by {width}.")
            free = (height - high, width - wide)
            train = self.phase == Phase.TRAIN
            y, x = (int(self.rng.integers(each + 1)) if train else each // 2 for each in free)
            pixels = pixels[:, y : y + high, x : x + wide]
        else:
            high, wide = height, width
        window = np.array([x / width, y / height, (x + wide) / width, (y + high) / height], np.float32)
        image = move_boxes(image, window, constraint)
        boxes = image.boxes
        if mirrored:
            pixels = pixels[:, :, ::-1]
            boxes = np.stack((1 - boxes[:, 2], boxes[:, 1], 1 - boxes[:, 0], boxes[:, 3]), axis=1)
        boxes = self._extrapolated(boxes, high, wide)
        return self._scaled(pixels), replace(image, boxes=boxes)

    def _extrapolated(self, boxes: Any, high: int, wide: int) -> Any:
        """Return boxes in parts of ``height_scale`` and ``width_scale``, which FIT_SMALL_SIZE may ask for."""
        resize = self.param.resize_param
        fits = resize.resize_mode == _FIT_SMALL and resize.height_scale and resize.width_scale
        if not (self.param.HasField("resize_param") and fits):
            return boxes
        factors = np.array([wide / resize.width_scale, high / resize.height_scale] * 2, np.float32)
        return boxes * factors

    def _scaled(self, pixels: Any) -> Any:
        mean = self._mean
        if len(mean) not in (1, len(pixels)) or (mean.size > len(mean) and mean.shape != pixels.shape):
            self.fail(
                f"expected a mean of shape {pixels.shape}, or one value or one for each channel, got {mean.shape}.",
                next_step="Correct mean_value or mean_file in transform_param.",
            )
        return (pixels - mean) * np.float32(self.param.scale)


def _corners(box: Any) -> tuple[float, float, float, float]:
    return (box.xmin, box.ymin, box.xmax, box.ymax)
