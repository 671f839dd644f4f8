"""The dialects of Caffe: their messages, how a document's is guessed, and that their numbers are kept apart."""

from __future__ import annotations

import csv
import re
import time
from collections import Counter

import pytest

from engine import prototxt
from engine.errors import SchemaError
from engine.resources import resource_path
from engine.schema import convert, dialect_names, dialects_with, find_dialect, guess_dialect, load_schema
from engine.schema.catalogue import Schema
from engine.schema.merge import local_name
from tests.engine.schema.support import build_script
from tests.support import shared

FORKS = [name for name in dialect_names() if name != "bvlc"]
# What the corpus calls the forks.
CORPUS_NAMES = {"ssd": "ssd", "rfcn": "rfcn", "nvcaffe": "nvidia", "intel": "intel", "sphereface": "sphereface"}


def corpus(keep):
    path = shared("corpus/prototxt/index.csv")
    with path.open(newline="") as file:
        return [(path.parent / row["file"], row) for row in csv.DictReader(file) if keep(row)]


def guess(text, **options):
    return guess_dialect(prototxt.parse(text), **options)


@pytest.mark.parametrize("name", FORKS)
def test_compiled_files_are_up_to_date(name):
    pytest.importorskip("grpc_tools", reason="the compiler is a development tool")
    source = resource_path(f"schema/dialects/{name}.proto")
    assert build_script().compile_schema(source) == source.with_suffix(".desc").read_bytes(), (
        "run: python docs/build_schema.py"
    )


def test_every_description_is_listed():
    files = {path.stem for path in resource_path("schema/dialects/ssd.proto").parent.glob("*.proto")}
    assert files == set(FORKS)
    assert dialect_names()[0] == "bvlc"


@pytest.mark.parametrize("name", FORKS)
def test_everything_is_documented(name):
    schema = load_schema(name)
    for message in schema.message_names:
        info = schema.describe(message)
        assert info.doc.endswith("."), message
        for field in info.fields:
            assert re.fullmatch(r"[A-Z].{8,}\.", field.summary), f"{message}.{field.name}: {field.summary!r}"
            assert not {"Unit:", "Default:"} & set(field.summary.split()), f"{message}.{field.name}"
            for choice in field.choices:
                assert choice.doc.endswith("."), f"{message}.{field.name} {choice.name}"


def test_all_that_fits_a_fork_parses_in_the_guessed_dialect():
    files = corpus(lambda row: row["parses_with_fork"])
    found = Counter()
    for path, row in files:
        tree = prototxt.parse(path.read_bytes())
        guessed = guess_dialect(tree)
        allowed = {CORPUS_NAMES[each] for each in row["parses_with_fork"].split()}
        assert guessed.name in allowed, (row["file"], guessed)
        assert (guessed.score, guessed.left) == (1.0, ()), row["file"]
        type_name = "SolverParameter" if "solver" in path.name else "NetParameter"
        assert convert(tree.root, type_name, schema=load_schema(guessed.name)).problems == (), row["file"]
        found[guessed.name] += 1
    assert found == {"ssd": 7, "rfcn": 5, "intel": 3, "nvidia": 4, "sphereface": 1}


def test_public_nets_without_foreign_fields_are_bvlcs():
    files = corpus(lambda row: not row["unknown_fields"] and row["protoc_bvlc"] == "ok")
    assert len(files) > 80
    for path, row in files:
        guessed = guess_dialect(prototxt.parse(path.read_bytes()))
        assert (guessed.name, guessed.score, guessed.left) == ("bvlc", 1.0, ()), row["file"]


@pytest.mark.parametrize(
    ("text", "name", "explained", "left"),
    [
        ("", "bvlc", (), ()),
        (
            'layer { type: "Permute" permute_param { order: [0, 2] } }',
            "ssd",
            ("layer.permute_param", "type=Permute"),
            (),
        ),
        ('layer { type: "ROIPooling" }', "rfcn", ("type=ROIPooling",), ()),
        ("layer { dropout_param { scale_train: false } }", "rfcn", ("layer.dropout_param.scale_train",), ()),
        ("layer { bn_param { bn_mode: INFERENCE } }", "segnet", ("layer.bn_param",), ()),
        # SegNet's branched off before Tile layers came.
        ("layer { bn_param { } } layer { tile_param { tiles: 2 } }", "enet", ("layer.bn_param",), ()),
        ("layer { forward_type: FLOAT16 }", "nvidia", ("layer.forward_type",), ()),
        (
            "layer { convolution_param { engine: MKLDNN } }",
            "intel",
            ("layer.convolution_param.engine=MKLDNN",),
            (),
        ),
        (
            "layer { margin_inner_product_param { type: DOUBLE } }",
            "sphereface",
            ("layer.margin_inner_product_param",),
            (),
        ),
        ("layer { nobodys_param { permute_param { } } }", "bvlc", (), ("layer.nobodys_param",)),
        ("name { a: 1 }", "bvlc", (), ("name.a",)),
        ("eval_type: 'detection' base_lr: 0.1", "ssd", ("eval_type",), ()),
        ("rampup_lr: 0.1 base_lr: 0.1 eval_type: 'detection'", "nvidia", ("rampup_lr", "eval_type"), ()),
    ],
)
def test_guesses(text, name, explained, left):
    guessed = guess(text)
    assert (guessed.name, set(guessed.explained), guessed.left) == (name, set(explained), left)
    assert guessed.score == (0.0 if left else 1.0)


def test_what_the_best_dialect_leaves_lowers_the_score():
    guessed = guess('layer { permute_param { order: 1 other: 2 } type: "Permute" mine: 3 }')
    assert guessed.name == "ssd"
    assert set(guessed.left) == {"layer.permute_param.other", "layer.mine"}
    assert guessed.score == 0.5


def test_settings_that_merely_share_a_name_do_not_make_a_dialect():
    # Another Caffe has a BN layer as well, with other settings.
    guessed = guess("layer { bn_param { slope_filler { } bias_filler { } frozen: true } }")
    assert (guessed.name, guessed.left) == ("bvlc", ("layer.bn_param",))


@pytest.mark.parametrize("fork", ["ssd", "intel", "nvcaffe", "sphereface"])
def test_numbers_are_those_of_the_fork(fork):
    checked = 0
    schema = load_schema(CORPUS_NAMES[fork])
    with shared("corpus/fork_field_numbers.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            for entry in row["names_by_schema"].split("; "):
                schema_name, name = entry.split("=")
                if schema_name == fork:
                    assert schema.field_info("LayerParameter", (name,)).number == int(row["field_number"])
                    checked += 1
    assert checked >= 9


# Numbers that several forks took for fields of their own.
@pytest.mark.parametrize(
    ("number", "owners"),
    [
        (145, {"bvlc": "parameter_param", "nvidia": "forward_type"}),
        (147, {"bvlc": "swish_param", "enet": "upsample_param", "nvidia": "forward_math", "intel": "swish_param"}),
        (148, {"bvlc": "clip_param", "nvidia": "backward_math", "intel": "smooth_l1_loss_param"}),
        (137, {"bvlc": "embed_param", "segnet": "upsample_param", "enet": "embed_param"}),
    ],
)
def test_numbers_that_clash_are_kept_apart(number, owners):
    for dialect, name in owners.items():
        fields = load_schema(dialect).describe("LayerParameter").fields
        assert [field.name for field in fields if field.number == number] == [name]
        assert len({field.number for field in fields}) == len({field.name for field in fields}) == len(fields)


def test_weights_are_read_by_their_own_dialect():
    text = 'layer { name: "l" smooth_l1_loss_param { sigma: 3 } roi_pooling_param { pooled_size: 7 } }'
    intel = convert(prototxt.parse(text).root, "NetParameter", schema=load_schema("intel")).message
    data = intel.SerializeToString()
    assert load_schema("intel").message("NetParameter").FromString(data) == intel
    assert (
        load_schema("rfcn").message("NetParameter").FromString(data).layer[0].ListFields()
        != intel.layer[0].ListFields()
    )


def test_words_of_enums_follow_the_dialect():
    path = ("loss_param", "normalization")
    numbers = {
        dialect: {each.name: each.number for each in load_schema(dialect).field_info("LayerParameter", path).choices}
        for dialect in ("bvlc", "intel")
    }
    assert numbers["bvlc"]["NONE"] == 3
    assert (numbers["intel"]["PRE_FIXED"], numbers["intel"]["NONE"]) == (3, 4)


def test_a_fork_changes_defaults_and_moves_fields():
    initial = ("test_initialization",)
    assert load_schema().field_info("SolverParameter", initial).default is True
    assert load_schema("nvidia").field_info("SolverParameter", initial).default is False
    places = [load_schema(name).field_info("TransformationParameter", ("crop_h",)).number for name in ("ssd", "nvidia")]
    assert places == [11, 211]


def test_dialects_build_on_others():
    nested = ("transform_param", "resize_param", "interp_mode")
    for name in ("ssd", "nvidia", "intel"):
        assert "LANCZOS4" in load_schema(name).field_info("LayerParameter", nested).enum_values
    assert dialects_with("LayerParameter", "permute_param") == ("ssd", "intel", "nvidia")
    assert dialects_with("ClassMapping", "src") == ("nvidia",)
    assert dialects_with("LayerParameter", "convolution_param")[0] == "bvlc"
    assert dialects_with("LayerParameter", "permute_parm") == ()


def test_bvlcs_schema_stays_what_it_is():
    before = load_schema().message_names
    for name in FORKS:
        load_schema(name)
    assert Schema().message_names == before
    assert load_schema() is load_schema("bvlc")
    assert load_schema().find_field("LayerParameter", ("permute_param",)) is None
    assert [load_schema(name).dialect for name in dialect_names()] == list(dialect_names())


@pytest.mark.parametrize(
    ("dialect", "layer_type", "fields"),
    [
        ("bvlc", "Normalize", ()),
        ("ssd", "Normalize", ("norm_param",)),
        ("ssd", "MultiBoxLoss", ("multibox_loss_param",)),
        ("ssd", "AnnotatedData", ("annotated_data_param", "data_param", "transform_param")),
        ("rfcn", "PSROIPooling", ("psroi_pooling_param",)),
        ("enet", "BN", ("bn_param",)),
        ("nvidia", "TRT", ("trt_param",)),
        ("intel", "SmoothL1LossOHEM", ("smooth_l1_loss_param", "loss_param")),
    ],
)
def test_settings_of_layer_types(dialect, layer_type, fields):
    assert load_schema(dialect).param_fields_for(layer_type) == fields


def test_an_unknown_dialect_is_refused():
    with pytest.raises(SchemaError, match=r"'klingon'.*bvlc, ssd"):
        load_schema("klingon")
    assert find_dialect("ssd").title == "SSD's Caffe"


def test_local_names():
    assert local_name(".caffe.ssd.Sampler") == ".caffe.Sampler"
    assert local_name("caffe.ssd.Sampler.min_scale") == "caffe.Sampler.min_scale"
    assert local_name("caffe.LayerParameter.name") == "caffe.LayerParameter.name"


@pytest.mark.parametrize("name", dialect_names())
def test_a_pool_is_built_quickly(name):
    times = []
    for _ in range(5):
        start = time.thread_time()
        Schema(name).message("NetParameter")
        times.append(time.thread_time() - start)
    assert min(times) < 0.030
