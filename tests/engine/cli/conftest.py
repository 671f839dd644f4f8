"""A folder with one of everything that commands work on."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.cli import main
from tests.engine.solvers.nets import SOLVER, write_project

SETTINGS = "test_iter: 2 test_interval: 5 display: 5 max_iter: 10\n"


def write_images(folder: Path, count: int = 5, size: tuple[int, int] = (6, 8)) -> list[np.ndarray]:
    """Write PNG files ``images/part one/N.png`` and ``images.txt``; return their pixels, (height, width, RGB)."""
    rng = np.random.default_rng(3)
    (folder / "images" / "part one").mkdir(parents=True)
    pixels = [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for _ in range(count)]
    lines = []
    for number, image in enumerate(pixels):
        Image.fromarray(image).save(folder / "images" / "part one" / f"{number}.png")
        lines.append(f"part one/{number}.png {number + 10}\n")
    (folder / "images.txt").write_text("".join(lines))
    return pixels


@pytest.fixture(scope="session")
def _model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_project(folder)
    (folder / "solver.prototxt").write_text(SOLVER + SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["train", "-solver", "solver.prototxt", "--json", "--quiet"]) == 0
        (folder / "snap_iter_10.caffemodel").rename("weights.caffemodel")
        (folder / "snap_iter_10.solverstate").unlink()
        write_images(folder)
        assert main(["convert_imageset", "images", "images.txt", "images_lmdb", "--json", "--quiet"]) == 0
    (folder / "train.log").write_text(
        "I0102 03:04:05.000000  77 solver.cpp:48] Solving small\n"
        "I0102 03:04:06.000000  77 solver.cpp:228] Iteration 0, loss = 2\n"
        "I0102 03:04:06.500000  77 solver.cpp:244]     Train net output #0: loss = 2 (* 1 = 2 loss)\n"
    )
    (folder / "script.py").write_text("import caffe\n")
    return folder


@pytest.fixture
def world(_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: net, solver, weights, images with their list and database, a log and a script."""
    folder = tmp_path / "world"
    shutil.copytree(_model, folder)
    monkeypatch.chdir(folder)
    return folder
