from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pytest

from engine.schema import load_schema


def make_datum(image: np.ndarray, label: int) -> Any:
    datum = load_schema().message("Datum")()
    datum.channels, datum.height, datum.width = image.shape
    datum.label = label
    if image.dtype == np.uint8:
        datum.data = image.tobytes()
    else:
        datum.float_data.extend(image.reshape(-1).tolist())
    return datum


def write_lmdb(path: Path, datums: list[Any]) -> Path:
    with lmdb.open(str(path), map_size=1 << 24) as environment, environment.begin(write=True) as transaction:
        for index, datum in enumerate(datums):
            transaction.put(f"{index:08d}".encode(), datum if isinstance(datum, bytes) else datum.SerializeToString())
    return path


@pytest.fixture
def images() -> np.ndarray:
    """Ten images of 2 channels, 6 high and 8 wide, all different."""
    return np.random.default_rng(1).integers(0, 256, (10, 2, 6, 8), dtype=np.uint8)


@pytest.fixture
def database(tmp_path: Path, images: np.ndarray) -> Path:
    """The images with their index as label."""
    return write_lmdb(tmp_path / "db", [make_datum(image, index) for index, image in enumerate(images)])


LayerMaker = Callable[..., Any]


@pytest.fixture
def layer() -> LayerMaker:
    """Return a function that makes a data layer's message from prototxt fields."""
    from engine.prototxt import parse
    from engine.schema import to_message

    def make(text: str) -> Any:
        return to_message(parse(text.encode()).root, "LayerParameter", strict=True)

    return make
