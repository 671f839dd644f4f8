"""Fields and layer types of other Caffes are told apart from slips."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine.diagnostics import diagnose
from engine.graph import OpGraph
from engine.schema import load_schema
from tests.engine.graph.nets import layer

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
