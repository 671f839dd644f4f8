"""The arithmetic behind ``AnnotatedData`` of ``plugins/ssd``: resizing and colours as OpenCV's, and sampled patches."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from engine.registry import default_registry
from engine.resources import plugins_path


@pytest.fixture(scope="module")
def plugin_module() -> Iterator[Callable[[str], ModuleType]]:
    """Return a function that imports a module of the plugin."""
    folder = str(plugins_path() / "ssd")
    sys.path.insert(0, folder)
    names: list[str] = []

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, Path(folder) / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        names.append(name)
        return module

    yield load
    sys.path.remove(folder)
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("mode", ["LINEAR", "AREA", "NEAREST", "CUBIC", "LANCZOS4"])
@pytest.mark.parametrize("size", [(60, 80), (20, 30), (37, 30), (18, 26), (100, 20), (1, 1), (37, 53), (74, 106)])
def test_images_are_resized_as_opencv_does(
    plugin_module: Callable[[str], ModuleType], mode: str, size: tuple[int, int]
) -> None:
    cv2 = pytest.importorskip("cv2")
    resizing = plugin_module("resizing")
    image = np.random.default_rng(0).integers(0, 256, (37, 53, 3), dtype=np.uint8)
    mine = resizing.resize(image.transpose(2, 0, 1), *size, getattr(resizing, mode)).transpose(1, 2, 0)
    theirs = cv2.resize(image, size[::-1], interpolation=getattr(cv2, f"INTER_{mode}"))
    differences = np.abs(mine.astype(int) - theirs)
    assert differences.max() <= 1 and (differences > 0).mean() < 0.06


def test_hue_and_saturation_are_opencvs(plugin_module: Callable[[str], ModuleType]) -> None:
    cv2 = pytest.importorskip("cv2")
    colors = plugin_module("colors")
    image = np.random.default_rng(0).integers(0, 256, (60, 70, 3), dtype=np.uint8)
    planes = image.transpose(2, 0, 1)
    np.testing.assert_array_equal(colors.to_hsv(planes).transpose(1, 2, 0), cv2.cvtColor(image, cv2.COLOR_BGR2HSV))
    # the way back is rounded, but cut in OpenCV's code for some processors
    back = cv2.cvtColor(image, cv2.COLOR_HSV2BGR)
    np.testing.assert_allclose(colors.from_hsv(planes).transpose(1, 2, 0).astype(int), back, rtol=0, atol=1)


SAMPLER = "min_scale: 0.3 max_scale: 0.9 min_aspect_ratio: 0.5 max_aspect_ratio: 2"


@pytest.mark.parametrize(
    ("constraint", "measure"),
    [
        ("min_jaccard_overlap: 0.3", lambda patch, box, shared: shared / (patch + box - shared) >= 0.3),
        ("max_jaccard_overlap: 0.1", lambda patch, box, shared: shared / (patch + box - shared) <= 0.1),
        ("min_sample_coverage: 0.4", lambda patch, box, shared: shared / patch >= 0.4),
        ("min_object_coverage: 0.5 max_object_coverage: 0.9", lambda patch, box, shared: 0.5 <= shared / box <= 0.9),
    ],
)
def test_sampled_patches_are_as_the_sampler_says(
    plugin_module: Callable[[str], ModuleType], constraint: str, measure: Callable[[float, float, float], bool]
) -> None:
    layer = default_registry().schema().message("LayerParameter")()
    sampler = layer.annotated_data_param.batch_sampler.add()
    from google.protobuf import text_format

    pool = layer.DESCRIPTOR.file.pool
    text_format.Parse(
        f"sampler {{ {SAMPLER} }} sample_constraint {{ {constraint} }} max_trials: 400", sampler, descriptor_pool=pool
    )
    objects = np.array([[0.1, 0.2, 0.6, 0.7], [0.5, 0.5, 0.9, 0.8]], np.float32)
    sample = plugin_module("sampling").sample_patches
    patches = sample(objects, [sampler], np.random.default_rng(1))
    assert 10 < len(patches) < 390
    for x1, y1, x2, y2 in patches.tolist():
        assert x1 >= 0 and y1 >= 0 and x2 <= 1 + 1e-6 and y2 <= 1 + 1e-6
        scale, ratio = ((x2 - x1) * (y2 - y1)) ** 0.5, (x2 - x1) / (y2 - y1)
        assert 0.299 < scale < 0.901 and 0.499 < ratio < 2.001
        fits = []
        for a1, b1, a2, b2 in objects.tolist():
            shared = max(min(x2, a2) - max(x1, a1), 0) * max(min(y2, b2) - max(y1, b1), 0)
            fits.append(measure(scale**2, (a2 - a1) * (b2 - b1), shared))
        assert any(fits)
    sampler.max_sample = 3
    assert len(sample(objects, [sampler], np.random.default_rng(1))) == 3
