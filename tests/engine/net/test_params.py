"""Parameters: multipliers, sharing within a net and between nets."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import LayerError
from engine.layer import Phase
from tests.engine.net.support import build, fill_inputs, input_layer, ip, layer

X = input_layer("x", 2, 3)
SHARED = 'param { name: "w" } param { name: "b" }'


def test_multipliers_and_names() -> None:
    net = build(X + ip("a", "x", body='param { name: "w" lr_mult: 2 decay_mult: 0.5 } param { lr_mult: 0 }'))
    weight, bias = net.learnable
    assert (weight.name, weight.layer, weight.index, weight.lr_mult, weight.decay_mult) == ("w", "a", 0, 2, 0.5)
    assert (bias.name, bias.lr_mult, bias.decay_mult) == ("a[1]", 0, 1)


def test_params_hold_layers_with_blobs_in_net_order() -> None:
    net = build(X + ip("z", "x", body="") + layer("r", "ReLU", "z") + ip("a", "r", 2))
    assert list(net.params) == ["z", "a"]
    assert [len(blobs) for blobs in net.params.values()] == [2, 2]
    assert net.params["z"][0].shape == (3, 3)


def test_shared_by_name_is_one_blob_stepped_once() -> None:
    text = X + input_layer("t", 2, 3) + ip("a", "x", body=SHARED) + ip("b", "a", body=SHARED)
    net = build(text + layer("loss", "EuclideanLoss", "b t"))
    assert [param.name for param in net.learnable] == ["w", "b"]
    net.params["a"][0].data[...] = 4
    assert (net.params["b"][0].data == 4).all()
    fill_inputs(net)
    net.forward()
    net.backward()
    assert np.shares_memory(net.params["a"][0].diff, net.params["b"][0].diff)


def test_strict_sharing_wants_equal_shapes_permissive_equal_counts() -> None:
    def text(mode: str, outputs: int) -> str:
        first = ip("a", "x", 2, 'param { name: "w" }')
        body = f'param {{ name: "w" share_mode: {mode} }}'
        return (
            X
            + first
            + layer("y", "Input", "", "y", "input_param { shape { dim: 4 dim: 2 } }")
            + ip("b", "y", outputs, body)
        )

    with pytest.raises(LayerError, match=r"'b'.*'w' with layer 'a'.*\(2, 3\), got shape.*\(3, 2\).*PERMISSIVE"):
        build(text("STRICT", 3))
    net = build(text("PERMISSIVE", 3))
    net.params["a"][0].data[...] = np.arange(6).reshape(2, 3)
    assert net.params["b"][0].data.tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(LayerError, match="6 elements, got shape"):
        build(text("PERMISSIVE", 4))


def test_shared_multipliers_must_agree() -> None:
    text = X + ip("a", "x", body='param { name: "w" lr_mult: 2 }')
    assert build(text + ip("b", "a", body='param { name: "w" decay_mult: 0 }')).learnable[0].decay_mult == 0
    with pytest.raises(LayerError, match="lr_mult 3.0 differs from 2.0 in layer 'a'"):
        build(text + ip("b", "a", body='param { name: "w" lr_mult: 3 }'))


def test_surplus_param_blocks_are_refused() -> None:
    with pytest.raises(LayerError, match="at most 2 param blocks.*got 3"):
        build(X + ip("a", "x", body="param {} param {} param {}"))


def test_test_net_uses_the_memory_of_the_train_net() -> None:
    text = X + ip("a", "x") + ip("b", "a", body="include { phase: TRAIN }")
    train = build(text)
    test = build(text, Phase.TEST, share_with=train)
    train.params["a"][0].data[...] = 9
    assert (test.params["a"][0].data == 9).all()
    assert test.params["a"][0].shares_data_with(train.params["a"][0])
    assert not np.shares_memory(test.params["a"][0].diff, train.params["a"][0].diff)


def test_sharing_with_another_shape_is_refused() -> None:
    with pytest.raises(LayerError, match=r"'a'.*expected shape \(3, 3\).*got \(4, 3\)"):
        build(X + ip("a", "x", 4), Phase.TEST, share_with=build(X + ip("a", "x", 3)))


def test_same_seed_same_values_and_no_layer_moves_another() -> None:
    plain = build(X + ip("a", "x"))
    more = build(X + ip("z", "x", 5) + ip("a", "x"))
    assert np.array_equal(plain.params["a"][0].data, more.params["a"][0].data)
    assert not np.array_equal(more.params["z"][0].data[:3], more.params["a"][0].data)


def test_state_restores_random_streams() -> None:
    net = build(X + layer("d", "Dropout", "x"))
    net.blobs["x"].data[...] = 1
    state = net.get_state()
    net.forward()
    state = net.get_state()
    net.forward()
    second = net.blobs["d"].data.copy()
    net.set_state(state)
    net.forward()
    assert np.array_equal(net.blobs["d"].data, second)


def test_shapes_only_touches_no_memory() -> None:
    net = build(input_layer("x", 100_000, 3_000) + ip("a", "x", 100_000), shapes_only=True)
    assert net.blobs["a"].shape == (100_000, 100_000)
    assert net.params["a"][0].shape == (100_000, 3_000)
