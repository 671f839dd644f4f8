"""What a plugin calls its attributes and methods is its own affair, and messages call its classes as it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import PluginError
from engine.files import read_weights, write_weights
from engine.net import Net
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import COMMON, input_layer, net_of, python_layer

TAKEN = """
    class MyError(Exception): pass

    class Unspeakable(Exception):
        def __str__(self): raise ValueError

    class Attributes(Same):
        raised = None
        def setup(self, bottom, top):
            self.name, self.type, self.info, self.layer_param, self.phase = 7, 3, "i", None, "train"
            self.context = self.backend = self.xp = self.rng = self._rng = self.bind = object()
            self.param_propagate_down = self.fail = self.fill = self.axis = self.is_source = None
            self.lower = self.close = self.get_state = self.set_state = 0.5
            self.default_loss_weight = self.allow_force_backward = 0.5
            self.blobs.add_blob(2)
            self.blobs[0].data[...] = 4
        def forward(self, bottom, top):
            if self.raised: raise globals()[self.raised]("x7")
            Same.forward(self, bottom, top)

    class Methods(Same):
        def name(self, x): return x
        info = context = layer_param = bind = binding = rng = xp = name
        def setup(self, bottom, top):
            self.blobs.add_blob(2)
            self.blobs[0].data[...] = self.info(self.rng(4))

    class Bound(Same):
        def setup(self, bottom, top):
            self.blobs.add_blob(2)
            self.blobs[0].data[...] = 4
            self.forward = lambda bottom, top: top[0].data.fill(5)
"""
TEXT = "force_backward: true\n" + input_layer("x", 2) + python_layer("p", "%s", "x", "y", "loss_weight: 1")


def make(folder: Path, cls: str, use_plan: bool = False) -> Net:
    return net_of(write(folder, mod=COMMON + TAKEN), TEXT % cls, use_plan=use_plan, seed=1)


@pytest.mark.parametrize("use_plan", [False, True])
@pytest.mark.parametrize("cls", ["Attributes", "Methods", "Bound"])
def test_the_net_keeps_its_own_view_of_the_layer(tmp_path: Path, cls: str, use_plan: bool) -> None:
    net = make(tmp_path, cls, use_plan)
    net.forward()
    net.backward()
    net.set_state(json.loads(json.dumps(net.get_state())))
    write_weights(net, tmp_path / "w.caffemodel")
    stored = read_weights(tmp_path / "w.caffemodel").layer[-1]
    net.close()
    assert net.layer_names == ["x", "p"] and list(net.params) == ["p"] and net.learnable[0].layer == "p"
    assert net.needs_backward["p"] == (True, "it has parameters to learn")
    assert (stored.name, stored.type, list(stored.blobs[0].data)) == ("p", "Python", [4, 4])


def test_a_forward_set_on_the_object_is_called(tmp_path: Path) -> None:
    """As pycaffe looks methods up on the object."""
    net = make(tmp_path, "Bound")
    net.forward()
    assert net.blobs["y"].data.tolist() == [5, 5]


@pytest.mark.parametrize(("raised", "text"), [("MyError", "x7"), ("Unspeakable", "no message")])
def test_failures_name_the_layer_and_the_class_as_written(tmp_path: Path, raised: str, text: str) -> None:
    net = make(tmp_path, "Attributes")
    net.layer("p").raised = raised  # type: ignore[attr-defined]
    said = rf"Layer 'p' \(Python\) in forward: {raised}: {text} \(class mod.Attributes, "
    with pytest.raises(PluginError, match=said) as caught:
        net.forward()
    assert "netcanvas_plugins" not in str(caught.value) + caught.value.traceback_text
    assert f"mod.{raised}" in caught.value.traceback_text


def test_parameters_cannot_be_replaced_as_in_pycaffe(tmp_path: Path) -> None:
    write(tmp_path, mod=COMMON + "\n    class P(Same):\n        def setup(self, bottom, top): self.blobs = []\n")
    with pytest.raises(PluginError, match="'p'.* in setup: AttributeError: .*blobs"):
        net_of(tmp_path, input_layer("x", 2) + python_layer("p", "P", "x", "y"))


def test_replacing_an_array_says_what_to_write(tmp_path: Path) -> None:
    write(
        tmp_path,
        mod=COMMON + "\n    class P(Same):\n        def forward(self, bottom, top): top[0].data = bottom[0].data\n",
    )
    net = net_of(tmp_path, input_layer("x", 2) + python_layer("p", "P", "x", "y"))
    with pytest.raises(PluginError, match=r"write into it: data\[\.\.\.\] = values"):
        net.forward()


@pytest.mark.parametrize(("dims", "fits"), [("4 / 2, 3", True), ("5 / 2, 3", False), ("-1, 3", False)])
def test_dimensions_are_whole(tmp_path: Path, dims: str, fits: bool) -> None:
    """A division gave a whole number in Python 2; where it still is one, old code runs."""
    write(
        tmp_path,
        mod=COMMON
        + f"\n    class P(Same):\n        def reshape(self, bottom, top): top[0].reshape({dims})"
        + "\n        def forward(self, bottom, top): pass\n",
    )
    text = input_layer("x", 2) + python_layer("p", "P", "x", "y")
    if fits:
        assert net_of(tmp_path, text).blobs["y"].shape == (2, 3)
    else:
        with pytest.raises(PluginError, match="'p'.* in reshape: .*'y': expected "):
            net_of(tmp_path, text)


def test_closing_fails_for_one_layer_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(
        tmp_path,
        mod=COMMON
        + """
    class P(Same):
        closed = False
        def setup(self, bottom, top): self.bad = self.param_str == "bad"
        def close(self):
            if self.bad: raise RuntimeError("x7")
            self.closed = True
""",
    )
    net = net_of(
        tmp_path,
        input_layer("x", 2) + python_layer("a", "P", "x", "y", param_str="bad") + python_layer("b", "P", "y", "z"),
    )
    net.close()
    assert "Layer 'a' (Python) in close: RuntimeError: x7" in caplog.text
    assert net.layer("b").closed  # type: ignore[attr-defined]
