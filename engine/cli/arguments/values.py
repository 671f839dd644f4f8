"""Values of arguments: text that is read, or refused with what was expected."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["count", "database_kind", "delimiter", "names", "phase", "scale", "seed", "shape", "size", "view", "weights"]

_ESCAPES = {"\\t": "\t"}
_DATABASES = ("lmdb", "leveldb")


def count(text: str) -> int:
    """Read a number of 1 or more."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, got '{text}'")
    return number


def size(text: str) -> int:
    """Read a number of pixels; 0 stands for as they are."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number of 0 or more, got '{text}'")
    return int(text)


def seed(text: str) -> int:
    """Read a seed: what a solver's ``random_seed`` may hold."""
    if not text.isdecimal() or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to {2**63 - 1}, got '{text}'")
    return int(text)


def phase(text: str) -> str:
    """Read a phase in any case, and return it in lower case."""
    if text.lower() not in ("train", "test"):
        raise argparse.ArgumentTypeError(f"expected TRAIN or TEST, got '{text}'")
    return text.lower()


def shape(text: str) -> tuple[int, ...]:
    """Read a shape of at least one dimension, such as ``1,3,224,224``."""
    dims = tuple(int(dim) if dim.strip().isdecimal() else 0 for dim in text.split(","))
    if min(dims) < 1:
        raise argparse.ArgumentTypeError(f"expected a shape such as 1,3,224,224, got '{text}'")
    return dims


def input_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Read the shape of an input, with its name or without: ``data=1,3,224,224`` or ``1,3,224,224``."""
    name, _, sizes = text.rpartition("=")
    return name, shape(sizes)


def assumption(text: str) -> tuple[str, tuple[int, ...]]:
    """Read a blob and the shape that is assumed for it, such as ``data=10,3,224,224``; 0 is the layer's own batch."""
    name, sign, sizes = text.rpartition("=")
    dims = tuple(int(dim) if dim.strip().isdecimal() else -1 for dim in sizes.split(","))
    if not sign or not name or min(dims) < 0 or min(dims[1:], default=1) < 1:
        raise argparse.ArgumentTypeError(f"expected a blob and its shape, such as data=10,3,224,224, got '{text}'")
    return name, dims


def view(text: str) -> str:
    """Read a phase or ``deploy`` in any case, and return it in lower case."""
    if text.lower() not in ("train", "test", "deploy"):
        raise argparse.ArgumentTypeError(f"expected TRAIN, TEST or deploy, got '{text}'")
    return text.lower()


def scale(text: str) -> float:
    """Read by how much a picture is larger than on the canvas."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.01 <= number <= 100.0:
        raise argparse.ArgumentTypeError(f"expected a number from 0.01 to 100, got '{text}'")
    return number


def weights(text: str) -> list[Path]:
    """Read names of files with commas between them."""
    files = [Path(name.strip()) for name in text.split(",") if name.strip()]
    if not files:
        raise argparse.ArgumentTypeError("expected one or more .caffemodel files, got none")
    return files


def names(text: str) -> list[str]:
    """Read names with commas between them."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"expected names with commas between them, got '{text}'")
    return found


def database_kind(text: str) -> str:
    """Read the kind of a database in any case, and return it in lower case."""
    if text.lower() not in _DATABASES:
        raise argparse.ArgumentTypeError(f"expected {' or '.join(_DATABASES)}, got '{text}'")
    return text.lower()


def delimiter(text: str) -> str:
    r"""Read the character between columns; ``\t`` is a tab."""
    character = _ESCAPES.get(text, text)
    if len(character) != 1 or character in '\r\n"':
        raise argparse.ArgumentTypeError(f"expected one character other than a quote or line end, got '{text}'")
    return character
