"""Which layers the backward pass calls, and with what."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import LayerError
from engine.layer import Phase
from engine.net import Net
from tests.engine.net.support import Probe, build, fill_inputs, input_layer, ip, layer

LOSS = layer("loss", "EuclideanLoss", "p t")


def probe(net: Net, name: str = "p") -> Probe:
    found = net.layer(name)
    assert isinstance(found, Probe)
    return found


def passed(text: str) -> Net:
    net = build(text)
    fill_inputs(net)
    net.forward()
    net.backward()
    return net


def test_a_layer_with_nothing_to_learn_below_is_not_called_and_says_why() -> None:
    net = passed(input_layer("x", 2, 3) + input_layer("t", 2, 3) + layer("p", "Probe", "x") + LOSS)
    assert probe(net).calls["backward"] == 0
    needed, reason = net.needs_backward["p"]
    assert not needed
    assert "neither it nor a layer below it has parameters" in reason


def test_force_backward_calls_it() -> None:
    text = input_layer("x", 2, 3) + input_layer("t", 2, 3) + layer("p", "Probe", "x") + LOSS
    net = passed("force_backward: true " + text)
    assert probe(net).calls["backward"] == 1
    assert probe(net).propagated == [[True]]
    assert np.abs(net.blobs["x"].diff).min() > 0


def test_labels_get_no_gradient_even_by_force() -> None:
    text = "force_backward: true " + input_layer("x", 2, 3) + input_layer("label", 2)
    net = passed(text + layer("loss", "SoftmaxWithLoss", "x label"))
    node = next(node for node in net.nodes if node.name == "loss")
    assert node.propagate_down == [True, False]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("", [[True, False]]), ("propagate_down: true propagate_down: true", [[True, True]])],
)
def test_flags_have_one_entry_a_bottom(flags: str, expected: list[list[bool]]) -> None:
    text = input_layer("x", 2, 3) + input_layer("u", 2, 3) + input_layer("t", 2, 3) + ip("a", "x")
    net = passed(text + layer("p", "Probe", "a u", body=flags) + LOSS)
    assert probe(net).propagated == expected


def test_propagate_down_false_cuts_the_branch_off() -> None:
    text = input_layer("x", 2, 3) + input_layer("t", 2, 3) + ip("a", "x") + layer("p", "Probe", "a")
    net = passed(text + ip("b", "p", body="propagate_down: false") + layer("loss", "EuclideanLoss", "b t"))
    assert probe(net).calls["backward"] == 0
    assert not net.needs_backward["a"][0]
    assert "propagate_down" in net.needs_backward["a"][1]
    assert np.abs(net.params["b"][0].diff).max() > 0
    assert not np.any(net.params["a"][0].diff)


def test_wrong_number_of_flags_is_refused() -> None:
    text = input_layer("x", 2, 3) + input_layer("t", 2, 3)
    with pytest.raises(LayerError, match="'loss'.*propagate_down once for each of its 2 bottoms, got 3"):
        build(text + layer("loss", "EuclideanLoss", "x t", body="propagate_down: true " * 3))


def test_a_layer_above_no_loss_is_not_called() -> None:
    text = input_layer("x", 2, 3) + input_layer("t", 2, 3) + ip("a", "x") + layer("p", "Probe", "a")
    net = passed(text + layer("loss", "EuclideanLoss", "a t"))
    assert net.needs_backward["a"][0]
    assert probe(net).calls["backward"] == 0
    assert net.needs_backward["p"][1] == "no loss lies above it"


def test_frozen_parameters_get_no_gradient() -> None:
    text = (
        input_layer("x", 2, 3) + input_layer("t", 2, 3) + ip("a", "x", body="param { lr_mult: 0 } param { lr_mult: 2 }")
    )
    net = passed(text + layer("loss", "EuclideanLoss", "a t"))
    weight, bias = net.params["a"]
    assert not np.any(weight.diff)
    assert np.any(bias.diff)
    frozen = passed(text.replace("lr_mult: 2", "lr_mult: 0") + layer("loss", "EuclideanLoss", "a t"))
    assert "lr_mult of all its parameters is 0" in frozen.needs_backward["a"][1]


def test_parameter_gradients_accumulate_until_cleared() -> None:
    net = passed(input_layer("x", 2, 3) + input_layer("t", 2, 3) + ip("p", "x") + LOSS)
    once = net.params["p"][0].diff.copy()
    net.backward()
    assert np.allclose(net.params["p"][0].diff, 2 * once)
    net.clear_param_diffs()
    assert not np.any(net.params["p"][0].diff)


def test_default_loss_weight_adds_to_what_a_reader_sends() -> None:
    text = "force_backward: true " + input_layer("x", 2, 3) + input_layer("t", 2, 3)
    alone = passed(text + layer("loss", "EuclideanLoss", "x t"))
    read = passed(text + layer("loss", "EuclideanLoss", "x t") + layer("p", "Probe", "loss", body="loss_weight: 1"))
    assert np.allclose(read.blobs["x"].diff, 3 * alone.blobs["x"].diff)


def test_set_loss_gradients_are_kept_on_request() -> None:
    net = passed(
        "force_backward: true " + input_layer("x", 2, 3) + input_layer("t", 2, 3) + layer("l", "EuclideanLoss", "x t")
    )
    plain = net.blobs["x"].diff.copy()
    net.seed_losses()
    net.blobs["l"].diff[...] *= 3
    net.backward(seed_losses=False)
    assert np.allclose(net.blobs["x"].diff, 3 * plain)


def test_training_net_without_a_loss_is_warned_of() -> None:
    net = build(input_layer("x", 2, 3) + ip("a", "x"))
    assert any("no loss" in warning for warning in net.warnings)
    assert not build(input_layer("x", 2, 3) + ip("a", "x"), Phase.TEST).warnings


def test_loss_layer_without_a_top_still_counts() -> None:
    net = passed(
        input_layer("x", 2, 3) + input_layer("t", 2, 3) + ip("p", "x") + layer("loss", "EuclideanLoss", "p t", "")
    )
    assert net.forward() > 0
    assert np.any(net.params["p"][0].diff)
