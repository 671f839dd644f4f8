"""What the wizard writes: it loads, its tests pass, and nothing is overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import NetcanvasError
from engine.plugins import ParamField, find_plugins
from engine.plugins.scaffold import NewLayer, module_name, scaffold_fault, write_scaffold
from tests.support import ROOT

FIELDS = (
    ParamField("gain", "float", default=2.0),
    ParamField("mode", "string", default='a "b" \\'),
    ParamField("flip", "bool", default=True),
    ParamField("sizes", "list", default=[1, 2]),
    ParamField("count", "int", required=True),
)
LAYERS = [
    NewLayer("Plain", "plain"),
    NewLayer("Data", "my_data", bottoms=0, tops=2),
    NewLayer("Learner", "learner", bottoms=3, tops=2, has_params=True, fields=FIELDS),
    NewLayer("Spread", "spread", bottoms=1, tops=3, has_params=True),
    NewLayer("Silent", "silent", bottoms=2, has_backward=False, fields=FIELDS[:1]),
]


def test_the_generated_tests_pass(tmp_path: Path) -> None:
    for new in LAYERS:
        write_scaffold(tmp_path, new)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(LAYERS)} passed" in done.stdout


@pytest.mark.parametrize("new", LAYERS, ids=lambda new: new.name)
def test_what_is_written_says_what_was_asked(tmp_path: Path, new: NewLayer) -> None:
    folder = write_scaffold(tmp_path / "plugins", new)
    catalogue = find_plugins([folder])
    assert catalogue.folders[0].error is None
    layer = catalogue.python_layer(new.module, new.name)
    assert layer is not None and layer.parses
    assert (len(layer.info.bottoms), len(layer.info.tops)) == (new.bottoms, new.tops)
    told = layer.param_str.fields if layer.param_str else ()
    assert [(each.name, each.kind, each.required) for each in told] == [
        (f.name, f.kind, f.required) for f in new.fields
    ]
    assert [each.default for each in told if not each.required] == [f.default for f in new.fields if not f.required]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    new = NewLayer("Plain", "plain")
    folder = write_scaffold(tmp_path, new)
    (folder / "plain.py").write_text("mine")
    with pytest.raises(NetcanvasError, match="there already"):
        write_scaffold(tmp_path, new)
    assert (folder / "plain.py").read_text() == "mine"


@pytest.mark.parametrize(
    "new",
    [
        NewLayer("My Layer", "x"),
        NewLayer("class", "x"),
        NewLayer("L", "numpy"),
        NewLayer("L", "json"),
        NewLayer("L", "engine"),
        NewLayer("L", "x", tops=0),
        NewLayer("L", "x", fields=(ParamField("a", "int"), ParamField("a", "int"))),
        NewLayer("L", "x", fields=(ParamField("a b", "int"),)),
        NewLayer("L", "x", fields=(ParamField("a", "int", default="b"),)),
        *(NewLayer("L", module) for module in ("conftest", "test_it", "__init__", "_hidden")),
        *(NewLayer("L", "l", fields=(ParamField(name, "int"),)) for name in ("blobs", "phase", "forward", "__dict__")),
        NewLayer("L", "l", fields=(ParamField("a", "float", default=float("inf")),)),
    ],
)
def test_what_would_not_work_is_refused_before_anything_is_written(tmp_path: Path, new: NewLayer) -> None:
    assert scaffold_fault(new, tmp_path)
    with pytest.raises(NetcanvasError):
        write_scaffold(tmp_path, new)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("cls", "module"),
    [("MyLayer", "my_layer"), ("ROIPoolLayer", "roi_pool_layer"), ("Conv2dX", "conv2d_x"), ("a", "a")],
)
def test_modules_are_named_after_their_class(cls: str, module: str) -> None:
    assert module_name(cls) == module
