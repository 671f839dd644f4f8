"""Shapes that are assumed where data are not here: guessed, typed, kept beside the net, never in the way of truth."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from engine.assumed import OWN_BATCH, assumed_json, item_words, parse_item, read_assumed, stored_assumed
from engine.backends import Workspace, get_backend
from engine.cli import main
from engine.diagnostics import diagnose
from engine.graph import OpGraph
from engine.inspection import InspectionClient, LayerShapes
from engine.inspection.shaping import shape_layer
from engine.layer import Phase
from engine.layer_context import LayerContext
from engine.layer_specs import graph_layers
from engine.node_shapes import NodeShapes, needs_assumption
from engine.registry import default_registry
from engine.schema import read_net
from engine.shape_guesses import guess_shapes, guesses_for
from engine.shapes import ShapeService
from engine.sidecar import sidecar_path
from tests.support import shared

DATA = 'layer { name: "d" type: "Data" top: "x" top: "l" data_param { source: "cifar_lmdb" batch_size: 5 } }\n'
CONV = (
    'layer { name: "c" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 4 kernel_size: 3 } }\n'
)
HDF5 = 'layer { name: "h" type: "HDF5Data" top: "x" top: "l" hdf5_data_param { source: "list.txt" batch_size: 5 } }\n'
PYTHON = 'layer { name: "p" type: "Python" top: "x" top: "label" python_param { module: "no_such" layer: "L" %s } }\n'
DEPLOY = 'layer { name: "in" type: "Input" top: "x" input_param { shape { dim: [10, 3, 24, 20] } } }\n'


class Here(InspectionClient):
    """Asks layers in this process, which costs no start of another."""

    def layer_shapes(self, layer_param, phase, bottom_shapes, *, base_dirs=(), **_terms) -> LayerShapes:
        backend = get_backend("numpy")
        context = LayerContext(phase, backend, Workspace(backend), base_dirs=tuple(base_dirs), shapes_only=True)
        return LayerShapes(
            *shape_layer(default_registry().create(layer_param, context), layer_param, list(bottom_shapes))
        )


@pytest.fixture
def client() -> InspectionClient:
    return Here()


def shapes(text: str, folder: Path, client: InspectionClient, **assumed: tuple[int, ...]) -> list[NodeShapes]:
    service = ShapeService(registry=default_registry(), client=client)
    graph = OpGraph.parse(text)
    return list(service.infer(graph_layers(graph), Phase.TRAIN, base_dirs=[folder], assumed=assumed).values())


@pytest.mark.parametrize(
    ("text", "assumed", "tops"),
    [
        (DATA, {"x": (OWN_BATCH, 3, 9, 8)}, ((5, 3, 9, 8), (5,))),
        (DATA, {"x": (2, 3, 9, 8)}, ((2, 3, 9, 8), (2,))),
        (DATA, {"x": (OWN_BATCH, 3, 9, 8), "l": (OWN_BATCH, 2)}, ((5, 3, 9, 8), (5, 2))),
        (HDF5, {"x": (OWN_BATCH, 7), "l": (OWN_BATCH, 1)}, ((5, 7), (5, 1))),
        (PYTHON % "", {"x": (OWN_BATCH, 3, 9, 8), "label": (OWN_BATCH, 1, 9, 8)}, ((1, 3, 9, 8), (1, 1, 9, 8))),
        (PYTHON % "param_str: \"{'batch_size': 6}\"", {"x": (0, 2), "label": (0, 1)}, ((6, 2), (6, 1))),
    ],
)
def test_what_is_assumed_stands_for_data_that_are_not_here(text, assumed, tops, tmp_path, client) -> None:
    (before,) = shapes(text, tmp_path, client)
    assert before.state == "unknown" and needs_assumption(before)
    (known,) = shapes(text, tmp_path, client, **assumed)
    assert (known.tops, known.state, known.assumed) == (tops, "known", "x")
    assert known.reason, "it still says why nobody knows"


def test_all_that_follows_says_so(tmp_path, client) -> None:
    text = DATA + CONV + 'layer { name: "i" type: "Input" top: "z" input_param { shape { dim: 2 } } }\n'
    _data, conv, other = shapes(text, tmp_path, client, x=(OWN_BATCH, 3, 9, 8))
    assert (conv.tops, conv.params, conv.assumed) == (((5, 4, 7, 6),), ((4, 3, 3, 3), (4,)), "x")
    assert other.assumed == ""


CODE = 'layer { name: "p" type: "Python" bottom: "x" top: "%s" python_param { module: "no_such" layer: "L" } }\n'
INPUT = 'layer { name: "in" type: "Input" top: "x" input_param { shape { dim: [4, 3, 9, 8] } } }\n'


@pytest.mark.parametrize("top", ["y", "x"], ids=["a top of its own", "in place"])
def test_code_that_is_not_here_may_be_assumed_to_keep_the_shape(top, tmp_path, client) -> None:
    text = INPUT + CODE % top + CONV.replace('"x"', f'"{top}"').replace('top: "y"', 'top: "z"')
    _, before, after = shapes(text, tmp_path, client)
    assert needs_assumption(before) and before.absent and not needs_assumption(after)
    spec = graph_layers(OpGraph.parse(text))[1]
    (guess,) = guesses_for(spec, bottoms=before.bottoms)
    assert (guess.shapes, guess.why) == ({top: (OWN_BATCH, 3, 9, 8)}, "as 'x', which it reads")
    _, code, conv = shapes(text, tmp_path, client, **guess.shapes)
    assert (code.tops, code.assumed, code.absent) == (((4, 3, 9, 8),), top, True)
    assert (conv.tops, conv.assumed) == (((4, 4, 7, 6),), top)
    graph = OpGraph.parse(text)
    known = dict(zip(graph.node_ids(), (_, code, conv), strict=True))
    (told,) = [each for each in diagnose(graph, shapes=known) if each.code == "shape-assumed"]
    assert "its code is not here" in told.message and told.fixes[0].assumed == {top: None}


def test_several_shapes_are_offered_for_what_reads_several(tmp_path, client) -> None:
    code = CODE.replace('bottom: "x"', 'bottom: "x" bottom: "b"')
    spec = graph_layers(OpGraph.parse(INPUT + code % "y"))[1]
    found = guesses_for(spec, bottoms=((4, 3, 9, 8), (7, 5)))
    assert [guess.shapes["y"] for guess in found] == [(OWN_BATCH, 3, 9, 8), (7, 5)]


def test_code_that_is_here_is_asked_and_not_assumed(tmp_path, client) -> None:
    (tmp_path / "no_such.py").write_text("import caffe\n\n\nclass L(caffe.Layer):\n    pass\n")
    _, node = shapes(INPUT + CODE % "y", tmp_path, client)
    assert "not trusted" in node.reason and not needs_assumption(node)


def test_a_part_is_known(tmp_path, client) -> None:
    (known,) = shapes(HDF5, tmp_path, client, x=(OWN_BATCH, 7))
    assert (known.tops, known.state) == (((5, 7), None), "unknown")


def test_data_that_are_here_count(tmp_path, client) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"], file["l"] = np.zeros((9, 2, 3), "f4"), np.zeros((9, 1), "f4")
    assumed = {"x": (OWN_BATCH, 7), "l": (OWN_BATCH, 1)}
    assert shapes(HDF5, tmp_path, client, **assumed)[0].assumed == "x"
    (tmp_path / "list.txt").write_text(f"{tmp_path / 'a.h5'}\n")
    (known,) = shapes(HDF5, tmp_path, client, **assumed)
    assert (known.tops, known.assumed) == (((5, 2, 3), (5, 1)), "")


def test_no_assumption_hides_a_fault(tmp_path, client) -> None:
    conv = CONV.replace("kernel_size: 3", "kernel_size: 30")
    _data, refused = shapes(DATA + conv, tmp_path, client, x=(OWN_BATCH, 3, 9, 8), y=(OWN_BATCH, 4, 1, 1))
    assert refused.error is not None and refused.tops == (None,)
    wrong = DATA.replace('source: "cifar_lmdb"', 'source: ""')
    (known,) = shapes(wrong, tmp_path, client, x=(OWN_BATCH, 3, 9, 8))
    assert known.error is not None


@pytest.mark.parametrize(
    ("more", "name", "expected"),
    [
        ('data_param { source: "a/mnist_lmdb" }', "net", (1, 28, 28)),
        ('data_param { source: "x" }', "CIFAR10_quick", (3, 32, 32)),
        ('data_param { source: "x" } transform_param { crop_size: 21 }', "net", (3, 21, 21)),
        ('data_param { source: "mnist_lmdb" } transform_param { crop_size: 21 }', "net", (1, 21, 21)),
        ('data_param { source: "x" } transform_param { crop_size: 21 mean_value: [1, 2] }', "net", (2, 21, 21)),
        ('data_param { source: "ilsvrc12_train_lmdb" }', "net", (3, 256, 256)),
        ('data_param { source: "x" }', "MobileNet", (3, 224, 224)),
    ],
)
def test_a_guess_is_taken_from_what_the_net_says(more: str, name: str, expected: tuple[int, ...]) -> None:
    message = read_net(f'layer {{ name: "d" type: "Data" top: "x" {more} }}').layer[0]
    assert guess_shapes(message, name)[0].shapes == {"x": (OWN_BATCH, *expected)}


def test_a_guess_reads_what_a_plugin_adds_to_the_messages() -> None:
    size = "transform_param { resize_param { height: 300 width: 320 } }"
    text = f'layer {{ name: "d" type: "AnnotatedData" top: "x" data_param {{ source: "VOC0712_lmdb" }} {size} }}'
    (spec,) = graph_layers(OpGraph.parse(text))
    first = guesses_for(spec, registry=default_registry())[0]
    assert (first.shapes["x"], first.why) == ((OWN_BATCH, 3, 300, 320), "resize_param")


def test_a_net_beside_it_that_predicts_comes_first(tmp_path: Path) -> None:
    message = read_net(DATA).layer[0]
    for name in ("deploy", "other_deploy", "wide_train_val"):
        (tmp_path / f"{name}.prototxt").write_text(DEPLOY)
    first = guess_shapes(message, "net", tmp_path / "train_val.prototxt")[0]
    assert (first.shapes["x"], first.why) == ((OWN_BATCH, 3, 24, 20), "as in deploy.prototxt")
    (tmp_path / "deploy.prototxt").unlink()
    assert guess_shapes(message, "net", tmp_path / "train_val.prototxt")[0].why == "by the name 'cifar'"
    assert guess_shapes(message, "net", tmp_path / "other_train.prototxt")[0].why == "as in other_deploy.prototxt"
    (tmp_path / "other_deploy.prototxt").write_bytes(b"\xff\x00 input_dim { {")
    assert guess_shapes(message, "net", tmp_path / "other_train.prototxt")[0].why == "by the name 'cifar'"


@pytest.mark.parametrize(
    ("typed", "shape"),
    [
        ("3 x 224 x 224", (3, 224, 224)),
        ("3\u00d7224\u00d7224", (3, 224, 224)),
        ("(3, 224, 224)", (3, 224, 224)),
        (" 7 ", (7,)),
        ("", None),
        ("3 x ?", None),
        ("0 x 3", None),
        ("-1", None),
        ("99999 x 99999 x 99999", None),
        (" ".join(["1"] * 40), None),
        ("9" * 5000, None),
        ("0" * 5000 + "1", None),
        ("\u0663 x \u00b2", None),
    ],
)
def test_a_typed_shape(typed: str, shape: tuple[int, ...] | None) -> None:
    assert parse_item(typed) == shape
    if shape is not None:
        assert parse_item(item_words((OWN_BATCH, *shape))) == shape


@pytest.mark.parametrize(
    "held", ["[]", "3", "{", '{"assumed_shapes": 3}', '{"assumed_shapes": {"x": [true]}}', "[" * 99999]
)
def test_a_damaged_file_beside_the_net_assumes_nothing(held: str) -> None:
    assert stored_assumed(held) == {}


def test_it_is_kept_beside_the_net(tmp_path: Path) -> None:
    net, assumed = tmp_path / "n.prototxt", {"x": (0, 3, 9, 8), "l": (0, 1)}
    assert read_assumed(net) == {}
    sidecar_path(net).write_text(json.dumps(assumed_json(assumed)))
    assert read_assumed(net) == assumed
    held = {"assumed_shapes": {"x": [0, 3], "bad": [0, 0], "deep": [[1]], "text": "3"}}
    assert stored_assumed(json.dumps(held)) == {"x": (0, 3)}


def test_it_is_offered_and_can_be_taken_back(tmp_path: Path, client: InspectionClient) -> None:
    graph = OpGraph.parse(DATA + CONV)
    (data, *_) = graph_layers(graph)
    guesses = {data.node_id: guesses_for(data)}
    service = ShapeService(registry=default_registry(), client=client)

    def told(**assumed: tuple[int, ...]):
        found = service.infer(graph_layers(graph), Phase.TRAIN, base_dirs=[tmp_path], assumed=assumed)
        every = diagnose(graph, registry=default_registry(), shapes=found, folder=tmp_path, guesses=guesses)
        return {each.code: each for each in every if each.node == data.node_id and each.code != "top-unused"}

    missing = told()["file-missing"]
    assert missing.severity == "warning"
    labels = [fix.label for fix in missing.fixes]
    assert labels[::3] == ["Assume 3 \u00d7 32 \u00d7 32, by the name 'cifar'", "Assume a shape\u2026"]
    assert missing.fixes[-1].asks == data.node_id
    found = told(**missing.fixes[0].assumed)
    assert {code: each.severity for code, each in found.items()} == {"file-missing": "info", "shape-assumed": "info"}
    assert found["shape-assumed"].fixes[0].assumed == {"x": None, "l": None}


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "n.prototxt"
    path.write_text(DATA + CONV)
    assert main(["show", str(path)]) == 0
    assert capsys.readouterr().out.rstrip().endswith("--input-shape x=0,3,32,32")
    assert main(["show", str(path), "--input-shape", "x=2,3,9,8"]) == 0
    told = capsys.readouterr().out
    assert "(2 x 4 x 7 x 6)" in told
    assert "assumed, because the data of layer 'd' are not here: 'x' (2 x 3 x 9 x 8), 'l' (2)" in told
    sidecar_path(path).write_text(json.dumps(assumed_json({"x": (0, 3, 9, 8)})))
    assert main(["show", str(path), "--json"]) == 0
    layers = json.loads(capsys.readouterr().out)["layers"]
    assert [each["assumed"] for each in layers] == ["x", "x"]
    assert main(["check", str(path)]) == 0
    assert "[shape-assumed]" in capsys.readouterr().out
    assert main(["show", str(path), "--input-shape", "xx=2,3"]) == 1
    assert "Did you mean 'x'?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["show", str(path), "--input-shape", "2,3"])


@pytest.mark.parametrize(
    ("net", "item"),
    [
        ("bvlc/examples__cifar10__cifar10_full_train_test", (3, 32, 32)),
        ("bvlc/examples__mnist__lenet_train_test", (1, 28, 28)),
        ("bvlc/examples__siamese__mnist_siamese_train_test", (2, 28, 28)),
        ("bvlc/models__bvlc_alexnet__train_val", (3, 227, 227)),
        ("fcn/voc-fcn8s__train", (3, 500, 500)),
        ("legacy/v0.9999__imagenet__imagenet_train_val", (3, 227, 227)),
        ("legacy/v0.9__lenet__lenet_train", (1, 28, 28)),
        ("nvcaffe/resnet18__train_val", (3, 224, 224)),
    ],
)
def test_public_nets_have_all_shapes_by_the_first_guess(net: str, item: tuple[int, ...], client) -> None:
    path = shared(f"corpus/prototxt/{net}.prototxt")
    graph = OpGraph.parse(path.read_bytes())
    specs = graph_layers(graph)
    service = ShapeService(registry=default_registry(), client=client)
    assumed: dict[str, tuple[int, ...]] = {}
    for spec in specs:
        for guess in guesses_for(spec, graph.net_name, path)[:1] if not spec.bottoms else ():
            assumed |= guess.shapes
    assert next(iter(assumed.values())) == (OWN_BATCH, *item)
    for state in graph.states:
        members = graph.taking_part(state)
        before = service.infer(specs, Phase[state.phase], members=members)
        after = service.infer(specs, Phase[state.phase], members=members, assumed=assumed)
        assert {each.state for each in before.values()} == {"unknown"}
        assert {each.state for each in after.values()} == {"known"}
