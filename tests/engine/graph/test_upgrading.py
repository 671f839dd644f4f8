"""One undoable edit brings an old document to today's format."""

from __future__ import annotations

import pytest

from engine.errors import SchemaError
from engine.graph import OpGraph, is_old, upgraded_text, why_not_upgraded

OLD = """\
layers { name: 'd' type: DATA top: 'x' }
# the same
layers { name: 'r' type: RELU bottom: 'x' top: 'x' }
layers { layer { name: 'c' type: 'conv' pad: 1 } bottom: 'x' top: 'c' }
"""


def test_ids_and_wires_stay_and_undo_brings_the_bytes_back():
    """B6, B7."""
    graph = OpGraph.parse(OLD)
    ids, edges = graph.node_ids(), set(graph.edges())
    with graph.change("Upgrade") as change:
        graph.replace_text(upgraded_text(graph))
    assert graph.node_ids() == ids and set(graph.edges()) == edges
    assert [node.version for node in graph.nodes()] == [2, 2, 2] and "# the same" in graph.text
    assert not is_old(graph) and upgraded_text(graph) == graph.text
    change.undo()
    assert graph.text == OLD and is_old(graph)


@pytest.mark.parametrize(
    ("layer", "lacks", "step"),
    [
        (
            "type: BATCH_NORM batch_norm_param { eps: 1 }",
            "neither a type BATCH_NORM nor a field 'batch_norm_param'",
            "",
        ),
        ("type: RELUU batch_norm_param { eps: 1 }", "neither a type RELUU", "its type RELU."),
        ("type: RELU batch_norm_param { eps: 1 }", "no field 'batch_norm_param'", "remove 'batch_norm_param'"),
    ],
)
def test_a_layer_that_its_format_never_had_is_named(layer: str, lacks: str, step: str):
    graph = OpGraph.parse(f"layers {{ name: 'a' {layer} bottom: 'd' top: 'b' }}\n")
    with pytest.raises(SchemaError, match="Layer 'a' cannot be upgraded") as caught:
        upgraded_text(graph)
    assert lacks in str(caught.value) and step in str(caught.value) and "Report" not in str(caught.value)
    assert why_not_upgraded(graph) == str(caught.value)
    assert not why_not_upgraded(OpGraph.parse(OLD))


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_net_on_one_line_stays_on_one(end: str):
    old = """name: 'n' input: 'x' input_dim: [1, 2, 3, 4] layers { name: 'r' type: RELU bottom: 'x' top: 'x' } """
    old += "layers{ name: 'p' type: POOLING bottom: 'x' top: 'p' pooling_param { kernel_size: 2 } }"
    text = upgraded_text(OpGraph.parse(old + end))
    assert text.endswith("} }" + end) and "\n" not in text.strip() and text.count("  ") == 0
    assert [node.type for node in OpGraph.parse(text).nodes()] == ["Input", "ReLU", "Pooling"]
