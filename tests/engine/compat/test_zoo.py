"""The script that compares whole public nets with Caffe runs as it is under ``netcanvas run``.

Only the small nets here; all 37 are compared by
``netcanvas run zoo.py check PROTOTXT_FOLDER zoo.npz`` with the reference files' own script, in one to four minutes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support import shared

SMALL = (
    "mnist__lenet",
    "mnist_siamese",
    "cifar10_",
    "mtcnn/",
    "yoloface-50k",
    "v0.9__lenet",
    "net_surgery__conv",
    "visual",
)


def check(folder: Path, stored: dict[str, np.ndarray]) -> subprocess.CompletedProcess[str]:
    np.savez(folder / "some.npz", **stored)
    command = [sys.executable, "-m", "engine.cli", "run", str(shared("golden/zoo.py")), "check"]
    return subprocess.run(
        [*command, str(shared("corpus/prototxt")), "some.npz"], cwd=folder, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def stored() -> dict[str, np.ndarray]:
    with np.load(shared("golden/zoo.npz")) as zoo:
        return {key: zoo[key] for key in zoo if any(part in key.split("|")[0] for part in SMALL)}


def test_small_public_nets_compute_what_caffe_computes(tmp_path, stored):
    files = {key.split("|")[0] for key in stored}
    assert len(files) >= 5
    ended = check(tmp_path, stored)
    assert f"{len(files)}/{len(files)} public nets compute what Caffe computes" in ended.stdout, ended.stderr[-2000:]
    assert ended.returncode == 0


def test_a_difference_is_seen_and_is_the_exit_code(tmp_path, stored):
    key = next(key for key in stored if key.endswith("|values") and "mtcnn" in key)
    file = key.split("|")[0]
    others = {name: array for name, array in stored.items() if name.startswith(file)}
    ended = check(tmp_path, {**others, key: others[key] * 1.01 + 1e-3})
    assert (ended.returncode, "0/1 public nets" in ended.stdout) == (1, True)
