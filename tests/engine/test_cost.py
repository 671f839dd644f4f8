"""Costs of layers and nets against values computed by hand, and against the literature."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from engine.cost import LayerCost, layer_cost, net_cost
from engine.layer import Phase
from engine.net import Net, NetNode
from engine.schema import read_net
from engine.shapes import NodeShapes
from tests.engine.net.support import input_layer, layer
from tests.support import shared


def cost_of(node: NetNode) -> LayerCost:
    shapes = NodeShapes(
        tuple(blob.shape for blob in node.bottoms),
        tuple(blob.shape for blob in node.tops),
        tuple(blob.shape for blob in node.blobs),
    )
    return layer_cost(node.type, shapes, [blob in node.bottoms for blob in node.tops])


def cost(layer_type: str, *bottoms: tuple[int, ...], tops: str = "y", body: str = "") -> LayerCost:
    names = [f"x{index}" for index in range(len(bottoms))]
    text = "".join(input_layer(name, *shape) for name, shape in zip(names, bottoms, strict=True))
    net = Net(text + layer("l", layer_type, " ".join(names), tops, body), Phase.TRAIN, shapes_only=True)
    return cost_of(net.nodes[-1])


def of(layer_type: str, *bottoms: tuple[int, ...], **options: str) -> Callable[[], LayerCost]:
    return partial(cost, layer_type, *bottoms, **options)


CONV = "convolution_param { num_output: 6 kernel_size: 3 group: 2 "
RNN = "recurrent_param { num_output: 5 }"
T, N, IN, D, S = 7, 2, 3, 5, 4


@pytest.mark.parametrize(
    ("compute", "parameters", "multiply_adds", "activations"),
    [
        (of("Convolution", (2, 4, 6, 5), body=CONV + "}"), 6 * 2 * 9 + 6, 2 * 6 * 4 * 3 * 2 * 9, 2 * 6 * 4 * 3),
        (
            of("Convolution", (2, 4, 6, 5), (2, 4, 6, 5), tops="y z", body=CONV + "}"),
            6 * 2 * 9 + 6,
            2 * 2 * 6 * 4 * 3 * 2 * 9,
            2 * 2 * 6 * 4 * 3,
        ),
        (of("Deconvolution", (2, 4, 3, 3), body=CONV + "stride: 2 }"), 4 * 3 * 9 + 6, 2 * 4 * 9 * 3 * 9, 2 * 6 * 49),
        (of("InnerProduct", (3, 2, 5), body="inner_product_param { num_output: 4 }"), 44, 3 * 4 * 10, 12),
        (
            of("InnerProduct", (3, 2, 5), body="inner_product_param { num_output: 4 axis: 2 transpose: true }"),
            24,
            6 * 4 * 5,
            24,
        ),
        (of("Scale", (2, 3, 4), body="scale_param { bias_term: true }"), 6, 24, 24),
        (of("Scale", (2, 3, 4), (2, 3), body="scale_param { axis: 0 bias_term: true }"), 6, 0, 24),
        (of("PReLU", (2, 3, 4)), 3, 24, 24),
        (of("BatchNorm", (2, 3, 4)), 7, 0, 24),
        (of("Bias", (2, 3, 4)), 3, 0, 24),
        (of("Embed", (2, 3), body="embed_param { num_output: 4 input_dim: 9 }"), 40, 0, 24),
        (of("LSTM", (T, N, IN), (T, N), body=RNN), 4 * D * (IN + D + 1), T * N * 4 * D * (IN + D), T * N * D),
        (
            of("LSTM", (T, N, IN), (T, N), (N, S), body=RNN),
            4 * D * (IN + S + D + 1),
            T * N * 4 * D * (IN + D) + N * 4 * D * S,
            T * N * D,
        ),
        (of("RNN", (T, N, IN), (T, N), body=RNN), D * (IN + 2 * D + 2), T * N * D * (IN + 2 * D), T * N * D),
        (
            of("RNN", (T, N, IN), (T, N), (N, S), body=RNN),
            D * (IN + S + 2 * D + 2),
            T * N * D * (IN + 2 * D) + N * D * S,
            T * N * D,
        ),
        (of("ReLU", (2, 3), tops="x0"), 0, 0, 0),
        (of("ReLU", (2, 3)), 0, 0, 6),
        (of("Flatten", (2, 3, 4)), 0, 0, 0),
        (of("Split", (2, 3), tops="y z"), 0, 0, 0),
        (of("Concat", (2, 3)), 0, 0, 0),
        (of("Concat", (2, 3), (2, 1)), 0, 0, 8),
        (of("Slice", (2, 3), tops="y z w"), 0, 0, 6),
        (of("Parameter", body="parameter_param { shape { dim: 5 } }"), 5, 0, 0),
        (of("SoftmaxWithLoss", (4, 3), (4,), tops="y z"), 0, 0, 1 + 12),
        (of("Silence", (2, 3), tops=""), 0, 0, 0),
    ],
)
def test_cost_of_a_layer(
    compute: Callable[[], LayerCost], parameters: int, multiply_adds: int, activations: int
) -> None:
    actual = compute()
    assert (actual.parameters, actual.multiply_adds, actual.activations) == (parameters, multiply_adds, activations)


@pytest.mark.parametrize(
    ("compute", "gradients"),
    [
        (of("Split", (2, 3), tops="y z"), 12),
        (of("Reshape", (2, 3), body="reshape_param { shape { dim: -1 } }"), 0),
        (of("Concat", (2, 3)), 0),
        (of("Parameter", body="parameter_param { shape { dim: 5 } }"), 5),
        (of("DummyData", body="dummy_data_param { shape { dim: 5 } }"), 0),
        (of("TanH", (2, 3)), 6),
    ],
)
def test_gradients_have_memory_where_they_are_no_views(compute: Callable[[], LayerCost], gradients: int) -> None:
    assert compute().gradients == gradients


def test_memory_of_a_net() -> None:
    whole = net_cost([LayerCost(10, 100, 7, 3), LayerCost(5, 20, 2, 2)], shared=5)
    assert (whole.parameters, whole.multiply_adds) == (10, 120)
    assert (whole.weights, whole.activations, whole.inference) == (40, 36, 76)
    assert whole.training == 3 * 40 + 36 + 20


@pytest.mark.parametrize(
    ("file", "multiply_adds", "parameters"),
    [  # of one image: Krizhevsky et al. 2012; Szegedy et al. 2014, table 1; He et al. 2015, table 1
        ("bvlc/models__bvlc_alexnet__deploy.prototxt", 724e6, 61.0e6),
        ("bvlc/models__bvlc_googlenet__deploy.prototxt", 1.58e9, 7.0e6),
        ("resnet/ResNet-50-deploy.prototxt", 3.86e9, 25.6e6),
    ],
)
def test_cost_of_published_nets(file: str, multiply_adds: float, parameters: float) -> None:
    param = read_net(shared("corpus/prototxt").joinpath(file))
    net = Net(param, Phase.TEST, shapes_only=True)
    batch = net.blobs[net.inputs[0]].shape[0]
    total = net_cost(cost_of(node) for node in net.nodes)
    assert total.multiply_adds / batch == pytest.approx(multiply_adds, rel=0.01)
    assert total.parameters == pytest.approx(parameters, rel=0.01)
