"""The core of pycaffe as scripts use it: batches, gradients, sharing, files, solvers of every type."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine.compat
from engine.errors import NetcanvasError

NET = """
name: "toy"
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
layer { name: "t" type: "Input" top: "t" input_param { shape { dim: 2 dim: 4 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 4 weight_filler { type: "gaussian" std: 1 } bias_filler { value: 0.5 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" loss_weight: 3 }
layer { name: "tanh" type: "TanH" bottom: "ip" top: "y" }
force_backward: true
"""

STAGED = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } }
layer { name: "a" type: "AbsVal" bottom: "x" top: "a" include { stage: "extra" } }
layer { name: "b" type: "BNLL" bottom: "x" top: "b" include { min_level: 2 } }
"""

SOLVER_NET = """
layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param {
  shape { dim: 4 dim: 3 } shape { dim: 4 dim: 1 } data_filler { type: "constant" value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 1 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 4 display: 0 random_seed: 3 snapshot_prefix: "{}/snap"
test_iter: 1 test_interval: 100 test_initialization: false
"""

SOLVERS = ["SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"]


@pytest.fixture
def caffe() -> Any:
    engine.compat.install()
    import caffe

    return caffe


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "net.prototxt").write_text(NET)
    return str(tmp_path / "net.prototxt")


@pytest.fixture
def net(caffe: Any, path: str) -> Any:
    return caffe.Net(path, caffe.TRAIN)


@pytest.fixture
def solver_file(tmp_path: Path) -> str:
    (tmp_path / "net.prototxt").write_text(SOLVER_NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER.format(tmp_path))
    return str(tmp_path / "solver.prototxt")


def values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class TestMaking:
    def test_every_form_of_the_call(self, caffe: Any, net: Any, path: str, tmp_path: Path) -> None:
        weights = str(tmp_path / "w.caffemodel")
        net.save(weights)
        made = [
            caffe.Net(path, weights, caffe.TEST),
            caffe.Net(path, caffe.TEST, weights=weights),
            caffe.Net(path, caffe.TEST, 0, None, weights),
            caffe.Net(network_file=path, phase=caffe.TEST, weights=weights),
            caffe.Net(path, weights=weights, phase=1),
        ]
        for each in made:
            np.testing.assert_array_equal(each.params["ip"][0].data, net.params["ip"][0].data)

    @pytest.mark.parametrize(
        ("options", "layers"),
        [
            ({}, "x"),
            ({"stages": ["extra"]}, "x a"),
            ({"level": 2}, "x b"),
            ({"level": 3, "stages": ["extra"]}, "x a b"),
        ],
    )
    def test_level_and_stages(self, caffe: Any, tmp_path: Path, options: dict[str, Any], layers: str) -> None:
        (tmp_path / "staged.prototxt").write_text(STAGED)
        net = caffe.Net(str(tmp_path / "staged.prototxt"), caffe.TEST, **options)
        assert [name for name in net._layer_names if "split" not in name] == layers.split()

    def test_what_is_no_call(self, caffe: Any, path: str) -> None:
        for arguments in ((), (1, 0, None, "w", "more")):
            with pytest.raises(TypeError, match="expected a prototxt file"):
                caffe.Net(path, *arguments)

    def test_maps_are_ordered_and_hold_what_is_live(self, net: Any) -> None:
        for each in (net.blobs, net.params, net.bottom_names, net.top_names, net.layer_dict, net.blob_loss_weights):
            assert isinstance(each, OrderedDict)
        assert list(net.blobs) == net._blob_names == list(net.blob_loss_weights)
        assert net.blobs["x"] is net.blobs["x"]
        assert [name for name, weight in net.blob_loss_weights.items() if weight] == ["loss"]
        assert net.blob_loss_weights["loss"] == 3
        assert net.outputs == ["loss", "y"] and net.inputs == ["x", "t"]


class TestGradients:
    def test_loss_weight_seeds_the_gradient(self, net: Any) -> None:
        x, t = values(2, 3), values(2, 4, seed=1)
        net.forward(x=x, t=t)
        got = net.backward()["t"].copy()
        np.testing.assert_allclose(got, -3 * (net.blobs["ip"].data - t) / 2, rtol=1e-5)

    def test_a_scripts_own_gradient_of_a_loss_holds_until_another_is_set(self, net: Any) -> None:
        net.forward(x=values(2, 3), t=values(2, 4, seed=1))
        first = net.backward(diffs=["ip"])["t"].copy()
        net.blobs["loss"].diff[...] = 6
        for _ in range(2):
            np.testing.assert_allclose(net.backward()["t"], 2 * first, rtol=1e-6)
        net.blobs["loss"].diff[...] = 3
        np.testing.assert_allclose(net.backward()["t"], first, rtol=1e-6)

    def test_a_loss_that_grows_keeps_its_weight(self, caffe: Any, tmp_path: Path) -> None:
        (tmp_path / "growing.prototxt").write_text(
            'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }\n'
            'layer { name: "abs" type: "AbsVal" bottom: "x" top: "y" loss_weight: 5 }\nforce_backward: true\n'
        )
        net = caffe.Net(str(tmp_path / "growing.prototxt"), caffe.TRAIN)
        for size in (2, 6, 3):
            net.blobs["x"].reshape(size)
            net.forward(x=np.ones(size))
            assert net.backward()["x"].tolist() == [5] * size

    def test_gradients_of_all_outputs_may_be_given(self, net: Any) -> None:
        net.forward(x=values(2, 3), t=values(2, 4, seed=1))
        got = net.backward(loss=np.array(0, np.float32).reshape(()), y=np.ones((2, 4), np.float32), diffs=["ip"])
        slope = 1 - net.blobs["y"].data ** 2
        np.testing.assert_allclose(got["x"], slope @ net.params["ip"][0].data, rtol=1e-4)
        assert set(got) == {"x", "t", "ip"}

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"y": np.ones((2, 4))}, r"expected values for the outputs \['loss', 'y'\], got \['y'\]"),
            (
                {"y": np.ones((3, 4)), "loss": np.ones(())},
                r"Output 'y': expected an array of shape \(2, 4\), got .*\(3,",
            ),
        ],
    )
    def test_wrong_gradients_are_named(self, net: Any, given: dict[str, Any], message: str) -> None:
        with pytest.raises(NetcanvasError, match=message):
            net.backward(**given)

    def test_parameter_gradients_add_up_until_they_are_cleared(self, net: Any) -> None:
        net.forward(x=values(2, 3), t=values(2, 4, seed=1))
        net.backward()
        once = net.params["ip"][0].diff.copy()
        net.backward()
        np.testing.assert_allclose(net.params["ip"][0].diff, 2 * once, rtol=1e-5)
        net.clear_param_diffs()
        assert not net.params["ip"][0].diff.any()


class TestBatches:
    def test_copies_of_every_item_without_the_padding(self, net: Any) -> None:
        """D1: five items in batches of two."""
        x, t = values(5, 3), values(5, 4, seed=1)
        got = net.forward_all(blobs=["ip"], x=x, t=t)
        assert set(got) == {"y", "loss", "ip"} and got["y"].shape == (5, 4)
        weight, bias = (blob.data for blob in net.params["ip"])
        np.testing.assert_allclose(got["y"], np.tanh(x @ weight.T + bias), rtol=1e-4, atol=1e-6)
        assert len(np.unique(got["y"][:, 0])) == 5 and not np.shares_memory(got["ip"], net.blobs["ip"].data)
        assert got["loss"].shape == (3,), "one loss a batch"

    def test_forward_and_backward_over_all_items(self, net: Any) -> None:
        x, t = values(5, 3), values(5, 4, seed=1)
        blobs, diffs = net.forward_backward_all(diffs=["ip"], x=x, t=t)
        assert blobs["y"].shape == (5, 4) and set(diffs) == {"x", "t", "ip"} and diffs["x"].shape == (5, 3)
        np.testing.assert_allclose(diffs["t"], -3 * (np.arctanh(blobs["y"]) - t) / 2, rtol=1e-2, atol=1e-3)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({}, "expected arrays of one length, got none"),
            ({"x": np.ones((4, 3)), "t": np.ones((5, 4))}, r"'x' of shape \(4, 3\), 't' of shape \(5, 4\)"),
            ({"x": 1, "t": 2}, r"'x' of shape \(\)"),
            ({"x": np.ones((4, 3))}, r"expected values for the inputs \['t', 'x'\], got \['x'\]"),
        ],
    )
    def test_wrong_items_are_named(self, net: Any, given: dict[str, Any], message: str) -> None:
        with pytest.raises(NetcanvasError, match=message):
            net.forward_all(**given)

    def test_a_name_that_is_neither_input_nor_output(self, net: Any) -> None:
        with pytest.raises(NetcanvasError, match=r"\['ip'\] are neither inputs nor outputs"):
            net.forward_backward_all(ip=np.ones((2, 4)))


class TestFilesAndSharing:
    @pytest.mark.parametrize("kind", ["caffemodel", "h5"])
    def test_parameters_go_out_and_come_back(self, caffe: Any, net: Any, path: str, tmp_path: Path, kind: str) -> None:
        file = str(tmp_path / f"w.{kind}")
        (net.save if kind == "caffemodel" else net.save_hdf5)(file)
        for name in ("copy_from", "load_hdf5") if kind == "h5" else ("copy_from",):
            other = caffe.Net(path, caffe.TRAIN)
            assert not np.array_equal(other.params["ip"][0].data, net.params["ip"][0].data)
            getattr(other, name)(file)
            for mine, theirs in zip(net.params["ip"], other.params["ip"], strict=True):
                np.testing.assert_array_equal(mine.data, theirs.data)

    def test_shared_parameters_are_one_memory(self, caffe: Any, net: Any, path: str) -> None:
        other = caffe.Net(path, caffe.TEST)
        other.share_with(net)
        net.params["ip"][0].data[...] = 7
        assert (other.params["ip"][0].data == 7).all()

    def test_layers_that_do_not_fit_are_named(self, caffe: Any, net: Any, tmp_path: Path) -> None:
        (tmp_path / "other.prototxt").write_text(
            NET.replace("num_output: 4", "num_output: 6").replace("dim: 4", "dim: 6")
        )
        other = caffe.Net(str(tmp_path / "other.prototxt"), caffe.TRAIN)
        with pytest.raises(NetcanvasError, match=r"'ip'.*\(4, 3\).*\(6, 3\)"):
            other.share_with(net)

    def test_memory_data_hands_out_arrays_batch_by_batch(self, caffe: Any, tmp_path: Path) -> None:
        (tmp_path / "memory.prototxt").write_text(
            'layer { name: "m" type: "MemoryData" top: "data" top: "label" '
            "memory_data_param { batch_size: 2 channels: 1 height: 2 width: 3 } }"
        )
        net = caffe.Net(str(tmp_path / "memory.prototxt"), caffe.TEST)
        data, labels = values(4, 1, 2, 3), np.arange(4, dtype=np.float32)
        net.set_input_arrays(data, labels)
        for start in (0, 2, 0):
            got = net.forward()
            np.testing.assert_array_equal(got["data"], data[start : start + 2])
            np.testing.assert_array_equal(got["label"].reshape(-1), labels[start : start + 2])
        with pytest.raises(NetcanvasError, match="batch"):
            net.set_input_arrays(data[:3], labels[:3])

    def test_arrays_need_a_layer_that_takes_them(self, net: Any) -> None:
        with pytest.raises(NetcanvasError, match=r"expected a MemoryData layer first, got 'x' \(Input\)"):
            net.set_input_arrays(values(2, 1, 1, 1), values(2))


class TestSolvers:
    @pytest.mark.parametrize("kind", SOLVERS)
    def test_each_class_trains_by_its_own_rule(self, caffe: Any, solver_file: str, kind: str) -> None:
        written = Path(solver_file).read_text()
        other = "Adam" if kind != "Adam" else "SGD"
        Path(solver_file).write_text(f'{written} type: "{other}"')
        solver = getattr(caffe, f"{kind}Solver")(solver_file)
        Path(solver_file).write_text(f'{written} type: "{kind}"')
        same = caffe.get_solver(solver_file)
        for each in (solver, same):
            each.step(2)
        assert solver.iter == 2 and solver.net.params["ip"][0].data.any()
        np.testing.assert_array_equal(solver.net.params["ip"][0].data, same.net.params["ip"][0].data)

    def test_solving_snapshot_and_restoring(self, caffe: Any, solver_file: str, tmp_path: Path) -> None:
        solver = caffe.get_solver(solver_file)
        solver.step(2)
        solver.snapshot()
        solver.solve()
        again = caffe.get_solver(solver_file)
        again.solve(str(tmp_path / "snap_iter_2.solverstate"))
        assert (again.iter, solver.iter) == (4, 4)
        np.testing.assert_array_equal(again.net.params["ip"][0].data, solver.net.params["ip"][0].data)

    def test_callbacks_come_before_the_forward_pass_and_before_the_update(self, caffe: Any, solver_file: str) -> None:
        solver = caffe.SGDSolver(solver_file)
        weight, seen = solver.net.params["ip"][0], []
        solver.add_callback(
            lambda: seen.append(("start", solver.iter, bool(weight.diff.any()), bool(weight.data.any()))),
            lambda: seen.append(("ready", solver.iter, bool(weight.diff.any()), bool(weight.data.any()))),
        )
        solver.step(2)
        assert seen == [
            ("start", 0, False, False),
            ("ready", 0, True, False),
            ("start", 1, False, True),
            ("ready", 1, True, True),
        ]

    def test_a_loop_of_ones_own(self, caffe: Any, solver_file: str) -> None:
        """Clearing, running and updating by hand is a step, which alone counts."""
        stepped, own = caffe.SGDSolver(solver_file), caffe.SGDSolver(solver_file)
        stepped.step(1)
        own.net.clear_param_diffs()
        own.net.forward()
        own.net.backward()
        own.apply_update()
        assert own.iter == 0
        np.testing.assert_array_equal(own.net.params["ip"][0].data, stepped.net.params["ip"][0].data)

    def test_settings_may_be_changed_while_training(self, caffe: Any, solver_file: str) -> None:
        solver = caffe.SGDSolver(solver_file)
        solver.param.base_lr = 0
        solver.step(1)
        assert not solver.net.params["ip"][0].data.any()

    def test_weights_are_shared_with_a_net(self, caffe: Any, solver_file: str, tmp_path: Path) -> None:
        solver = caffe.SGDSolver(solver_file)
        net = caffe.Net(str(tmp_path / "net.prototxt"), caffe.TEST)
        solver.share_weights(net)
        solver.step(1)
        np.testing.assert_array_equal(net.params["ip"][0].data, solver.net.params["ip"][0].data)
        assert net.params["ip"][0].data.any() and solver.test_nets[0].params["ip"][0].data.any()


def test_the_log(caffe: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    caffe.init_log(0, True)
    caffe.log("halfway")
    assert "halfway" in caplog.text


def test_an_input_of_another_size_than_the_weights_is_told(caffe: Any, tmp_path: Path) -> None:
    """D4: layer, both sizes, the blob and its shape."""
    (tmp_path / "sized.prototxt").write_text(
        'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 50 dim: 8 dim: 8 } } }\n'
        'layer { name: "pool2" type: "Pooling" bottom: "data" top: "pool2" '
        "pooling_param { kernel_size: 2 stride: 2 } }\n"
        'layer { name: "ip1" type: "InnerProduct" bottom: "pool2" top: "ip1" inner_product_param { num_output: 2 } }\n'
    )
    net = caffe.Net(str(tmp_path / "sized.prototxt"), caffe.TEST)
    net.blobs["data"].reshape(1, 50, 10, 10)
    for run in (net.reshape, net.forward):
        with pytest.raises(NetcanvasError, match=r"'ip1'.* 800 .* 1250.*'pool2' has shape \(1, 50, 5, 5\).*size"):
            run()
    net.blobs["data"].reshape(1, 50, 8, 8)
    assert net.forward()["ip1"].shape == (1, 2)
