"""The first value that is not finite is named: losses, activations, gradients, parameters."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from engine.errors import NonFiniteError
from engine.layer import Phase
from engine.net import Net
from engine.solvers import Solver
from engine.solvers.health import GradientCheck, check_params, find_in_forward, nonfinite_error
from engine.worker.failures import describe_failure
from tests.engine.net.support import build, fill_inputs, input_layer, ip, layer

X = input_layer("x", 2, 3) + input_layer("t", 2, 3)
MADE = X.replace("Input", "DummyData").replace("input_param", "dummy_data_param")
CHAIN = ip("a", "x") + layer("s", "Log", "a", "a") + layer("n", "Power", "a", "a") + ip("b", "a")
LOSS = layer("loss", "EuclideanLoss", "b t")
SETTINGS = 'base_lr: 0.1 lr_policy: "fixed" max_iter: 5 snapshot_after_train: false '


def positive(net: Net) -> Net:
    """Give a net inputs and weights of which all products are positive."""
    fill_inputs(net)
    for blobs in net.params.values():
        for blob in blobs:
            blob.data[...] = np.abs(blob.data) + 0.1
    net.blobs["x"].data[...] = np.abs(net.blobs["x"].data) + 0.1
    return net


def spoil_forward(net: Net) -> None:
    net.blobs["x"].data[1, 2] = np.inf


def spoil_parameter(net: Net) -> None:
    net.params["b"][1].data[1] = np.nan


def spoil_in_place(net: Net) -> None:
    net.params["a"][0].data[...] *= -1  # the logarithm of a negative number


@pytest.mark.parametrize(
    ("spoil", "layer_name", "blob", "part"),
    [
        (spoil_forward, "x", "x", "data"),
        (spoil_parameter, "b", "1", "parameter"),
        (spoil_in_place, "s", "a", "data"),
    ],
)
@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_what_began_in_a_forward_pass(
    spoil: Callable[[Net], None], layer_name: str, blob: str, part: str, backend: str
) -> None:
    net = positive(build(X + CHAIN + LOSS, backend=backend))
    net.forward()
    assert find_in_forward(net) is None
    spoil(net)
    with np.errstate(all="ignore"):
        loss = net.forward()
        error = nonfinite_error(net, 7, loss)
    assert not np.isfinite(loss)
    assert (error.layer, error.blob, error.part, error.iteration) == (layer_name, blob, part, 7)
    assert str(error).startswith("Iteration 7: expected a finite loss, got ")
    assert f"layer '{layer_name}'" in str(error)


def test_losses_that_only_overflow_together_are_told_apart() -> None:
    net = positive(build(X + CHAIN + LOSS))
    net.forward()
    error = nonfinite_error(net, 2, float("inf"))
    assert error.layer == "" and "All blobs are finite" in str(error)


def test_the_layer_reaches_whoever_shows_the_failure() -> None:
    failure = describe_failure(NonFiniteError("Iteration 3: spoiled.", layer="conv1", blob="x", part="diff"))
    assert (failure.layer, failure.message) == ("conv1", "Iteration 3: spoiled.")


def test_parameters_are_named() -> None:
    net = positive(build(X + CHAIN + LOSS))
    check_params(net, 3)
    net.params["a"][1].data[2] = -np.inf
    with pytest.raises(NonFiniteError, match=r"Iteration 3: .*parameter 1 of layer 'a' with -inf at \(2,\)") as caught:
        check_params(net, 3)
    assert caught.value.layer == "a"


POWER = layer("p", "Power", "a", "p", "power_param { power: 0.5 }")  # at 0 the slope is not finite, the value is
GRADIENTS = [  # layers, what is at fault
    (ip("a", "x") + POWER + ip("b", "p") + LOSS, ("p", "a", "diff")),
    (
        ip("a", "x") + layer("p", "Power", "a", "a", "power_param { power: 0.5 }") + ip("b", "a") + LOSS,
        ("p", "a", "diff"),
    ),
    (
        ip("a", "x").replace("num_output", "bias_term: false num_output") + POWER + ip("b", "p") + LOSS,
        ("p", "a", "diff"),
    ),
]


@pytest.mark.parametrize(("layers", "expected"), GRADIENTS)
@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_what_began_in_a_backward_pass(layers: str, expected: tuple[str, str, str], backend: str) -> None:
    net = positive(build(X + layers, backend=backend))
    check = GradientCheck(net)
    net.forward()
    net.backward()
    check.check(4)
    for blob in net.params["a"]:
        blob.data[...] = 0
    assert np.isfinite(net.forward())
    net.clear_param_diffs()
    with np.errstate(all="ignore"):
        net.backward()
        grads = [item.blob.diff.copy() for item in net.learnable]
        with pytest.raises(NonFiniteError, match=r"Iteration 4: expected finite gradients\. It began in") as caught:
            check.check(4)
    error = caught.value
    assert (error.layer, error.blob, error.part) == expected
    assert not net.observers
    for item, grad in zip(net.learnable, grads, strict=True):
        np.testing.assert_array_equal(item.blob.diff, grad)


def test_a_parameters_own_gradient_is_named() -> None:
    net = positive(build(X + ip("a", "x") + layer("loss", "EuclideanLoss", "a t")))
    net.forward()
    net.backward()
    net.params["a"][1].diff[0] = np.nan
    with pytest.raises(
        NonFiniteError, match=r"the gradient of parameter 1 of layer 'a' \(InnerProduct\), nan at \(0,\)"
    ):
        GradientCheck(net).check(0)


def test_squares_that_overflow_are_no_trouble() -> None:
    net = positive(build(X + ip("a", "x") + layer("loss", "EuclideanLoss", "a t")))
    net.forward()
    net.backward()
    for blob in net.params["a"]:
        blob.diff[...] = 1e30
        assert np.isfinite(blob.diff).all()
    with np.errstate(all="ignore"):
        GradientCheck(net).check(0)


@pytest.fixture
def solver() -> Iterator[Solver]:
    net = MADE + ip("a", "x") + POWER + ip("b", "p") + LOSS
    made = Solver.create(SETTINGS + f"net_param {{ {net} }}", seed=1)
    for blobs in made.net.params.values():
        for blob in blobs:
            blob.data[...] = 0.5
    made.net.blobs["x"].data[...] = 1
    yield made
    made.close()


def test_a_solver_ends_before_the_update_and_names_the_layer(solver: Solver) -> None:
    class Listener:
        def on_iteration(self, report: Any) -> None:
            if report.iteration == 1:
                for blob in solver.net.params["a"]:
                    blob.data[...] = 0

    solver.listeners.append(Listener())
    with pytest.raises(NonFiniteError, match="Iteration 2: ") as caught:
        solver.step(5)
    assert (caught.value.layer, caught.value.part, solver.iteration) == ("p", "diff", 2)
    check_params(solver.net, solver.iteration)


def test_looking_at_gradients_costs_almost_nothing() -> None:
    text = input_layer("x", 32, 400) + input_layer("t", 32, 400)
    body = "inner_product_param { num_output: 400 weight_filler { type: 'xavier' } }"
    stack = "".join(
        layer(f"l{index}", "InnerProduct", f"l{index - 1}" if index else "x", None, body) for index in range(8)
    )
    net = Net(text + stack + layer("loss", "EuclideanLoss", "l7 t"), Phase.TRAIN, seed=1)
    fill_inputs(net)
    check = GradientCheck(net)

    def seconds(call: Callable[[], object]) -> float:
        best = float("inf")
        for _ in range(15):
            began = time.thread_time()
            call()
            best = min(best, time.thread_time() - began)
        return best

    def iteration() -> None:
        net.clear_param_diffs()
        net.forward()
        net.backward()

    iteration()
    assert seconds(lambda: check.check(0)) < 0.02 * seconds(iteration)


def test_debug_info_of_a_solver_speaks_on_the_iterations_that_are_shown(caplog: pytest.LogCaptureFixture) -> None:
    text = MADE + ip("b", "x") + LOSS
    settings = "debug_info: true display: 2 test_iter: 1 test_interval: 3 test_initialization: false "
    trained = closing(Solver.create(SETTINGS + settings + f"net_param {{ {text} }}", seed=1))
    with trained as made_solver, caplog.at_level(logging.INFO, "engine"):
        made_solver.step(4)
    lines = [record.getMessage() for record in caplog.records]
    kinds = [line.split("]")[0].strip(" [") for line in lines if re.match(r" {4}\[\w+\] ", line)]
    shown = ["Forward"] * 6 + ["Backward"] * 4 + ["Update"] * 2
    assert kinds == [*shown, *shown, *["Forward"] * 6]
    update = next(line for line in lines if "[Update]" in line)
    assert re.fullmatch(r"    \[Update\] Layer b, param 0 data: [-\d.e]+; diff: [-\d.e]+", update)


def test_a_test_pass_that_is_not_finite_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    bad = layer("u", "Log", "b", "u", "include { phase: TEST }")  # the logarithm of 0
    text = MADE + ip("b", "x") + bad + LOSS
    settings = SETTINGS + f"test_iter: 1 test_interval: 3 net_param {{ {text} }}"
    with closing(Solver.create(settings, seed=1)) as made_solver:
        made_solver.test_all()
    assert (
        "Iteration 0, test net #0: output 'u' is not finite. In the last batch it began in blob 'u' of layer 'u'"
        in (caplog.text)
    )
