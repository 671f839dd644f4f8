"""Running nets: reshaping, ranges, faults, device and plan."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import numpy as np
import pytest

from engine.api import Blob, Layer, LayerInfo, LowerContext, ops
from engine.errors import LayerError, PluginError, UnknownLayerTypeError
from engine.layer import Phase
from engine.net import Net, UnknownLayerError
from tests.engine.net.support import Faulty, Probe, build, fill_inputs, input_layer, ip, layer, registry

CHAIN = (
    input_layer("x", 4, 1, 8, 8)
    + input_layer("label", 4)
    + layer(
        "c",
        "Convolution",
        "x",
        body='convolution_param { num_output: 3 kernel_size: 3 weight_filler { type: "xavier" } }',
    )
    + layer("p", "Pooling", "c", body="pooling_param { kernel_size: 2 stride: 2 }")
    + layer("r", "ReLU", "p", "p")
    + ip("ip1", "p", 5)
    + ip("ip2", "ip1", 2)
    + layer("loss", "SoftmaxWithLoss", "ip2 label")
)


def test_reshape_precedes_every_forward_and_setup_runs_once() -> None:
    text = input_layer("x", 4, 3) + input_layer("label", 4) + layer("p", "Probe", "x") + ip("ip", "p")
    net = build(text + layer("loss", "SoftmaxWithLoss", "ip label"))
    for batch in (4, 4, 2):
        net.blobs["x"].reshape(batch, 3)
        net.blobs["label"].reshape(batch)
        net.forward()
        net.backward()
    probe = net.layer("p")
    assert isinstance(probe, Probe)
    assert probe.calls["setup"] == 1
    assert probe.calls["reshape"] == 4
    assert net.blobs["ip"].shape == (2, 3)


@pytest.mark.parametrize(
    "options", [{}, {"use_plan": True}, {"backend": "strict"}, {"backend": "strict", "use_plan": True}]
)
def test_batches_that_shrink_and_grow_give_what_fresh_nets_give(options: dict[str, object]) -> None:
    net = build(CHAIN, **options)
    for batch in (4, 1, 6):
        fresh = build(CHAIN.replace("dim: 4", f"dim: {batch}"))
        results = []
        for tested in (net, fresh):
            tested.blobs["x"].reshape(batch, 1, 8, 8)
            tested.blobs["label"].reshape(batch)
            fill_inputs(tested)
            loss = tested.forward()
            tested.clear_param_diffs()
            tested.backward()
            grads = [param.blob.diff.copy() for param in tested.learnable]
            results.append((loss, tested.blobs["ip2"].data.copy(), grads))
        assert results[0][0] == results[1][0]
        assert np.array_equal(results[0][1], results[1][1])
        for mine, theirs in zip(results[0][2], results[1][2], strict=True):
            assert np.array_equal(mine, theirs)


def test_reshape_alone_carries_shapes_through() -> None:
    net = build(CHAIN)
    net.blobs["x"].reshape(7, 1, 8, 8)
    net.blobs["label"].reshape(7)
    net.reshape()
    assert net.blobs["ip2"].shape == (7, 2)


def test_input_of_another_size_names_the_layer_and_both_counts() -> None:
    net = build(CHAIN)
    net.blobs["x"].reshape(4, 1, 12, 12)
    with pytest.raises(LayerError, match=r"'ip1'.*expected 27 elements.*got 75.*\(4, 3, 5, 5\)"):
        net.forward()


def test_ranges_are_layer_names_and_inclusive() -> None:
    net = build(CHAIN)
    fill_inputs(net)
    net.forward()
    net.blobs["ip1"].data[...] = 0.5
    net.forward(start="ip2")
    edited = net.blobs["ip2"].data.copy()
    expected = net.params["ip2"][0].data.sum(axis=1) * 0.5 + net.params["ip2"][1].data
    assert np.allclose(edited, expected)
    net.forward(start="ip1")
    assert not np.allclose(net.blobs["ip2"].data, edited)
    net.blobs["loss"].data[...] = -1
    assert net.forward(end="ip2") == 0.0
    assert net.blobs["loss"].data == -1


def test_backward_range_starts_at_the_loss() -> None:
    net = build(CHAIN)
    fill_inputs(net)
    net.forward()
    net.backward(end="ip2")
    assert np.any(net.params["ip2"][0].diff)
    assert not np.any(net.params["ip1"][0].diff)
    net.backward(start="ip1", end="ip1")
    assert np.any(net.params["ip1"][0].diff)


@pytest.mark.parametrize(("name", "hint"), [("nope", "layer_names"), ("x_blob", "is a blob")])
def test_unknown_range_is_a_key_error_with_a_hint(name: str, hint: str) -> None:
    net = build(layer("x", "Input", "", "x_blob", "input_param { shape { dim: 2 } }"))
    with pytest.raises(UnknownLayerError, match=hint) as caught:
        net.forward(start=name)
    assert isinstance(caught.value, KeyError)


def test_misspelt_type_names_the_closest() -> None:
    for written, meant in (("SoftMaxWithLoss", "SoftmaxWithLoss"), ("convolution", "Convolution"), ("RelU", "ReLU")):
        with pytest.raises(UnknownLayerTypeError, match=f"Did you mean '{meant}'"):
            build(input_layer("x", 2) + layer("l", written, "x"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (layer("l", "SoftmaxWithLoss", "x"), r"expected 2 bottoms \(scores, labels\), got 1"),
        (layer("l", "ReLU", "x", "y z"), "expected 1 top .*got 2"),
        (layer("l", "Split", "x", ""), "expected at least 1 top"),
    ],
)
def test_wrong_number_of_ports_is_refused(text: str, message: str) -> None:
    with pytest.raises(LayerError, match=f"'l'.*{message}"):
        build(input_layer("x", 2, 3) + text)


@pytest.mark.parametrize(("fail_in", "kind"), [("forward", "ValueError: x7"), ("exit", "SystemExit: 3")])
@pytest.mark.parametrize("use_plan", [False, True])
def test_fault_in_user_code_names_layer_class_method_and_line(fail_in: str, kind: str, use_plan: bool) -> None:
    net = build(input_layer("x", 2, 3) + layer("boom", "Faulty", "x"), use_plan=use_plan)
    net.forward()
    boom = net.layer("boom")
    assert isinstance(boom, Faulty)
    boom.fail_in = fail_in
    with pytest.raises(PluginError) as caught:
        net.forward()
    error = caught.value
    assert (error.layer, error.layer_type, error.method) == ("boom", "Faulty", "forward")
    assert kind in str(error)
    assert "Faulty" in str(error)
    assert "support.py" in error.traceback_text
    boom.fail_in = ""
    net.forward()


def test_train_and_test_phases_are_known_at_setup() -> None:
    text = input_layer("x", 2, 3) + layer("p", "Probe", "x")
    seen = []
    for phase in Phase:
        probe = build(text, phase).layer("p")
        assert isinstance(probe, Probe)
        seen.append(int(probe.phase_at_setup))
    assert seen == [0, 1]


def test_outputs_are_sorted_and_inputs_in_file_order() -> None:
    net = build(input_layer("z", 2, 3) + input_layer("a", 2, 3) + layer("y", "ReLU", "z") + layer("b", "ReLU", "a"))
    assert net.inputs == ["z", "a"]
    assert net.outputs == ["b", "y"]
    assert net.bottom_names["y"] == ["z"]


def test_all_backends_and_plans_give_the_same_bits() -> None:
    results = []
    for options in ({}, {"use_plan": True}, {"backend": "strict"}, {"backend": "strict", "use_plan": True}):
        net = build(CHAIN, **options)
        fill_inputs(net)
        losses = [net.forward() for _ in range(2)]
        net.backward()
        results.append((losses, [param.blob.diff.tobytes() for param in net.learnable]))
    assert all(result == results[0] for result in results)


def test_plan_lists_what_layers_run_as() -> None:
    net = build(CHAIN, use_plan=True)
    fill_inputs(net)
    net.forward()
    plan = net.plan
    assert plan is not None
    assert dict(plan.describe()) == {
        "x": (),
        "label": (),
        "c": ("convolution",),
        "p": ("pooling_max",),
        "r": ("relu",),
        "ip1": ("inner_product",),
        "ip2": ("inner_product",),
        "loss": (),
    }


def test_an_array_outlives_its_net() -> None:
    net: Net | None = build(CHAIN)
    assert net is not None
    fill_inputs(net)
    net.forward()
    data = net.blobs["ip2"].data
    kept = data.copy()
    net = None
    gc.collect()
    assert np.array_equal(data, kept)


def test_zero_batch_runs() -> None:
    net = build(CHAIN)
    net.blobs["x"].reshape(0, 1, 8, 8)
    net.blobs["label"].reshape(0)
    assert net.forward() == 0
    net.clear_param_diffs()
    net.backward()
    assert net.blobs["ip2"].shape == (0, 2)
    assert not any(np.any(param.blob.diff) for param in net.learnable)


def test_layers_that_need_their_input_refuse_to_work_in_place() -> None:
    with pytest.raises(LayerError, match=r"'a' \(InnerProduct\), top 0: cannot work in place on 'x'"):
        build(input_layer("x", 2, 3) + ip("a", "x", top="x"))


def test_a_layers_own_phase_wins() -> None:
    text = input_layer("x", 2, 3) + layer("p", "Probe", "x", body="phase: TEST")
    assert build(text, Phase.TRAIN).layer("p").phase is Phase.TEST


def test_layers_are_closed_when_the_net_is_and_when_building_fails() -> None:
    closed: list[str] = []

    class Closing(Probe):
        type = "Closing"

        def close(self) -> None:
            closed.append(self.name)

    known = registry()
    known.register(Closing, LayerInfo(type="Closing", bottoms=("data",), tops=("result",)))
    text = input_layer("x", 2, 3) + layer("p", "Closing", "x")
    with Net(text, Phase.TRAIN, registry=known):
        assert closed == []
    assert closed == ["p"]
    with pytest.raises(LayerError):
        Net(text + layer("bad", "Pooling", "p"), Phase.TRAIN, registry=known)
    assert closed == ["p", "p"]


class TwoProducts(Layer):
    """Two inner products, one after the other, with a hidden blob between them; lowered into two operations."""

    type = "TwoProducts"

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        self.hidden = Blob(dtype=bottom[0].dtype, backend=self.backend).on_device()
        for outputs, inputs in ((4, bottom[0].shape[1]), (2, 4)):
            weight = self.blobs.add_blob(outputs, inputs)
            weight.on_host.data[...] = self.rng.normal(size=weight.shape)
        self.specs = [ops.InnerProduct(1), ops.InnerProduct(1)]

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        self.hidden.reshape(bottom[0].shape[0], 4)
        top[0].reshape(bottom[0].shape[0], 2)

    def lower(self, ctx: LowerContext) -> Sequence[ops.Op]:
        blobs = [ctx.bottom[0], self.hidden, ctx.top[0]]
        return [ops.Op(spec, [blobs[i]], [self.blobs[i]], [blobs[i + 1]]) for i, spec in enumerate(self.specs)]


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_a_layer_lowered_into_two_operations_learns_both_parameters(backend: str) -> None:
    known = registry()
    known.register(TwoProducts, LayerInfo(type="TwoProducts", bottoms=("data",), tops=("result",)))
    text = "force_backward: true " + input_layer("x", 3, 5) + layer("two", "TwoProducts", "x")
    net = Net(text, Phase.TRAIN, registry=known, seed=2, backend=backend, use_plan=True)
    fill_inputs(net)
    net.forward()
    x = net.blobs["x"].data.copy()
    first, second = (blob.data.copy() for blob in net.params["two"])
    assert np.allclose(net.blobs["two"].data, x @ first.T @ second.T, atol=1e-5)
    net.blobs["two"].diff[...] = 1
    net.backward()
    ones = np.ones((3, 2))
    assert np.allclose(net.params["two"][0].diff, (ones @ second).T @ x, atol=1e-5)
    assert np.allclose(net.params["two"][1].diff, ones.T @ (x @ first.T), atol=1e-5)
    assert np.allclose(net.blobs["x"].diff, ones @ second @ first, atol=1e-5)


def test_a_blob_beyond_all_memory_is_told_without_a_traceback() -> None:
    net = build(input_layer("x", 10**6, 10**6, 100) + layer("r", "ReLU", "x"))
    with pytest.raises(LayerError, match=r"'r' \(ReLU\) in forward: there is not enough memory: .*\. Lower") as caught:
        net.forward()
    assert not caught.value.traceback_text
