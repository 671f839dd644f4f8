"""Shapes of layers whose data are not there: known where the settings alone decide them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.backends import Workspace, get_backend
from engine.errors import DataError, MissingDataError
from engine.inspection.shaping import shape_layer
from engine.layer import Phase
from engine.layer_context import LayerContext
from engine.registry import default_registry
from engine.schema import read_net

CROP_OF_COLOUR = "transform_param { crop_size: 8 mean_value: 1 mean_value: 2 mean_value: 3 }"
LISTED = 'source: "no.txt" batch_size: 5'


def shapes(text: str, folder: Path, *, only: bool = True) -> list[tuple[int, ...] | None]:
    message = read_net(f'layer {{ name: "d" top: "x" top: "y" {text} }}').layer[0]
    backend = get_backend("numpy")
    context = LayerContext(Phase.TRAIN, backend, Workspace(backend), base_dirs=(folder,), shapes_only=only)
    return list(shape_layer(default_registry().create(message, context), message, [])[0])


@pytest.mark.parametrize(
    ("text", "image"),
    [
        (f'type: "Data" data_param {{ source: "no_lmdb" batch_size: 5 }} {CROP_OF_COLOUR}', (5, 3, 8, 8)),
        (f'type: "ImageData" image_data_param {{ {LISTED} new_height: 6 new_width: 7 }}', (5, 3, 6, 7)),
        (f'type: "ImageData" image_data_param {{ {LISTED} is_color: false }} {CROP_OF_COLOUR}', (5, 1, 8, 8)),
        (f'type: "WindowData" window_data_param {{ {LISTED} }} {CROP_OF_COLOUR}', (5, 3, 8, 8)),
    ],
)
def test_settings_that_decide_the_shape_are_enough(text: str, image: tuple[int, ...], tmp_path: Path) -> None:
    assert shapes(text, tmp_path) == [image, image[:1]]
    with pytest.raises(MissingDataError, match=r"no_lmdb|no\.txt"):
        shapes(text, tmp_path, only=False)


@pytest.mark.parametrize(
    "text",
    [
        'type: "Data" data_param { source: "no_lmdb" batch_size: 5 } transform_param { crop_size: 8 mean_value: 1 }',
        'type: "Data" data_param { source: "no_lmdb" batch_size: 5 } transform_param { mean_value: 1 mean_value: 2 }',
        f'type: "ImageData" image_data_param {{ {LISTED} }}',
    ],
    ids=["one mean value for any number of channels", "no crop", "images of any size"],
)
def test_what_the_records_decide_stays_unknown(text: str, tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"no_lmdb|no\.txt"):
        shapes(text, tmp_path)


def test_wrong_settings_are_told_although_the_data_are_not_there(tmp_path: Path) -> None:
    window = f'type: "WindowData" window_data_param {{ {LISTED} crop_mode: "round" }} {CROP_OF_COLOUR}'
    with pytest.raises(DataError, match="crop_mode"):
        shapes(window, tmp_path)
