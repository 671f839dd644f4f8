"""Fields and layer types of other Caffes are told apart from slips."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine.diagnostics import diagnose, for_run
from engine.errors import NetcanvasError
from engine.graph import OpGraph
from engine.registry import default_registry
from engine.schema import FileKind, guess_dialect, load_schema, read_net, sniff
from tests.engine.graph.nets import layer
from tests.support import shared_files

REGISTRY = SimpleNamespace(types=lambda: ("Power",), closest=lambda layer_type: "Power", info=lambda layer_type: None)


def diagnostics(text, code, **options):
    return [each for each in diagnose(OpGraph.parse(text), **options) if each.code == code]


@pytest.mark.parametrize(
    ("more", "message", "step"),
    [
        ("permute_param { order: 0 }", "field 'permute_param' belongs to SSD's Caffe.", "Choose ssd, intel or nvidia"),
        ("pooling_param { torch_pooling: true }", "field 'torch_pooling' belongs to NVIDIA's Caffe.", "Choose nvidia"),
        ("permute_parm { order: 0 }", "LayerParameter has no field 'permute_parm'.", "Correct it, or remove it."),
    ],
)
def test_a_field_of_another_caffe_says_whose_it_is(more, message, step):
    (found,) = diagnostics(layer("a", "", "x", more=more), "field-unknown")
    assert found.message == f"Layer 'a': {message}"
    assert found.next_step.startswith(step)


def test_a_field_of_the_net_itself():
    (found,) = diagnostics("default_forward_type: FLOAT16", "field-unknown")
    assert found.message == "Field 'default_forward_type' belongs to NVIDIA's Caffe."


def test_a_dialect_knows_its_own_fields_and_not_what_it_gave_up():
    text = layer("a", "", "x", more="permute_param { order: 0 } clip_param { min: 0 max: 1 }")
    (ssd,) = diagnostics(text, "field-unknown")
    assert "permute_param" in ssd.message
    assert not diagnostics(text, "field-unknown", schema=load_schema("ssd"))
    (intel,) = diagnostics(text, "field-unknown", schema=load_schema("intel"))
    assert intel.message == "Layer 'a': field 'clip_param' belongs to BVLC's Caffe."


def test_layer_types_of_another_caffe_are_no_slips():
    one = layer("p", "", "x", kind="Permute")
    (found,) = diagnostics(one, "type-not-offered", registry=REGISTRY)
    assert found.message == "Layer 'p': layer type 'Permute' of SSD's Caffe is not offered yet."
    assert found.fix is None
    (found,) = diagnostics(one + layer("q", "", "y", kind="Permute"), "type-not-offered", registry=REGISTRY)
    assert found.message.startswith("Layer type 'Permute' of SSD's Caffe, which 2 layers have, is not offered yet: 'p'")
    (found,) = diagnostics(layer("r", "", "x", kind="Perm"), "type-unknown", registry=REGISTRY)
    assert found.next_step == "Did you mean 'Power'?"


POOLS = "".join(layer(name, "", name, more="pooling_param { torch_pooling: true }") for name in "abcd")


def test_what_only_the_dialect_knows_is_told_once_of_each_field():
    (found,) = diagnostics(POOLS, "field-not-offered", schema=load_schema("nvidia"))
    assert found.message == (
        "Field 'torch_pooling' of NVIDIA's Caffe, which 4 layers have, is not offered yet: "
        "'a' (line 1), 'b' (line 2), 'c' (line 3) and 1 more."
    )
    assert (found.line, found.field, len(found.others)) == (1, ("pooling_param", "torch_pooling"), 3)
    assert not diagnostics(POOLS, "field-not-offered", schema=load_schema())


def test_a_word_that_only_the_dialect_knows():
    text = layer("a", "", "x", more="convolution_param { engine: MKLDNN }")
    (found,) = diagnostics(text, "word-unknown")
    assert "MKLDNN" in found.message
    assert not diagnostics(text, "word-unknown", schema=load_schema("intel"))
    (found,) = diagnostics(text, "field-not-offered", schema=load_schema("intel"))
    assert found.message == "Layer 'a': a value that Intel's Caffe has for field 'engine' is not offered yet."
    assert found.field == ("convolution_param", "engine")


def test_a_type_that_is_not_offered_speaks_for_its_fields():
    text = layer("p", "", "x", kind="Permute", more="permute_param { order: 0 }")
    assert not diagnostics(text, "field-not-offered", registry=REGISTRY, schema=load_schema("ssd"))
    (found,) = diagnostics(text.replace("Permute", "Power", 1), "field-not-offered", schema=load_schema("ssd"))
    assert found.message == "Layer 'p': field 'permute_param' of SSD's Caffe is not offered yet."


@pytest.mark.parametrize(
    ("text", "code", "dialect"),
    [
        (layer("a", "", "x", more="permute_parm { }"), "field-unknown", "bvlc"),
        ("nam: 1", "field-unknown", "bvlc"),
        (layer("a", "", "x", more="pooling_param { pool: MAXX }"), "word-unknown", "bvlc"),
        (layer("a", "", "x", kind="Zzz"), "type-unknown", "bvlc"),
        (layer("a", "", "x", kind="Permute"), "type-not-offered", "ssd"),
        (POOLS, "field-not-offered", "nvidia"),
    ],
)
def test_what_is_not_known_is_doubtful_in_a_document_and_wrong_in_a_run(text, code, dialect):
    found = diagnose(OpGraph.parse(text), registry=REGISTRY, schema=load_schema(dialect))
    assert {each.severity for each in found if each.code == code} == {"warning"}
    assert not [each for each in found if each.severity == "error" and each.code != "shape"]
    judged = for_run(found)
    assert {each.severity for each in judged if each.code == code} == {"error"} and judged[0].code == code


@pytest.mark.parametrize("path", shared_files("corpus/prototxt/*/*.prototxt"), ids=lambda path: path.name)
def test_what_a_run_cannot_read_is_an_error_of_it(path):
    """So that ``check`` tells it, whatever dialect the document is shown in."""
    data = path.read_bytes()
    if sniff(data) is not FileKind.NET_TEXT:
        return
    try:
        read_net(data)
    except NetcanvasError:
        graph = OpGraph.parse(data)
        schema = load_schema(guess_dialect(graph.tree).name)
        assert for_run(diagnose(graph, schema=schema, registry=default_registry()))[0].severity == "error"
