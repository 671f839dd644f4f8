"""Recurrent layers: against loops in double precision, what they carry from pass to pass, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from engine.errors import LayerError, ShapeError
from engine.layer import Phase
from engine.net import Net
from tests.nodes.recurrent_cases import markers, recurrent
from tests.nodes.support import layer_net

RNG = np.random.default_rng(23)
KINDS = ["LSTM", "RNN"]
Values = npt.NDArray[np.float64]


def sigmoid(x: Values) -> Values:
    return 1 / (1 + np.exp(-x))


def steps_of(
    kind: str, params: list[Values], x: Values, cont: Values, static: Values | None = None, states: Any = None
) -> tuple[Values, list[Values]]:
    """Return outputs and last states by plain loops: Zaremba and Sutskever 2014; Elman 1990 with outputs."""
    count = x.shape[1]
    h, c = (np.zeros((count, 3)), np.zeros((count, 3))) if states is None else (*states, None)[:2]
    outputs = []
    for values, go_on in zip(x.reshape(*x.shape[:2], -1), cont[:, :, None], strict=True):
        rest = list(params)
        total = values @ rest.pop(0).T + rest.pop(0)
        if static is not None:
            total += static.reshape(count, -1) @ rest.pop(0).T
        total += (h * go_on) @ rest.pop(0).T
        if kind == "LSTM":
            i, f, o = (sigmoid(total[:, 3 * gate : 3 * gate + 3]) for gate in range(3))
            c = go_on * f * c + i * np.tanh(total[:, 9:])
            h = o * np.tanh(c)
            outputs.append(h)
        else:
            h = np.tanh(total)
            outputs.append(np.tanh(h @ rest[0].T + rest[1]))
    return np.array(outputs), [h, c][: 2 if kind == "LSTM" else 1]


def params_of(net: Net) -> list[Values]:
    return [blob.data.astype(np.float64) for blob in net.params["subject"]]


def run(net: Net, *bottoms: Values) -> Values:
    for index, values in enumerate(bottoms):
        net.blobs[f"b{index}"].reshape(*values.shape)
        net.blobs[f"b{index}"].data[...] = values
    net.forward()
    return net.blobs["top"].data.astype(np.float64)


def series(steps: int, count: int) -> Values:
    return RNG.normal(size=(steps, count, 4))


# -- numbers and parameters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "static", "shapes"),
    [
        ("LSTM", False, [(12, 4), (12,), (12, 3)]),
        ("LSTM", True, [(12, 4), (12,), (12, 10), (12, 3)]),
        ("RNN", False, [(3, 4), (3,), (3, 3), (3, 3), (3,)]),
        ("RNN", True, [(3, 4), (3,), (3, 10), (3, 3), (3, 3), (3,)]),
    ],
)
def test_parameters_and_numbers(kind: str, static: bool, shapes: list[tuple[int, ...]]) -> None:
    x, cont = RNG.normal(size=(5, 3, 2, 2)), markers(5, 3)
    more = [RNG.normal(size=(3, 5, 2))] if static else []
    net = layer_net(recurrent(kind), x, cont, *more)
    assert [blob.shape for blob in net.params["subject"]] == shapes
    assert all(np.ptp(blob.data) > 0 for blob in net.params["subject"])  # both fillers reach all of them
    expected, _ = steps_of(kind, params_of(net), x, cont, *more)
    assert run(net, x, cont, *more) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("kind", "states"), [("LSTM", 2), ("RNN", 1)])
def test_exposed_states_go_in_and_out(kind: str, states: int, static: bool) -> None:
    x, cont = series(4, 2), np.ones((4, 2))
    more = [RNG.normal(size=(2, 3))] if static else []
    first = [RNG.normal(size=(1, 2, 3)) for _ in range(states)]
    tops = ["top", "hidden", "cell"][: 1 + states]
    net = layer_net(recurrent(kind, "expose_hidden: true"), x, cont, *more, *first, tops=" ".join(tops))
    expected, last = steps_of(kind, params_of(net), x, cont, *(more or [None]), [state[0] for state in first])
    for _ in range(2):  # nothing is carried
        assert run(net, x, cont, *more, *first) == pytest.approx(expected, abs=1e-5)
    for name, state in zip(tops[1:], last, strict=True):
        assert net.blobs[name].data == pytest.approx(state[None], abs=1e-5)
    assert net.layer("subject").get_state() == {"carried": []}


def test_exposed_states_have_no_gradient_as_in_caffe() -> None:
    x, states = series(2, 2), [RNG.normal(size=(1, 2, 3)) for _ in range(2)]
    net = layer_net(recurrent("LSTM", "expose_hidden: true"), x, np.ones((2, 2)), *states, tops="top h c")
    net.forward()
    net.blobs["top"].diff[...] = 0
    for name in ("h", "c", "b2", "b3"):
        net.blobs[name].diff[...] = 5
    net.backward()
    assert [np.abs(net.blobs[f"b{index}"].diff).max() for index in (0, 2, 3)] == [0, 0, 0]


def test_large_sums_neither_overflow_nor_warn() -> None:
    gates = np.full((1, 1, 8), 1e4)
    gates[0, 0, 2:4] = -1e4  # forget
    net = layer_net('type: "LSTMUnit"', np.full((1, 1, 2), 3.0), gates, np.ones((1, 1)), tops="cell hidden")
    with np.errstate(all="raise", under="ignore"):
        net.forward()
    assert net.blobs["cell"].data.tolist() == [[[1, 1]]]
    assert net.blobs["hidden"].data == pytest.approx(np.tanh(1.0))


def test_a_marker_between_0_and_1_weakens_the_memory() -> None:
    x, cont = series(3, 1), np.array([[0.0], [0.5], [0.25]])
    net = layer_net(recurrent("LSTM"), x, cont)
    assert run(net, x, cont) == pytest.approx(steps_of("LSTM", params_of(net), x, cont)[0], abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_after_it_may_work_in_place(kind: str) -> None:
    text = f"""
    force_backward: true
    layer {{ name: "x" type: "Input" top: "x" top: "m"
      input_param {{ shape {{ dim: 3 dim: 2 dim: 4 }} shape {{ dim: 3 dim: 2 }} }} }}
    layer {{ name: "subject" bottom: "x" bottom: "m" top: "top" {recurrent(kind)} }}
    layer {{ name: "after" type: "Power" bottom: "top" top: "AFTER" power_param {{ scale: 2 }} }}
    """
    x, grads = series(3, 2), []
    for after in ("top", "other"):
        net = Net(text.replace("AFTER", after), Phase.TRAIN, seed=3)
        net.blobs["x"].data[...] = x
        net.forward()
        net.blobs[after].diff[...] = 1
        net.backward()
        grads.append(net.blobs["x"].diff.copy())
    assert np.array_equal(*grads)


# -- what is carried -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "strict"])
@pytest.mark.parametrize("kind", KINDS)
def test_passes_go_on_where_the_last_one_ended(kind: str, backend: str) -> None:
    x, cont = series(7, 2), np.ones((7, 2))
    cont[5, 1] = 0
    net = layer_net(recurrent(kind), x[:3], cont[:3], backend=backend)
    expected, _ = steps_of(kind, params_of(net), x, cont)
    parts = [run(net, x[start:stop], cont[start:stop]) for start, stop in ((0, 3), (3, 4), (4, 7))]
    assert np.concatenate(parts) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_marker_of_0_forgets_what_was_carried(kind: str) -> None:
    x, cont = series(3, 2), markers(3, 2)
    net = layer_net(recurrent(kind), x, cont)
    first = run(net, x, cont)
    run(net, series(3, 2), np.ones((3, 2)))
    assert np.array_equal(run(net, x, cont), first)


@pytest.mark.parametrize("kind", KINDS)
def test_other_numbers_of_sequences(kind: str) -> None:
    """Sequences that are still there go on; new ones start at 0."""
    x = series(3, 3)
    net = layer_net(recurrent(kind), x, np.ones((3, 3)))
    run(net, x, np.ones((3, 3)))
    params, ones = params_of(net), np.ones((3, 5))
    _, last = steps_of(kind, params, x, ones[:, :3])
    for count in (2, 5):
        x = series(3, count)
        before = [np.concatenate([state, np.zeros((5, 3))])[:count] for state in (old[:count] for old in last)]
        expected, last = steps_of(kind, params, x, ones[:, :count], states=before)
        assert run(net, x, ones[:, :count]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "strict"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_net_goes_on_exactly_from_a_saved_state(kind: str, backend: str) -> None:
    x, ones = series(3, 2), np.ones((3, 2))
    net = layer_net(recurrent(kind), x, ones, backend=backend)
    fresh = json.loads(json.dumps(net.get_state()))
    first = run(net, x, ones)
    saved = json.loads(json.dumps(net.get_state()))
    second = run(net, x, ones)
    other = layer_net(recurrent(kind), x, ones, backend=backend)
    other.set_state(saved)
    assert np.array_equal(run(other, x, ones), second)
    other.set_state(fresh)
    assert np.array_equal(run(other, x, ones), first)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("carried", [[[[0.0] * 3] * 2], [[[0.0] * 4] * 2] * 2])
def test_the_state_of_another_layer_is_refused(carried: Any) -> None:
    net = layer_net(recurrent("LSTM"), series(3, 2), np.ones((3, 2)))
    with pytest.raises(LayerError, match=r"'subject' \(LSTM\).*2 states of 3 values for each sequence"):
        net.layer("subject").set_state({"carried": carried})


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "shapes", "tops", "message"),
    [
        ("", [(3, 2, 4), (3, 2)], "top", "num_output of 1 or more, got 0"),
        ("num_output: 3", [(3, 2, 4), (3, 2), (2, 1), (2, 1)], "top", "2 bottoms, or 3 .* expose_hidden: false, got 4"),
        ("num_output: 3", [(3, 2, 4), (3, 2)], "top h c", "1 tops at expose_hidden: false, got 3"),
        ("num_output: 3 expose_hidden: true", [(3, 2, 4), (3, 2)], "top h c", "4 bottoms, or 5 .*got 2"),
        (
            "num_output: 3",
            [(3, 2), (3, 2)],
            "top",
            r"bottom 0: expected sequences \(T, N, \.\.\.\), got shape \(3, 2\)",
        ),
        ("num_output: 3", [(3, 2, 4), (2, 3)], "top", r"bottom 1: expected markers of shape \(3, 2\).*got \(2, 3\)"),
        (
            "num_output: 3",
            [(3, 2, 4), (3, 2), (3, 4)],
            "top",
            r"bottom 2: expected a static input \(2, \.\.\.\).*\(3, 4\)",
        ),
        (
            "num_output: 3 expose_hidden: true",
            [(3, 2, 4), (3, 2), (1, 2, 3), (1, 2, 4)],
            "top h c",
            r"bottom 3: expected a cell of shape \(1, 2, 3\), got \(1, 2, 4\) from blob 'b3'",
        ),
    ],
)
def test_wrong_lstm_is_refused(fields: str, shapes: list[tuple[int, ...]], tops: str, message: str) -> None:
    with pytest.raises(LayerError, match=rf"'subject' \(LSTM\).*{message}"):
        layer_net(f'type: "LSTM" recurrent_param {{ {fields} }}', *map(np.zeros, shapes), tops=tops)


@pytest.mark.parametrize(("port", "shape"), [(0, (3, 2, 5)), (2, (2, 6))])
def test_inputs_of_another_size_are_refused(port: int, shape: tuple[int, ...]) -> None:
    net = layer_net(recurrent("RNN"), series(3, 2), np.ones((3, 2)), np.ones((2, 7)))
    net.blobs[f"b{port}"].reshape(*shape)
    with pytest.raises(ShapeError, match=rf"bottom {port}: expected \d elements .*{shape[-1]}"):
        net.forward()


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(2, 3, 4), (2, 3, 16), (2, 3)], r"bottom 0: expected a cell \(1, N, D\), got shape \(2, 3, 4\)"),
        ([(1, 3, 4), (1, 3, 12), (1, 3)], r"bottom 1: expected shape \(1, 3, 16\).*got \(1, 3, 12\)"),
        ([(1, 3, 4), (1, 3, 16), (3,)], r"bottom 2: expected shape \(1, 3\).*got \(3,\)"),
    ],
)
def test_wrong_lstm_unit_is_refused(shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        layer_net('type: "LSTMUnit"', *map(np.zeros, shapes), tops="cell hidden")


@pytest.mark.parametrize(
    ("text", "bottoms", "port"), [(recurrent("LSTM"), "x m", 1), ('type: "LSTMUnit" top: "h"', "c x m", 2)]
)
def test_no_gradient_flows_into_markers(text: str, bottoms: str, port: int) -> None:
    ports = " ".join(f'bottom: "{name}"' for name in bottoms.split())
    net = Net(
        'layer { name: "x" type: "Input" top: "x" top: "c" input_param { shape { dim: 1 dim: 1 dim: 4 } '
        "shape { dim: 1 dim: 1 dim: 1 } } } "
        'layer { name: "m" type: "Parameter" top: "m" parameter_param { shape { dim: 1 dim: 1 } } } '
        f'layer {{ name: "subject" {ports} top: "top" loss_weight: 1 {text} }}',
        Phase.TRAIN,
    )
    net.forward()
    with pytest.raises(LayerError, match=rf"bottom {port}: markers have no gradient"):
        net.backward()
