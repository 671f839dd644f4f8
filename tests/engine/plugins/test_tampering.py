"""Plugin code that replaces names of shared modules: it has what it wants, nobody else does, and it is named."""

from __future__ import annotations

import builtins
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import engine.blob
from engine.cli import main
from engine.errors import LayerError
from engine.layer import Phase
from engine.net import Net
from engine.plugins.tampering import SharedNames
from tests.engine.plugins.helpers import write

LAYER = """
import caffe, json, os
import builtins
import numpy as np
{import_}

def broken(*args, **kwargs):
    raise ValueError("broken on purpose")

class Patches(caffe.Layer):
    def setup(self, bottom, top):
        pass; {setup}
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)
    def forward(self, bottom, top):
        top[0].data[...] = 2 * bottom[0].data
        pass; {forward}
    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = 2 * top[0].diff
"""
NET = """
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: "constant" value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 } }
layer { name: "p" type: "Python" bottom: "y" top: "z" python_param { module: "patches" layer: "Patches" } }
layer { name: "loss" type: "EuclideanLoss" bottom: "z" bottom: "t" top: "loss" }
"""
SOLVER = 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 2 snapshot_after_train: false'


@pytest.fixture(autouse=True)
def all_is_put_back() -> Iterator[None]:
    before = SharedNames()
    yield
    left = before.replaced()
    modules = {"numpy": np, "json": json, "os": os, "builtins": builtins, "engine.blob": engine.blob}
    for each in left:
        setattr(modules[each.module], each.name, each.original)


def build(folder: Path, *, import_: str = "", setup: str = "", forward: str = "") -> Net:
    write(folder, patches=LAYER.format(import_=import_, setup=setup, forward=forward))
    (folder / "net.prototxt").write_text(NET, "utf-8")
    return Net(NET, Phase.TRAIN, base_dirs=[folder])


@pytest.mark.parametrize("when", ["import_", "setup"])
@pytest.mark.parametrize(
    ("patch", "names"),
    [
        ("np.zeros = np.array = None", ["numpy.array", "numpy.zeros"]),
        ("np.linalg.norm = len", ["numpy.linalg.norm"]),
        ("json.dumps = os.getcwd = repr", ["json.dumps", "os.getcwd"]),
        ("builtins.sum = builtins.max", ["builtins.sum"]),
        ("import engine.blob; engine.blob.Blob = None", ["engine.blob.Blob"]),
        ("del np.ones", ["numpy.ones"]),
        ("import time; time.monotonic = None", ["time.monotonic"]),
        ("import engine.blob_list; engine.blob_list.BlobList = None", ["engine.blob_list.BlobList"]),
    ],
)
def test_what_is_replaced_is_undone_for_others_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, when: str, patch: str, names: list[str]
) -> None:
    before = SharedNames()
    with caplog.at_level(logging.WARNING), build(tmp_path, **{when: patch}) as net:
        assert before.replaced() == []
        net.forward()
        net.backward()
    (told,) = [each.getMessage() for each in caplog.records if "replaced" in each.getMessage()]
    assert told.startswith("Layer 'p' (Python): its code") and all(name in told for name in names)


def test_its_own_modules_keep_what_they_replaced(tmp_path: Path) -> None:
    """As in ``np.load = functools.partial(np.load, allow_pickle=True)``, which public layers write."""
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], object))
    patch = "import functools; np.load = functools.partial(np.load, allow_pickle=True)"
    read = f"helper.read(); assert np.load({str(tmp_path / 'objects.npy')!r})[0] == {{'a': 1}}; sum([1]) == 7"
    write(tmp_path, helper="import numpy\ndef read(): return numpy.load.keywords\n")
    patch = f"import helper; {patch}; builtins.sum = lambda values: 7"
    with build(tmp_path, import_=patch, forward=f"{read}; assert sum([1]) == 7") as net:
        net.forward()
    with pytest.raises(ValueError, match="allow_pickle"):
        np.load(tmp_path / "objects.npy")
    assert sum([1]) == 1


def test_names_that_are_added_are_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with build(tmp_path, import_="np.netcanvas_test_float = float") as net:
        net.forward()
    assert "replaced" not in caplog.text and np.netcanvas_test_float is float  # type: ignore[attr-defined]
    del np.netcanvas_test_float  # type: ignore[attr-defined]


def test_what_others_than_plugins_replace_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Qt does ``builtins.qApp``, with every application that is made or ends."""
    monkeypatch.setattr(builtins, "qApp", None, raising=False)
    before = SharedNames()
    monkeypatch.setattr(builtins, "qApp", object())
    monkeypatch.setattr(os, "_exit", lambda code: None)
    monkeypatch.setattr(json, "dumps", engine.blob.Blob)
    assert before.replaced() == []
    monkeypatch.delattr(builtins, "qApp")
    monkeypatch.setattr(json, "loads", len)
    assert [str(each) for each in before.replaced()] == ["json.loads"]


def test_it_is_named_by_what_fails_after_a_later_call_replaced_something(tmp_path: Path) -> None:
    with build(tmp_path, forward="np.subtract = np.dot = broken") as net, pytest.raises(LayerError) as caught:
        for _ in range(2):
            net.forward()
            net.backward()
    message = str(caught.value)
    assert "numpy.dot" in message and f"plugin's code ({tmp_path / 'patches.py'}:7)" in message


@pytest.mark.parametrize("value", ["broken", "None"])
def test_the_command_line_blames_the_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    names = "np.array = np.asarray = np.zeros = np.empty = np.isfinite"
    write(tmp_path, patches=LAYER.format(import_="", setup="", forward=f"{names} = {value}"))
    (tmp_path / "net.prototxt").write_text(NET, "utf-8")
    (tmp_path / "solver.prototxt").write_text(SOLVER, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--solver", "solver.prototxt", "--no-record", "--quiet"]) == 1
    error = capsys.readouterr().err
    assert "itself" not in error and "numpy." in error and "plugin's code" in error
