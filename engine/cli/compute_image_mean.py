"""``netcanvas compute_image_mean``."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.cli.output import Output
from engine.data.databases import RecordReader, open_database
from engine.data.datum import DatumDecoder, Pixels, name_record
from engine.errors import DataError
from engine.files import atomic_write, blob_to_proto

__all__ = ["run"]

_log = logging.getLogger(__name__)
_TELL_EVERY = 10000
_BATCH = 64

FloatImage = npt.NDArray[np.float32]
Record = tuple[bytes, bytes | memoryview]


def run(options: argparse.Namespace) -> int:
    """Compute the mean image of a database; return the exit code."""
    output = Output(quiet=options.quiet, as_json=options.json)
    out: Path | None = options.out
    if out is not None and not out.parent.is_dir():
        raise DataError(f"'{out}': expected an existing folder, got '{out.parent}'.", next_step="Make the folder.")
    with output.logging():
        reader = open_database(str(options.database), (Path.cwd(),), "compute_image_mean")
        try:
            mean, count = _mean(reader, output)
        finally:
            reader.close()
        if out is not None:
            _log.info("Write to %s", out)
            _write(out, mean)
    channels = [float(value) for value in _channel_means(mean)]
    lines = [f"Number of channels: {len(channels)}"]
    lines += [f"mean_value channel [{index}]: {value:g}" for index, value in enumerate(channels)]
    result = {
        "database": str(options.database),
        "images": count,
        "shape": list(mean.shape),
        "channel_means": channels,
        "file": None if out is None else str(out),
    }
    output.result(lines, result)
    return 0


def _records(reader: RecordReader) -> Iterator[Record]:
    """Yield all records, beginning with the one at hand."""
    start = reader.get_state()["record"]
    while True:
        yield reader.next()
        if reader.get_state()["record"] == start:
            return


def _mean(reader: RecordReader, output: Output) -> tuple[FloatImage, int]:
    """Return mean and number of the images; sums are float32 in the order of the keys, as Caffe's are."""
    decoder = DatumDecoder(reader.path)
    total: FloatImage | None = None
    count = 0
    _log.info("Starting iteration")
    records = _records(reader)
    with output.bar(getattr(reader, "entries", None), text="Averaging", unit="img") as bar:
        while batch := list(islice(records, _BATCH)):
            images, _ = decoder.decode(batch)
            for (key, _), image in zip(batch, images, strict=True):
                if total is None:
                    total = np.zeros(image.shape, np.float32)
                _add(total, image, key, reader.path)
                count += 1
                if count % _TELL_EVERY == 0:
                    _log.info("Processed %d files.", count)
            bar.update(len(batch))
    if count % _TELL_EVERY:
        _log.info("Processed %d files.", count)
    assert total is not None  # an empty database is refused when it is opened
    total /= np.float32(count)
    return total, count


def _add(total: FloatImage, image: Pixels, key: bytes, path: Path) -> None:
    if image.shape != total.shape:
        first, got = (" x ".join(map(str, shape)) for shape in (total.shape, image.shape))
        raise DataError(
            f"{name_record(key, path)}: expected an image of {first} as the first one, got {got}.",
            next_step="Write it with images of one size: convert_imageset --resize_height H --resize_width W.",
        )
    total += image


def _channel_means(mean: FloatImage) -> Iterator[np.float32]:
    """Yield the mean of each channel, summed one by one in float32 as Caffe does it."""
    for channel in mean.reshape(len(mean), -1):
        yield np.cumsum(channel, dtype=np.float32)[-1] / np.float32(channel.size)


def _write(path: Path, mean: FloatImage) -> None:
    """Write a mean image with the four numbers of old files, which every version of Caffe reads."""
    proto = blob_to_proto(mean)
    proto.ClearField("shape")
    proto.num, (proto.channels, proto.height, proto.width) = 1, mean.shape
    atomic_write(path, proto.SerializeToString())
