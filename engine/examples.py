"""The examples that come with the program, copied to where the user may change them.

What the user changed is never overwritten; what is missing is made again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import DataError
from engine.files.atomic import atomic_write
from engine.files.blobs import array_to_datum
from engine.files.lmdb_writer import is_whole, write_datums
from engine.resources import resource_path, user_data_path

__all__ = ["ExamplePaths", "prepare_example"]

_DIGITS = "examples/lenet/digits.npz"  # all examples are trained on
_NAMES = ("autoencoder", "lenet")
_SPLIT_SEED = 1998
_TRAIN_COUNT = 9000
_PROGRESS_STEP = 250

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class ExamplePaths:
    """An example ready for use.

    Attributes
    ----------
    net, solver : Path
        The prototxt files.
    folder : Path
        Where they lie, with their data.
    """

    net: Path
    solver: Path
    folder: Path


def prepare_example(
    name: str = "lenet",
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> ExamplePaths:
    """Copy an example and write its data, where that is not done yet.

    An interrupted first use does no harm: the next one makes what is missing.

    Parameters
    ----------
    name : str
        ``"lenet"`` or ``"autoencoder"``.
    folder : path, optional
        Where to put the example; ``examples/NAME`` in the user's data folder when left out.
    progress : callable, optional
        Called with the share of the data written so far, from 0 to 1, on the calling thread.

    Raises
    ------
    DataError
        If there is no such example, or its files cannot be written.
    """
    shipped = resource_path(f"examples/{name}")
    if name not in _NAMES or not shipped.is_dir():
        raise DataError(f"No example is called '{name}'.", next_step=f"There are: {', '.join(_NAMES)}.")
    target = Path(folder) if folder is not None else user_data_path() / "examples" / name
    try:
        target.mkdir(parents=True, exist_ok=True)
        for source in sorted(shipped.iterdir()):
            copy = target / source.name
            if source.suffix in (".prototxt", ".md") and not copy.exists():
                atomic_write(copy, source.read_bytes())
    except OSError as error:
        raise DataError(
            f"Example '{name}' cannot be copied to '{target}': {error.strerror}.", next_step="Choose another folder."
        ) from error
    _write_digits(resource_path(_DIGITS), target, progress or _ignore)
    return ExamplePaths(target / f"{name}_train_test.prototxt", target / f"{name}_solver.prototxt", target)


def _ignore(_: float) -> None:
    pass


def _write_digits(source: Path, folder: Path, progress: Callable[[float], None]) -> None:
    """Write the two databases that are missing, from digits in an order that is mixed but always the same."""
    parts = {"mnist_train_lmdb": slice(0, _TRAIN_COUNT), "mnist_test_lmdb": slice(_TRAIN_COUNT, None)}
    missing = {name: part for name, part in parts.items() if not _exists(folder / name)}
    if missing:
        with np.load(source) as stored:
            images, labels = stored["x"], stored["y"]
        order = np.random.default_rng(_SPLIT_SEED).permutation(len(labels))
        total = sum(len(order[part]) for part in missing.values())
        done = 0
        for name, part in missing.items():
            chosen = order[part]
            datums = _datums(images[chosen], labels[chosen], done, total, progress)
            write_datums(folder / name, datums)
            done += len(chosen)
    progress(1.0)


def _exists(database: Path) -> bool:
    """Return whether a database is there and whole; what is left of a broken one is removed."""
    if is_whole(database):
        return True
    if database.is_dir() and {file.name for file in database.iterdir()} <= {"data.mdb", "lock.mdb"}:
        shutil.rmtree(database)
    return database.exists()


def _datums(images: Bytes, labels: Bytes, done: int, total: int, progress: Callable[[float], None]) -> Iterator[Any]:
    for index, (image, label) in enumerate(zip(images, labels, strict=True)):
        if index % _PROGRESS_STEP == 0:
            progress((done + index) / total)
        yield array_to_datum(image[np.newaxis], int(label))
