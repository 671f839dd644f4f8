"""A1 and its kind: whatever leaves a layer's method is an error of that node, and the net goes on."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import PluginError
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import COMMON, input_layer, net_of, python_layer

ODD = """
    class NoText(Exception):
        def __str__(self): raise ValueError("no text")
        __repr__ = __str__
    class ExitsInText(Exception):
        def __str__(self): raise SystemExit(3)
    class Base(BaseException): pass
    class Odd(Same):
        broken = True
        def forward(self, bottom, top):
            if self.broken:
                self.go()
            Same.forward(self, bottom, top)
"""
BODIES = {
    "raise SystemExit(3)": "SystemExit: 3",
    "import sys; sys.exit('bye')": "SystemExit: bye",
    "exit()": "SystemExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise KeyboardInterrupt('mine')": "KeyboardInterrupt: mine",
    "raise StopIteration": "StopIteration",
    "next(iter([]))": "StopIteration",
    "raise GeneratorExit": "GeneratorExit",
    "raise NoText": "NoText: no message",
    "raise ExitsInText": "ExitsInText: no message",
    "raise Base('b7')": "Base: b7",
    "raise ExceptionGroup('many', [ValueError('v7')])": "ExceptionGroup: many",
    "assert False": "AssertionError: no message",
    "self.go()": "RecursionError",
    "raise MemoryError": "MemoryError",
    "raise 'text'": "TypeError",
    "np.zeros(10**18)": "MemoryError|ValueError",
    "raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'u7')": "u7",
    "exec('1 +')": "SyntaxError",
    "top[0].data = 3": r"write into it: data\[\.\.\.\] = values",
    "top[0].reshape(-1)": "0 or more",
    "top[0].reshape(1.5)": "whole numbers",
    "top[3].data": "IndexError",
    "import gone_away": "gone_away",
}


@pytest.mark.parametrize("use_plan", [False, True])
@pytest.mark.parametrize("body", BODIES)
def test_odd_exceptions_are_errors_of_the_node(tmp_path: Path, body: str, use_plan: bool) -> None:
    write(
        tmp_path, mod=COMMON + ODD + f"        def go(self, bottom=None, top=()): {body}\n".replace("top[", "self.top[")
    )
    net = net_of(tmp_path, input_layer("x", 2) + python_layer("odd", "Odd", "x", "y"), use_plan=use_plan)
    layer: Any = net.layer("odd")
    layer.top = net.nodes[-1].tops
    net.blobs["x"].data[...] = 4
    with pytest.raises(PluginError, match=BODIES[body]) as caught:
        net.forward()
    error = caught.value
    assert (error.layer, error.method) == ("odd", "forward") and "mod.Odd" in str(error)
    assert str(tmp_path / "mod.py") in error.traceback_text
    layer.broken = False
    net.forward()
    assert net.blobs["y"].data.tolist() == [4, 4]


@pytest.mark.parametrize("method", ["setup", "reshape", "backward", "__init__"])
@pytest.mark.parametrize("body", ["raise KeyboardInterrupt", "raise SystemExit", "raise NoText", "raise Base"])
def test_in_every_method(tmp_path: Path, method: str, body: str) -> None:
    write(tmp_path, mod=COMMON + ODD + f"    class Bad(Same):\n        def {method}(self, *args): {body}\n")
    text = "force_backward: true\n" + input_layer("x", 2) + python_layer("odd", "Bad", "x", "y", "loss_weight: 1")
    with pytest.raises(PluginError, match="'odd'"):
        net = net_of(tmp_path, text)
        net.forward()
        net.backward()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to threads")
def test_the_users_interrupt_goes_through(tmp_path: Path) -> None:
    """Ctrl-C while a plugin's code runs ends the program's work, and is no fault of the layer."""
    body = "self.ready.set()\n            while True: pass"
    write(tmp_path, mod=COMMON + ODD + f"        def go(self):\n            {body}\n")
    net = net_of(tmp_path, input_layer("x", 2) + python_layer("odd", "Odd", "x", "y"))
    layer: Any = net.layer("odd")
    layer.ready = threading.Event()
    main = threading.get_ident()

    def interrupt() -> None:
        layer.ready.wait()
        signal.pthread_kill(main, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            net.forward()
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


class TestBlobs:
    """What layers do with blobs beside the usual."""

    def test_a_bottom_may_be_written(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON + "\n    class W(Same):\n        def forward(self, bottom, top):"
            "\n            bottom[0].data[bottom[0].data < 0] = 0\n            top[0].data[...] = bottom[0].data\n",
        )
        net = net_of(tmp_path, input_layer("x", 3) + python_layer("w", "W", "x", "y"))
        net.blobs["x"].data[...] = [-1, 0, 1]
        net.forward()
        assert net.blobs["x"].data.tolist() == net.blobs["y"].data.tolist() == [0, 0, 1]

    def test_backward_without_forward(self, tmp_path: Path) -> None:
        write(tmp_path, mod=COMMON)
        text = "force_backward: true\n" + input_layer("x", 2) + python_layer("p", "Same", "x", "y", "loss_weight: 3")
        net = net_of(tmp_path, text)
        net.backward()
        assert net.blobs["x"].diff.tolist() == [3, 3]

    @pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "uint8", "float16"])
    def test_values_of_another_type_are_converted(self, tmp_path: Path, dtype: str) -> None:
        write(
            tmp_path,
            mod=COMMON + "\n    class T(Same):\n        def forward(self, bottom, top):"
            f"\n            top[0].data[...] = bottom[0].data.astype('{dtype}')\n",
        )
        net = net_of(tmp_path, input_layer("x", 2) + python_layer("p", "T", "x", "y"))
        net.blobs["x"].data[...] = 1
        net.forward()
        assert net.blobs["y"].data.dtype == np.float32 and net.blobs["y"].data.tolist() == [1, 1]

    def test_blobs_kept_from_setup_are_those_of_every_call(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON + "\n    class K(Same):"
            "\n        def setup(self, bottom, top): self.b, self.t, self.lists = bottom[0], top[0], (bottom, top)"
            "\n        def forward(self, bottom, top):"
            "\n            assert self.b is bottom[0] and self.t is top[0]"
            "\n            self.t.data[...] = self.b.data * 2\n            self.old = bottom[0].data\n",
        )
        net = net_of(tmp_path, input_layer("x", 2) + python_layer("p", "K", "x", "y"))
        for size in (2, 5, 1, 3):
            net.blobs["x"].reshape(size)
            net.blobs["x"].data[...] = size
            net.forward()
            assert net.blobs["y"].data.tolist() == [2 * size] * size

    @pytest.mark.parametrize("use_plan", [False, True])
    def test_a_top_reshaped_in_forward_carries_on(self, tmp_path: Path, use_plan: bool) -> None:
        write(
            tmp_path,
            mod=COMMON + "\n    class Pick(caffe.Layer):"
            "\n        def setup(self, bottom, top): top[0].reshape(1, 3)"
            "\n        def reshape(self, bottom, top): pass"
            "\n        def forward(self, bottom, top):"
            "\n            keep = bottom[0].data[bottom[0].data[:, 0] > 0]"
            "\n            top[0].reshape(*keep.shape)\n            top[0].data[...] = keep\n",
        )
        text = input_layer("x", 4, 3) + python_layer("p", "Pick", "x", "y")
        text += 'layer { name: "relu" type: "ReLU" bottom: "y" top: "z" }\n'
        net = net_of(tmp_path, text, use_plan=use_plan)
        for kept in (3, 1, 4, 0):
            net.blobs["x"].data[...] = -1
            net.blobs["x"].data[:kept] = kept
            net.forward()
            assert net.blobs["z"].shape == (kept, 3) and (net.blobs["z"].data == kept).all()

    def test_sixty_four_tops(self, tmp_path: Path) -> None:
        names = [f"t{index}" for index in range(64)]
        write(
            tmp_path,
            mod=COMMON + "\n    class Many(caffe.Layer):"
            "\n        def reshape(self, bottom, top):\n            for i, blob in enumerate(top): blob.reshape(i)"
            "\n        def forward(self, bottom, top):"
            "\n            for i, blob in enumerate(top): blob.data[...] = i\n",
        )
        net = net_of(tmp_path, python_layer("many", "Many", "", " ".join(names)))
        net.forward()
        assert [net.blobs[name].data.tolist() for name in names] == [[float(i)] * i for i in range(64)]

    def test_parameters_made_without_dims_are_reshaped_later(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON + "\n    class Late(Same):"
            "\n        def setup(self, bottom, top):"
            "\n            self.blobs.add_blob()\n            self.blobs.add_blob(0)"
            "\n            assert self.blobs[0].shape == () and len(self.blobs) == 2"
            "\n            self.blobs[0].data[()] = 4"
            "\n        def reshape(self, bottom, top):\n            Same.reshape(self, bottom, top)"
            "\n            self.blobs[1].reshape(*bottom[0].shape)"
            "\n        def backward(self, top, propagate_down, bottom):"
            "\n            self.blobs[0].diff[()] += 1\n            self.blobs[1].diff[...] += top[0].diff\n",
        )
        text = input_layer("x", 2, 3) + python_layer("p", "Late", "x", "y", "loss_weight: 1")
        net = net_of(tmp_path, text)
        net.forward()
        net.backward()
        assert [param.blob.shape for param in net.learnable] == [(), (2, 3)]
        assert net.params["p"][0].data == 4 and net.params["p"][0].diff == 1
        assert (net.params["p"][1].diff == 1).all()

    def test_the_message_and_share_in_parallel_are_there(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON + "\n    class M(Same):\n        def setup(self, bottom, top):"
            "\n            p = self.layer_param"
            "\n            self.seen = (p.name, list(p.bottom), p.python_param.module,"
            "\n                         p.python_param.share_in_parallel, str(self.phase), self.phase == 0)\n",
        )
        text = input_layer("x", 2) + python_layer("p", "M", "x", "y").replace(
            "python_param {", "python_param { share_in_parallel: true"
        )
        net = net_of(tmp_path, text)
        assert net.layer("p").seen == ("p", ["x"], "mod", True, "TRAIN", True)  # type: ignore[attr-defined]
        assert net.param.layer[1].python_param.share_in_parallel


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def forward(self, bottom, top):\n            yield 1", "forward holds a yield"),
        ("async def reshape(self, bottom, top): pass", "reshape holds a yield or is async"),
        ("def __new__(cls, *args): return 3", "expected a layer, got int"),
    ],
)
def test_classes_whose_methods_would_not_run_are_refused(tmp_path: Path, body: str, said: str) -> None:
    write(tmp_path, mod=COMMON + f"\n    class Odd(Same):\n        {body}\n")
    with pytest.raises(PluginError, match=said):
        net_of(tmp_path, input_layer("x", 2) + python_layer("odd", "Odd", "x", "y"))


@pytest.mark.parametrize("body", ["raise KeyboardInterrupt", "raise SystemExit(3)", "raise NoText", "raise Base('b7')"])
def test_while_a_module_is_imported(tmp_path: Path, body: str) -> None:
    write(tmp_path, mod=COMMON + ODD + f"\n    {body}\n")
    with pytest.raises(PluginError, match=r"mod\.py") as caught:
        net_of(tmp_path, input_layer("x", 2) + python_layer("odd", "Odd", "x", "y"))
    assert caught.value.layer == "odd" and body.split()[1].partition("(")[0] in str(caught.value)


@pytest.mark.parametrize("body", ["del self.__dict__", "self.__class__ = type('X', (), {})"])
def test_a_layer_that_takes_itself_away_is_named(tmp_path: Path, body: str) -> None:
    write(
        tmp_path,
        mod=COMMON
        + f"""
    class Gone(Same):
        def setup(self, bottom, top): {body}
""",
    )
    with pytest.raises(PluginError, match=r"Layer 'p' .*in setup: it changed the layer's own __class__"):
        net_of(tmp_path, input_layer("x", 2, 3) + python_layer("p", "Gone", "x", "y"))


def test_a_layer_may_forbid_its_attributes(tmp_path: Path) -> None:
    write(
        tmp_path,
        mod=COMMON
        + """
    class Strict(Same):
        def __setattr__(self, name, value): raise AttributeError(name)
        def setup(self, bottom, top): assert (self.param_str, int(self.phase)) == ("", 0)
""",
    )
    net_of(tmp_path, input_layer("x", 2, 3) + python_layer("p", "Strict", "x", "y")).forward()
