"""Functions as nodes, in Caffe2's manner: the cases of section G that apply to them."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import engine.compat
from engine.errors import LayerError, PluginError
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.net import Net
from engine.plugins.scan import scan_folder
from engine.schema import load_schema
from tests.engine.plugins.function_sources import DOUBLE, IP, functions
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import input_layer, net_of, python_layer

LAYER = "import caffe\nclass Halve(caffe.Layer): pass\n"


@pytest.mark.parametrize("name", ["double", "feed"])
@pytest.mark.parametrize("backend", ["numpy", "strict"])
@pytest.mark.parametrize("use_plan", [False, True])
def test_a_function_is_a_layer(tmp_path: Path, name: str, backend: str, use_plan: bool) -> None:
    write(tmp_path, mod=DOUBLE)
    net = net_of(
        tmp_path, input_layer("x", 2, 3) + python_layer("p", name, "x", "y"), backend=backend, use_plan=use_plan
    )
    assert net.blobs["y"].shape == (2, 3)
    net.blobs["x"].data[...] = 3
    net.forward()
    assert (net.blobs["y"].data == 6).all()
    net.blobs["x"].reshape(4, 1)
    net.forward()
    assert net.blobs["y"].shape == (4, 1)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_its_gradient_is_the_modules(tmp_path: Path, backend: str) -> None:
    write(tmp_path, mod=DOUBLE)
    text = (
        input_layer("x", 2, 3)
        + IP
        + python_layer("p", "double", "ip", "y")
        + 'layer { name: "loss" type: "Reduction" bottom: "y" top: "loss" loss_weight: 1 }'
    )
    net = net_of(tmp_path, text, backend=backend)
    net.blobs["x"].data[...] = 1
    net.forward()
    net.backward()
    assert (net.blobs["ip"].diff == 2).all()
    assert (net.params["ip"][0].diff == 4).all()


ORDER = """
seen = []
def mul(inputs, outputs):
    outputs[0].feed(inputs[0].data * inputs[1].data)
    outputs[1].feed(inputs[0].data + inputs[1].data)

@gradient_of(mul)
def backwards(inputs, outputs):
    seen[:] = [tensor.data.ravel()[0] for tensor in inputs]
    outputs[0].feed(inputs[4].data * inputs[1].data + inputs[5].data)
    outputs[1].feed(inputs[4].data * inputs[0].data + inputs[5].data)
"""


@pytest.mark.parametrize("flags", [(True, True), (True, False), (False, True)])
def test_a_gradient_tied_by_the_decorator_gets_caffe2s_order(tmp_path: Path, flags: tuple[bool, bool]) -> None:
    functions(tmp_path, ORDER)
    more = " ".join(f"propagate_down: {str(flag).lower()}" for flag in flags)
    text = input_layer("x", 2) + input_layer("y", 2) + python_layer("p", "mul", "x y", "a b", more + " loss_weight: 1")
    net = net_of(tmp_path, "force_backward: false\n" + text.replace("loss_weight: 1", "loss_weight: 10 loss_weight: 5"))
    net.nodes[-1].needs_backward = True  # there is nothing to learn below it
    net.nodes[-1].propagate_down = list(flags)
    net.blobs["x"].data[...], net.blobs["y"].data[...] = 3, 4
    for name in "xy":
        net.blobs[name].diff[...] = -1
    net.forward()
    net.backward()
    layer: Any = net.layer("p")
    assert layer.function.__globals__["seen"] == [3, 4, 12, 7, 10, 5]
    wanted = {"x": 10 * 4 + 5, "y": 10 * 3 + 5}
    for name, flag in zip("xy", flags, strict=True):
        assert (net.blobs[name].diff == (wanted[name] if flag else -1)).all()


INDICES = """
def last(inputs, outputs):
    outputs[0].feed(inputs[0].data * 3)
    outputs[1].feed(inputs[0].data)
def back(inputs, outputs):
    assert len(inputs) == 2 + 2 + 1 and len(outputs) == 1
    outputs[0].feed(inputs[4].data * 3)
last = operator(gradient=back, grad_output_indices=[0], grad_input_indices=[0])(last)
"""


def test_indices_choose_gradients(tmp_path: Path) -> None:
    functions(tmp_path, INDICES)
    text = input_layer("x", 2) + input_layer("y", 2) + python_layer("p", "last", "x y", "a b", "loss_weight: 1")
    net = net_of(tmp_path, "force_backward: true\n" + text)
    assert net.nodes[-1].propagate_down == [True, False]
    net.forward()
    net.backward()
    assert (net.blobs["x"].diff == 3).all() and not net.blobs["y"].diff.any()


def test_without_a_gradient_the_message_says_what_to_define(tmp_path: Path) -> None:
    write(tmp_path, mod=DOUBLE)
    text = input_layer("x", 2, 3) + IP + python_layer("p", "feed", "ip", "y", "loss_weight: 1")
    net = net_of(tmp_path, text)
    net.forward()
    with pytest.raises(LayerError, match=r"'p'.*'feed' has no gradient.*Define grad_feed"):
        net.backward()


def test_a_gradient_that_is_not_written_is_zero_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, mod=DOUBLE + "\n    def grad_same(inputs, outputs): pass\n")
    net = net_of(
        tmp_path, "force_backward: true\n" + input_layer("x", 2) + python_layer("p", "same", "x", "y", "loss_weight: 1")
    )
    net.blobs["x"].diff[...] = 5
    net.forward()
    with caplog.at_level(logging.WARNING):
        net.backward()
        net.backward()
    assert not net.blobs["x"].diff.any()
    assert sum("no gradient for input 0" in record.getMessage() for record in caplog.records) == 1


def test_a_gradient_of_another_shape_is_refused(tmp_path: Path) -> None:
    write(tmp_path, mod=DOUBLE + "\n    def grad_same(inputs, outputs): outputs[0].feed(np.zeros((3, 2)))\n")
    text = input_layer("x", 2, 3) + python_layer("p", "same", "x", "y", "loss_weight: 1")
    net = net_of(tmp_path, "force_backward: true\n" + text)
    net.forward()
    with pytest.raises(PluginError, match=r"gradient of input 0 was given shape \(3, 2\); expected \(2, 3\)"):
        net.backward()


def test_errors_carry_type_text_traceback_and_name(tmp_path: Path) -> None:
    """G2."""
    functions(tmp_path, "def f(inputs, outputs):\n    outputs[0].feed([1])\n    if inputs[0].data.any(): {}['q7']\n")
    net = net_of(tmp_path, input_layer("x", 2) + python_layer("op", "f", "x", "y"))
    net.blobs["x"].data[...] = 1
    with pytest.raises(PluginError) as caught:
        net.forward()
    error = caught.value
    assert (error.layer, error.method) == ("op", "forward")
    assert "KeyError: 'q7'" in str(error) and "function mod.f" in str(error) and "mod.py:5" in str(error)
    assert "if inputs[0].data.any(): {}['q7']" in error.traceback_text


def test_what_cannot_take_zeros_is_told_how_to_declare_its_shapes(tmp_path: Path) -> None:
    body = "def f(inputs, outputs): outputs[0].feed(np.linalg.inv(inputs[0].data))\n"
    functions(tmp_path, body + "g = operator(shapes=lambda shape: [shape])(lambda i, o: f(i, o))\n")
    with pytest.raises(PluginError, match="Singular matrix") as caught:
        net_of(tmp_path, input_layer("x", 2, 2) + python_layer("p", "f", "x", "y"))
    assert "@operator(shapes=" in caught.value.next_step
    net = net_of(tmp_path, input_layer("x", 2, 2) + python_layer("p", "g", "x", "y"))
    net.blobs["x"].data[...] = 4 * np.eye(2)
    net.forward()
    assert net.blobs["y"].data.tolist() == [[0.25, 0], [0, 0.25]]


def test_a_builder_is_called_once_for_each_layer_of_each_net(tmp_path: Path) -> None:
    """G9: what it keeps is the layer's own, and lives as long as the net."""
    functions(
        tmp_path,
        "calls = []\n@operator(builder=True, shapes=lambda shape: [shape])\n"
        "def make(param_str):\n    calls.append(param_str)\n    count = [0]\n"
        "    def f(inputs, outputs):\n        count[0] += 1\n        outputs[0].feed(inputs[0].data + count[0])\n"
        "    def back(inputs, outputs): outputs[0].feed(inputs[2].data * 7)\n"
        "    return f, back\n",
    )
    text = "force_backward: true\n" + input_layer("x", 1) + python_layer("a", "make", "x", "y", param_str="one")
    text += python_layer("b", "make", "y", "z", "loss_weight: 1", param_str="two")
    first, second = net_of(tmp_path, text), net_of(tmp_path, text)
    made: Any = first.layer("a")
    names = made.function.__globals__
    assert names["calls"] == ["one", "two"] * 2
    del names["make"]
    gc.collect()
    for net, rounds in ((first, 1), (second, 2)):
        for _ in range(rounds):
            net.forward()
        net.backward()
        assert net.blobs["z"].data.tolist() == [2 * rounds] and net.blobs["x"].diff.tolist() == [49]


def test_functions_in_place_and_shapes_that_follow_the_data(tmp_path: Path) -> None:
    write(
        tmp_path,
        mod=DOUBLE + "\n    def positive(inputs, outputs): outputs[0].feed(inputs[0].data[inputs[0].data > 0])\n",
    )
    text = input_layer("x", 4) + python_layer("a", "same", "x", "y") + python_layer("b", "double", "y", "y")
    text += python_layer("c", "positive", "y", "z") + python_layer("d", "double", "z", "w", "loss_weight: 1")
    net = net_of(tmp_path, text)
    assert net.blobs["z"].shape == (0,)
    net.blobs["x"].data[...] = [1, -1, 2, -2]
    for _ in range(2):
        net.forward()
        assert net.blobs["y"].data.tolist() == [2, -2, 4, -4]
        assert net.blobs["w"].data.tolist() == [4, 8]


@pytest.mark.parametrize("value", ["def f(): pass", "def f(a): pass", "f = 3", "class f: pass"])
def test_what_takes_no_inputs_and_outputs_is_no_layer(tmp_path: Path, value: str) -> None:
    functions(tmp_path, value + "\n")
    with pytest.raises(PluginError, match=r"expected a subclass of caffe\.Layer"):
        net_of(tmp_path, input_layer("x", 1) + python_layer("p", "f", "x", "y"))


class TestInspection:
    """Shapes come from one call on zeros, in the inspection process."""

    def message(self, name: str, bottoms: int, tops: int = 1) -> Any:
        message = load_schema().message("LayerParameter")()
        message.name, message.type = "p", "Python"
        message.bottom.extend(f"x{i}" for i in range(bottoms))
        message.top.extend(f"y{i}" for i in range(tops))
        message.python_param.module, message.python_param.layer = "mod", name
        return message

    def shapes(self, folder: Path, name: str, *bottoms: tuple[int, ...], tops: int = 1) -> Any:
        with InspectionClient() as client:
            message = self.message(name, len(bottoms), tops)
            return client.layer_shapes(message, Phase.TRAIN, bottoms, base_dirs=[folder])

    def test_of_functions(self, tmp_path: Path) -> None:
        write(tmp_path, mod=DOUBLE)
        found = self.shapes(tmp_path, "double", (3, 4))
        assert found.tops == ((3, 4),) and found.file == str(tmp_path / "mod.py")

    def test_an_edited_function_is_asked_anew(self, tmp_path: Path) -> None:
        message = self.message("f", 1)
        with InspectionClient() as client:
            for size in (2, 5):
                functions(tmp_path, f"def f(inputs, outputs): outputs[0].feed(np.ones({size}))\n")
                assert client.layer_shapes(message, Phase.TRAIN, [(3,)], base_dirs=[tmp_path]).tops == ((size,),)

    def test_of_those_that_take_whole_numbers(self, tmp_path: Path) -> None:
        functions(
            tmp_path, "table = np.zeros((5, 7))\ndef f(inputs, outputs): outputs[0].feed(table[inputs[0].data])\n"
        )
        assert self.shapes(tmp_path, "f", (3,)).tops == ((3, 7),)

    def test_of_those_that_look_into_the_workspace(self, tmp_path: Path) -> None:
        functions(tmp_path, 'def f(inputs, outputs, ws): outputs[0].feed(ws.blobs["x"].fetch())\n')
        assert self.shapes(tmp_path, "f").tops == (None,)

    def test_declared_ones_run_nothing(self, tmp_path: Path) -> None:
        functions(
            tmp_path, "@operator(shapes=lambda a: [(len(a), 2), ()])\ndef f(inputs, outputs): raise ValueError('ran')\n"
        )
        assert self.shapes(tmp_path, "f", (3, 3), tops=2).tops == ((2, 2), ())


PROGRAM = """
import sys
from pathlib import Path
from engine.layer import Phase
from engine.net import Net
from engine.plugins.scan import scan_folder
folder = Path(sys.argv[1])
net = Net((folder / "net.prototxt").read_text(), Phase.TRAIN, base_dirs=(folder,))
net.blobs["x"].data[...] = 3
net.forward()
print(net.blobs["y"].data.tolist())
"""


def test_a_saved_net_runs_in_a_new_process(tmp_path: Path) -> None:
    """G1: the text names module and function, so nothing has to be registered; a lambda with a name will do."""
    write(tmp_path, mod=DOUBLE + "\n    named = lambda inputs, outputs: outputs[0].feed(inputs[0].data + 1)\n")
    (tmp_path / "net.prototxt").write_text(input_layer("x", 1) + python_layer("p", "named", "x", "y"))
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout == "[4.0]\n", done.stderr


def test_a_function_that_is_not_there_is_named_with_its_like(tmp_path: Path) -> None:
    write(tmp_path, mod=DOUBLE)
    with pytest.raises(PluginError, match="doubel") as caught:
        net_of(tmp_path, input_layer("x", 1) + python_layer("p", "doubel", "x", "y"))
    assert "'double'" in caught.value.next_step


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ("", "It has the functions that can be layers: double."),
        (LAYER, "It has the layers: Halve; and the functions that can be layers: double."),
        (
            "\n".join(f"def f{i}(inputs, outputs): pass" for i in range(20)),
            "It has the functions that can be layers: double, .*, f8, \u2026.",
        ),
    ],
)
def test_what_a_module_has_is_listed_where_it_lacks_the_name(tmp_path: Path, extra: str, told: str) -> None:
    write(tmp_path, mod=f"{dedent(DOUBLE)}\n{extra}\n")
    with pytest.raises(PluginError, match=f"has no layer 'Other'. {told}"):
        net_of(tmp_path, input_layer("x", 1) + python_layer("p", "Other", "x", "y"))


def test_a_module_without_any_layer_says_so(tmp_path: Path) -> None:
    write(tmp_path, mod="x = 1\n")
    with pytest.raises(PluginError, match="It has no layers: no class and no function"):
        net_of(tmp_path, input_layer("x", 1) + python_layer("p", "Other", "x", "y"))


def test_nets_with_functions_train(tmp_path: Path) -> None:
    functions(
        tmp_path,
        "def loss(inputs, outputs): outputs[0].feed(((inputs[0].data - 1) ** 2).sum() / 2)\n"
        "def grad_loss(inputs, outputs): outputs[0].feed((inputs[0].data - 1) * inputs[2].data)\n",
    )
    (tmp_path / "net.prototxt").write_text(
        'layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } '
        'data_filler { type: "constant" value: 1 } } }\n'
        + IP
        + python_layer("loss", "loss", "ip", "l", "loss_weight: 1")
    )
    (tmp_path / "solver.prototxt").write_text(
        'net: "net.prototxt" base_lr: 0.05 lr_policy: "fixed" max_iter: 100 snapshot_prefix: "s" solver_mode: CPU'
    )
    engine.compat.install()
    import caffe

    solver = caffe.SGDSolver(str(tmp_path / "solver.prototxt"))
    solver.step(60)
    assert solver.net.blobs["l"].data < 1e-4


def test_phase_test_nets_run_functions_too(tmp_path: Path) -> None:
    write(tmp_path, mod=DOUBLE)
    net = Net(input_layer("x", 1) + python_layer("p", "feed", "x", "y"), Phase.TEST, base_dirs=(tmp_path,))
    net.blobs["x"].data[...] = 2
    net.forward()
    assert net.blobs["y"].data.tolist() == [4]


def test_functions_are_found_beside_layers(tmp_path: Path) -> None:
    """In the text, before anything runs, and by the inspection process; their gradients are not."""
    write(
        tmp_path,
        mod=DOUBLE
        + """
    from engine.api import gradient_of

    def documented(inputs, outputs, workspace):
        \"\"\"Says what it does.\"\"\"

    @gradient_of(documented)
    def backwards(inputs, outputs): pass

    def _hidden(inputs, outputs): pass
    def helper(a, b): pass
""",
    )
    names = ["double", "feed", "same", "documented"]
    found = scan_folder(tmp_path)
    assert [each.name for each in found] == names and found[-1].summary == "Says what it does."
    with InspectionClient() as client:
        listed = client.list_layers(tmp_path)
    assert not listed.failures
    assert [each.name for each in listed.layers] == names
