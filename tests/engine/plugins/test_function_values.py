"""What functions as nodes hand on: types of every kind, and shapes before data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import LayerError, PluginError
from tests.engine.plugins.function_sources import DOUBLE, IP, functions
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import input_layer, net_of, python_layer


class TestTypes:
    """G7: types pass unharmed, and are as written."""

    @pytest.mark.parametrize("readers", [1, 2])
    @pytest.mark.parametrize("dtype", ["int64", "int32", "bool", "float64", "uint8"])
    @pytest.mark.parametrize("backend", ["numpy", "strict"])
    def test_through_functions(self, tmp_path: Path, dtype: str, readers: int, backend: str) -> None:
        value = 1 if dtype == "bool" else 200 if dtype == "uint8" else 2**40 + 1 if dtype != "int32" else 2**31 - 1
        write(
            tmp_path,
            mod=DOUBLE + f"\n    def source(inputs, outputs): outputs[0].feed(np.array([{value}], '{dtype}'))\n",
        )
        text = python_layer("s", "source", "", "x")
        text += "".join(python_layer(f"p{i}", "same", "x", f"y{i}") for i in range(readers))
        net = net_of(tmp_path, text, backend=backend)
        net.forward()
        for i in range(readers):
            data = net.blobs[f"y{i}"].data
            assert data.dtype == dtype and data.tolist() == [value]

    def test_other_layers_see_the_nets_type(self, tmp_path: Path) -> None:
        """Labels of whole numbers and doubles reach built-in layers and layers of pycaffe's kind."""
        functions(
            tmp_path,
            "def source(inputs, outputs):\n"
            "    outputs[0].feed(np.full((2, 3), 0.5))\n"
            "    outputs[1].feed(np.array([1, 0]))\n"
            "import caffe\n"
            "class Look(caffe.Layer):\n"
            "    def reshape(self, bottom, top): top[0].reshape(1)\n"
            "    def forward(self, bottom, top): self.seen = str(bottom[0].data.dtype)\n",
        )
        text = python_layer("s", "source", "", "x label") + IP
        text += 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }\n'
        text += python_layer("look", "Look", "label", "l")
        for backend in ("numpy", "strict"):
            for use_plan in (False, True):
                net = net_of(tmp_path, text, backend=backend, use_plan=use_plan)
                assert net.forward() == pytest.approx(np.log(2))
                net.backward()
                assert net.blobs["x"].data.dtype == np.float64 and net.blobs["label"].data.dtype == np.int64
                assert net.blobs["ip"].data.dtype == np.float32 and (net.blobs["ip"].data == 1.5).all()
                assert net.layer("look").seen == "float32"  # type: ignore[attr-defined]

    def test_gradients_come_back_through_the_conversion(self, tmp_path: Path) -> None:
        functions(
            tmp_path,
            "def wide(inputs, outputs): outputs[0].feed(inputs[0].data.astype(np.float64))\n"
            "def grad_wide(inputs, outputs): outputs[0].feed(inputs[2].data)\n",
        )
        text = input_layer("x", 2, 3) + python_layer("w", "wide", "x", "w") + IP.replace('bottom: "x"', 'bottom: "w"')
        text += 'layer { name: "loss" type: "Reduction" bottom: "ip" top: "loss" loss_weight: 1 }'
        net = net_of(tmp_path, "force_backward: true\n" + text)
        net.forward()
        net.backward()
        assert (net.blobs["x"].diff == 2).all()

    def test_types_are_declared_with_shapes(self, tmp_path: Path) -> None:
        functions(
            tmp_path,
            "@operator(shapes=lambda: [(1,)], dtypes=['int64'])\n"
            "def f(inputs, outputs): outputs[0].feed([2**40 + 1])\n"
            "def same(inputs, outputs): outputs[0].feed(inputs[0].data)\n",
        )
        net = net_of(tmp_path, python_layer("p", "f", "", "x") + python_layer("q", "same", "x", "y"))
        net.forward()
        assert net.blobs["y"].data.dtype == np.int64 and net.blobs["y"].data.tolist() == [2**40 + 1]

    def test_a_type_that_changes_is_refused(self, tmp_path: Path) -> None:
        functions(
            tmp_path,
            "def odd(inputs, outputs):\n    x = inputs[0].data\n    outputs[0].feed(x if x.any() else x.astype(int))\n",
        )
        net = net_of(tmp_path, input_layer("x", 2) + python_layer("p", "odd", "x", "y"))
        net.blobs["x"].data[...] = 1.5
        with pytest.raises(PluginError, match=r"given float32, and int64 when the net was built"):
            net.forward()

    @pytest.mark.parametrize("fed", ["np.array('text')", "None", "[object()]", "[1j]"])
    def test_what_is_no_number_is_refused(self, tmp_path: Path, fed: str) -> None:
        functions(tmp_path, f"def f(inputs, outputs): outputs[0].feed({fed})\n")
        with pytest.raises(PluginError, match=r"expected numbers or booleans") as caught:
            net_of(tmp_path, input_layer("x", 2) + python_layer("p", "f", "x", "y"))
        assert caught.value.layer == "p"


class TestShapeBeforeData:
    """G8."""

    def test_data_before_reshape_is_an_error_with_a_name(self, tmp_path: Path) -> None:
        functions(tmp_path, "def f(inputs, outputs):\n    outputs[0].data[...] = 2\n")
        with pytest.raises(
            PluginError, match=r"UnshapedOutputError: output 0 has no shape yet.*function mod\.f"
        ) as caught:
            net_of(tmp_path, input_layer("x", 2) + python_layer("p", "f", "x", "y"))
        assert "outputs[0].data[...] = 2" in caught.value.traceback_text

    def test_an_output_without_a_value_is_refused(self, tmp_path: Path) -> None:
        functions(tmp_path, "def f(inputs, outputs): outputs[0].feed([1.0])\n")
        with pytest.raises(LayerError, match=r"'p'.*top 1.*gave it no value"):
            net_of(tmp_path, input_layer("x", 2) + python_layer("p", "f", "x", "y z"))

    def test_the_workspace_is_the_third_argument_of_those_that_want_it(self, tmp_path: Path) -> None:
        functions(
            tmp_path,
            'def f(inputs, outputs, workspace):\n    outputs[0].feed(2 * workspace.blobs["x"].fetch())\n'
            "def g(inputs, outputs, workspace=None):\n    outputs[0].feed([workspace is None])\n"
            'def typo(inputs, outputs, ws):\n    outputs[0].feed(ws.blobs["xx"].fetch())\n',
        )
        net = net_of(tmp_path, input_layer("x", 2) + python_layer("p", "f", "", "y") + python_layer("q", "g", "", "z"))
        net.blobs["x"].data[...] = 3
        net.forward()
        assert net.blobs["y"].data.tolist() == [6, 6] and net.blobs["z"].data.tolist() == [True]
        with pytest.raises(PluginError, match=r"no blob 'xx' up to here. Did you mean 'x'\?"):
            net_of(tmp_path, input_layer("x", 2) + python_layer("p", "typo", "", "y"))
