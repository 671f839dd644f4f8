"""Small layers: values that are known by hand, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import LayerError, ShapeError
from engine.layer import Phase
from tests.nodes.support import layer_net, run_layer


def test_dropout_keeps_the_mean_and_the_pattern() -> None:
    net = layer_net('type: "Dropout" dropout_param { dropout_ratio: 0.4 }', np.ones(100_000))
    net.forward()
    top = net.blobs["top"].data
    assert np.unique(top) == pytest.approx([0, 1 / 0.6])
    assert top.mean() == pytest.approx(1, abs=0.02)
    net.blobs["top"].diff[...] = 1
    net.backward()
    assert np.array_equal(net.blobs["b0"].diff, top)
    first = top.copy()
    net.forward()
    assert not np.array_equal(top, first)


def test_dropout_passes_on_when_testing() -> None:
    top, grad = run_layer('type: "Dropout"', np.ones(50), phase=Phase.TEST)
    assert (top == 1).all()
    assert (grad == 1).all()


@pytest.mark.parametrize("ratio", [0, 1, 1.5])
def test_dropout_ratio_lies_between(ratio: float) -> None:
    with pytest.raises(LayerError, match="dropout_ratio between 0 and 1"):
        layer_net(f'type: "Dropout" dropout_param {{ dropout_ratio: {ratio} }}', np.ones(5))


def test_relu_at_zero_has_the_negative_slope() -> None:
    top, grad = run_layer('type: "ReLU" relu_param { negative_slope: 0.5 }', [-2.0, 0, 3])
    assert top.tolist() == [-1, 0, 3]
    assert grad.tolist() == [0.5, 0.5, 1]


def test_falling_relu_in_place_runs_as_in_caffe_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    text = 'type: "ReLU" relu_param { negative_slope: -1 }'
    assert run_layer(text, [-2.0, 3])[0].tolist() == [2, 3]
    assert not caplog.records
    net = layer_net(text, [-2.0, 3], tops="b0")
    net.forward()
    blob = net.blobs["b0"]
    assert blob.data.tolist() == [2, 3]
    blob.diff[...] = 1
    net.backward()
    assert blob.diff.tolist() == [1, 1]  # Caffe's kernel looks at the overwritten value; the true gradient is -1, 1
    assert "the gradient is wrong, as in Caffe" in caplog.text


def test_sigmoid_does_not_overflow() -> None:
    top, _ = run_layer('type: "Sigmoid"', [-1e4, 0, 1e4])
    assert top.tolist() == [0, 0.5, 1]


def test_eltwise() -> None:
    def eltwise(fields: str, *bottoms: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        net = layer_net(f'type: "Eltwise" eltwise_param {{ {fields} }}', *bottoms)
        net.forward()
        net.blobs["top"].diff[...] = 2
        net.backward()
        return net.blobs["top"].data, net.blobs["b0"].diff, net.blobs["b1"].diff

    assert eltwise("coeff: 1 coeff: -1", [5.0], [3.0])[0] == 2
    _, first, second = eltwise("operation: PROD", [0.0], [3.0])
    assert (first, second) == (6, 0)
    _, first, second = eltwise("operation: MAX", [2.0], [2.0], [2.0])
    assert (first, second) == (0, 2)


@pytest.mark.parametrize(
    ("fields", "shapes", "error", "message"),
    [
        ("", [(2, 3), (1, 3)], ShapeError, r"bottom 1: expected shape \(2, 3\).*got \(1, 3\)"),
        ("coeff: 1", [(2,), (2,)], LayerError, "one for each of its 2 bottoms, got 1"),
        ("operation: MAX coeff: 1 coeff: 2", [(2,), (2,)], LayerError, "coeff only with operation: SUM"),
    ],
)
def test_wrong_eltwise_is_refused(
    fields: str, shapes: list[tuple[int, ...]], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        layer_net(f'type: "Eltwise" eltwise_param {{ {fields} }}', *(np.zeros(shape) for shape in shapes))


@pytest.mark.parametrize(
    ("fields", "shape"), [("", (2, 60)), ("axis: 0 end_axis: 1", (6, 4, 5)), ("axis: -2", (2, 3, 20))]
)
def test_flatten(fields: str, shape: tuple[int, ...]) -> None:
    values = np.arange(120).reshape(2, 3, 4, 5)
    top, _ = run_layer(f'type: "Flatten" flatten_param {{ {fields} }}', values)
    assert top.shape == shape
    assert np.array_equal(top.reshape(-1), values.reshape(-1))


@pytest.mark.parametrize(("fields", "axis"), [("", 1), ("axis: -1", 2), ("concat_dim: 2", 2)])
def test_concat(fields: str, axis: int) -> None:
    parts = [np.full((2, 3, 2), 1.0), np.full((2, 3, 2), 2.0)]
    top, _ = run_layer(f'type: "Concat" concat_param {{ {fields} }}', *parts)
    assert np.array_equal(top, np.concatenate(parts, axis))


def test_concat_wants_the_other_axes_equal() -> None:
    with pytest.raises(ShapeError, match=r"bottom 1: .*\(2, 3\).*axis 1, got \(3, 3\)"):
        layer_net('type: "Concat"', np.zeros((2, 3)), np.zeros((3, 3)))


def test_inner_product_on_a_vector_of_numbers_says_what_to_connect() -> None:
    with pytest.raises(
        ShapeError, match=r"'subject' \(InnerProduct\), bottom 0: .*got shape \(64,\).*Flatten or set axis"
    ):
        layer_net('type: "InnerProduct" inner_product_param { num_output: 3 }', np.zeros(64))


def test_input_shapes_fit_its_tops() -> None:
    with pytest.raises(LayerError, match="one for each of its 3 tops, got 2"):
        layer_net('type: "Input" input_param { shape { dim: 1 } shape { dim: 2 } }', tops="a b c")
    assert layer_net('type: "Input" input_param { shape { dim: 4 } }', tops="a b").blobs["b"].shape == (4,)
