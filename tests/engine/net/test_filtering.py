"""Include and exclude rules, and net-level inputs."""

from __future__ import annotations

import pytest

from engine.errors import LayerError, NetError
from engine.layer import Phase
from engine.net import NetState, filter_net
from engine.schema import read_net
from tests.engine.net.support import build, input_layer, ip, layer

TRAIN, TEST = Phase.TRAIN, Phase.TEST


def kept(rules: str, state: NetState) -> bool:
    return bool(filter_net(read_net(layer("l", "ReLU", "x", body=rules)), state).layer)


@pytest.mark.parametrize(
    ("rules", "state", "expected"),
    [
        ("", NetState(TRAIN), True),
        ("include { phase: TRAIN }", NetState(TRAIN), True),
        ("include { phase: TRAIN }", NetState(TEST), False),
        ("exclude { phase: TEST }", NetState(TEST), False),
        ("exclude { phase: TEST }", NetState(TRAIN), True),
        ("include { phase: TEST } include { phase: TRAIN }", NetState(TEST), True),
        ('include { phase: TEST stage: "a" } include { phase: TRAIN }', NetState(TEST), False),
        ('include { phase: TEST stage: "a" } include { phase: TRAIN }', NetState(TEST, 0, frozenset("a")), True),
        ('include { stage: "a" stage: "b" }', NetState(TEST, 0, frozenset("a")), False),
        ('include { stage: "a" stage: "b" }', NetState(TEST, 0, frozenset("abc")), True),
        ('include { not_stage: "a" }', NetState(TEST, 0, frozenset("a")), False),
        ('include { not_stage: "a" not_stage: "b" }', NetState(TEST, 0, frozenset("c")), True),
        ("include { min_level: 1 max_level: 3 }", NetState(TEST, 0), False),
        ("include { min_level: 1 max_level: 3 }", NetState(TEST, 3), True),
        ("include { min_level: 1 max_level: 3 }", NetState(TEST, 4), False),
        ('exclude { stage: "a" } exclude { phase: TEST }', NetState(TRAIN, 0, frozenset("a")), False),
    ],
)
def test_rules(rules: str, state: NetState, expected: bool) -> None:
    """B10."""
    assert kept(rules, state) is expected


def test_both_kinds_of_rules_are_refused() -> None:
    """B10."""
    with pytest.raises(LayerError, match="'l'.*include rules or exclude rules, got both"):
        kept("include { phase: TRAIN } exclude { phase: TEST }", NetState(TRAIN))


def test_level_and_stages_come_from_file_and_caller() -> None:
    text = 'state { stage: "file" }\n' + input_layer("x", 2, 3)
    text += layer("a", "ReLU", "x", body='include { stage: "file" stage: "call" min_level: 2 }')
    assert "a" in build(text, stages=("call",), level=2).layer_names
    assert "a" not in build(text, stages=("call",), level=1).layer_names


def test_blob_of_the_other_phase_is_named_with_its_producer() -> None:
    """B11."""
    text = layer("labels", "Input", "", "label", "input_param { shape { dim: 2 } } include { phase: TRAIN }")
    text += input_layer("x", 2, 3) + layer("acc", "Accuracy", "x label", body="include { phase: TEST }")
    with pytest.raises(LayerError, match=r"'acc'.*bottom 1.*'label' in phase TEST.*'labels'.*only in phase TRAIN"):
        build(text, TEST)


@pytest.mark.parametrize(
    ("fields", "shapes"),
    [
        ('input: "a" input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 4', [(1, 2, 3, 4)]),
        ('input: "a" input: "b" ' + "input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 4 " * 2, [(1, 2, 3, 4)] * 2),
        ('input: "a" input: "b" input_shape { dim: 2 } input_shape { dim: 3 dim: 1 }', [(2,), (3, 1)]),
    ],
)
def test_net_level_inputs_become_an_input_layer_placed_first(fields: str, shapes: list[tuple[int, ...]]) -> None:
    net = build(layer("r", "ReLU", "a") + fields)
    assert net.layers[0].type == "Input"
    assert [net.blobs[name].shape for name in net.inputs] == shapes


@pytest.mark.parametrize(
    "fields",
    [
        'input: "a" input: "b" ' + "input_dim: 1 " * 7,
        'input: "a" input: "b" input: "c" input_shape { dim: 1 } input_shape { dim: 1 }',
        'input: "a" input_shape { dim: 1 } ' + "input_dim: 1 " * 4,
    ],
)
def test_wrong_input_dimensions_are_refused(fields: str) -> None:
    with pytest.raises(NetError, match="input"):
        build(fields)


def test_two_producers_of_one_top_are_both_named() -> None:
    """B19."""
    text = input_layer("x", 2, 3) + ip("first", "x", top="c") + ip("second", "x", top="c")
    with pytest.raises(LayerError, match="'second'.*'c' is already produced by layer 'first'"):
        build(text)
    phases = input_layer("x", 2, 3) + ip("first", "x", top="c", body="include { phase: TRAIN }")
    assert build(phases + ip("second", "x", top="c", body="include { phase: TEST }")).params.keys() == {"first"}


def test_unwired_bottom_is_refused() -> None:
    with pytest.raises(LayerError, match="'r' \\(ReLU\\), bottom 0: not connected"):
        build(layer("r", "ReLU", "?"))


def test_a_bottom_produced_further_down_is_refused_with_the_reason() -> None:
    with pytest.raises(LayerError, match="Layer 'x' produces it, but later in the file"):
        build(layer("r", "ReLU", "x") + input_layer("x", 2))
