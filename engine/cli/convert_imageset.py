"""``netcanvas convert_imageset``."""

from __future__ import annotations

import argparse
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.cli.image_list import ListedImage, read_image_list
from engine.cli.output import Output
from engine.data.image_encoding import encode_image
from engine.data.images import read_image
from engine.errors import DataError
from engine.files.blobs import array_to_datum
from engine.files.new_database import RecordSink, check_new, new_database
from engine.schema import load_schema

__all__ = ["run"]

_log = logging.getLogger(__name__)
_TELL_EVERY = 1000


def run(options: argparse.Namespace) -> int:
    """Write a database of images; return 0, or 1 if some could not be read."""
    output = Output(quiet=options.quiet, as_json=options.json)
    with output.logging():
        images = _listed(options)
        reader = _ImageReader(options)
        check_new(options.database)
        with new_database(options.database, options.backend) as database:
            unreadable = _convert(images, reader, database, output)
    written = len([image for image in images if image]) - len(unreadable)
    lines = [f"Wrote {options.database}: {written} image{'s' if written != 1 else ''}."]
    if unreadable:
        lines.append(f"{len(unreadable)} could not be read and {'is' if len(unreadable) == 1 else 'are'} left out.")
    result = {
        "database": str(options.database),
        "backend": options.backend,
        "images": written,
        "unreadable": unreadable,
    }
    output.result(lines, result)
    return 1 if unreadable else 0


def _listed(options: argparse.Namespace) -> list[ListedImage | None]:
    images = read_image_list(options.list)
    if options.shuffle:
        _log.info("Shuffling data")
        order = np.random.default_rng(options.seed).permutation(len(images))
        images = [images[index] for index in order]
    _log.info("A total of %d images.", len([image for image in images if image]))
    if options.encode_type and not options.encoded:
        _log.info("encode_type specified, assuming encoded=true.")
    return images


def _convert(images: list[ListedImage | None], reader: _ImageReader, database: RecordSink, output: Output) -> list[str]:
    """Write all images that can be read; return the names of the others."""
    unreadable: list[str] = []
    done = 0
    with output.bar(len(images), text="Converting", unit="img") as bar:
        for number, image in enumerate(images):
            bar.update()
            if image is None:
                continue
            try:
                datum = reader.read(image)
            except _UnreadableError as error:
                _log.warning("%s It is left out.", error)
                unreadable.append(image.name)
                continue
            database.put(b"%08d_" % number + os.fsencode(image.name), datum.SerializeToString())
            done += 1
            if done % _TELL_EVERY == 0:
                _log.info("Processed %d files.", done)
    if not done:
        raise DataError(
            f"Of {len(unreadable)} images, expected some that can be read, got none.",
            next_step="Check ROOTFOLDER: it is put in front of each path of the list.",
        )
    if done % _TELL_EVERY:
        _log.info("Processed %d files.", done)
    return unreadable


class _UnreadableError(DataError):
    """An image that cannot be had."""


@dataclass(slots=True)
class _ImageReader:
    """Reads image files as Caffe's ``Datum`` messages.

    An image file is stored as it is where its pixels need no change and its name ends in the kind wanted.
    """

    options: argparse.Namespace
    shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not Path(self.options.root).is_dir():
            raise DataError(
                f"ROOTFOLDER '{self.options.root}': expected a folder, got none.", next_step="Check the path."
            )
        if self.options.encode_type:
            encode_image(np.zeros((1, 1, 1), np.uint8), self.options.encode_type)  # refused at once, if at all

    def read(self, image: ListedImage) -> Any:
        """Return the record of an image.

        Raises
        ------
        _UnreadableError
            If there is no such image.
        DataError
            If it has another size than those before it, and sizes are checked.
        """
        path = Path(self._root() + image.name)
        options = self.options
        try:
            pixels = read_image(path, color=not options.gray, height=options.resize_height, width=options.resize_width)
        except DataError as error:
            raise _UnreadableError(error.message) from error
        self._check(path, pixels)
        kind = options.encode_type or (_ending(image.name) if options.encoded else None)
        if kind is None:
            return array_to_datum(pixels, image.label)
        datum = load_schema().message("Datum")()
        datum.data = self._encoded(path, pixels, kind)
        datum.label = image.label
        datum.encoded = True
        return datum

    def _root(self) -> str:
        root = str(self.options.root)
        return root if not root or root.endswith(("/", os.sep)) else root + os.sep

    def _encoded(self, path: Path, pixels: npt.NDArray[np.uint8], kind: str) -> bytes:
        resized = bool(self.options.resize_height or self.options.resize_width)
        if not resized and _ending(path.name) in (kind.lower(), "jpeg" if kind.lower() == "jpg" else kind.lower()):
            return path.read_bytes()
        return encode_image(pixels, kind)

    def _check(self, path: Path, pixels: npt.NDArray[np.uint8]) -> None:
        if self.shape is None:
            self.shape = pixels.shape
        if self.options.check_size and pixels.size != np.prod(self.shape):
            first, got = (" x ".join(map(str, shape)) for shape in (self.shape, pixels.shape))
            raise DataError(
                f"Image '{path}': expected {first} values as the first image has, got {got}.",
                next_step="Give --resize_height and --resize_width, or leave --check_size out.",
            )


def _ending(name: str) -> str:
    """Return what follows the last dot of a name, or all of it, in lower case."""
    return name.rpartition(".")[2].lower()
