"""Old formats become today's, as Caffe itself makes them."""

from __future__ import annotations

import logging

import pytest

from engine import prototxt
from engine.errors import SchemaError
from engine.schema import load_schema, read_net, read_solver, to_message
from engine.schema.upgrade import V0_TYPES, V1_TYPES, upgrade_net, upgrade_solver
from tests.support import SHARED, shared_files

REFERENCES = shared_files("corpus/upgraded_reference/*")
NEW = 'layer { name: "n" type: "ReLU" bottom: "x" top: "x" }\n'
OLD = 'layers { name: "o" type: RELU bottom: "x" top: "x" }\n'


def net_of(text: str):
    return to_message(prototxt.parse(text).root, "NetParameter", strict=True)


def upgraded(text: str):
    net = net_of(text)
    return net, upgrade_net(net)


def block(name: str, type_: str, fields: str = "", bottom: str = "", top: str = "") -> str:
    """A layer in the oldest format."""
    wires = "".join(f' bottom: "{blob}"' for blob in bottom.split()) + "".join(f' top: "{b}"' for b in top.split())
    return f'layers {{ layer {{ name: "{name}" type: "{type_}" {fields} }}{wires} }}\n'


@pytest.mark.skipif(not REFERENCES, reason="reference files are not beside this checkout")
@pytest.mark.parametrize("reference", REFERENCES, ids=lambda path: path.stem)
def test_public_files_become_what_caffe_makes_of_them(reference):
    source = SHARED / "corpus/prototxt" / reference.name.replace("~", "/", 1).replace("~", "__")
    is_solver = "solver" in reference.name
    kind = "SolverParameter" if is_solver else "NetParameter"
    ours, caffes = (to_message(prototxt.parse(path.read_bytes()).root, kind) for path in (source, reference))
    assert ours != caffes
    (upgrade_solver if is_solver else upgrade_net)(ours)
    assert ours == caffes


def test_learning_settings_are_paired():
    """B6."""
    net, notes = upgraded(
        'layers { name: "c" type: CONVOLUTION bottom: "x" top: "y" blobs_lr: 1 blobs_lr: 2 weight_decay: 1 '
        'weight_decay: 0 param: "w" param: "b" blob_share_mode: PERMISSIVE convolution_param { num_output: 2 } }'
    )
    (layer,) = net.layer
    assert not notes and layer.type == "Convolution" and layer.convolution_param.num_output == 2
    assert [(p.name, p.lr_mult, p.decay_mult) for p in layer.param] == [("w", 1, 1), ("b", 2, 0)]
    assert [layer.param[0].share_mode, layer.param[1].HasField("share_mode")] == [1, False]


@pytest.mark.parametrize("word", sorted(V1_TYPES))
def test_every_old_type_has_todays_name(word):
    """B6."""
    net, _ = upgraded(f"layers {{ type: {word} include {{ phase: TEST }} loss_weight: 2 }}")
    assert net.layer[0].type == V1_TYPES[word]
    assert (net.layer[0].include[0].phase, list(net.layer[0].loss_weight)) == (1, [2])


def test_the_tables_know_every_type_and_every_field():
    schema = load_schema()
    v1 = schema.message("V1LayerParameter").DESCRIPTOR
    assert set(v1.enum_types_by_name["LayerType"].values_by_name) == {*V1_TYPES, "NONE"}
    assert set(V0_TYPES.values()) <= set(V1_TYPES.values())
    today = schema.message("LayerParameter").DESCRIPTOR.fields_by_name
    handled = {"blob_share_mode", "blobs_lr", "weight_decay", "layer"}
    assert {field.name for field in v1.fields} - set(today) == handled


def test_padding_and_transform_fields_of_the_oldest_format():
    """B7."""
    text = (
        block("d", "data", 'source: "s" batchsize: 2 scale: .5 cropsize: 4 meanfile: "m" mirror: true', "", "data l")
        + block("p", "padding", "pad: 1", "data", "padded")
        + block("c", "conv", "num_output: 3 kernelsize: 3 stride: 1 biasterm: false blobs_lr: 1", "padded", "c")
        + block("pp", "padding", "pad: 2", "c", "cp")
        + block("s", "pool", "pool: AVE kernelsize: 5", "cp", "s")
    )
    net, notes = upgraded(text)
    data, conv, pool = net.layer
    assert not notes and not net.layers
    assert (data.type, data.data_param.source, data.data_param.batch_size) == ("Data", "s", 2)
    transform = data.transform_param
    assert (transform.scale, transform.crop_size, transform.mean_file, transform.mirror) == (0.5, 4, "m", True)
    assert not data.data_param.HasField("scale")
    own = conv.convolution_param
    assert (list(conv.bottom), list(own.pad), list(own.kernel_size), own.bias_term) == (["data"], [1], [3], False)
    assert conv.param[0].lr_mult == 1
    assert (list(pool.bottom), pool.pooling_param.pad, pool.pooling_param.pool) == (["c"], 2, 1)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (block("r", "relu", "", "p", "r"), "'p'.*'r' \\(relu\\)"),
        (block("c", "conv", "", "p p", "c"), "one bottom"),
    ],
)
def test_padding_before_anything_else_is_refused(after, words):
    """B7."""
    with pytest.raises(SchemaError, match=words):
        upgraded(block("p", "padding", "pad: 1", "x", "p") + after)


def test_fields_of_old_data_layers_move():
    net, _ = upgraded('layers { type: WINDOW_DATA window_data_param { mirror: true mean_file: "m" fg_fraction: 1 } }')
    (layer,) = net.layer
    assert (layer.transform_param.mirror, layer.transform_param.mean_file) == (True, "m")
    assert layer.window_data_param.fg_fraction == 1 and not layer.window_data_param.HasField("mirror")


def test_what_cannot_be_taken_over_is_told(caplog):
    text = block("a", "relu", "kernelsize: 3", "x", "x") + block("b", "what", "", "x", "x")
    net, notes = upgraded(text)
    assert [layer.type for layer in net.layer] == ["ReLU", ""]
    assert ["'a'" in notes[0] and "kernelsize" in notes[0], "'what'" in notes[1]] == [True, True]
    with caplog.at_level(logging.WARNING):
        read_net(text)
    assert "kernelsize" in caplog.text


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("input: 'a' input: 'b' " + "input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 4 " * 2, [[1, 2, 3, 4]] * 2),
        ("input: 'a' input: 'b' input_shape { dim: 5 } input_shape { dim: 6 dim: 7 }", [[5], [6, 7]]),
    ],
)
def test_inputs_become_a_layer_that_stands_first(text, shapes):
    """B8."""
    net, _ = upgraded(NEW + text)
    assert [layer.type for layer in net.layer] == ["Input", "ReLU"]
    assert list(net.layer[0].top) == ["a", "b"]
    assert [list(shape.dim) for shape in net.layer[0].input_param.shape] == shapes
    assert not net.input and not net.input_dim and not net.input_shape


@pytest.mark.parametrize("shape", ["input_dim: 1 " * 7, "input_shape { dim: 1 }"])
def test_inputs_with_another_number_of_shapes_are_refused(shape):
    """B8."""
    with pytest.raises(SchemaError, match="2 inputs"):
        upgraded("input: 'a' input: 'b' " + shape)


def test_inputs_without_shapes_are_dropped():
    """B8."""
    net, _ = upgraded("input: 'a' " + NEW)
    assert [layer.type for layer in net.layer] == ["ReLU"] and not net.input


@pytest.mark.parametrize(("text", "line"), [(NEW * 3 + OLD * 2, 4), (OLD + NEW, 2)])
def test_old_and_new_layers_in_one_net_are_refused_with_both_places(tmp_path, text, line):
    """B5."""
    path = tmp_path / "n.prototxt"
    path.write_text(text)
    with pytest.raises(SchemaError, match=rf"^{path}:{line}:1: .*'layers' \(first on line .*'layer' \(first on line"):
        read_net(path)
    with pytest.raises(SchemaError, match="mixes"):
        upgraded(text)


@pytest.mark.parametrize("text", [OLD, block("o", "relu", "", "x", "x")], ids=["V1", "V0"])
def test_old_nets_are_read_as_todays(text):
    net = read_net(text)
    assert net == read_net(NEW.replace('"n"', '"o"'))


def test_a_net_of_today_stays_as_it_is():
    text = NEW + 'layer { type: "BatchNorm" param { lr_mult: 1 } }\nlayer { type: "Data" data_param { scale: 2 } }'
    net, notes = upgraded(text)
    assert net == net_of(text) and not notes


def test_a_solver_has_one_type():
    solver = to_message(prototxt.parse("solver_type: ADAGRAD type: 'SGD'").root, "SolverParameter")
    with pytest.raises(SchemaError, match="'SGD' and AdaGrad"):
        upgrade_solver(solver)
    with pytest.raises(SchemaError, match="^2:1: "):
        read_solver("type: 'SGD'\nsolver_type: ADAGRAD\n")
    assert read_solver("solver_type: NESTEROV\nbase_lr: 1").type == "Nesterov"
