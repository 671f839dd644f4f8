"""What weights tell of the items that a net read, and what detectors are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.assumed import OWN_BATCH
from engine.cli import main
from engine.graph import OpGraph
from engine.layer_specs import LayerSpec, graph_layers
from engine.schema import load_schema
from engine.shape_guesses import Guess, guesses_for
from engine.weights_guesses import first_reader
from tests.support import shared

DATA = 'layer { name: "d" type: "Data" top: "x" top: "l" data_param { source: "%s" batch_size: 5 } }\n'
HDF5 = 'layer { name: "d" type: "HDF5Data" top: "label" top: "x" hdf5_data_param { source: "a.txt" batch_size: 5 } }\n'
RELU = 'layer { name: "r" type: "ReLU" bottom: "x" top: "x" }\n'
POOL = 'layer { name: "p" type: "Pooling" bottom: "x" top: "x2" pooling_param { kernel_size: 2 } }\n'
CONV = (
    'layer { name: "c" type: "Convolution" bottom: "%s" top: "c" convolution_param '
    "{ num_output: 4 kernel_size: 3 group: %d } }\n"
)
IP = 'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 4 %s } }\n'
DETECTOR = (
    'layer { name: "d" type: "Python" top: "data" top: "im_info" top: "gt_boxes" '
    'python_param { module: "roi_data_layer.layer" layer: "RoIDataLayer" } }\n'
)


def specs_of(text: str) -> list[LayerSpec]:
    return graph_layers(OpGraph.parse(text))


def write_weights(path: Path, **shapes: tuple[int, ...]) -> Path:
    net: Any = load_schema().message("NetParameter")()
    for name, shape in shapes.items():
        size = 1
        for dim in shape:
            size *= dim
        net.layer.add(name=name, type="X").blobs.add(data=[0.0] * size).shape.dim.extend(shape)
    path.write_bytes(net.SerializeToString())
    return path


def guessed(text: str, net: Path | None, weights: Path | None = None) -> list[Guess]:
    specs = specs_of(text)
    return list(guesses_for(specs[0], "net", net, specs=specs, weights=weights))


@pytest.mark.parametrize(
    ("text", "stored", "first", "why"),
    [
        (DATA % "z" + CONV % ("x", 1), {"c": (4, 1, 3, 3)}, (1, 28, 28), "'c' in a.caffemodel"),
        (DATA % "z" + CONV % ("x", 2), {"c": (4, 3, 3, 3)}, (6, 224, 224), "'c' in a.caffemodel"),
        (DATA % "z" + RELU + POOL + CONV % ("x2", 1), {"c": (4, 1, 3, 3)}, (1, 28, 28), "'c' in"),
        (DATA % "cifar" + CONV % ("x", 1), {"c": (4, 3, 3, 3)}, (3, 32, 32), "by the name 'cifar'"),
        (DATA % "cifar" + CONV % ("x", 1), {"c": (4, 1, 3, 3)}, (1, 28, 28), "'c' in"),
        (DATA % "z" + IP % "", {"ip": (4, 784)}, (1, 28, 28), "'ip' in"),
        (DATA % "z" + IP % "transpose: true", {"ip": (784, 4)}, (1, 28, 28), "'ip' in"),
        (DATA % "z" + IP % "", {"ip": (1, 1, 4, 300)}, (3, 10, 10), "'ip' in"),
        (DATA % "z" + IP % "", {"ip": (4, 7)}, (7, 1, 1), "'ip' in"),
        (HDF5 + IP % "", {"ip": (4, 7)}, (7,), "'ip' in"),
        (HDF5 + CONV % ("x", 1), {"c": (4, 2, 3, 3)}, (2, 224, 224), "'c' in"),
        (DATA % "z" + POOL + IP % "", {"other": (4, 7)}, (3, 224, 224), ""),
        (DATA % "z" + IP % "axis: 2", {"ip": (4, 7)}, (3, 224, 224), ""),
    ],
)
def test_weights_beside_the_net_say_what_it_reads(tmp_path: Path, text, stored, first, why) -> None:
    write_weights(tmp_path / "a.caffemodel", **stored)
    found = guessed(text, tmp_path / "net.prototxt")
    assert found[0].shapes["x"] == (OWN_BATCH, *first)
    assert why in found[0].why


def test_the_size_is_the_one_with_which_all_weights_fit(tmp_path: Path) -> None:
    pool = 'layer { name: "p" type: "Pooling" bottom: "c" top: "p" pooling_param { kernel_size: 2 stride: 2 } }\n'
    inner = IP.replace('bottom: "x"', 'bottom: "p"') % ""
    text = DATA % "z" + CONV % ("x", 1) + pool + inner
    write_weights(tmp_path / "a.caffemodel", c=(4, 3, 3, 3), ip=(4, 4 * 23 * 23))
    found = guessed(text, tmp_path / "net.prototxt")
    assert (found[0].shapes["x"], found[0].why) == ((OWN_BATCH, 3, 48, 48), "fits the weights in a.caffemodel")
    assert len({guess.shapes["x"] for guess in found}) == len(found) == 4
    write_weights(tmp_path / "a.caffemodel", c=(4, 3, 3, 3), ip=(4, 4 * 111 * 111))
    assert guessed(text, tmp_path / "net.prototxt")[0].shapes["x"] == (OWN_BATCH, 3, 224, 224), "the usual one fits"
    write_weights(tmp_path / "a.caffemodel", c=(4, 3, 3, 3), ip=(4, 5))
    assert guessed(text, tmp_path / "net.prototxt")[0].shapes["x"] == (OWN_BATCH, 3, 224, 224), "none fits"


def test_weights_that_are_given_come_first(tmp_path: Path) -> None:
    write_weights(tmp_path / "a.caffemodel", c=(4, 1, 3, 3))
    given = write_weights(tmp_path / "z.caffemodel", c=(4, 5, 3, 3))
    text = DATA % "z" + CONV % ("x", 1)
    assert guessed(text, tmp_path / "net.prototxt", given)[0].shapes["x"][1] == 5
    assert guessed(text, tmp_path / "net.prototxt")[0].shapes["x"][1] == 1


def test_damaged_weights_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.caffemodel").write_bytes(b"\xa2\x06\x7f\x00")
    (tmp_path / "b.caffemodel.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    text = DATA % "z" + CONV % ("x", 1)
    assert guessed(text, tmp_path / "net.prototxt") == guessed(text, None)


def test_a_layer_that_changes_channels_hides_what_is_below() -> None:
    flatten = 'layer { name: "f" type: "Flatten" bottom: "x" top: "x" }\n'
    specs = specs_of(DATA % "z" + flatten + CONV % ("x", 1))
    assert first_reader(specs[0], specs) is None


def test_detectors_read_photographs(tmp_path: Path) -> None:
    path = tmp_path / "VOC2007_ILSVRC.prototxt"
    found = guessed(DETECTOR, path)
    assert found[0].shapes == {"data": (OWN_BATCH, 3, 600, 800), "im_info": (1, 3), "gt_boxes": (1, 5)}
    assert "im_info" in found[0].why


def test_show_asks_the_weights_that_it_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net: Any = load_schema().message("NetParameter")()
    data = net.layer.add(name="d", type="Data", top=["x"])
    data.data_param.source, data.data_param.batch_size = "nowhere", 2
    conv = net.layer.add(name="c", type="Convolution", bottom=["x"], top=["c"])
    conv.convolution_param.num_output = 1
    conv.convolution_param.kernel_size.append(2)
    conv.blobs.add(data=[0.0] * 4).shape.dim.extend([1, 1, 2, 2])
    path = tmp_path / "w.caffemodel"
    path.write_bytes(net.SerializeToString())
    assert main(["show", str(path)]) == 0
    assert "--input-shape x=0,1,28,28" in capsys.readouterr().out


def test_public_weights_tell_the_size_of_their_images(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(shared("corpus/weights/mtcnn_det3.caffemodel"))]) == 0
    assert "--input-shape data48=0,3,48,48" in capsys.readouterr().out
