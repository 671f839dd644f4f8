"""Layers that rearrange, cut, choose and sum: values known by hand, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from engine.errors import LayerError, ShapeError
from engine.layer import Phase
from engine.net import Net
from engine.testing import LayerCase, check_accumulation, check_backends, check_gradients, check_plan
from tests.nodes.support import layer_net, run_layer

ITEMS = np.arange(120.0).reshape(2, 3, 4, 5)


def reshape(fields: str) -> str:
    return f'type: "Reshape" reshape_param {{ {fields} }}'


@pytest.mark.parametrize(
    ("fields", "shape"),
    [
        ("shape { dim: 0 dim: -1 }", (2, 60)),
        ("shape { dim: -1 }", (120,)),
        ("shape { dim: 6 dim: 0 dim: 1 dim: -1 }", None),
        ("shape { dim: 0 dim: 0 dim: 20 }", (2, 3, 20)),
        ("axis: 1 shape { dim: 0 dim: -1 }", (2, 3, 20)),
        ("axis: 0 num_axes: 0 shape { dim: 1 }", (1, 2, 3, 4, 5)),
        ("axis: -1 num_axes: 0 shape { dim: 1 }", (2, 3, 4, 5, 1)),
        ("axis: -3 num_axes: 1 shape { dim: 2 dim: -1 }", (2, 3, 2, 2, 5)),
        ("axis: 1 num_axes: 2 shape { dim: 2 dim: -1 }", (2, 2, 6, 5)),
        ("axis: 1 num_axes: 2 shape { }", None),
        ("shape { dim: -1 dim: -1 }", None),
        ("shape { dim: 7 }", None),
        ("shape { dim: 7 dim: -1 }", None),
        ("shape { dim: -2 }", None),
        ("axis: 5 shape { dim: -1 }", None),
        ("axis: -6 shape { dim: -1 }", None),
        ("axis: 2 num_axes: 3 shape { dim: -1 }", None),
        ("num_axes: -2 shape { dim: -1 }", None),
        ("axis: 3 shape { dim: 5 dim: 0 }", None),
    ],
)
def test_reshape(fields: str, shape: tuple[int, ...] | None) -> None:
    if shape is None:
        with pytest.raises(LayerError, match=r"'subject' \(Reshape\).*expected .*got "):
            layer_net(reshape(fields), ITEMS)
        return
    net = layer_net(reshape(fields), ITEMS)
    net.forward()
    assert net.blobs["top"].shape == shape
    assert np.shares_memory(net.blobs["top"].data, net.blobs["b0"].data)
    assert np.shares_memory(net.blobs["top"].diff, net.blobs["b0"].diff)


def test_reshape_names_both_counts() -> None:
    with pytest.raises(ShapeError, match=r"bottom 0: expected a shape of 120 elements.*got 7 in shape \(7,\)"):
        layer_net(reshape("shape { dim: 7 }"), ITEMS)


def test_reshape_keeps_an_empty_batch() -> None:
    assert run_layer(reshape("shape { dim: 0 dim: -1 }"), np.zeros((0, 3, 4)))[0].shape == (0, 12)


def test_reshape_in_place_is_refused() -> None:
    with pytest.raises(LayerError, match="a name of its own"):
        layer_net(reshape("shape { dim: -1 }"), ITEMS, tops="b0")


@pytest.mark.parametrize(
    ("fields", "tops", "sizes"),
    [
        ("axis: 3 slice_point: 1 slice_point: 4", "a b c", [1, 3, 1]),
        ("axis: -2", "a b", [2, 2]),
        ("slice_dim: 2 slice_point: 3", "a b", [3, 1]),
        ("axis: 2 slice_point: 4", "a b", [4, 0]),
    ],
)
def test_slice(fields: str, tops: str, sizes: list[int]) -> None:
    net = layer_net(f'type: "Slice" slice_param {{ {fields} }}', ITEMS, tops=tops)
    net.forward()
    axis = 3 if "axis: 3" in fields else 2
    parts = [net.blobs[name].data for name in tops.split()]
    assert [part.shape[axis] for part in parts] == sizes
    assert np.array_equal(np.concatenate(parts, axis), ITEMS)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("", "axis 1 that 2 equal parts fill, got 3"),
        ("slice_point: 1 slice_point: 2", r"or 1 \(one between each two of its 2 tops\), got 2"),
        ("slice_point: 4", r"rising slice points from 1 to 3 .*got \(4,\)"),
        ("slice_point: 0", r"got \(0,\)"),
        ("axis: 1 slice_dim: 1", "axis or slice_dim, got both"),
        ("axis: 4", "axis from -4 to 3, got 4"),
    ],
)
def test_wrong_slice_is_refused(fields: str, message: str) -> None:
    with pytest.raises(LayerError, match=f"'subject' \\(Slice\\).*{message}"):
        layer_net(f'type: "Slice" slice_param {{ {fields} }}', ITEMS, tops="a b")


def test_tile_repeats_the_whole() -> None:
    top, grad = run_layer('type: "Tile" tile_param { axis: 0 tiles: 3 }', [1.0, 2])
    assert top.tolist() == [1, 2, 1, 2, 1, 2]
    assert grad.tolist() == [3, 3]
    with pytest.raises(LayerError, match="tiles of 1 or more, got 0"):
        layer_net('type: "Tile"', ITEMS)


@pytest.mark.parametrize(
    ("operation", "reference"),
    [
        ("SUM", np.sum),
        ("ASUM", lambda values, axis: np.abs(values).sum(axis)),
        ("SUMSQ", lambda values, axis: np.square(values).sum(axis)),
        ("MEAN", np.mean),
    ],
)
@pytest.mark.parametrize(("axis", "axes"), [(0, (0, 1, 2, 3)), (2, (2, 3)), (-1, (3,))])
def test_reduction(operation: str, reference: Callable[..., np.ndarray], axis: int, axes: tuple[int, ...]) -> None:
    values = ITEMS - 50
    fields = f"operation: {operation} axis: {axis} coeff: -0.5"
    top, _ = run_layer(f'type: "Reduction" reduction_param {{ {fields} }}', values)
    expected = -0.5 * reference(values, axes)
    assert top.shape == expected.shape
    np.testing.assert_allclose(top, expected, rtol=1e-5, atol=1e-3)


def argmax(fields: str) -> str:
    return f'type: "ArgMax" argmax_param {{ {fields} }}'


@pytest.mark.parametrize(
    ("fields", "shape", "expected"),
    [
        ("", (2, 5), (2, 1, 1)),
        ("top_k: 3 out_max_val: true", (2, 5), (2, 2, 3)),
        ("top_k: 3", (2, 5, 3, 3), (2, 1, 3, 1)),
        ("axis: 1", (2, 5, 3, 3), (2, 1, 3, 3)),
        ("axis: -1 top_k: 2", (2, 5), (2, 2)),
        ("", (0, 5), (0, 1, 1)),
    ],
)
def test_argmax_shapes(fields: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    net = layer_net(argmax(fields), np.zeros(shape))
    net.forward()
    assert net.blobs["top"].shape == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("", [[[3]]]),
        ("top_k: 3", [[[3, 1, 0]]]),
        ("top_k: 2 out_max_val: true", [[[3, 1], [7, 7]]]),
        ("axis: 1 top_k: 2", [[3, 1]]),
        ("axis: 1 top_k: 3 out_max_val: true", [[7, 7, 5]]),
    ],
)
def test_argmax_gives_the_last_of_equal_values_first(fields: str, expected: list[object]) -> None:
    net = layer_net(argmax(fields), [[5.0, 7, 2, 7]])
    net.forward()
    assert net.blobs["top"].data.tolist() == expected


@pytest.mark.parametrize("fields", ["top_k: 0", "top_k: 6", "axis: 0 top_k: 3"])
def test_argmax_needs_as_many_values(fields: str) -> None:
    with pytest.raises(ShapeError, match=r"'subject' \(ArgMax\), bottom 0: expected top_k from 1 to "):
        layer_net(argmax(fields), np.zeros((2, 5)))


def test_batch_reindex() -> None:
    top, grad = run_layer('type: "BatchReindex"', [[1.0, 2], [3, 4], [5, 6]], [2.0, 0, 2])
    assert top.tolist() == [[5, 6], [1, 2], [5, 6]]
    assert grad.tolist() == [[1, 1], [0, 0], [2, 2]]
    top, grad = run_layer('type: "BatchReindex"', np.ones((3, 2)), [])
    assert top.shape == (0, 2)
    assert not grad.any()


@pytest.mark.parametrize("value", [3, -1, np.nan])
@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_index_out_of_range_is_named(value: float, backend: str) -> None:
    net = layer_net('type: "BatchReindex"', np.ones((3, 2)), [0, value], backend=backend)
    with pytest.raises(LayerError, match=f"bottom 1: expected indices from 0 to 2 .*got {value:g} at index 1 of 'b1'"):
        net.forward()


def test_crop_starts_at_the_offset() -> None:
    ramp = np.arange(25.0).reshape(1, 1, 5, 5)
    top, grad = run_layer('type: "Crop" crop_param { offset: 1 }', ramp, np.zeros((1, 1, 3, 3)))
    assert np.array_equal(top, ramp[:, :, 1:4, 1:4])
    expected = np.zeros((1, 1, 5, 5))
    expected[:, :, 1:4, 1:4] = 1
    assert np.array_equal(grad, expected)
    top, _ = run_layer('type: "Crop"', ramp, np.zeros((9, 7, 3, 2)))
    assert np.array_equal(top, ramp[:, :, :3, :2])


@pytest.mark.parametrize(
    ("fields", "reference", "message"),
    [
        ("offset: 3", (1, 1, 3, 3), r"expected offset 3 and size 3 .*\(1, 1, 3, 3\).*axis 2 of 'b0', got size 5"),
        ("offset: 1 offset: 1 offset: 1", (1, 1, 3, 3), "one for each of the 2 axes from 2 on, got 3"),
        ("", (3, 3), r"as many axes as bottom 0 has .*got shape \(3, 3\)"),
        ("axis: 4", (1, 1, 3, 3), "axis from -4 to 3, got 4"),
    ],
)
def test_wrong_crop_is_refused(fields: str, reference: tuple[int, ...], message: str) -> None:
    with pytest.raises(LayerError, match=f"'subject' \\(Crop\\).*{message}"):
        layer_net(f'type: "Crop" crop_param {{ {fields} }}', np.zeros((1, 1, 5, 5)), np.zeros(reference))


def test_filter_has_room_for_all_until_there_are_values() -> None:
    net = layer_net('type: "Filter"', [[1.0, 2], [3, 4], [5, 6]], [10.0, 20, 30], [0.0, 1, 1], tops="a b")
    assert net.blobs["a"].shape == (3, 2) and net.blobs["b"].shape == (3,)
    net.forward()
    assert net.blobs["a"].data.tolist() == [[3, 4], [5, 6]]
    assert net.blobs["b"].data.tolist() == [20, 30]
    net.blobs["b"].diff[...] = [7, 8]
    net.backward()
    assert net.blobs["b1"].diff.tolist() == [0, 7, 8]
    net.blobs["b2"].data[...] = 0
    net.forward()
    assert net.blobs["a"].shape == (0, 2)
    net.backward()
    assert not net.blobs["b0"].diff.any()


@pytest.mark.parametrize(
    ("shapes", "tops", "message"),
    [
        ([(3, 2), (3,)], "a b", "expected 1 tops .*got 2"),
        ([(3, 2), (3, 2)], "a", r"bottom 1: expected a selector with one value an item, got shape \(3, 2\)"),
        ([(4, 2), (3,)], "a", r"bottom 0: expected 3 items.*got shape \(4, 2\)"),
    ],
)
def test_wrong_filter_is_refused(shapes: list[tuple[int, ...]], tops: str, message: str) -> None:
    with pytest.raises(LayerError, match=f"'subject' \\(Filter\\).*{message}"):
        layer_net('type: "Filter"', *(np.zeros(shape) for shape in shapes), tops=tops)


def test_parameter_keeps_the_interface() -> None:
    case = LayerCase('type: "Parameter" parameter_param { shape { dim: 2 dim: 3 } }', [], batched=False)
    check_backends(case)
    check_plan(case)
    check_accumulation(case)
    check_gradients(case)


def test_parameter_is_learned() -> None:
    net = Net(
        'layer { name: "w" type: "Parameter" top: "w" parameter_param { shape { dim: 2 } } } '
        'layer { name: "t" type: "Input" top: "t" input_param { shape { dim: 2 } } } '
        'layer { name: "loss" type: "EuclideanLoss" bottom: "w" bottom: "t" top: "loss" }',
        Phase.TRAIN,
    )
    net.params["w"][0].data[...] = [1, 2]
    net.forward()
    assert net.blobs["w"].data.tolist() == [1, 2]
    net.backward()
    net.backward()
    assert net.params["w"][0].diff.tolist() == [1, 2]
    with pytest.raises(LayerError, match=r"dimensions of 0 or more, got \(-1,\)"):
        layer_net('type: "Parameter" parameter_param { shape { dim: -1 } }')


def test_embed_refuses_words_that_it_does_not_know() -> None:
    text = 'type: "Embed" embed_param { input_dim: 5 num_output: 2 bias_term: false }'
    net = layer_net(text, [[0.0, 4], [4.9, 1]])
    net.params["subject"][0].data[...] = np.arange(10).reshape(5, 2)
    net.forward()
    assert net.blobs["top"].data.tolist() == [[[0, 1], [8, 9]], [[8, 9], [2, 3]]]
    net.blobs["b0"].data[1, 0] = 5
    with pytest.raises(LayerError, match=r"'subject' \(Embed\), bottom 0: expected indices from 0 to 4 .*got 5"):
        net.forward()


@pytest.mark.parametrize("fields", ["input_dim: 5", "num_output: 5"])
def test_embed_needs_its_sizes(fields: str) -> None:
    with pytest.raises(LayerError, match="(num_output|input_dim) of 1 or more, got 0"):
        layer_net(f'type: "Embed" embed_param {{ {fields} }}', [1.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('type: "Embed" bottom: "y" embed_param { input_dim: 5 num_output: 2 }', "bottom 0: indices have no gradient"),
        ('type: "BatchReindex" bottom: "x" bottom: "y"', "bottom 1: indices have no gradient"),
        ('type: "Filter" bottom: "x" bottom: "y"', "bottom 1: the selector has no gradient"),
        ('type: "ArgMax" bottom: "y"', "bottom 0: places have no gradient"),
    ],
)
def test_no_gradient_flows_into_indices(text: str, message: str) -> None:
    net = Net(
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } } '
        'layer { name: "p" type: "Parameter" top: "p" parameter_param { shape { dim: 1 } } } '
        'layer { name: "s" type: "Eltwise" bottom: "x" bottom: "p" top: "y" } '
        f'layer {{ name: "subject" {text} top: "top" loss_weight: 1 }}',
        Phase.TRAIN,
    )
    net.forward()
    with pytest.raises(LayerError, match=message):
        net.backward()


def test_an_equal_third_input_of_a_maximum_has_no_gradient() -> None:
    net = layer_net('type: "Eltwise" eltwise_param { operation: MAX }', [2.0, 1], [2.0, 1], [2.0, 3])
    net.forward()
    net.blobs["top"].diff[...] = 5
    net.backward()
    assert [net.blobs[name].diff.tolist() for name in ("b0", "b1", "b2")] == [[0, 0], [5, 0], [0, 5]]
