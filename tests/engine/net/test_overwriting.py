"""Chains of in-place layers: gradients are right, or a warning says which layer spoils them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import LayerError
from engine.layer import Phase
from engine.net import Net
from tests.engine.net.support import build, input_layer, ip, layer

SLOPE = "relu_param { negative_slope: 0.1 }"


def chain(kinds: str, first_in_place: bool = True) -> str:
    """Return a net: InnerProduct, the layers in place on its top, InnerProduct as a loss."""
    text = "force_backward: true " + input_layer("x", 6, 7) + ip("a", "x", 9)
    for index, kind in enumerate(kinds.split()):
        bottom = "a" if first_in_place or not index else "b"
        top = "a" if first_in_place else "b"
        text += layer(f"l{index}", kind.rstrip("'"), bottom, top, SLOPE if kind.endswith("'") else "")
    return text + ip("loss", "a" if first_in_place else "b", 2, "loss_weight: 1")


def gradient_is_right(net: Net) -> bool:
    rng = np.random.default_rng(3)
    values, direction = rng.normal(size=(2, 6, 7))
    draws = [(each, each.rng.bit_generator.state) for each in net.layers]
    losses = []
    for step in (0, 1e-6, -1e-6):
        for each, state in draws:
            each.rng.bit_generator.state = state
        net.blobs["x"].data[...] = values + step * direction
        losses.append(net.forward())
        if not step:
            net.backward()
    expected = (losses[1] - losses[2]) / 2e-6
    return bool((net.blobs["x"].diff * direction).sum() == pytest.approx(expected, rel=1e-4, abs=1e-7))


@pytest.mark.parametrize(
    ("kinds", "first_in_place", "spoilt_by"),
    [
        ("ReLU Dropout ReLU", True, None),
        ("ReLU' Dropout ReLU'", True, None),
        ("Dropout ReLU TanH", True, None),
        ("Dropout ReLU Sigmoid", True, "l2"),
        ("ReLU Sigmoid", False, None),
        ("TanH ReLU", False, None),
        ("Sigmoid Dropout", True, "l1"),
        ("Sigmoid Dropout", False, "l1"),
        ("TanH Dropout ReLU", True, "l1"),
        ("TanH ReLU'", False, "l1"),
        ("Softmax Sigmoid", False, "l1"),
    ],
)
def test_a_gradient_is_right_or_warned_of(kinds: str, first_in_place: bool, spoilt_by: str | None) -> None:
    net = build(chain(kinds, first_in_place), dtype=np.float64)
    warnings = [each for each in net.warnings if "works in place on" in each]
    assert gradient_is_right(net) is (spoilt_by is None)
    assert [each.partition(" (")[0] for each in warnings] == ([f"Layer '{spoilt_by}'"] if spoilt_by else [])
    assert not any("works in place" in each for each in build(chain(kinds, first_in_place), Phase.TEST).warnings)


@pytest.mark.parametrize(
    ("before", "kind", "reads"),
    [
        (ip("a", "x", 9) + ip("branch", "a", 2), "ReLU", "layer 'branch'"),
        (layer("a", "Eltwise", "x x", body="loss_weight: 1"), "ReLU", "the loss"),
        (ip("a", "x", 9), "Eltwise", "layer 'r'"),
    ],
)
def test_a_layer_in_place_on_what_others_read_is_refused_as_by_caffe(before: str, kind: str, reads: str) -> None:
    bottoms = "a a" if kind == "Eltwise" else "a"
    text = input_layer("x", 6, 7) + before + layer("r", kind, bottoms, "a")
    with pytest.raises(LayerError, match=f"'r'.*in place on 'a', which {reads} reads too"):
        build(text)


def test_a_reader_after_it_reads_what_it_wrote() -> None:
    text = input_layer("x", 6, 7) + ip("a", "x", 9) + layer("r", "ReLU", "a", "a") + ip("b", "a") + ip("c", "a")
    assert list(build(text).blobs)[-2:] == ["b", "c"]
