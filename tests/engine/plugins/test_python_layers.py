"""Python layers inside nets: the cases of section A."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import LayerError, PluginError
from engine.layer import Phase
from engine.net import Net
from engine.plugins import PluginProject
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import COMMON, input_layer, net_of, python_layer


def test_net_layers_are_the_users_own_objects(tmp_path: Path) -> None:
    write(tmp_path, mod=COMMON + "\n    class Mine(Same):\n        def hello(self): return self.name\n")
    net = net_of(tmp_path, input_layer("x", 2) + python_layer("p", "Mine", "x", "y"))
    layer = net.layer("p")
    assert type(layer).__name__ == "Mine" and layer.hello() == "p"  # type: ignore[attr-defined]
    assert layer is net.layers[1]


class TestExceptions:
    """A1: an exception is an error of the layer, and the net runs again."""

    BOOM = """
        class Boom(Same):
            calls = 0
            broken = True
            def forward(self, bottom, top):
                self.calls += 1
                if self.calls == 3 and self.broken:
                    raise ValueError("x7")
                top[0].data[...] = bottom[0].data
    """

    def test_the_third_call_fails_and_the_fourth_works(self, tmp_path: Path) -> None:
        write(tmp_path, mod=COMMON + self.BOOM.replace("\n    ", "\n"))
        net = net_of(tmp_path, input_layer("x", 2) + python_layer("boom", "Boom", "x", "y"))
        net.blobs["x"].data[...] = 5
        net.forward()
        net.forward()
        with pytest.raises(PluginError) as caught:
            net.forward()
        error = caught.value
        assert (error.layer, error.method) == ("boom", "forward")
        assert "x7" in str(error) and "Boom" in str(error)
        assert str(tmp_path / "mod.py") in error.traceback_text and 'raise ValueError("x7")' in error.traceback_text
        net.forward()
        assert np.all(net.blobs["y"].data == 5)

    @pytest.mark.parametrize("method", ["setup", "reshape", "forward", "backward"])
    def test_each_method_is_named(self, tmp_path: Path, method: str) -> None:
        arguments = "top, propagate_down, bottom" if method == "backward" else "bottom, top"
        write(
            tmp_path,
            mod=COMMON + f"\n    class Bad(Same):\n        def {method}(self, {arguments}): return {{}}['k7']\n",
        )
        text = input_layer("x", 2) + python_layer("bad", "Bad", "x", "y", "loss_weight: 1")
        with pytest.raises(PluginError, match="k7") as caught:
            net = net_of(tmp_path, "force_backward: true\n" + text)
            net.forward()
            net.backward()
        assert caught.value.method == method

    def test_a_constructor_that_raises_is_named(self, tmp_path: Path) -> None:
        write(
            tmp_path, mod=COMMON + "\n    class Bad(Same):\n        def __init__(self, param): raise ValueError('x9')\n"
        )
        with pytest.raises(PluginError, match=r"constructor of Bad raised ValueError at .*mod\.py:\d+: x9"):
            net_of(tmp_path, input_layer("x", 2) + python_layer("bad", "Bad", "x", "y"))

    def test_constructors_that_pass_the_message_on_work(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON
            + "\n    class Old(Same):\n        def __init__(self, p_object, *args, **kwargs):"
            + "\n            super().__init__(p_object, *args, **kwargs)\n            self.mine = 1\n",
        )
        net = net_of(tmp_path, input_layer("x", 2) + python_layer("p", "Old", "x", "y"))
        net.forward()
        assert net.layer("p").mine == 1  # type: ignore[attr-defined]


class TestAttributes:
    def test_the_old_name_of_param_str_works_and_is_noted_once(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A4."""
        write(
            tmp_path,
            mod=COMMON + "\n    class Old(Same):\n        def setup(self, bottom, top): self.seen = self.param_str_\n",
        )
        text = input_layer("x", 2) + "".join(python_layer(n, "Old", "x", n, param_str="PoolMethod: MAX") for n in "pq")
        with caplog.at_level(logging.WARNING, "netcanvas.plugins"):
            net = net_of(tmp_path, text)
        assert net.layer("p").seen == "PoolMethod: MAX"  # type: ignore[attr-defined]
        assert [r.getMessage() for r in caplog.records if "param_str_" in r.getMessage()] != []
        assert sum("param_str_" in record.getMessage() for record in caplog.records) == 1

    def test_phase_is_there_in_setup(self, tmp_path: Path) -> None:
        """A10."""
        write(
            tmp_path,
            mod=COMMON
            + "\n    class P(Same):\n        def setup(self, bottom, top):"
            + "\n            p = self.phase\n            self.seen = (p == 0, p == caffe.TEST, str(p), int(p))\n",
        )
        text = input_layer("x", 2) + python_layer("p", "P", "x", "y")
        seen = {phase: net_of(tmp_path, text, phase=phase).layer("p").seen for phase in Phase}  # type: ignore[attr-defined]
        assert seen == {Phase.TRAIN: (True, False, "TRAIN", 0), Phase.TEST: (False, True, "TEST", 1)}

    def test_names_that_caffe_leaves_free_belong_to_the_plugin(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON
            + "\n    class Free(Same):\n        def setup(self, bottom, top):"
            + "\n            self.rng = self.backend = self.xp = self.axis = self.fill = self.param_str_ = 3\n",
        )
        net = net_of(tmp_path, input_layer("x", 2) + python_layer("p", "Free", "x", "y"))
        net.forward()
        net.set_state(net.get_state())
        assert net.layer("p").rng == 3

    def test_blobs_take_every_spelling(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON
            + """
    class Spell(caffe.Layer):
        def setup(self, bottom, top):
            self.blobs.add_blob()
            self.blobs.add_blob(2, 3)
        def reshape(self, bottom, top):
            top[0].reshape()
            top[1].reshape(*bottom[0].data.shape)
            top[2].reshape(bottom[0].num, bottom[0].channels, bottom[0].height, bottom[0].width)
            top[3].reshape(0, 5)
        def forward(self, bottom, top):
            top[0].data[()] = self.phase
            top[1].data[:, 1, ...] = 7
            top[2].data[0, 0] = bottom[0].data[0, 0]
""",
        )
        net = net_of(tmp_path, input_layer("x", 2, 3, 4, 5) + python_layer("p", "Spell", "x", "a b c d"))
        net.blobs["x"].data[...] = 2
        net.forward()
        shapes = [net.blobs[name].shape for name in "abcd"]
        assert shapes == [(), (2, 3, 4, 5), (2, 3, 4, 5), (0, 5)]
        assert [blob.shape for blob in net.params["p"]] == [(), (2, 3)]
        assert net.blobs["b"].data[:, 1].min() == 7 and net.blobs["c"].data[0, 0].min() == 2


def test_reshape_runs_once_in_set_up_and_before_every_forward(tmp_path: Path) -> None:
    """A5: batches of 4, 4 and 2."""
    write(
        tmp_path,
        mod=COMMON
        + """
    class Feed(caffe.Layer):
        setups = reshapes = forwards = 0
        sizes = [4, 4, 4, 2]
        def setup(self, bottom, top): self.setups += 1
        def reshape(self, bottom, top):
            size = self.sizes[self.reshapes]
            self.reshapes += 1
            top[0].reshape(size, 3)
        def forward(self, bottom, top):
            self.forwards += 1
            top[0].data[...] = self.forwards
        def backward(self, top, propagate_down, bottom): pass
    class Half(caffe.Layer):
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(1)
        def forward(self, bottom, top): top[0].data[...] = (bottom[0].data ** 2).sum() / 2
        def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = bottom[0].data * top[0].diff
""",
    )
    text = (
        python_layer("feed", "Feed", "", "x")
        + 'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 2 '
        + 'weight_filler { type: "constant" value: 1 } } }\n'
        + python_layer("loss", "Half", "ip", "loss", "loss_weight: 1")
    )
    net = net_of(tmp_path, text)
    losses = []
    for _ in range(3):
        losses.append(net.forward())
        net.backward()
    feed: Any = net.layer("feed")
    assert (feed.setups, feed.reshapes, feed.forwards) == (1, 4, 3)
    assert net.blobs["ip"].shape == (2, 2) and net.blobs["ip"].diff.shape == (2, 2)
    assert losses == pytest.approx([4 * 2 * 9 / 2, 4 * 2 * 36 / 2, 2 * 2 * 81 / 2])


class TestBackward:
    COUNTING = """
    class Count(caffe.Layer):
        flags = None
        calls = 0
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(1)
        def forward(self, bottom, top): top[0].data[...] = sum(blob.data.sum() for blob in bottom)
        def backward(self, top, propagate_down, bottom):
            type(self).calls += 1
            self.flags = propagate_down
            for want, blob in zip(propagate_down, bottom):
                if want: blob.diff[...] = top[0].diff
"""

    @pytest.mark.parametrize(("force", "calls"), [(False, 0), (True, 1)])
    def test_without_parameters_it_needs_force_backward(self, tmp_path: Path, force: bool, calls: int) -> None:
        """A7."""
        write(tmp_path, mod=COMMON + self.COUNTING)
        text = input_layer("x", 2) + python_layer("p", "Count", "x", "loss", "loss_weight: 1")
        net = net_of(tmp_path, ("force_backward: true\n" if force else "") + text)
        net.forward()
        net.backward()
        layer: Any = net.layer("p")
        assert type(layer).calls == calls
        assert bool(net.blobs["x"].diff.any()) is force
        needed, reason = net.needs_backward["p"]
        assert needed is force and reason

    IP = 'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 2 } }\n'

    @pytest.mark.parametrize(
        ("more", "flags"),
        [
            ("", [True, False]),
            ("propagate_down: false propagate_down: false", [False, False]),
            ("propagate_down: true propagate_down: true", [True, True]),
        ],
    )
    def test_propagate_down_is_a_list_with_an_entry_for_each_bottom(
        self, tmp_path: Path, more: str, flags: list[bool]
    ) -> None:
        """A9."""
        write(tmp_path, mod=COMMON + self.COUNTING)
        text = (
            input_layer("x", 2, 3)
            + input_layer("label", 2)
            + self.IP
            + python_layer("p", "Count", "ip label", "loss", "loss_weight: 1 " + more)
        )
        net = net_of(tmp_path, text)
        net.forward()
        net.backward()
        seen = net.layer("p").flags  # type: ignore[attr-defined]
        assert isinstance(seen, list) and seen == flags
        assert bool(net.blobs["ip"].diff.any()) is flags[0]

    def test_a_wrong_count_is_an_error_that_names_the_layer(self, tmp_path: Path) -> None:
        write(tmp_path, mod=COMMON + self.COUNTING)
        wrong = " ".join(["propagate_down: true"] * 3)
        text = input_layer("x", 2) + input_layer("y", 2) + python_layer("p", "Count", "x y", "l", wrong)
        with pytest.raises(LayerError, match="'p'"):
            net_of(tmp_path, text)

    @pytest.mark.parametrize(("more", "warned"), [("", True), ("loss_weight: 1", False)])
    def test_a_python_loss_without_weight_is_warned_about(self, tmp_path: Path, more: str, warned: bool) -> None:
        """A8."""
        write(tmp_path, mod=COMMON + self.COUNTING)
        net = net_of(tmp_path, input_layer("x", 2, 3) + self.IP + python_layer("mine", "Count", "ip", "loss", more))
        assert any("'mine'" in warning for warning in net.warnings) is warned


class TestParameters:
    """A11: blobs added in setup are parameters like any other."""

    W = """
    class W(caffe.Layer):
        def setup(self, bottom, top):
            self.blobs.add_blob(1)
            self.blobs[0].data[...] = 1
        def reshape(self, bottom, top): top[0].reshape(1)
        def forward(self, bottom, top): top[0].data[...] = (self.blobs[0].data * bottom[0].data).sum()
        def backward(self, top, propagate_down, bottom): self.blobs[0].diff[...] += top[0].diff * bottom[0].data.sum()
"""

    def test_they_obey_param_and_are_learnable(self, tmp_path: Path) -> None:
        write(tmp_path, mod=COMMON + self.W)
        text = input_layer("x", 1) + python_layer("w", "W", "x", "loss", "loss_weight: 1 param { lr_mult: 2 }")
        net = net_of(tmp_path, text)
        (param,) = net.learnable
        assert (param.layer, param.lr_mult) == ("w", 2)
        net.blobs["x"].data[...] = 3
        net.forward()
        net.clear_param_diffs()
        net.backward()
        assert param.blob.diff.tolist() == [3]
        assert net.params["w"][0].data is param.blob.data

    def test_sharing_by_name_makes_one_blob(self, tmp_path: Path) -> None:
        write(tmp_path, mod=COMMON + self.W)
        text = input_layer("x", 1) + "".join(
            python_layer(name, "W", "x", name, 'loss_weight: 1 param { name: "shared" }') for name in ("w1", "w2")
        )
        net = net_of(tmp_path, text)
        assert len(net.learnable) == 1
        net.params["w1"][0].data[...] = 9
        assert net.params["w2"][0].data.tolist() == [9]


class TestMemoryAndNoise:
    """A18."""

    def test_in_place_arrays_are_one_memory(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON
            + "\n    class Inc(Same):\n        def forward(self, bottom, top):"
            + "\n            top[0].data[...] = bottom[0].data + 1\n            self.seen = bottom[0].data.copy()\n",
        )
        text = input_layer("x", 2) + python_layer("copy", "Same", "x", "y") + python_layer("inc", "Inc", "y", "y")
        net = net_of(tmp_path, text)
        net.forward()
        assert net.layer("inc").seen.tolist() == [1, 1]  # type: ignore[attr-defined]

    def noise(self, folder: Path, seed: int | None) -> list[float]:
        text = "".join(python_layer(name, "Noise", "", name) for name in ("a", "b"))
        net = net_of(folder, text, seed=seed)
        net.forward()
        return [*net.blobs["a"].data.tolist(), *net.blobs["b"].data.tolist()]

    def test_the_seed_makes_global_noise_repeatable(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            mod=COMMON
            + "\n    import random\n    class Noise(caffe.Layer):"
            + "\n        def reshape(self, bottom, top): top[0].reshape(2)"
            + "\n        def forward(self, bottom, top): top[0].data[...] = np.random.rand(), random.random()\n",
        )
        first, again, other = (self.noise(tmp_path, seed) for seed in (7, 7, 8))
        assert first == again != other
        assert len(set(first)) == 4
        assert self.noise(tmp_path, None) != self.noise(tmp_path, None)


def test_reload_rebuilds_nets_and_keeps_the_old_one_on_failure(tmp_path: Path) -> None:
    """A17: two projects with one module name, an edit, a broken edit."""
    times = "\n    class L(Same):\n        def forward(self, bottom, top): top[0].data[...] = bottom[0].data * {}\n"
    text = input_layer("x", 1) + python_layer("p", "L", "x", "y")

    def output(net: Net) -> float:
        net.blobs["x"].data[...] = 1
        net.forward()
        return float(net.blobs["y"].data[0])

    for name, factor in (("one", 2), ("two", 3)):
        write(tmp_path / name, mod=COMMON + times.format(factor))
    assert [output(net_of(tmp_path / name, text)) for name in ("one", "two")] == [2, 3]
    write(tmp_path / "two", mod=COMMON + times.format(5))
    project = PluginProject(base_dirs=(tmp_path / "two",))
    assert tmp_path / "two" / "mod.py" in project.reload()
    net = net_of(tmp_path / "two", text)
    assert output(net) == 5
    write(tmp_path / "two", mod=COMMON + times.format("("))
    with pytest.raises(PluginError, match=r"mod\.py:\d+"):
        project.reload()
    assert output(net) == 5 == output(net_of(tmp_path / "two", text))
    assert output(net_of(tmp_path / "one", text)) == 2
