"""A wire that would not fit is told before it is let go, in nets of every format."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app.canvas.edits.fitting import fit_problem
from engine.graph import OpGraph, upgraded_text
from engine.layer import Phase
from engine.registry import default_registry
from engine.shapes import ShapeService, graph_layers

OLD = """\
layers { name: "d" type: DUMMY_DATA top: "x" top: "y"
  dummy_data_param { shape { dim: 1 dim: 3 dim: 5 dim: 5 } shape { dim: 1 dim: 3 dim: 1 dim: 1 } } }
layers { name: "c" type: CONVOLUTION bottom: "?" top: "c" convolution_param { num_output: 2 kernel_size: 3 } }
"""


@pytest.mark.parametrize("is_old", [True, False])
def test_shapes_that_do_not_fit_are_told(is_old: bool) -> None:
    graph = OpGraph.parse(OLD)
    if not is_old:
        graph = OpGraph.parse(upgraded_text(graph))
    registry = default_registry()
    source, target = (node.id for node in graph.nodes())
    shapes = ShapeService(registry=registry).infer(graph_layers(graph), Phase.TRAIN)
    if shapes[source].tops != ((1, 3, 5, 5), (1, 3, 1, 1)):
        pytest.skip("DummyData is not offered yet")
    document = SimpleNamespace(graph=graph, registry=registry, shapes=shapes)
    assert fit_problem(document, source, 0, target, 0) == ""
    assert "kernel" in fit_problem(document, source, 1, target, 0).lower()
