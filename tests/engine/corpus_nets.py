"""Public nets made ready to run: sources of data made up, batches cut, images made smaller where the net allows it.

What is changed, and nothing else: batch sizes (to 1 or 2), sizes of images above 64 pixels, what a Reshape spells out
of these, paths of data and mean files, LevelDB to LMDB, and Python layers, whose modules are not there, to those of
:data:`PYTHON_LAYERS`.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from PIL import Image

from engine.errors import NetcanvasError
from engine.files import array_to_datum
from engine.files.binaryproto import write_blob
from engine.files.lmdb_writer import write_datums
from engine.layer import Phase
from engine.net import Net
from engine.schema import read_net
from tests.support import shared

_NAMES = (
    "AbsVal Accuracy ArgMax BatchNorm BatchReindex Bias BNLL Clip Concat ContrastiveLoss Convolution Crop Data "
    "Deconvolution Dropout DummyData ELU Eltwise Embed EuclideanLoss Exp Filter Flatten HDF5Data HDF5Output "
    "HingeLoss Im2col ImageData InfogainLoss InnerProduct Input Log LRN LSTM LSTMUnit MemoryData "
    "MultinomialLogisticLoss MVN Parameter Pooling Power PReLU Python Recurrent RNN Reduction ReLU Reshape Scale "
    "Sigmoid SigmoidCrossEntropyLoss Silence Slice Softmax SoftmaxWithLoss Split SPP Swish TanH Threshold Tile "
    "WindowData"
)

#: The layer types of BVLC Caffe, which are those that have to run.
TYPES = frozenset(_NAMES.split())

#: Shapes of one item, where the file does not tell: of images by a part of the file's name, of other tops by name.
IMAGES = {
    "cifar10": (3, 32, 32),
    "siamese": (2, 28, 28),
    "mnist": (1, 28, 28),
    "lenet": (1, 28, 28),
    "resnext": (3, 32, 32),
    "zynqnet": (3, 256, 256),
    "model__train_val": (1, 28, 28),
}
TOPS: dict[str, dict[str, tuple[int, ...]]] = {
    "hdf5_classification": {"data": (4,), "label": ()},
    "CoCo_Caption": {"cont_sentence": (2,), "input_sentence": (2,), "target_sentence": (2,)},
    "vdsr": {"data": (1, 41, 41), "label": (1, 41, 41)},
    "visual_dynamics": {"image_curr": (10, 7), "vel": (3,), "image_diff": (10, 7)},
    "siftflow": {"data": (3, 256, 256), "sem": (1, 256, 256), "geo": (1, 256, 256)},
    "voc-fcn8s": {"data": (3, 256, 256), "label": (1, 256, 256)},
    "LRCN": {"data": (3, 227, 227), "label": (), "clip_markers": ()},
    "_netdef": {"pair_data": (6, 101, 101), "pose_label": (4, 1, 1)},
    "test_group_rots": {"pair_data": (6, 101, 101), "pose_label": (4, 1, 1)},
    "billiards": {"data": (3, 64, 64), "pos": (2,), "vel": (2,)},
}

#: The stage in which a net is whole, by a part of the file's name and phase; none for most.
STAGES = {
    ("mnist_autoencoder", Phase.TEST): "test-on-test",
    ("digits/lenet", Phase.TRAIN): "train",
    ("digits/lenet", Phase.TEST): "val",
    ("CoCo_Caption", Phase.TEST): "test-on-train",
    ("LRCN", Phase.TEST): "test-on-test",
}

#: Dimensions of batch or image that a Reshape spells out: steps and streams of a recurrent net, voxels, a batch.
SPELLED = {"LRCN": {16: 2, 24: 1, 10: 1, 3: 1}, "VNet": {1048576: -1}, "dcgan": {64: 2}}

#: Losses and data layers in the manner of those that public nets name, without their data and dependencies.
PYTHON_LAYERS = """
import json
import numpy as np
import caffe


class Feed(caffe.Layer):
    def setup(self, bottom, top):
        self.rng = np.random.RandomState(0)
        for blob, (shape, whole) in zip(top, json.loads(self.param_str)):
            blob.reshape(*shape)

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        for blob, (shape, whole) in zip(top, json.loads(self.param_str)):
            blob.data[...] = self.rng.randint(0, 2, shape) if whole else self.rng.uniform(-1, 1, shape)

    def backward(self, top, propagate_down, bottom):
        pass


class Loss(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        top[0].data[...] = np.square(bottom[0].data).mean()

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = 2 * top[0].diff[0] * bottom[0].data / bottom[0].count


class Reorg(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        n, c, h, w = bottom[0].shape
        top[0].reshape(n, 4 * c, h // 2, w // 2)

    def forward(self, bottom, top):
        n, c, h, w = bottom[0].shape
        blocks = bottom[0].data.reshape(n, c, h // 2, 2, w // 2, 2)
        top[0].data[...] = blocks.transpose(0, 3, 5, 1, 2, 4).reshape(top[0].shape)

    def backward(self, top, propagate_down, bottom):
        n, c, h, w = bottom[0].shape
        blocks = top[0].diff.reshape(n, 2, 2, c, h // 2, w // 2)
        bottom[0].diff[...] = blocks.transpose(0, 3, 4, 1, 5, 2).reshape(n, c, h, w)
"""

_SMALL = 64
_FACTORS = (0.25, 0.5, 0.75, 1.0)
_LARGE_BATCH = 200  # pixels of a side above which one image is a batch
_RECORDS = 2


@dataclass(frozen=True, slots=True)
class Ready:
    """A net that can be built.

    Attributes
    ----------
    param : NetParameter
    stages : tuple of str
    factor : float
        By which sides of images above 64 pixels were multiplied.
    """

    param: Any
    stages: tuple[str, ...]
    factor: float


def scaled(side: int, factor: float) -> int:
    """Return a side of an image made smaller."""
    return side if side <= _SMALL else max(math.ceil(side * factor), min(side, _SMALL // 2))


class Sources:
    """Writes small sources of data into a folder, each once.

    Parameters
    ----------
    folder : Path
        An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "corpus_layers.py").write_text(PYTHON_LAYERS)
        self._rng = np.random.default_rng(0)

    def ready(self, path: Path, phase: Phase) -> Ready:
        """Prepare a net with the smallest images for which it can be built.

        Raises
        ------
        NetcanvasError
            What the net says at its full size.
        """
        for factor in _FACTORS:
            prepared = self.prepare(path, phase, factor)
            try:
                self.build(prepared, phase, shapes_only=True).close()
            except NetcanvasError:
                if factor == _FACTORS[-1]:
                    raise
            else:
                return prepared
        raise AssertionError("there is a last factor")

    def build(self, ready: Ready, phase: Phase, **options: Any) -> Net:
        """Build a prepared net."""
        return Net(ready.param, phase, stages=ready.stages, base_dirs=(self.folder,), seed=1, **options)

    def prepare(self, path: Path, phase: Phase, factor: float = 1.0) -> Ready:
        """Change a net's sources, batches and images."""
        param = read_net(path)
        name = f"{path.parent.name}/{path.name}"
        for shape in param.input_shape:
            shape.dim[:] = _cut(name, shape.dim, factor)
        for start in range(0, len(param.input_dim), 4):
            param.input_dim[start : start + 4] = _cut(name, param.input_dim[start : start + 4], factor)
        for layer in param.layer:
            for shape in layer.input_param.shape:
                shape.dim[:] = _cut(name, shape.dim, factor)
            for shape in layer.dummy_data_param.shape:
                shape.dim[0] = min(shape.dim[0], 2)
            if layer.type == "Reshape":
                steps = _entry(SPELLED, name) or {}
                dims = layer.reshape_param.shape.dim
                dims[:] = [steps.get(dim, dim) for dim in dims]
            source = getattr(self, f"_give_{layer.type.lower()}", None)
            if source is not None:
                source(layer, name, factor)
        stages = tuple(stage for (part, when), stage in STAGES.items() if part in name and when == phase)
        return Ready(param, stages, factor)

    # -- sources -------------------------------------------------------------------------------------------------

    def _give_data(self, layer: Any, name: str, factor: float) -> None:
        image = self._image(layer, name, factor)
        layer.data_param.source = str(self._lmdb(image))
        layer.data_param.backend = layer.data_param.LMDB
        layer.data_param.batch_size = _batch(image)
        layer.data_param.ClearField("rand_skip")

    def _give_imagedata(self, layer: Any, name: str, factor: float) -> None:
        channels, height, width = self._image(layer, name, factor)
        param = layer.image_data_param
        param.source, param.root_folder = str(self._image_list(height, width)), ""
        param.batch_size = _batch((channels, height, width))
        param.new_height = param.new_width = 0

    def _give_windowdata(self, layer: Any, name: str, factor: float) -> None:
        _, height, width = self._image(layer, name, factor)
        layer.window_data_param.source = str(self._window_list(height, width))
        layer.window_data_param.batch_size = 4  # a quarter of them are foreground
        layer.window_data_param.root_folder = ""

    def _give_hdf5data(self, layer: Any, name: str, factor: float) -> None:
        shapes = _entry(TOPS, name)
        assert shapes is not None, f"shapes of {list(layer.top)} of {name}"
        layer.hdf5_data_param.source = str(self._hdf5(name, {top: shapes[top] for top in layer.top}))
        layer.hdf5_data_param.batch_size = 2

    def _give_python(self, layer: Any, name: str, factor: float) -> None:
        param = layer.python_param
        param.module = "corpus_layers"
        if param.layer == "darknet_reorg":
            param.layer = "Reorg"
        elif layer.bottom:
            param.layer = "Loss"
        else:
            shapes = _entry(TOPS, name)
            assert shapes is not None, f"shapes of {list(layer.top)} of {name}"
            tops = [[2, *(scaled(side, factor) for side in shapes[top])] for top in layer.top]
            param.layer = "Feed"
            param.param_str = json.dumps([(shape, _is_whole(top)) for top, shape in zip(layer.top, tops, strict=True)])

    def _image(self, layer: Any, name: str, factor: float) -> tuple[int, int, int]:
        """Return the shape of a layer's images, with its crop and mean set to fit."""
        crop = layer.transform_param.crop_size
        if crop:
            side = layer.transform_param.crop_size = scaled(crop, factor)
            shape = (3, side + 2, side + 2)
        else:
            channels, *sides = _entry(IMAGES, name) or (3, 96, 96)
            shape = (channels, scaled(sides[0], factor), scaled(sides[1], factor))
        if layer.transform_param.mean_file:
            layer.transform_param.mean_file = str(self._mean(shape))
        return shape

    # -- files ---------------------------------------------------------------------------------------------------

    def _lmdb(self, shape: tuple[int, int, int]) -> Path:
        path = self._path("lmdb", shape)
        if not path.exists():
            images = self._rng.integers(0, 256, (_RECORDS, *shape), dtype=np.uint8)
            write_datums(path, (array_to_datum(image, label) for label, image in enumerate(images)))
        return path

    def _mean(self, shape: tuple[int, int, int]) -> Path:
        path = self._path("mean", shape)
        if not path.exists():
            write_blob(path, np.full((1, *shape), 127, dtype=np.float32))
        return path

    def _picture(self, height: int, width: int) -> Path:
        path = self._path("picture", (height, width)).with_suffix(".png")
        if not path.exists():
            Image.fromarray(self._rng.integers(0, 256, (height, width, 3), dtype=np.uint8)).save(path)
        return path

    def _image_list(self, height: int, width: int) -> Path:
        path = self._path("images", (height, width)).with_suffix(".txt")
        path.write_text("".join(f"{self._picture(height, width)} {label}\n" for label in range(_RECORDS)))
        return path

    def _window_list(self, height: int, width: int) -> Path:
        path = self._path("windows", (height, width)).with_suffix(".txt")
        box = f"0 0 {width - 1} {height - 1}"
        entry = f"{self._picture(height, width)}\n3\n{height}\n{width}\n2\n1 0.9 {box}\n0 0.1 {box}\n"
        path.write_text("".join(f"# {index}\n{entry}" for index in range(_RECORDS)))
        return path

    def _hdf5(self, name: str, shapes: dict[str, tuple[int, ...]]) -> Path:
        stem = self.folder / name.replace("/", "~")
        with h5py.File(stem.with_suffix(".h5"), "w") as file:
            for top, shape in shapes.items():
                values = self._rng.uniform(-1, 1, (4, *shape))
                file[top] = (values > 0 if _is_whole(top) else values).astype(np.float32)
        stem.with_suffix(".txt").write_text(f"{stem.with_suffix('.h5')}\n")
        return stem.with_suffix(".txt")

    def _path(self, kind: str, shape: Iterable[int]) -> Path:
        return self.folder / f"{kind}_{'_'.join(map(str, shape))}"


def work(net: Net) -> float:
    """Return about how many billion multiply-adds a pass over the net takes, with its gradients if it has a loss."""
    total = 0
    for node in net.nodes:
        if node.type in ("Convolution", "Deconvolution"):
            wide = node.tops[0] if node.type == "Convolution" else node.bottoms[0]
            total += node.blobs[0].count * wide.count // max(wide.shape[1], 1)
        elif len(node.blobs):
            total += node.blobs[0].count * node.bottoms[0].shape[0]
    return total * (3 if net.loss_weights else 1) / 1e9


def fill(net: Net) -> None:
    """Give inputs values, whole numbers of 0 and 1 where they are labels or marks, and BatchNorm a variance of 1.

    With the variance 0 of an untrained net, dozens of them in a row are beyond what float32 holds.
    """
    rng = np.random.default_rng(0)
    for node in net.nodes:
        if node.type == "BatchNorm":
            for blob in node.blobs.on_host[1:3]:
                blob.data[...] = 1
    for name in net.inputs:
        blob = net.blobs[name]
        blob.data[...] = rng.integers(0, 2, blob.shape) if _is_whole(name) else rng.uniform(-1, 1, blob.shape)


def is_bvlc(types: Iterable[str]) -> bool:
    """Whether layer types, in the spelling of any age, are all BVLC Caffe's."""
    old = {name.lower() for name in TYPES} | {"softmaxloss"}
    return all(
        name in TYPES or ((name.isupper() or name.islower()) and name.replace("_", "").lower() in old) for name in types
    )


def _cut(name: str, dims: Sequence[int], factor: float) -> list[int]:
    """Return the shape of an input with its batch and its image cut."""
    one = max(dims[2:], default=0) > _LARGE_BATCH and _entry(SPELLED, name) is None
    return [min(dims[0], 1 if one else 2), *dims[1:2], *(scaled(dim, factor) for dim in dims[2:])]


def _batch(image: tuple[int, int, int]) -> int:
    return 1 if max(image[1:]) > _LARGE_BATCH else 2


def _entry(table: dict[str, Any], name: str) -> Any:
    return next((value for part, value in table.items() if part in name), None)


def _is_whole(top: str) -> bool:
    return any(part in top for part in ("label", "sentence", "sem", "geo", "sim", "markers"))


def public_nets() -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield the nets of BVLC Caffe's layer types with their rows in the index."""
    folder = shared("corpus/prototxt")
    with (folder / "index.csv").open() as file:
        for row in csv.DictReader(file):
            types = [entry.rsplit(":", 1)[0] for entry in row["layer_types"].split()]
            # V0's padding became a setting of the next layer
            if row["kind"] == "net" and is_bvlc(_modern(name) for name in types):
                yield folder / row["file"], row


def _modern(v0: str) -> str:
    return {"conv": "Convolution", "pool": "Pooling", "padding": "Convolution"}.get(v0, v0)
