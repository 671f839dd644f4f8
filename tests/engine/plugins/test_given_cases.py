"""Cases of section A the way users meet them: ``import caffe``, solver files, the command line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine.compat
from engine.cli.commands import main
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import COMMON, python_layer

SOLVER = 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 100 snapshot_prefix: "s" solver_mode: CPU '
ONES = (
    'layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 } '
    'data_filler { type: "constant" value: 1 } } }\n'
)
WEIGHT = """
    class W(caffe.Layer):
        def setup(self, bottom, top):
            self.blobs.add_blob(1)
            self.blobs[0].data[...] = 1
        def reshape(self, bottom, top): top[0].reshape(1)
        def forward(self, bottom, top): top[0].data[...] = self.blobs[0].data * bottom[0].data
        def backward(self, top, propagate_down, bottom): self.blobs[0].diff[...] += top[0].diff * bottom[0].data
"""


@pytest.fixture
def caffe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    engine.compat.install()
    import caffe

    return caffe


def project(folder: Path, code: str, net: str, more: str = "") -> str:
    write(folder, mod=COMMON + code)
    (folder / "net.prototxt").write_text(net)
    (folder / "solver.prototxt").write_text(SOLVER + more)
    return str(folder / "solver.prototxt")


@pytest.mark.parametrize(("more", "moved"), [("", False), ("loss_weight: 1", True)])
def test_a_loss_without_weight_trains_nothing(caffe: Any, tmp_path: Path, more: str, moved: bool) -> None:
    """A8."""
    net = ONES.replace("dim: 1", "dim: 1 dim: 3") + (
        'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 2 '
        'weight_filler { type: "constant" value: 1 } } }\n'
    )
    solver = caffe.SGDSolver(project(tmp_path, "", net + python_layer("mine", "Same", "ip", "loss", more)))
    before = solver.net.params["ip"][0].data.copy()
    solver.step(5)
    assert bool((solver.net.params["ip"][0].data != before).any()) is moved


def test_train_and_test_nets_know_their_phase(caffe: Any, tmp_path: Path) -> None:
    """A10."""
    code = "\n    class P(Same):\n        def setup(self, bottom, top): self.seen = int(self.phase), str(self.phase)\n"
    path = project(tmp_path, code, ONES + python_layer("p", "P", "x", "y"), "test_iter: 1 test_interval: 10")
    solver = caffe.SGDSolver(path)
    names = list(solver.net._layer_names)
    seen = [net.layers[names.index("p")].seen for net in (solver.net, solver.test_nets[0])]
    assert seen == [(0, "TRAIN"), (1, "TEST")]


def test_trainable_blobs_of_a_layer_are_parameters(caffe: Any, tmp_path: Path) -> None:
    """A11: updated with its lr_mult, saved, loaded, shared."""
    net = ONES + python_layer("w", "W", "x", "loss", "loss_weight: 1 param { lr_mult: 2 }")
    solver = caffe.SGDSolver(project(tmp_path, WEIGHT, net))
    solver.step(1)
    assert solver.net.params["w"][0].data == pytest.approx([0.8])
    solver.net.save("saved.caffemodel")
    again = caffe.Net("net.prototxt", "saved.caffemodel", caffe.TEST)
    assert again.params["w"][0].data == pytest.approx([0.8])
    solver.snapshot()
    other = caffe.SGDSolver("solver.prototxt")
    other.restore("s_iter_1.solverstate")
    assert other.net.params["w"][0].data == pytest.approx([0.8])
    shared = ONES + "".join(python_layer(n, "W", "x", n, 'loss_weight: 1 param { name: "one" }') for n in ("a", "b"))
    both = caffe.SGDSolver(project(tmp_path, WEIGHT, shared))
    both.step(1)
    assert np.shares_memory(*(both.net.params[name][0].data for name in "ab"))
    assert both.net.params["a"][0].data == pytest.approx([0.8])


def test_layers_of_a_net_are_the_users_objects(caffe: Any, tmp_path: Path) -> None:
    code = "\n    class Mine(Same):\n        def set_value(self, value): self.value = value; return self\n"
    project(tmp_path, code, ONES + python_layer("p", "Mine", "x", "y"))
    net = caffe.Net("net.prototxt", caffe.TRAIN)
    layer = net.layers[list(net._layer_names).index("p")]
    assert layer.set_value(3) is layer and layer.value == 3 and type(layer).__name__ == "Mine"
    assert net.layer_dict["p"] is layer


def test_more_than_one_device_is_refused_at_the_start(
    caffe: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A13."""
    project(tmp_path, WEIGHT, ONES + python_layer("w", "W", "x", "loss", "loss_weight: 1"))
    assert main(["train", "--solver", "solver.prototxt", "--gpu", "0,1"]) != 0
    assert "0,1" in capsys.readouterr().err and not list(tmp_path.glob("*.caffemodel"))


def test_share_in_parallel_stays_in_the_text(caffe: Any, tmp_path: Path) -> None:
    """A13."""
    text = ONES + python_layer("w", "W", "x", "loss").replace(
        "python_param {", "python_param { share_in_parallel: true"
    )
    project(tmp_path, WEIGHT, text)
    assert main(["set", "net.prototxt", "w", "python_param.param_str", "x"]) == 0
    assert "share_in_parallel: true" in (tmp_path / "net.prototxt").read_text()


def test_the_seed_reaches_what_plugins_draw_from(caffe: Any, tmp_path: Path) -> None:
    """A18: numpy's and Python's generators, whatever they gave before."""
    code = """
    import random
    class Noise(caffe.Layer):
        def reshape(self, bottom, top): top[0].reshape(2)
        def forward(self, bottom, top): top[0].data[...] = np.random.rand(), random.random()
    """
    path = project(tmp_path, code, python_layer("n", "Noise", "", "y"), "random_seed: 7")
    found = []
    for _ in range(2):
        np.random.rand(3), random.random()
        solver = caffe.SGDSolver(path)
        solver.step(1)
        found.append(solver.net.blobs["y"].data.tolist())
    assert found[0] == found[1]


def test_exceptions_end_a_training_with_the_node_and_the_line(
    caffe: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A1, by the command line: no abort, and the plugin's own traceback."""
    code = "\n    class Boom(Same):\n        def forward(self, bottom, top): raise ValueError('x7')\n"
    project(tmp_path, code, ONES + python_layer("boom", "Boom", "x", "y", "loss_weight: 1"))
    assert main(["train", "--solver", "solver.prototxt"]) == 1
    err = capsys.readouterr().err
    assert "'boom'" in err and "forward" in err and "x7" in err and "mod.py" in err


def test_needs_backward_says_why(caffe: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A7."""
    project(tmp_path, "", ONES + python_layer("p", "Same", "x", "loss", "loss_weight: 1"))
    net = caffe.Net("net.prototxt", caffe.TRAIN)
    needed, reason = net._net.needs_backward["p"]
    assert not needed and reason == "neither it nor a layer below it has parameters to learn"
    assert main(["show", "net.prototxt", "--trust", "--json"]) == 0
    json.loads(capsys.readouterr().out)
