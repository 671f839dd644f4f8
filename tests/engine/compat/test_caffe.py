"""The pycaffe interface: nets, solvers, messages."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine.compat
from engine.errors import NetcanvasError
from tests.engine.plugins.helpers import write

NET = """
name: "toy"
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 } } }
layer { name: "ip1" type: "InnerProduct" bottom: "x" top: "ip1"
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } bias_filler { type: "constant" value: 1 } } }
layer { name: "relu" type: "ReLU" bottom: "ip1" top: "ip1" }
layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2"
  inner_product_param { num_output: 2 bias_term: false weight_filler { type: "xavier" } } }
"""

TRAINED = """
    import caffe
    class Feed(caffe.Layer):
        def setup(self, bottom, top): self.phases = (int(self.phase), str(self.phase))
        def reshape(self, bottom, top): top[0].reshape(2, 1)
        def forward(self, bottom, top): top[0].data[...] = 1
    class W(caffe.Layer):
        def setup(self, bottom, top):
            self.blobs.add_blob(1)
            self.blobs[0].data[...] = 1
        def reshape(self, bottom, top): top[0].reshape(1)
        def forward(self, bottom, top): top[0].data[...] = self.blobs[0].data * bottom[0].data.mean()
        def backward(self, top, propagate_down, bottom): self.blobs[0].diff[...] += top[0].diff * bottom[0].data.mean()
"""

SOLVER_NET = """
name: "w"
layer { name: "feed" type: "Python" top: "x" python_param { module: "trained" layer: "Feed" } }
layer { name: "w" type: "Python" bottom: "x" top: "loss" loss_weight: 1 param { lr_mult: 2 }
  python_param { module: "trained" layer: "W" } }
"""

SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 3 display: 0
test_iter: 1 test_interval: 1000 test_initialization: false snapshot_prefix: "%s/snap" random_seed: 3
"""


@pytest.fixture
def caffe() -> Any:
    engine.compat.install()
    import caffe

    return caffe


@pytest.fixture
def net(caffe: Any, tmp_path: Path) -> Any:
    (tmp_path / "net.prototxt").write_text(NET)
    return caffe.Net(str(tmp_path / "net.prototxt"), caffe.TEST)


@pytest.fixture
def solver_file(tmp_path: Path) -> Path:
    write(tmp_path, trained=TRAINED)
    (tmp_path / "net.prototxt").write_text(SOLVER_NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER % tmp_path)
    return tmp_path / "solver.prototxt"


class TestNet:
    def test_names_and_order(self, net: Any) -> None:
        """D5: only layers with blobs, in net order, weight before bias."""
        assert list(net.blobs) == ["x", "ip1", "ip2"]
        assert [(name, len(blobs)) for name, blobs in net.params.items()] == [("ip1", 2), ("ip2", 1)]
        assert net.params["ip1"][0].data.shape == (5, 3)
        assert net._layer_names == ["x", "ip1", "relu", "ip2"]
        assert (net.inputs, net.outputs) == (["x"], ["ip2"])
        assert net.bottom_names["ip2"] == ["ip1"] and net.top_names["ip1"] == ["ip1"]
        assert net.layer_dict["ip2"] is net.layers[3] and net.layers[3].type == "InnerProduct"

    def test_outputs_are_views(self, net: Any) -> None:
        """D1."""
        first = net.forward(x=np.ones((4, 3)))["ip2"]
        again = net.forward(x=np.zeros((4, 3)), blobs=["ip1"])
        assert np.shares_memory(first, again["ip2"]) and set(again) == {"ip1", "ip2"}

    def test_partial_runs_name_layers_and_include_both_ends(self, net: Any) -> None:
        """D2."""
        net.forward(x=np.ones((4, 3)))
        net.blobs["ip1"].data[...] = 0
        assert not net.forward(start="ip2")["ip2"].any()
        assert set(net.forward(end="ip1")) == {"ip1"}
        with pytest.raises(KeyError, match="no layer 'nope'"):
            net.forward(start="nope")
        assert net.forward(start="ip1")["ip2"].any()

    def test_a_blob_name_that_is_no_layer_gets_a_hint(self, caffe: Any, tmp_path: Path) -> None:
        text = NET.replace('name: "ip1" type', 'name: "first" type')
        (tmp_path / "other.prototxt").write_text(text)
        net = caffe.Net(str(tmp_path / "other.prototxt"), caffe.TEST)
        with pytest.raises(KeyError, match="'ip1' is a blob"):
            net.forward(start="ip1")

    def test_new_input_shapes_carry_through(self, net: Any, caffe: Any, tmp_path: Path) -> None:
        """D3."""
        values = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
        for size in (4, 1, 6):
            net.blobs["x"].reshape(size, 3)
            net.reshape()
            assert net.blobs["ip2"].shape == (size, 2)
            got = net.forward(x=values[:size])["ip2"].copy()
            (tmp_path / "fresh.prototxt").write_text(NET.replace("dim: 4", f"dim: {size}"))
            fresh = caffe.Net(str(tmp_path / "fresh.prototxt"), caffe.TEST)
            fresh.share_with(net)
            np.testing.assert_array_equal(got, fresh.forward(x=values[:size])["ip2"])

    def test_wrong_inputs_are_named(self, net: Any) -> None:
        with pytest.raises(NetcanvasError, match=r"expected values for the inputs \['x'\], got \['y'\]"):
            net.forward(y=np.ones((4, 3)))
        for shape in ((5, 3), (4, 2)):
            with pytest.raises(
                NetcanvasError, match=rf"'x': expected .*\(4, 3\), got float64 of \({shape[0]}, {shape[1]}\)"
            ):
                net.forward(x=np.ones(shape))

    @pytest.mark.parametrize("form", ["weights second", "keyword", "copy_from"])
    def test_weights_go_out_and_come_back(self, net: Any, caffe: Any, tmp_path: Path, form: str) -> None:
        model, weights = str(tmp_path / "net.prototxt"), str(tmp_path / "w.caffemodel")
        net.save(weights)
        if form == "weights second":
            other = caffe.Net(model, weights, caffe.TEST)
        elif form == "keyword":
            other = caffe.Net(model, caffe.TEST, weights=weights)
        else:
            other = caffe.Net(model, caffe.TRAIN)
            other.copy_from(weights)
        for name, blobs in net.params.items():
            for mine, theirs in zip(blobs, other.params[name], strict=True):
                np.testing.assert_array_equal(mine.data, theirs.data)

    def test_arrays_outlive_their_net(self, caffe: Any, tmp_path: Path) -> None:
        """D7."""
        (tmp_path / "net.prototxt").write_text(NET)
        held = caffe.Net(str(tmp_path / "net.prototxt"), caffe.TEST).params["ip1"][1].data
        gc.collect()
        assert held.tolist() == [1] * 5

    def test_nets_that_come_and_go_leave_no_memory_behind(self, caffe: Any, tmp_path: Path) -> None:
        """D7."""
        (tmp_path / "net.prototxt").write_text(NET.replace("num_output: 5", "num_output: 20000"))
        sizes = []
        for cycle in range(200):
            made = caffe.Net(str(tmp_path / "net.prototxt"), caffe.TEST)
            made.forward()
            del made
            if cycle in (20, 199):
                gc.collect()
                sizes.append(int(Path("/proc/self/statm").read_text().split()[1]))
        assert sizes[1] < sizes[0] * 1.05

    def test_what_is_missing_says_so(self, net: Any) -> None:
        with pytest.raises(AttributeError, match=r"'caffe\.Net\.forward_al' is not yet offered.*'forward_all'"):
            net.forward_al(x=1)

    def test_a_missing_file_is_named(self, caffe: Any) -> None:
        with pytest.raises(NetcanvasError, match=r"nowhere\.prototxt"):
            caffe.Net("nowhere.prototxt", caffe.TEST)

    def test_the_random_seed_makes_fillers_repeatable(self, caffe: Any, tmp_path: Path) -> None:
        (tmp_path / "net.prototxt").write_text(NET)

        def weights() -> Any:
            return caffe.Net(str(tmp_path / "net.prototxt"), caffe.TEST).params["ip1"][0].data

        from engine.compat.caffe.session import session

        caffe.set_random_seed(7)
        try:
            np.testing.assert_array_equal(weights(), weights())
        finally:
            session.seed = None
        assert not np.array_equal(weights(), weights())


class TestSolver:
    @pytest.mark.parametrize("make", ["SGDSolver", "get_solver"])
    def test_a_plugins_blob_is_trained(self, caffe: Any, solver_file: Path, make: str) -> None:
        """A11: gradient 1, lr 0.1, lr_mult 2: 1.0 becomes 0.8."""
        solver = getattr(caffe, make)(str(solver_file))
        solver.step(1)
        assert solver.iter == 1
        assert solver.net.params["w"][0].data[0] == pytest.approx(0.8)
        assert solver.test_nets[0].params["w"][0].data[0] == pytest.approx(0.8)
        assert solver.net is solver.net and solver.net.layers[1].__class__.__name__ == "W"

    def test_it_is_saved_and_restored(self, caffe: Any, solver_file: Path) -> None:
        solver = caffe.SGDSolver(str(solver_file))
        solver.step(1)
        solver.snapshot()
        solver.net.save(str(solver_file.parent / "w.caffemodel"))
        solver.step(1)
        end = float(solver.net.params["w"][0].data[0])
        loaded = caffe.Net(
            str(solver_file.parent / "net.prototxt"), str(solver_file.parent / "w.caffemodel"), caffe.TEST
        )
        assert loaded.params["w"][0].data[0] == pytest.approx(0.8)
        again = caffe.SGDSolver(str(solver_file))
        again.restore(str(solver_file.parent / "snap_iter_1.solverstate"))
        assert again.iter == 1
        again.step(1)
        assert float(again.net.params["w"][0].data[0]) == end

    def test_phases_of_train_and_test_net(self, caffe: Any, solver_file: Path) -> None:
        """A10: in set-up the plugin knows its phase."""
        solver = caffe.SGDSolver(str(solver_file))
        assert solver.net.layers[0].phases == (0, "TRAIN")
        assert solver.test_nets[0].layers[0].phases == (1, "TEST")

    @pytest.mark.parametrize(("weight", "end"), [("", 1.0), ("loss_weight: 1", 0.0)])
    def test_without_loss_weight_nothing_is_learned(
        self, caffe: Any, solver_file: Path, weight: str, end: float
    ) -> None:
        """A8: five steps."""
        (solver_file.parent / "net.prototxt").write_text(SOLVER_NET.replace("loss_weight: 1", weight))
        solver = caffe.SGDSolver(str(solver_file))
        solver.step(5)
        assert solver.net.params["w"][0].data[0] == pytest.approx(end, abs=1e-6)

    def test_solve_runs_to_max_iter(self, caffe: Any, solver_file: Path) -> None:
        solver = caffe.get_solver(str(solver_file))
        solver.solve()
        assert solver.iter == 3

    def test_what_is_missing_says_so(self, caffe: Any, solver_file: Path) -> None:
        with pytest.raises(AttributeError, match=r"SGDSolver\.add_callbacks' is not yet offered.*'add_callback'"):
            caffe.SGDSolver(str(solver_file)).add_callbacks(print, print)


class TestRest:
    def test_phases_are_ints_that_print_their_names(self, caffe: Any) -> None:
        assert (caffe.TRAIN, caffe.TEST) == (0, 1)
        assert isinstance(caffe.TEST, int) and str(caffe.TRAIN) == "TRAIN" and str(caffe.TEST) == "TEST"

    def test_types_are_listed(self, caffe: Any) -> None:
        types = caffe.layer_type_list()
        assert "Python" in types and "InnerProduct" in types and types == sorted(types)

    def test_messages_read_and_write_text(self, caffe: Any) -> None:
        from google.protobuf import text_format

        caffe_pb2 = __import__("caffe.proto.caffe_pb2", fromlist=["x"])
        net = caffe_pb2.NetParameter()
        text_format.Merge('name: "n" layer { name: "a" type: "ReLU" }', net)
        assert net.layer[0].type == "ReLU" and caffe_pb2.TEST == 1
        assert caffe_pb2.Phase.Value("TEST") == 1 and caffe_pb2.Phase.Name(0) == "TRAIN"
        assert "LayerParameter" in dir(caffe_pb2)

    def test_modes(self, caffe: Any, caplog: pytest.LogCaptureFixture) -> None:
        caffe.set_mode_cpu()
        caffe.set_device(0)
        with pytest.raises(ValueError, match="-1"):
            caffe.set_device(-1)
        from engine.compat.caffe.session import session

        session.told_no_gpu = False
        caffe.set_mode_gpu()
        caffe.set_mode_gpu()
        assert sum("no GPU backend" in record.getMessage() for record in caplog.records) == 1
