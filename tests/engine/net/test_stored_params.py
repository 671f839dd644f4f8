"""Weights inside the net's own file fill parameters, as in Caffe; and layers that weights cannot tell apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import LayerError
from engine.files import load_weights, read_weights, write_weights
from tests.engine.net.support import build, input_layer, ip, layer

WEIGHT = "blobs { shape { dim: 1 dim: 2 } data: 3 data: 4 }"
OLD_WEIGHT = "blobs { num: 1 channels: 1 height: 1 width: 2 data: 3 data: 4 }"
BIAS = "blobs { shape { dim: 1 } data: 5 }"


def text(blobs: str, more: str = "") -> str:
    settings = f'inner_product_param {{ num_output: 1 weight_filler {{ type: "xavier" }} {more} }}'
    return input_layer("x", 1, 2) + layer("a", "InnerProduct", "x", body=f"{settings} {blobs}")


@pytest.mark.parametrize("weight", [WEIGHT, OLD_WEIGHT])
def test_stored_values_stand_in_for_the_fillers(weight: str) -> None:
    net = build(text(weight + BIAS))
    assert [blob.data.tolist() for blob in net.params["a"]] == [[[3, 4]], [5]]
    assert [param.blob for param in net.learnable] == net.params["a"]
    net.blobs["x"].data[...] = 1
    net.forward()
    assert net.blobs["a"].data.tolist() == [[12]]


@pytest.mark.parametrize(
    ("blobs", "more", "message"),
    [
        (WEIGHT, "", "expected 2 blobs in the net's file, .*got 1"),
        (WEIGHT.replace("dim: 1 dim: 2", "dim: 2 dim: 1"), "bias_term: false", r"shape \(1, 2\), got \(2, 1\)"),
        (WEIGHT.replace("data: 4", ""), "bias_term: false", "blob 0 in the net's file: .*holds 1 values"),
    ],
)
def test_what_does_not_fit_is_refused(blobs: str, more: str, message: str) -> None:
    with pytest.raises(LayerError, match=f"'a' \\(InnerProduct\\): .*{message}"):
        build(text(blobs, more))


def test_the_trained_net_wins_over_stored_values() -> None:
    trained = build(text(""))
    net = build(text(WEIGHT + BIAS), share_with=trained)
    assert net.params["a"][0].shares_data_with(trained.params["a"][0])


def test_shapes_alone_need_no_values() -> None:
    net = build(text(WEIGHT + BIAS), shapes_only=True)
    assert net.params["a"][0].shape == (1, 2)
    with pytest.raises(LayerError, match="expected 2 blobs"):
        build(text(WEIGHT), shapes_only=True)


def test_a_file_of_weights_is_a_net_that_has_them(tmp_path: Path) -> None:
    net = build(input_layer("x", 4, 2) + ip("a", "x"))
    write_weights(net, tmp_path / "w.caffemodel")
    again = build(read_weights(tmp_path / "w.caffemodel"))
    assert (again.params["a"][0].data == net.params["a"][0].data).all()
    write_weights(again, tmp_path / "again.caffemodel")
    assert (tmp_path / "again.caffemodel").read_bytes() == (tmp_path / "w.caffemodel").read_bytes()


def test_two_layers_of_one_name_are_warned_of(tmp_path: Path) -> None:
    """Caffe allows it; weights by name then reach only one of them."""
    twice = input_layer("x", 4, 3) + ip("a", "x", top="b") + ip("a", "b", top="c")
    net = build(twice)
    (warning,) = [each for each in net.warnings if "named 'a'" in each]
    assert warning.startswith("2 layers with parameters are named 'a' in phase TRAIN")
    phases = ip("a", "x", top="b", body="include { phase: TRAIN }") + ip(
        "a", "x", top="b", body="include { phase: TEST }"
    )
    assert not [each for each in build(input_layer("x", 4, 3) + phases).warnings if "named" in each]
    write_weights(net, tmp_path / "w.caffemodel")
    assert load_weights(net, tmp_path / "w.caffemodel").loaded == ("a",)
