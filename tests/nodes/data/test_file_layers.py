"""Layers that read images, windows and memory as nets run them: poison, changing batches, resume, strict device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.net import Net

PICTURES = np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), dtype=np.uint8)
BGR = PICTURES[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32)
IMAGES = (
    'layer { name: "d" type: "ImageData" top: "data" top: "label" transform_param { scale: 0.5 } '
    'image_data_param { source: "list.txt" batch_size: 3 } }'
)
WINDOWS = (
    'layer { name: "d" type: "WindowData" top: "data" top: "label" transform_param { crop_size: 8 mirror: true } '
    'window_data_param { source: "windows.txt" batch_size: 4 context_pad: 1 } }'
)
MEMORY = (
    'layer { name: "d" type: "MemoryData" top: "data" top: "label" '
    "memory_data_param { batch_size: 2 channels: 3 height: 8 width: 8 } }"
)
BELOW = 'layer { name: "f" type: "Flatten" bottom: "data" top: "flat" }'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for index, picture in enumerate(PICTURES):
        Image.fromarray(picture).save(tmp_path / f"{index}.png")
    (tmp_path / "list.txt").write_text("".join(f"{index}.png {index}\n" for index in range(4)))
    blocks = [f"# {index} {index}.png 3 8 8 2 1 0.9 1 1 6 6 0 0.1 2 2 7 7\n" for index in range(4)]
    (tmp_path / "windows.txt").write_text("".join(blocks))
    return tmp_path


def poison(net: Net) -> None:
    for blob in net.blobs.values():
        blob.data[...] = np.nan


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_image_data(folder: Path, backend: str) -> None:
    with Net(IMAGES + BELOW, Phase.TRAIN, base_dirs=(folder,), backend=backend) as net:
        assert net.blobs["data"].shape == (3, 3, 8, 8) and net.blobs["flat"].shape == (3, 192)
        for expected in ([0, 1, 2], [3, 0, 1]):
            poison(net)
            net.forward()
            np.testing.assert_array_equal(net.blobs["label"].data, expected)
            np.testing.assert_array_equal(net.blobs["flat"].data, BGR[expected].reshape(3, -1) / 2)


def test_images_of_other_sizes_reshape_what_follows(folder: Path) -> None:
    Image.fromarray(PICTURES[1][:4, :6]).save(folder / "1.png")
    with Net(IMAGES.replace("size: 3", "size: 1") + BELOW, Phase.TRAIN, base_dirs=(folder,)) as net:
        sizes = []
        for _ in range(5):
            poison(net)
            net.forward()
            assert np.isfinite(net.blobs["flat"].data).all()
            sizes.append(net.blobs["flat"].shape)
    assert sizes == [(1, 192), (1, 72), (1, 192), (1, 192), (1, 192)]


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_window_data(folder: Path, backend: str) -> None:
    with Net(WINDOWS, Phase.TRAIN, base_dirs=(folder,), backend=backend, seed=1) as net:
        for _ in range(3):
            poison(net)
            net.forward()
            assert net.blobs["label"].data.tolist() == [0, 0, 0, 1]
            assert np.isfinite(net.blobs["data"].data).all() and net.blobs["data"].data.any(axis=(1, 2, 3)).all()


@pytest.mark.parametrize("text", [IMAGES, WINDOWS], ids=["images", "windows"])
def test_a_resumed_net_goes_on_with_the_same_bits(folder: Path, text: str) -> None:
    with Net(text, Phase.TRAIN, base_dirs=(folder,), seed=3) as net:
        net.forward()
        state = net.get_state()
        expected = []
        for _ in range(3):
            net.forward()
            expected.append(net.blobs["data"].data.copy())
    with Net(text, Phase.TRAIN, base_dirs=(folder,), seed=4) as net:
        net.set_state(state)
        for wanted in expected:
            net.forward()
            np.testing.assert_array_equal(net.blobs["data"].data, wanted)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_memory_data(backend: str) -> None:
    with Net(MEMORY + BELOW, Phase.TRAIN, backend=backend) as net:
        layer = net.layer("d")
        with pytest.raises(NetcanvasError, match=r"Layer 'd' \(MemoryData\): expected data, got none"):
            net.forward()
        layer.reset(BGR, np.arange(4))  # type: ignore[attr-defined]
        for start in (0, 2, 0):
            poison(net)
            net.forward()
            np.testing.assert_array_equal(net.blobs["flat"].data, BGR[start : start + 2].reshape(2, -1))
            assert net.blobs["label"].data.tolist() == [start, start + 1]
        layer.batch_size = 4  # type: ignore[attr-defined]
        poison(net)
        net.forward()
        np.testing.assert_array_equal(net.blobs["flat"].data, BGR.reshape(4, -1))
        layer.batch_size = 1  # type: ignore[attr-defined]
        layer.add(list(PICTURES.transpose(0, 3, 1, 2)), np.arange(4))  # type: ignore[attr-defined]
        poison(net)
        net.forward()
        np.testing.assert_array_equal(net.blobs["flat"].data[0], PICTURES[0].transpose(2, 0, 1).reshape(-1))


@pytest.mark.parametrize("text", [IMAGES, WINDOWS, MEMORY], ids=["images", "windows", "memory"])
def test_both_tops_are_needed(folder: Path, text: str) -> None:
    with pytest.raises(NetcanvasError, match="Layer 'd'.*top"):
        Net(text.replace('top: "label"', ""), Phase.TRAIN, base_dirs=(folder,))


@pytest.mark.parametrize("text", [IMAGES, WINDOWS], ids=["images", "windows"])
def test_a_missing_source_names_the_paths_tried(tmp_path: Path, text: str) -> None:
    with pytest.raises(NetcanvasError, match=rf"Layer 'd'.*tried '{tmp_path}/(list|windows).txt'"):
        Net(text, Phase.TRAIN, base_dirs=(tmp_path,))
