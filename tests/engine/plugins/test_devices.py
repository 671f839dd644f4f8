"""Python layers where the net computes on a device: copies both ways exactly when they are needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from engine.backends.strict import StrictArray, StrictBackend
from engine.blob import Blob
from engine.net import Net
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import input_layer, net_of, python_layer

LAYERS = """
    import caffe
    import numpy as np

    class Base(caffe.Layer):
        def setup(self, bottom, top):
            self.blobs.add_blob(*bottom[0].shape[1:])
            self.blobs[0].data[...] = 2
        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

    class Host(Base):  # writes slices, and keeps what it was given
        def forward(self, bottom, top):
            assert type(bottom[0].data) is np.ndarray and type(self.blobs[0].data) is np.ndarray
            for row in range(bottom[0].num):
                top[0].data[row, ...] = bottom[0].data[row] * self.blobs[0].data
            self.kept = bottom[0].data.copy()
        def backward(self, top, propagate_down, bottom):
            for row in range(bottom[0].num):
                bottom[0].diff[row] = top[0].diff[row] * self.blobs[0].data
                self.blobs[0].diff[...] += top[0].diff[row] * self.kept[row]

    class Device(Base):
        host_arrays = False
        def forward(self, bottom, top):
            self.seen = {type(each).__name__ for each in (bottom[0].data, top[0].data, self.blobs[0].data)}
            top[0].data[...] = bottom[0].data * self.blobs[0].data
        def backward(self, top, propagate_down, bottom):
            self.seen |= {type(bottom[0].diff).__name__, type(self.blobs[0].diff).__name__}
            bottom[0].diff[...] = top[0].diff * self.blobs[0].data
            self.blobs[0].diff[...] += (top[0].diff * bottom[0].data).sum(axis=0)

    class Peek(Base):  # reads only its bottom's gradient from the host
        def setup(self, bottom, top): pass
        def forward(self, bottom, top): top[0].data[1:] = bottom[0].data[1:]; top[0].data[:1] = bottom[0].data[:1]
        def backward(self, top, propagate_down, bottom):
            bottom[0].diff[0] = top[0].diff[0]
            bottom[0].diff[1:, ...] = top[0].diff[1:]

    class Counter(Base):
        def setup(self, bottom, top): pass
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data
        def backward(self, top, propagate_down, bottom): pass
"""
IP = (
    'layer {{ name: "{0}" type: "InnerProduct" bottom: "{1}" top: "{0}" inner_product_param {{ num_output: 3 '
    'weight_filler {{ type: "gaussian" std: 1 }} }} }}\n'
)
LOSS = 'layer { name: "loss" type: "EuclideanLoss" bottom: "top" bottom: "x" top: "loss" }\n'


def stack(*classes: str) -> str:
    """A net of Python layers between built-in ones, which compute on the device."""
    text, bottom = input_layer("x", 4, 3), "x"
    for index, cls in enumerate(classes):
        text += IP.format(f"ip{index}", bottom) + python_layer(f"p{index}", cls, f"ip{index}", f"y{index}")
        bottom = f"y{index}"
    return text + IP.format("top", bottom) + LOSS


def train(net: Net, iterations: int = 3) -> list[npt.NDArray[Any]]:
    """Train by hand, and return all that a user could look at."""
    rng = np.random.default_rng(1)
    seen: list[npt.NDArray[Any]] = []
    for _ in range(iterations):
        net.blobs["x"].data[...] = rng.normal(size=net.blobs["x"].shape)
        seen.append(np.array(net.forward()))
        net.clear_param_diffs()
        net.backward()
        for param in net.learnable:
            view = param.blob.on_device()
            view.data[...] -= 0.01 * view.diff
        seen += [blob.data.copy() for blob in net.blobs.values()]
        seen += [blob.diff.copy() for name, blob in net.blobs.items() if not name.startswith("x")]
        seen += [array.copy() for param in net.learnable for array in (param.blob.data, param.blob.diff)]
    return seen


@pytest.mark.parametrize("use_plan", [False, True])
@pytest.mark.parametrize(
    "classes", [("Host",), ("Device",), ("Peek",), ("Host", "Device", "Peek"), ("Device", "Host"), ("Host", "Host")]
)
def test_three_iterations_are_those_of_the_host(tmp_path: Path, classes: tuple[str, ...], use_plan: bool) -> None:
    """On the strict device, whichever copy is out of date is junk: using it would show."""
    write(tmp_path, mod=LAYERS)
    mine, theirs = (
        train(net_of(tmp_path, stack(*classes), seed=3, backend=backend, use_plan=use_plan))
        for backend in ("strict", "numpy")
    )
    for ours, expected in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_who_declares_it_gets_the_backends_arrays(tmp_path: Path) -> None:
    write(tmp_path, mod=LAYERS)
    for backend, array in (("strict", "StrictArray"), ("numpy", "ndarray")):
        net = net_of(tmp_path, stack("Device"), backend=backend)
        train(net, 1)
        assert net.layer("p0").seen == {array}  # type: ignore[attr-defined]


class Copies(StrictBackend):
    """Counts what travels."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = {"up": 0, "down": 0}

    def copy_from_host(self, host: npt.NDArray[Any], out: StrictArray) -> None:
        self.counts["up"] += 1
        super().copy_from_host(host, out)

    def copy_to_host(self, array: StrictArray, out: npt.NDArray[Any]) -> None:
        self.counts["down"] += 1
        super().copy_to_host(array, out)


def travels(net: Net, backend: Copies, first: str, last: str) -> list[dict[str, int]]:
    """Return what the layers of a range copy in a forward and in a backward pass."""
    net.forward()
    net.backward()
    net.forward(end="ip0")
    found = []
    for run in (lambda: net.forward(first, last), lambda: net.backward(last, first)):
        backend.counts.update(up=0, down=0)
        run()
        found.append(dict(backend.counts))
        net.forward()
        net.backward(end="top")
    return found


def test_a_device_layer_costs_no_copy(tmp_path: Path) -> None:
    write(tmp_path, mod=LAYERS)
    backend = Copies()
    net = net_of(tmp_path, stack("Device"), backend=backend)
    assert travels(net, backend, "ip0", "top") == [{"up": 0, "down": 0}] * 2


def test_a_host_layer_costs_one_copy_for_each_blob_and_way(tmp_path: Path) -> None:
    """Down come its bottom, and what it writes to, as it may write but a part of that; up goes what it wrote."""
    write(tmp_path, mod=LAYERS)
    backend = Copies()
    net = net_of(tmp_path, stack("Peek"), backend=backend)
    assert travels(net, backend, "p0", "p0") == [{"up": 0, "down": 2}] * 2
    net.backward("p0", "p0")
    backend.counts.update(up=0, down=0)
    assert isinstance(net.blobs["ip0"].on_device().diff, StrictArray) and backend.counts == {"up": 1, "down": 0}


def test_a_view_kept_from_the_last_pass_is_junk(tmp_path: Path) -> None:
    """The strict device shows a layer that keeps arrays instead of blobs."""
    write(
        tmp_path,
        mod=LAYERS
        + """
    class Keeps(Base):
        def setup(self, bottom, top): self.view = bottom[0].data
        def forward(self, bottom, top): top[0].data[...] = self.view
        def backward(self, top, propagate_down, bottom): pass
""",
    )
    net = net_of(tmp_path, stack("Keeps"), backend="strict", seed=1)
    net.blobs["x"].data[...] = 1
    net.forward()
    assert np.isnan(net.blobs["y0"].data).all()


@pytest.mark.parametrize("name", ["_gpu_data_ptr", "_gpu_diff_ptr"])
def test_pointers_exist_on_a_device_only(name: str) -> None:
    blob = Blob((2, 3), backend=StrictBackend())
    other = Blob((2, 3), backend=StrictBackend())
    assert isinstance(getattr(blob, name), int) and getattr(blob, name) == getattr(blob.on_device(), name)
    assert len({getattr(each, name) for each in (blob, other)}) == 2
    host = Blob((2, 3))
    assert not hasattr(host, name)
    with pytest.raises(AttributeError, match="computes on the host"):
        getattr(host, name)


def test_what_is_written_through_a_pointer_is_seen() -> None:
    import ctypes

    blob = Blob((2,), backend=StrictBackend())
    blob.data[...] = 1
    address = blob._gpu_data_ptr
    ctypes.cast(address, ctypes.POINTER(ctypes.c_float))[1] = 7
    assert blob.data.tolist() == [1, 7]
