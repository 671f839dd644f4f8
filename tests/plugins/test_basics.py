"""The worked example: its layers compute what they say, its net trains."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine.compat
from engine.cli.script import run
from engine.layer import Phase
from engine.net import Net
from engine.plugins import PluginProject
from engine.plugins.scan import scan_folder
from engine.resources import plugins_path
from engine.schema import read_net
from engine.testing import LayerCase, check_layer

BASICS = plugins_path() / "basics"
LAYERS = [("basics.channel_scale", "ChannelScaleLayer"), ("basics.euclidean_loss", "EuclideanLossLayer")]


def input_layer(name: str, shape: tuple[int, ...]) -> str:
    dims = " ".join(f"dim: {dim}" for dim in shape)
    return f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {dims} }} }} }}\n'


def net_with(module: str, cls: str, bottoms: dict[str, tuple[int, ...]], more: str = "") -> Net:
    ports = " ".join(f'bottom: "{name}"' for name in bottoms)
    python = f'python_param {{ module: "{module}" layer: "{cls}" }}'
    text = "force_backward: true\n" + "".join(input_layer(name, shape) for name, shape in bottoms.items())
    text += f'layer {{ name: "layer" type: "Python" {ports} top: "top" {more} {python} }}\n'
    return Net(text, Phase.TRAIN, dtype=np.float64)


def fill(net: Net, seed: int = 0) -> np.random.Generator:
    rng = np.random.default_rng(seed)
    for name in net.inputs:
        net.blobs[name].data[...] = rng.standard_normal(net.blobs[name].shape)
    for param in net.learnable:
        param.blob.data[...] = rng.standard_normal(param.blob.shape)
    return rng


def python_case(module: str, cls: str, *shapes: tuple[int, ...]) -> LayerCase:
    rng = np.random.default_rng(1)
    text = f'type: "Python" python_param {{ module: "{module}" layer: "{cls}" }}'
    return LayerCase(text, [rng.standard_normal(shape).astype(np.float32) for shape in shapes])


class TestEuclideanLoss:
    @pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4, 5), (1,)])
    def test_it_is_half_the_mean_squared_distance(self, shape: tuple[int, ...]) -> None:
        net = net_with(*LAYERS[1], {"a": shape, "b": shape}, "loss_weight: 2")
        fill(net)
        loss = net.forward()
        a, b = (net.blobs[name].data for name in "ab")
        assert loss == pytest.approx(2 * ((a - b) ** 2).sum() / (2 * shape[0]), rel=1e-5)
        net.backward()
        np.testing.assert_allclose(net.blobs["a"].diff, 2 * (a - b) / shape[0], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(net.blobs["b"].diff, -2 * (a - b) / shape[0], rtol=1e-5, atol=1e-7)

    @pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4, 5)])
    def test_it_passes_the_checks_for_layers(self, shape: tuple[int, ...]) -> None:
        check_layer(python_case("basics.euclidean_loss", "EuclideanLossLayer", shape, shape))

    def test_only_wanted_gradients_are_written(self) -> None:
        net = net_with(*LAYERS[1], {"a": (2, 3), "b": (2, 3)})
        fill(net)
        net.forward()
        net.blobs["top"].diff[...] = 1
        net.layer("layer").backward([net.blobs["top"]], [True, False], [net.blobs["a"], net.blobs["b"]])
        assert net.blobs["a"].diff.any() and not net.blobs["b"].diff.any()

    def test_sizes_that_differ_are_refused(self) -> None:
        with pytest.raises(Exception, match=r"\(2, 3\) and target \(2, 4\) differ in size"):
            net_with(*LAYERS[1], {"a": (2, 3), "b": (2, 4)})


class TestChannelScale:
    @pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4, 5)])
    def test_it_passes_the_checks_for_layers(self, shape: tuple[int, ...]) -> None:
        check_layer(python_case("basics.channel_scale", "ChannelScaleLayer", shape))

    @pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4, 5)])
    def test_gradients_agree_with_differences(self, shape: tuple[int, ...]) -> None:
        net = net_with(*LAYERS[0], {"x": shape}, "loss_weight: 1")
        rng = fill(net)
        net.forward()
        net.clear_param_diffs()
        net.backward()
        for blob in (net.blobs["x"], net.params["layer"][0]):
            direction = rng.standard_normal(blob.shape)
            analytic = float((blob.diff * direction).sum())
            numeric = []
            for sign in (1, -1):
                blob.data[...] += sign * 1e-5 * direction
                numeric.append(net.forward())
                blob.data[...] -= sign * 1e-5 * direction
            assert (numeric[0] - numeric[1]) / 2e-5 == pytest.approx(analytic, rel=1e-6)

    def test_gradients_of_the_factors_add_up(self) -> None:
        net = net_with(*LAYERS[0], {"x": (4, 3)}, "loss_weight: 1")
        fill(net)
        net.forward()
        net.backward()
        once = net.params["layer"][0].diff.copy()
        net.backward()
        np.testing.assert_allclose(net.params["layer"][0].diff, 2 * once)

    def test_it_follows_the_batch(self) -> None:
        net = net_with(*LAYERS[0], {"x": (4, 3)})
        for size in (4, 1, 6):
            net.blobs["x"].reshape(size, 3)
            net.forward()
            assert net.blobs["top"].shape == (size, 3)


class TestExample:
    def test_it_trains(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        engine.compat.install()
        import caffe

        monkeypatch.chdir(tmp_path)
        solver: Any = caffe.SGDSolver(str(BASICS / "solver.prototxt"))
        first = solver.net.forward()["loss"].item()
        solver.solve()
        last = np.mean([solver.net.forward()["loss"].item() for _ in range(20)])
        np.testing.assert_allclose(solver.net.params["scale"][0].data, [2.0, -1.0, 0.5], atol=0.02)
        assert last < first / 100
        assert list(tmp_path.iterdir()) == []

    def test_the_readmes_first_command_prints_what_it_says(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert run(BASICS / "train.py", []) == 0
        assert capsys.readouterr().out.split("\n")[:2] == ["before: [1. 1. 1.]", "after:  [ 2.  -1.   0.5]"]

    def test_two_runs_are_equal(self) -> None:
        engine.compat.install()
        import caffe

        runs = []
        for _ in range(2):
            solver: Any = caffe.SGDSolver(str(BASICS / "solver.prototxt"))
            solver.step(5)
            runs.append(solver.net.params["scale"][0].data.tolist())
        assert runs[0] == runs[1]

    def test_every_layer_is_used_and_found(self) -> None:
        found = {(f"basics.{layer.module}", layer.name) for layer in scan_folder(BASICS)}
        params = [layer.python_param for layer in read_net(BASICS / "net.prototxt").layer]
        assert found == {(param.module, param.layer) for param in params}
        for module, name in found:
            assert PluginProject().load_class(module, name).__doc__

    def test_plugins_import_only_what_any_plugin_may(self) -> None:
        allowed = {"caffe", "engine.api", "engine.testing"}
        for path in plugins_path().rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                ours = {name for name in names if name.partition(".")[0] in ("app", "caffe", "engine", "nodes")}
                assert ours <= allowed, path
