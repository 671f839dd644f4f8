"""Nets as Python programs: names, order, settings and errors as in pycaffe."""
# ruff: noqa: C408  # dict(...) is how such programs are written

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import engine.compat
from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.net import Net
from engine.schema import read_net

engine.compat.install()
caffe: Any = __import__("caffe")
L, P = caffe.layers, caffe.params

LENET = """
layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { scale: 0.00390625 } data_param { source: "train" batch_size: 64 backend: LMDB } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" param { lr_mult: 1 } param { lr_mult: 2 }
  convolution_param { num_output: 20 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip1" type: "InnerProduct" bottom: "pool1" top: "ip1" inner_product_param { num_output: 10 } }
layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip1" bottom: "label" top: "loss"
  loss_weight: 1 loss_param { normalization: VALID } }
"""


def lenet() -> Any:
    n = caffe.NetSpec()
    n.data, n.label = L.Data(
        source="train",
        batch_size=64,
        backend=P.Data.LMDB,
        include=dict(phase=caffe.TRAIN),
        transform_param=dict(scale=1 / 256),
        ntop=2,
    )
    filler = dict(type="xavier")
    param = [dict(lr_mult=1), dict(lr_mult=2)]
    n.conv1 = L.Convolution(n.data, num_output=20, kernel_size=5, weight_filler=filler, param=param)
    n.pool1 = L.Pooling(n.conv1, pool=P.Pooling.MAX, kernel_size=2, stride=2)
    n.ip1 = L.InnerProduct(n.pool1, num_output=10)
    n.relu1 = L.ReLU(n.ip1, in_place=True)
    n.loss = L.SoftmaxWithLoss(n.relu1, n.label, loss_weight=1, loss_param=dict(normalization=P.Loss.VALID))
    return n


def names(net: Any) -> list[tuple[str, list[str], list[str]]]:
    """Return name, bottoms and tops of each layer."""
    return [(layer.name, list(layer.bottom), list(layer.top)) for layer in net.layer]


def test_a_net_is_what_its_prototxt_would_be() -> None:
    net = lenet().to_proto()
    assert net == read_net(LENET)
    assert type(net).__name__ == "NetParameter" and read_net(str(net)) == net


def test_it_runs() -> None:
    n = caffe.NetSpec()
    n.x = L.Input(shape=dict(dim=[2, 3]))
    n.y = L.Softmax(L.InnerProduct(n.x, num_output=4))
    net = Net(str(n.to_proto()), Phase.TEST)
    assert net.blobs["y"].shape == (2, 4)


def test_unnamed_blobs_are_numbered_by_type() -> None:
    x, y = L.Slice(L.Input(), ntop=2)
    z = L.Eltwise(L.ReLU(x, in_place=True), L.ReLU(y))
    assert names(z.to_proto()) == [
        ("Input1", [], ["Input1"]),
        ("Slice1", ["Input1"], ["Slice1", "Slice2"]),
        ("ReLU1", ["Slice1"], ["Slice1"]),
        ("ReLU2", ["Slice2"], ["ReLU2"]),
        ("Eltwise1", ["Slice1", "ReLU2"], ["Eltwise1"]),
    ]


def test_numbers_pass_over_given_names() -> None:
    n = caffe.NetSpec()
    n.first = L.ReLU(L.ReLU(L.Input(name="Input1")))
    n.ReLU1 = L.ReLU(n.first)
    assert names(n.to_proto()) == [
        ("Input1", [], ["Input2"]),
        ("ReLU2", ["Input2"], ["ReLU2"]),
        ("first", ["ReLU2"], ["first"]),
        ("ReLU1", ["first"], ["ReLU1"]),
    ]


def test_layers_without_tops() -> None:
    n = caffe.NetSpec()
    n.x, n.y = L.DummyData(shape=dict(dim=3), ntop=2)
    n.quiet = L.Silence(n.x, ntop=0)
    unnamed = L.Silence(n.y, ntop=0)
    assert names(n.to_proto()) == [("x", [], ["x", "y"]), ("quiet", ["x"], [])]
    assert names(caffe.to_proto(n, unnamed))[2] == ("Silence1", ["y"], [])
    assert names(unnamed.to_proto())[-1] == ("Silence1", ["DummyData2"], [])


def test_several_specifications_become_one_net() -> None:
    train, n = caffe.NetSpec(), caffe.NetSpec()
    train.data = L.Data(include=dict(phase=caffe.TRAIN))
    train.hidden = L.ReLU(L.ReLU(train.data))
    n.data = L.Data(include=dict(phase=caffe.TEST))
    n.out = L.Eltwise(L.ReLU(n.data), train.hidden)
    assert names(caffe.to_proto(train, n)) == [
        ("data", [], ["data"]),
        ("ReLU1", ["data"], ["ReLU1"]),
        ("hidden", ["ReLU1"], ["hidden"]),
        ("data", [], ["data"]),
        ("ReLU2", ["data"], ["ReLU2"]),
        ("out", ["ReLU2", "hidden"], ["out"]),
    ]


def test_tops_can_be_given_names_and_taken_back() -> None:
    n = caffe.NetSpec()
    n["loss1/x"] = L.Input()
    n.y = n["loss1/x"]
    assert n.tops["y"] is n.y and list(n) == n.keys() == ["loss1/x", "y"] and n.vals() == [n.y, n.y]
    assert n.y.fn.type_name == "Input" and n.y.n == 0 and n.y.fn.tops == (n.y,)
    assert names(n.to_proto()) == [("y", [], ["y"])]  # the later name
    del n["y"]
    assert "y" not in n and names(n.to_proto()) == [("loss1/x", [], ["loss1/x"])]
    del n["loss1/x"]
    n.y = L.ReLU(L.Input())
    n.update("y", dict(negative_slope=0.5))
    assert n.to_proto().layer[1].relu_param.negative_slope == 0.5
    assert names(copy.deepcopy(n).to_proto()) == names(n.to_proto())


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (lambda: L.ReLU(name="r"), 'name: "r"'),
        (lambda: L.ReLU(relu_param=dict()), 'name: "x" relu_param { }'),
        (lambda: L.ReLU(relu_param=dict(engine=P.ReLU.CAFFE)), 'name: "x" relu_param { engine: CAFFE }'),
        (lambda: L.Pooling(pool="AVE"), 'name: "x" pooling_param { pool: AVE }'),
        (lambda: L.Convolution(pad=[1, 2]), 'name: "x" convolution_param { pad: 1 pad: 2 }'),
        (lambda: L.Convolution(pad=(1, 2)), 'name: "x" convolution_param { pad: 1 pad: 2 }'),
        (lambda: L.Deconvolution(num_output=1), 'name: "x" convolution_param { num_output: 1 }'),
        (lambda: L.SoftmaxWithLoss(ignore_label=255), 'name: "x" loss_param { ignore_label: 255 }'),
        (lambda: L.Eltwise(coeff=[], loss_weight=[1, 0]), 'name: "x" loss_weight: 1 loss_weight: 0'),
        (lambda: L.Python(module="m", layer="l"), 'name: "x" python_param { module: "m" layer: "l" }'),
        (
            lambda: L.Python(python_param=dict(module="m", param_str="{}")),
            'name: "x" python_param { module: "m" param_str: "{}" }',
        ),
        (lambda: L.Data(include=[dict(stage=["a", "b"])]), 'name: "x" include { stage: "a" stage: "b" }'),
        (lambda: L.Made(propagate_down=True, phase=caffe.TEST), 'name: "x" propagate_down: true phase: TEST'),
        (
            lambda: L.Input(shape=[dict(dim=[1, 2]), dict(dim=3)]),
            'name: "x" input_param { shape { dim: 1 dim: 2 } shape { dim: 3 } }',
        ),
    ],
)
def test_settings(layer: Any, text: str) -> None:
    n = caffe.NetSpec()
    n.x = layer()
    expected = read_net(f'layer {{ top: "x" type: "{n.x.fn.type_name}" {text} }}')
    assert n.to_proto() == expected


def test_words_of_forks() -> None:
    top = L.DetectionOutput(L.PriorBox(min_size=30), code_type=P.PriorBox.CENTER_SIZE)
    layer = L.Permute(top, order=[0, 2, 3, 1]).to_proto().layer
    assert layer[0].prior_box_param.min_size == [30] and layer[1].detection_output_param.code_type == 2
    assert list(layer[2].permute_param.order) == [0, 2, 3, 1]
    with pytest.raises(AttributeError, match="L.PriorBox has no setting 'max_siz'. Did you mean 'max_size'"):
        L.PriorBox(min_size=30, max_siz=40).to_proto()


def test_assign_proto_takes_messages_too() -> None:
    layer = caffe.proto.caffe_pb2.LayerParameter()
    rule = caffe.proto.caffe_pb2.NetStateRule(min_level=2)
    caffe.net_spec.assign_proto(layer, "include", [rule, dict(phase=caffe.TEST)])
    caffe.net_spec.assign_proto(layer, "relu_param", caffe.proto.caffe_pb2.ReLUParameter(negative_slope=1))
    assert layer.include[0] == rule and layer.include[1].phase == caffe.TEST and layer.relu_param.negative_slope == 1


def test_a_deep_net_needs_no_deep_stack() -> None:
    top = L.Input()
    for _ in range(5000):
        top = L.ReLU(top)
    assert top.to_proto().layer[-1].name == "ReLU5000"


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda n: L.Silence(L.Data(ntop=2), ntop=0), TypeError, r"^Silence input 0 is not a Top .*tuple'>\)$"),
        (lambda n: L.ReLU("x"), TypeError, "ReLU input 0 is not a Top"),
        (lambda n: setattr(n, "x", L.Data(ntop=2)), TypeError, "'x': expected .* Write 'n.a, n.b = "),
        (lambda n: setattr(n, "x", 3), TypeError, "'x': expected .*, got 3"),
        (lambda n: n.conv, AttributeError, "no 'conv'. Did you mean 'conv1'"),
        (lambda n: n["conv"], KeyError, "no 'conv'. Did you mean 'conv1'"),
        (lambda n: n.conv, KeyError, "no 'conv'"),
        (lambda n: L.Convolution(num_outputs=3).to_proto(), AttributeError, "'Convolution1': L.Convolution has no "
            "setting 'num_outputs'. Did you mean 'num_output'"),
        (lambda n: L.Convolution(weight_filler=dict(typ="x")).to_proto(), AttributeError,
            "'Convolution1' .L.Convolution.: weight_filler=.*FillerParameter has no field 'typ'. Did you mean 'type'"),
        (lambda n: L.Convolution(weight_filler="xavier").to_proto(), TypeError, "expected a dict for FillerParameter"),
        (lambda n: L.Convolution(num_output="many").to_proto(), TypeError, "'Convolution1'.*num_output='many'"),
        (lambda n: L.Convolution(num_output=-1).to_proto(), ValueError, "'Convolution1'.*num_output=-1"),
        (lambda n: L.Pooling(pool="MAXX").to_proto(), ValueError, "'Pooling1'.*pool='MAXX'"),
        (lambda n: P.Pooling.MAXX, AttributeError, r"'caffe.params.Pooling.MAXX'.* Did you mean 'MAX'"),
        (lambda n: P.Poolin, AttributeError, "'caffe.params.Poolin'.* Did you mean 'Pooling'"),
        (lambda n: caffe.NetSpc, AttributeError, "Did you mean 'NetSpec'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(make: Any, error: type[Exception], words: str) -> None:
    n = caffe.NetSpec()
    n.conv1 = L.Convolution()
    with pytest.raises(error, match=words):
        make(n)


def test_types_of_the_projects_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = tmp_path / "plugins" / "mine"
    plugin.mkdir(parents=True)
    (plugin / "plugin.toml").write_text('[plugin]\nschema = "mine.proto"\n[types.Mine]\nmodule = "mine"\n')
    (plugin / "mine.py").write_text("import caffe\n\n\nclass MineLayer(caffe.Layer):\n    pass\n")
    (plugin / "mine.proto").write_text(
        'syntax = "proto2";\nmessage LayerParameter { optional MineParameter mine_param = 8266801; }\n'
        "message MineParameter { enum Kind { A = 0; B = 1; } optional uint32 rows = 1; optional Kind kind = 2; }\n"
    )
    monkeypatch.chdir(tmp_path)
    layer = L.Mine(rows=3, kind=P.Mine.B).to_proto().layer[0]
    assert (layer.type, layer.mine_param.rows, layer.mine_param.kind) == ("Mine", 3, 1)


def test_a_program_needs_no_layers_loaded() -> None:
    code = """
import sys, engine.compat
engine.compat.install()
from caffe import layers as L, params as P, to_proto, NetSpec
import caffe.net_spec
L.ReLU(L.Input()).to_proto()
bad = [n for n in ('PySide6', 'app', 'nodes', 'engine.net', 'h5py', 'lmdb') if n in sys.modules]
assert not bad, bad
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_errors_of_the_net_come_from_the_net() -> None:
    """Any type may be written; whether there is such a layer is known when the net is built."""
    with pytest.raises(NetcanvasError, match="Convolutoin"):
        Net(str(L.Convolutoin(L.Input(shape=dict(dim=1))).to_proto()), Phase.TEST)
