"""Split layers: names, places and loss weights as Caffe's."""

from __future__ import annotations

import numpy as np

from engine.net import insert_splits
from engine.schema import read_net
from tests.engine.net.support import build, fill_inputs, input_layer, ip, layer


def test_names_and_places() -> None:
    text = input_layer("x", 2, 3) + layer("a", "ReLU", "x", "y z") + layer("b", "TanH", "z") + layer("c", "TanH", "z")
    split = insert_splits(read_net(text))
    assert [item.name for item in split.layer] == ["x", "a", "z_a_1_split", "b", "c"]
    assert list(split.layer[2].bottom) == ["z"]
    assert list(split.layer[2].top) == ["z_a_1_split_0", "z_a_1_split_1"]
    assert [list(item.bottom) for item in split.layer[3:]] == [["z_a_1_split_0"], ["z_a_1_split_1"]]


def test_readers_before_and_after_an_in_place_layer_read_different_versions() -> None:
    text = input_layer("x", 2, 3) + ip("a", "x") + layer("r", "ReLU", "a", "a") + layer("b", "TanH", "a")
    split = insert_splits(read_net(text + layer("c", "TanH", "a")))
    assert [item.name for item in split.layer] == ["x", "a", "r", "a_r_0_split", "b", "c"]
    assert list(split.layer[2].bottom) == ["a"]


def test_loss_weight_of_a_blob_that_is_read_moves_to_the_split() -> None:
    text = input_layer("x", 2, 3) + layer("a", "ReLU", "x", "y", "loss_weight: 0.5") + layer("b", "TanH", "y")
    split = insert_splits(read_net(text))
    assert list(split.layer[2].loss_weight) == [0.5, 0]
    assert list(split.layer[1].loss_weight) == [0]
    assert list(split.layer[3].bottom) == ["y_a_0_split_1"]


def test_the_other_loss_weights_of_a_layer_stay() -> None:
    text = input_layer("x", 2, 3) + layer("a", "Split", "x", "y z", "loss_weight: 0.5 loss_weight: 2")
    split = insert_splits(read_net(text + layer("b", "TanH", "y")))
    assert list(split.layer[1].loss_weight) == [0, 2]


def test_gradients_of_all_readers_are_summed() -> None:
    text = "force_backward: true " + input_layer("x", 2, 3)
    text += "".join(layer(f"l{k}", "Eltwise", "x x", body="eltwise_param { coeff: 1 coeff: 2 }") for k in range(3))
    net = build(text)
    fill_inputs(net)
    net.forward()
    for k in range(3):
        net.blobs[f"l{k}"].diff[...] = k + 1
    net.backward()
    assert np.allclose(net.blobs["x"].diff, 3 * (1 + 2 + 3))


def test_weighted_blob_that_is_read_counts_once_in_the_loss() -> None:
    text = "force_backward: true " + input_layer("x", 2, 2)
    text += layer("y", "Eltwise", "x x", body="loss_weight: 0.5") + layer("z", "Eltwise", "y y")
    net = build(text)
    net.blobs["x"].data[...] = 1
    assert net.forward() == 0.5 * 2 * 4
    net.blobs["z"].diff[...] = 1
    net.backward()
    assert np.allclose(net.blobs["x"].diff, 2 * (0.5 + 2))
