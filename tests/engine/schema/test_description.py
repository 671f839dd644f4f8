"""The description of the messages: complete, documented, and equal to what is compiled from it."""

from __future__ import annotations

import re

import pytest
from google.protobuf import descriptor_pool

from engine.errors import SchemaError
from engine.resources import resource_path
from engine.schema import load_schema
from engine.schema.info import split_comment
from tests.engine.schema.support import build_script

SCHEMA = load_schema()


def test_compiled_file_is_up_to_date():
    pytest.importorskip("grpc_tools", reason="the compiler is a development tool")
    compiled = build_script().compile_schema(resource_path("schema/caffe.proto"))
    assert compiled == resource_path("schema/caffe.desc").read_bytes(), "run: python docs/build_schema.py"


def test_default_pool_stays_free_for_the_users_own_caffe_pb2():
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("caffe.NetParameter")


# Numbers, types and defaults that other programs rely on, spread over all messages.
FACTS = [
    ("NetParameter", "layer", 100, "message", None),
    ("NetParameter", "layers", 2, "message", None),
    ("NetParameter", "force_backward", 5, "bool", False),
    ("LayerParameter", "phase", 10, "enum", None),
    ("LayerParameter", "blobs", 7, "message", None),
    ("LayerParameter", "propagate_down", 11, "bool", None),
    ("LayerParameter", "python_param", 130, "message", None),
    ("LayerParameter", "recurrent_param", 146, "message", None),
    ("LayerParameter", "swish_param", 147, "message", None),
    ("LayerParameter", "clip_param", 148, "message", None),
    ("SolverParameter", "type", 40, "string", "SGD"),
    ("SolverParameter", "solver_mode", 17, "enum", "GPU"),
    ("SolverParameter", "snapshot_format", 37, "enum", "BINARYPROTO"),
    ("SolverParameter", "delta", 31, "float", pytest.approx(1e-8)),
    ("SolverParameter", "random_seed", 20, "int64", -1),
    ("SolverParameter", "weights", 42, "string", None),
    ("SolverState", "current_step", 4, "int32", 0),
    ("BlobProto", "data", 5, "float", None),
    ("BlobProto", "double_data", 8, "double", None),
    ("BlobShape", "dim", 1, "int64", None),
    ("Datum", "float_data", 6, "float", None),
    ("Datum", "data", 4, "bytes", None),
    ("NetState", "phase", 1, "enum", "TEST"),
    ("ParamSpec", "lr_mult", 3, "float", 1.0),
    ("FillerParameter", "type", 1, "string", "constant"),
    ("ConvolutionParameter", "dilation", 18, "uint32", None),
    ("ConvolutionParameter", "pad_h", 9, "uint32", 0),
    ("ConvolutionParameter", "stride_h", 13, "uint32", None),
    ("PoolingParameter", "round_mode", 13, "enum", "CEIL"),
    ("LRNParameter", "k", 5, "float", 1.0),
    ("BatchNormParameter", "moving_average_fraction", 2, "float", pytest.approx(0.999)),
    ("DataParameter", "backend", 8, "enum", "LEVELDB"),
    ("ReductionParameter", "operation", 1, "enum", "SUM"),
    ("HingeLossParameter", "norm", 1, "enum", "L1"),
    ("LossParameter", "normalization", 3, "enum", "VALID"),
    ("V1LayerParameter", "loss_param", 42, "message", None),
    ("V0LayerParameter", "hdf5_output_param", 1001, "message", None),
    ("PReLUParameter", "channel_shared", 2, "bool", False),
]


@pytest.mark.parametrize(("message", "name", "number", "kind", "default"), FACTS)
def test_facts(message, name, number, kind, default):
    field = SCHEMA.field_info(message, (name,))
    assert (field.number, field.kind, field.default) == (number, kind, default)
    assert field.has_default == (default is not None)


@pytest.mark.parametrize(
    ("message", "name"), [("BlobShape", "dim"), ("BlobProto", "data"), ("BlobProto", "double_diff")]
)
def test_packed_fields(message, name):
    field = SCHEMA.field_info(message, (name,))
    assert field.packed
    assert field.repeated


def test_clip_bounds_must_be_given():
    assert all(field.required for field in SCHEMA.describe("ClipParameter").fields)


@pytest.mark.parametrize("name", SCHEMA.message_names)
def test_every_message_field_and_choice_is_documented(name):
    info = SCHEMA.describe(name)
    assert info.doc.endswith(".")
    for field in info.fields:
        assert re.fullmatch(r"[A-Z].{8,}\.", field.summary), f"{name}.{field.name}: {field.summary!r}"
        assert "Unit:" not in field.summary
        assert "Default:" not in field.summary
        for choice in field.choices:
            assert choice.doc.endswith("."), f"{name}.{field.name} {choice.name}"


def test_tooltip_states_unit_and_default():
    assert SCHEMA.field_info("ConvolutionParameter", ("stride",)).unit == "pixels"
    assert SCHEMA.field_info("ConvolutionParameter", ("stride",)).doc.endswith("Unit: pixels. Default: 1.")
    assert SCHEMA.field_info("SolverParameter", ("delta",)).default_text == "1e-08"
    assert SCHEMA.field_info("PoolingParameter", ("pool",)).doc.endswith("Default: MAX.")
    assert SCHEMA.field_info("ImageDataParameter", ("root_folder",)).default_text == '""'
    assert "ignored with WITHIN_CHANNEL" in SCHEMA.field_info("LRNParameter", ("k",)).doc


@pytest.mark.parametrize(
    ("comment", "parts"),
    [
        ("Does it.", ("Does it.", "", "")),
        (" Does\n it. Unit: pixels.", ("Does it.", "pixels", "")),
        (
            "Does it. Default: false in training, true in testing.",
            ("Does it.", "", "false in training, true in testing"),
        ),
        ("Does it. Unit: pixels. Default: 1.", ("Does it.", "pixels", "1")),
    ],
)
def test_comments_are_split(comment, parts):
    assert split_comment(comment) == parts


def test_field_paths():
    field = SCHEMA.field_info("NetParameter", ("layer", 3, "convolution_param", "kernel_size", 0))
    assert (field.name, field.kind, field.repeated) == ("kernel_size", "uint32", True)
    assert SCHEMA.field_info("LayerParameter", ("pooling_param", "pool")).enum_values == ("MAX", "AVE", "STOCHASTIC")
    assert SCHEMA.find_field("LayerParameter", ("name", "more")) is None
    with pytest.raises(SchemaError, match=r"LayerParameter has no field 'relu_param\.slope'"):
        SCHEMA.field_info("LayerParameter", ("relu_param", "slope"))
    with pytest.raises(SchemaError, match="'Nothing'"):
        SCHEMA.describe("Nothing")


@pytest.mark.parametrize(
    ("layer_type", "fields"),
    [
        ("Convolution", ("convolution_param",)),
        ("Deconvolution", ("convolution_param",)),
        ("InnerProduct", ("inner_product_param",)),
        ("HDF5Data", ("hdf5_data_param",)),
        ("LRN", ("lrn_param",)),
        ("BatchNorm", ("batch_norm_param",)),
        ("LSTM", ("recurrent_param",)),
        ("Python", ("python_param",)),
        ("Data", ("data_param", "transform_param")),
        ("SoftmaxWithLoss", ("softmax_param", "loss_param")),
        ("SigmoidCrossEntropyLoss", ("loss_param",)),
        ("Split", ()),
        ("Transform", ()),
        ("NoSuchType", ()),
    ],
)
def test_fields_of_layer_types(layer_type, fields):
    assert SCHEMA.param_fields_for(layer_type) == fields
    assert SCHEMA.param_field_for(layer_type) == (fields[0] if fields else None)


def test_every_settings_field_belongs_to_a_layer_type():
    from engine.schema.layer_fields import _SPECIAL

    reached = {name for fields in _SPECIAL.values() for name in fields}
    names = [field.name for field in SCHEMA.describe("LayerParameter").fields if field.name.endswith("_param")]
    for name in set(names) - reached:
        assert SCHEMA.param_field_for(name.removesuffix("_param").replace("_", "")) == name
