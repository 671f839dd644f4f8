from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.data import MemorySource, open_memory_source
from engine.errors import DataError
from tests.engine.data.conftest import LayerMaker

DATA = np.random.default_rng(1).random((12, 2, 3, 4)).astype(np.float32)
LABELS = np.arange(12, dtype=np.float32)


def opened(layer: LayerMaker, transform: str = "", sizes: str = "channels: 2 height: 3 width: 4") -> MemorySource:
    text = (
        f'name: "m" type: "MemoryData" top: "d" top: "l" memory_data_param {{ batch_size: 4 {sizes} }} '
        + f"transform_param {{ {transform} }}" * bool(transform)
    )
    return open_memory_source(layer(text), train=True, seed=0)


def test_arrays_are_served_in_turn_and_as_they_are(layer: LayerMaker, caplog: pytest.LogCaptureFixture) -> None:
    source = opened(layer, "scale: 2")
    assert source.shapes == ((4, 2, 3, 4), (4,))
    data = DATA.copy()
    source.reset(data, LABELS.reshape(12, 1, 1, 1))
    assert "transform_param is not applied" in caplog.text
    for start in (0, 4, 8, 0):
        images, labels = source.next().arrays
        np.testing.assert_array_equal(images, DATA[start : start + 4])
        np.testing.assert_array_equal(labels, LABELS[start : start + 4])
    data[4] = 7
    assert (source.next().arrays[0][0] == 7).all()  # the caller's array is served, not a copy
    source.reset(DATA[4:8], LABELS[4:8])
    assert source.next().arrays[1].tolist() == [4, 5, 6, 7]


def test_added_images_are_transformed(layer: LayerMaker) -> None:
    source = opened(layer, "scale: 0.5 mean_value: 1 crop_size: 3", "channels: 2 height: 3 width: 3")
    pixels = np.full((8, 2, 3, 3), 11, np.uint8)
    source.add(list(pixels), range(8))
    images, labels = source.next().arrays
    assert (images == 5).all() and labels.tolist() == [0, 1, 2, 3]
    with pytest.raises(DataError, match="served before you add images"):
        source.add(list(pixels), range(8))
    with pytest.raises(DataError, match="served before you change batch_size"):
        source.batch_size = 2
    source.next()
    source.batch_size = 8
    assert source.next().arrays[0].shape == (8, 2, 3, 3)
    source.add(list(np.full((8, 2, 3, 3), 0.5)), range(8))
    assert (source.next().arrays[0] == -0.25).all()


@pytest.mark.parametrize("count", [10, 0, 3])
def test_a_number_that_is_no_multiple_of_the_batch_size_is_refused(layer: LayerMaker, count: int) -> None:
    source = opened(layer)
    message = rf"Layer 'm' \(MemoryData\): expected a number of images.* multiple of the batch_size 4, got {count}"
    with pytest.raises(DataError, match=message):
        source.reset(DATA[:count], LABELS[:count])
    with pytest.raises(DataError, match=message):
        source.add(list(DATA[:count]), LABELS[:count])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda source: source.next(), "expected data, got none.*set_input_arrays"),
        (lambda source: source.reset(DATA[:4, :1], LABELS[:4]), r"shape \(n, 2, 3, 4\), got \(4, 1, 3, 4\)"),
        (lambda source: source.reset(DATA[:4, 0], LABELS[:4]), r"got \(4, 3, 4\)"),
        (lambda source: source.reset(DATA[:4], LABELS[:3]), "a label for each of 4 images, got 3"),
        (lambda source: source.add(list(DATA[:4, :, 1:]), LABELS[:4]), r"\(2, 3, 4\) after the transform"),
    ],
)
def test_what_does_not_fit_is_refused(layer: LayerMaker, call: Any, message: str) -> None:
    with pytest.raises(DataError, match=rf"Layer 'm' \(MemoryData\): .*{message}"):
        call(opened(layer))


def test_sizes_are_needed(layer: LayerMaker) -> None:
    with pytest.raises(DataError, match=r"memory_data_param.width of at least 1, got 0"):
        opened(layer, sizes="channels: 2 height: 3")


def test_position_is_restored(layer: LayerMaker) -> None:
    first, second = opened(layer), opened(layer)
    for source in (first, second):
        source.reset(DATA, LABELS)
    first.next()
    second.set_state(first.get_state())
    np.testing.assert_array_equal(second.next().arrays[1], first.next().arrays[1])
    second.reset(DATA[:4], LABELS[:4])
    second.set_state(first.get_state())
    assert second.next().arrays[1].tolist() == [0, 1, 2, 3]
