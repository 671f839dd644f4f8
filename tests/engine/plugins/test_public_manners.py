"""What published Python layers do, in small layers of our own: each ran into trouble here once."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.layer import Phase
from engine.net import Net
from engine.plugins import apply_conversion, plan_conversion
from tests.engine.plugins.helpers import write


def net_with(folder: Path, text: str, bottoms: tuple[tuple[int, ...], ...] = ((2, 4),), tops: int = 1) -> Net:
    write(folder, mod=text)
    parts = ["force_backward: true"]
    for index, shape in enumerate(bottoms):
        dims = " ".join(f"dim: {size}" for size in shape)
        parts.append(f'layer {{ name: "b{index}" type: "Input" top: "b{index}" input_param {{ shape {{ {dims} }} }} }}')
    ports = " ".join([f'bottom: "b{index}"' for index in range(len(bottoms))] + [f'top: "t{i}"' for i in range(tops)])
    parts.append(f'layer {{ name: "L" type: "Python" {ports} python_param {{ module: "mod" layer: "L" }} }}')
    net = Net("\n".join(parts), Phase.TRAIN, base_dirs=[folder])
    for index in range(len(bottoms)):
        blob = net.blobs[f"b{index}"]
        blob.data[...] = np.arange(blob.count).reshape(blob.shape)
    return net


def test_the_shape_of_an_array_is_set_in_place(tmp_path: Path) -> None:
    """As a reorganising layer of a detector does with what ``data`` gave it."""
    net = net_with(
        tmp_path,
        """
        import caffe
        class L(caffe.Layer):
            def reshape(self, bottom, top):
                top[0].reshape(*bottom[0].shape)
            def forward(self, bottom, top):
                given, made = bottom[0].data, top[0].data
                given.shape = made.shape = (4, 2)
                made[...] = given
                given = bottom[0].diff
                given.shape = (8,)
        """,
    )
    for _ in range(2):
        net.forward()
        assert net.blobs["b0"].data.shape == net.blobs["t0"].data.shape == net.blobs["b0"].diff.shape == (2, 4)
    np.testing.assert_array_equal(net.blobs["t0"].data, net.blobs["b0"].data)


def test_labels_and_losses_of_four_axes_are_numbers(tmp_path: Path) -> None:
    net = net_with(
        tmp_path,
        """
        import caffe
        class L(caffe.Layer):
            def reshape(self, bottom, top):
                top[0].reshape(1, 1, 1, 1)
            def forward(self, bottom, top):
                self.told = 'label %d' % bottom[1].data[1]
                self.picked = [bottom[0].data[i, int(bottom[1].data[i])] for i in range(bottom[0].num)]
                first = bottom[1].data.max()
                self.some = bottom[0].data[0, first - 1 : first + 1]
                top[0].data[0] = sum(self.picked)
            def backward(self, top, propagate_down, bottom):
                bottom[0].diff[0, 0] = top[0].diff * 2
        """,
        bottoms=((2, 4), (2, 1, 1, 1)),
    )
    net.forward()
    layer: Any = net.layers[-1]
    assert (layer.told, layer.picked, layer.some.tolist()) == ("label 1", [0, 5], [0, 1])
    net.blobs["t0"].diff[...] = 3
    net.backward()
    assert net.blobs["b0"].diff[0, 0] == 6


@pytest.mark.skipif(
    sys.platform != "linux" or "fork" not in multiprocessing.get_all_start_methods(),
    reason="old layers rely on processes that are forked",
)
def test_images_come_from_a_pool_of_processes_and_a_thread(tmp_path: Path) -> None:
    """As layers for video fetch ahead, through ``caffe.io``."""
    for index in range(2):
        Image.new("RGB", (6, 4), (255 * index, 0, 51)).save(tmp_path / f"{index}.png")
    net = net_with(
        tmp_path,
        f"""
        import multiprocessing, threading
        import caffe
        import numpy as np

        class Prepare(object):
            def __init__(self, transformer):
                self.transformer = transformer
            def __call__(self, path):
                return self.transformer.preprocess('data', caffe.io.load_image(path))

        class L(caffe.Layer):
            def setup(self, bottom, top):
                transformer = caffe.io.Transformer({{'data': (2, 3, 4, 6)}})
                transformer.set_transpose('data', (2, 0, 1))
                transformer.set_channel_swap('data', (2, 1, 0))
                transformer.set_raw_scale('data', 255)
                transformer.set_mean('data', np.array([1, 2, 3]))
                self.prepare = Prepare(transformer)
                self.pool = multiprocessing.get_context('fork').Pool(1)
                self.start()
            def start(self):
                self.thread = threading.Thread(target=self.fetch)
                self.thread.start()
            def fetch(self):
                self.fetched = self.pool.map(self.prepare, [{str(tmp_path)!r} + '/%d.png' % i for i in range(2)])
            def reshape(self, bottom, top):
                top[0].reshape(2, 3, 4, 6)
            def forward(self, bottom, top):
                self.thread.join()
                for i in range(2):
                    top[0].data[i, ...] = self.fetched[i]
                self.pool.terminate()
                self.pool.join()
        """,
        bottoms=(),
    )
    net.forward()
    assert net.blobs["t0"].data[:, :, 0, 0].tolist() == [[50, -2, -3], [50, -2, 252]]


def test_a_converted_layer_computes_what_it_did(tmp_path: Path) -> None:
    """Tabs, divisions, a pickle, bytes in a StringIO: what a converter alone leaves to fail or, worse, to differ."""
    (tmp_path / "m.pkl").write_bytes(b"(dp0\nS'half'\np1\nI7\ns.")  # {'half': 7} by Python 2
    text = (
        "import caffe, cPickle, numpy as np\n"
        "from cStringIO import StringIO\n"
        "class L(caffe.Layer):\n"
        "    def setup(self, bottom, top):\n"
        "\twith open('%s', 'r') as f:\n"
        "\t    self.half = cPickle.load(f)['half'] / 2\n"
        "        self.bytes = StringIO(np.ones(2, np.uint8).tostring()).read()\n"
        "    def reshape(self, bottom, top):\n"
        "        top[0].reshape(bottom[0].num, bottom[0].channels / 2)\n"
        "        print 'shape', top[0].shape\n"
        "    def forward(self, bottom, top):\n"
        "        top[0].data[...] = bottom[0].data[:, :1] * self.half / 2\n"
        "    def backward(self, top, propagate_down, bottom):\n"
        "        bottom[0].diff[:, :1] = top[0].diff * self.half / 2\n"
    ) % (tmp_path / "m.pkl")
    (tmp_path / "mod.py").write_text(text.replace(".tostring()", ".tobytes()"))
    apply_conversion(plan_conversion([tmp_path]))
    net = net_with(tmp_path, (tmp_path / "mod.py").read_text(), bottoms=((2, 3),))
    net.forward()
    assert net.blobs["t0"].data.tolist() == [[0], [4.5]]  # 7 / 2 is 3, the rest is of floats
    layer: Any = net.layers[-1]
    assert layer.bytes == b"\x01\x01"
    net.blobs["t0"].diff[...] = 1
    net.backward()
    assert net.blobs["b0"].diff.tolist() == [[1.5, 0, 0], [1.5, 0, 0]]
