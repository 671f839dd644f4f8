"""A wire let go on empty canvas: only what fits, in the order of use."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app.canvas.edits.insert import Origin, insert
from app.canvas.edits.suiting import Suiting, usage
from app.palette.fuzzy import rank
from app.palette.rows import TYPE
from engine.registry import default_registry
from tests.app.canvas.hands import Hands


@pytest.fixture(scope="module")
def suiting() -> Suiting:
    return Suiting(default_registry())


def offered(suiting: Suiting, document, shape, side="output") -> set[str]:
    shapes = {7: SimpleNamespace(tops=(shape,))}
    net = SimpleNamespace(shapes=shapes, graph=document.graph)
    infos = document.registry.infos()
    return {info.type for info in suiting.fitting(net, infos, Origin(7, side, 0))}


@pytest.mark.parametrize(
    ("shape", "fits", "misfits"),
    [
        ((4, 20, 24, 24), {"Convolution", "Pooling", "InnerProduct", "LRN", "Clip", "Tile"}, {"Input", "Data"}),
        (
            (4, 500),
            {"InnerProduct", "Softmax", "ReLU", "Tile", "Eltwise"},
            {"Convolution", "Deconvolution", "Pooling", "LRN", "Data"},
        ),
        ((4, 8, 100), {"Convolution", "InnerProduct"}, {"LRN", "Data"}),
        ((4,), {"ReLU", "Reshape", "Tile"}, {"InnerProduct", "Pooling", "Softmax", "Convolution"}),
        (None, {"Convolution", "Pooling", "InnerProduct"}, {"Input", "Data"}),
    ],
    ids=["image", "vector", "sequence", "labels", "unknown"],
)
def test_only_types_that_take_the_shape_are_offered(suiting, document, shape, fits, misfits):
    found = offered(suiting, document, shape)
    assert fits <= found
    assert not misfits & found


def test_after_a_layer_that_gives_rows_no_window_is_offered_though_its_shape_is_unknown(suiting, document):
    node = document.graph.named("ip1")[0].id
    net = SimpleNamespace(shapes={}, graph=document.graph)
    found = suiting.fitting(net, document.registry.infos(), Origin(node, "output", 0))
    first = [match.info.type for match in rank(found, "", {})]
    assert "InnerProduct" in first and not {"Convolution", "Pooling"} & set(first)


def test_before_an_input_only_types_with_outputs_are_offered(suiting, document):
    found = offered(suiting, document, None, side="input")
    assert "Data" in found
    assert "Silence" not in found


def test_use_in_the_net_orders_what_is_offered(document):
    uses = usage(document, after="Convolution")
    first = [match.info.type for match in rank(document.registry.infos(), "", uses)]
    assert first[0] == "Pooling", "in LeNet a Pooling follows each Convolution"
    assert first.index("InnerProduct") < first.index("LRN")
    assert rank(document.registry.infos(), "lrn", uses)[0].info.type == "LRN"


def test_a_wire_let_go_offers_what_follows_such_a_layer_first(canvas):
    hands = Hands(canvas)
    nowhere = hands.empty()
    hands.drag(hands.output("conv2"), nowhere)
    model = canvas.popup.model
    kinds = [model.index(row, 0).data(TYPE) for row in range(model.rowCount())]
    assert kinds[0] == "Pooling"
    assert "Data" not in kinds
    canvas.popup.hide()


def test_a_measure_beside_a_loss_reads_its_scores(canvas):
    graph, scene = canvas.document.graph, canvas.canvas
    canvas.document.selection.set([graph.named("loss")[0].id])
    new = insert(scene, "Accuracy")
    assert graph.node(new).bottoms == ("ip2", "label")
    canvas.document.selection.set([graph.named("loss")[0].id])
    assert graph.node(insert(scene, "Power")).bottoms == ("loss",), "what is no measure reads what is selected"
