"""A plugin that stands in for a built-in layer type, in layers that set a field of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.graph import OpGraph
from engine.inspection import InspectionClient, LayerShapes
from engine.layer import Phase
from engine.layer_specs import graph_layers
from engine.net import Net
from engine.registry import LayerRegistry, default_registry
from engine.shapes import NodeShapes, ShapeService
from tests.engine.plugins.timing_plugin import plugin

DOUBLING = """
    from engine.api import Layer


    class Doubling(Layer):
        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            top[0].data[...] = 2 * bottom[0].data

        def backward(self, top, propagate_down, bottom):
            bottom[0].diff[...] = 2 * top[0].diff
"""
MANIFEST = """
    [plugin]
    name = "doubling"
    schema = "times.proto"

    [types.ReLU]
    module = "inside.times"
    class = "Doubling"
    only_with = ["relu_param.doubled", "relu_param.single", "relu_param.factors", "relu_param.pairs[1]"]
"""
PROTO = """
    message ReLUParameter {
      optional bool doubled; optional bool single [default = true]; repeated float factors; repeated int32 pairs;
    }
"""


def net(folder: Path, fields: str, registry: LayerRegistry | None = None) -> Net:
    text = (
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }'
        f'layer {{ name: "r" type: "ReLU" bottom: "x" top: "y" relu_param {{ {fields} }} }}'
    )
    made = Net(text, Phase.TRAIN, base_dirs=[folder], registry=registry)
    made.blobs["x"].data[...] = [-1, 3]
    made.forward()
    return made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    plugin(tmp_path / "plugins" / "p", MANIFEST, PROTO, inside__times=DOUBLING)
    return tmp_path


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("", [0, 3]),
        ("negative_slope: 0.5", [-0.5, 3]),
        ("doubled: false", [0, 3]),
        ("doubled: true", [-2, 6]),
        ("single: true", [0, 3]),
        ("single: false", [-2, 6]),
        ("factors: 1", [-2, 6]),
        ("pairs: 1", [0, 3]),
        ("pairs: [0, 0]", [-2, 6]),
    ],
)
def test_only_layers_that_set_the_field_are_the_plugins(project: Path, fields: str, expected: list[float]) -> None:
    np.testing.assert_array_equal(net(project, fields).blobs["y"].data, expected)


def test_the_type_stays_built_in_and_the_layer_is_told_whose_it_is(project: Path) -> None:
    info = default_registry([project]).info("ReLU")
    assert info is not None and info.builtin and not info.plugin
    mine, theirs = (net(project, fields).layer("r").info for fields in ("doubled: true", ""))
    assert (mine.builtin, mine.plugin, mine.tops) == (False, "doubling", info.tops)
    assert theirs == info


def test_an_untrusted_project_stands_in_for_nothing(project: Path) -> None:
    registry = default_registry([project], trusted=False)
    np.testing.assert_array_equal(net(project, "doubled: true", registry).blobs["y"].data, [0, 3])


def test_safe_mode_knows_neither_the_field_nor_the_layer(project: Path) -> None:
    with pytest.raises(NetcanvasError, match="doubled"):
        net(project, "doubled: true", default_registry([project], safe=True))


def test_a_type_that_nobody_has_is_not_made_by_a_variant(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("types.ReLU", "types.Nothing")
    plugin(tmp_path / "plugins" / "p", manifest, PROTO, inside__times=DOUBLING)
    assert "Nothing" not in default_registry([tmp_path])


def test_a_variant_may_have_more_tops(tmp_path: Path) -> None:
    more = DOUBLING.replace("top[0].reshape(*bottom[0].shape)", "[blob.reshape(*bottom[0].shape) for blob in top]")
    manifest = MANIFEST.replace('["relu_param.doubled"', '["top[1]"') + '    tops = ["doubled", "rest?"]'
    plugin(tmp_path / "plugins" / "p", manifest, PROTO, inside__times=more)
    registry = default_registry([tmp_path])
    info = registry.info("ReLU")
    assert info is not None and info.builtin and info.max_tops == 2 and info.top_name(1) == "rest"
    text = (
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }'
        'layer { name: "one" type: "ReLU" bottom: "x" top: "y" }'
        'layer { name: "two" type: "ReLU" bottom: "x" top: "z" top: "rest" }'
    )
    made = Net(text, Phase.TRAIN, base_dirs=[tmp_path], registry=registry)
    made.blobs["x"].data[...] = [-1, 3]
    made.forward()
    assert [made.layer(name).info.plugin for name in ("one", "two")] == ["", "doubling"]
    assert made.blobs["y"].data.tolist() == [0, 3] and made.blobs["z"].data.tolist() == [-2, 6]


def test_a_plugin_may_extend_a_type_that_reads_its_field(tmp_path: Path) -> None:
    """Checks then know the field in layers of that type, and in no others."""
    manifest = MANIFEST.replace('schema = "times.proto"', 'schema = "times.proto"\n    extends = ["Pooling"]')
    proto = f"{PROTO} message PoolingParameter {{ optional bool ceil; }}"
    plugin(tmp_path / "plugins" / "p", manifest, proto, inside__times=DOUBLING)
    schema = default_registry([tmp_path]).schema()
    fields = {
        kind: schema.for_layer(kind).message("PoolingParameter").DESCRIPTOR.fields_by_name
        for kind in ("Pooling", "LRN")
    }
    assert "ceil" in fields["Pooling"] and "ceil" not in fields["LRN"]


class Asked(InspectionClient):
    """A client that is asked and answers with a shape of its own."""

    def layer_shapes(self, layer_param: Any, phase: Phase, bottoms: Any, **where: Any) -> LayerShapes:
        assert layer_param.relu_param.doubled
        return LayerShapes(tops=((7,),), params=())


@pytest.mark.parametrize("trusted", [False, True])
def test_the_editor_reads_the_fields_and_leaves_the_code_to_the_inspection(project: Path, trusted: bool) -> None:
    inputs = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }'
    relu = 'layer { name: "r" type: "ReLU" bottom: "x" top: "y" relu_param { doubled: %s } }'
    service = ShapeService(registry=default_registry([project]), client=Asked())

    def shapes(doubled: str) -> NodeShapes:
        layers = graph_layers(OpGraph.parse(inputs + relu % doubled))
        found = service.infer(layers, Phase.TRAIN, base_dirs=[project], trusted=trusted)
        return list(found.values())[1]

    assert (shapes("false").state, shapes("false").tops) == ("known", ((2,),))
    theirs = shapes("true")
    if trusted:
        assert theirs.tops == ((7,),)
    else:
        assert theirs.state == "unknown" and "not trusted" in theirs.reason


def test_a_field_of_a_built_in_layer_in_a_real_inspection(project: Path) -> None:
    text = (
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }'
        'layer { name: "r" type: "ReLU" bottom: "x" top: "y" relu_param { doubled: true } }'
    )
    client = InspectionClient()
    try:
        service = ShapeService(registry=default_registry([project]), client=client)
        found = service.infer(graph_layers(OpGraph.parse(text)), Phase.TRAIN, base_dirs=[project], trusted=True)
    finally:
        client.close()
    assert [node.tops for node in found.values()] == [((2,),), ((2,),)]
