"""Layers of the segmentation forks: what each refuses, warns of and takes over, and nets in the old format."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import NetcanvasError
from engine.graph import OpGraph
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.layer_specs import graph_layers
from engine.net import Net
from engine.registry import default_registry
from engine.shapes import ShapeService
from engine.testing import LayerCase, check_layer
from engine.testing.case import Rig
from tests.plugins.forks import check_against, normal
from tests.plugins.segmentation_cases import CASES, CHEN, PSPNET, SEGNET, bn, mask, masked, stored, windows


class TestUpsample:
    def test_it_undoes_pooling(self) -> None:
        text = (
            'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 5 dim: 6 } } }'
            'layer { name: "p" type: "Pooling" bottom: "x" top: "p" top: "m" '
            "pooling_param { kernel_size: 2 stride: 2 } }"
            'layer { name: "u" type: "Upsample" bottom: "p" bottom: "m" top: "u" '
            "upsample_param { upsample_h: 5 upsample_w: 6 } }"
        )
        net = Net(text, Phase.TEST)
        x = net.blobs["x"].data
        x[...] = normal(2, 3, 5, 6)
        net.forward()
        u = net.blobs["u"].data
        assert (np.isin(u, x) | (u == 0)).all() and (u != 0).sum() == net.blobs["p"].count
        np.testing.assert_array_equal(u[u != 0], x[u != 0])

    @pytest.mark.parametrize("wrong", [12.0, -1.0])
    def test_an_index_outside_of_the_top_is_told(self, wrong: float) -> None:
        values = mask((1, 1, 2, 2), 12)
        values[0, 0, 1, 1] = wrong
        case = LayerCase(
            'type: "Upsample" upsample_param { upsample_h: 3 upsample_w: 4 }', [normal(1, 1, 2, 2), values]
        )
        with pytest.raises(NetcanvasError, match=f"bottom 1: expected indices from 0 to 11 .* got {wrong:.0f}"):
            Rig(case).run()

    @pytest.mark.parametrize(
        ("fields", "fault"),
        [
            ("scale: 1", "scale of 2 or more"),
            ("scale: 2 scale_h: 2 scale_w: 2", "expected scale, or scale_h and scale_w"),
            ("scale_h: 2", "expected scale, or scale_h and scale_w"),
            ("scale: 3 pad_out_h: true", "only with a scale of 2"),
            ("upsample_h: 1 upsample_w: 4", "2 or more"),
        ],
    )
    def test_settings_that_the_fork_refuses(self, fields: str, fault: str) -> None:
        with pytest.raises(NetcanvasError, match=fault):
            Rig(masked("Upsample", "upsample_param", fields, (1, 1, 2, 2), 4))


class TestUnpooling:
    def test_tile_repeats_and_its_gradient_is_the_mean_as_in_the_fork(self) -> None:
        text = 'type: "Unpooling" unpooling_param { unpool: TILE kernel_size: 2 stride: 2 unpool_size: 4 }'
        case = LayerCase(text, [normal(1, 2, 2, 2)])
        check_against(case, lambda x: windows(x, (4, 4), (2, 2), 2, share=False))
        check_layer(case, gradients=False)
        rig = Rig(case)
        outcome = rig.run()
        assert outcome.bottom_grads[0] is not None
        means = rig.net.blobs["top0"].diff.reshape(1, 2, 2, 2, 2, 2).mean(axis=(3, 5))
        np.testing.assert_allclose(outcome.bottom_grads[0], means, rtol=1e-5, atol=1e-6)

    def test_without_a_mask_values_go_to_the_first_pixel_and_stay_inside(self) -> None:
        case = CASES["unpooling without a mask"]
        rows, columns = np.ix_([0, 2, 4], [0, 2, 4])
        expected = np.zeros((2, 3, 5, 7))
        expected[:, :, rows, columns] = case.bottoms[0]
        np.testing.assert_array_equal(Rig(case).run().tops[0], expected.astype(np.float32))

    @pytest.mark.parametrize(("kernel", "stride", "size"), [(2, 2, 7), (3, 2, 7), (5, 2, 9)])
    def test_size_without_one_given(self, kernel: int, stride: int, size: int) -> None:
        text = f'type: "Unpooling" unpooling_param {{ kernel_size: {kernel} stride: {stride} }}'
        assert Rig(LayerCase(text, [normal(1, 1, 3, 3)])).run().tops[0].shape[2:] == (size, size)

    @pytest.mark.parametrize(
        ("fields", "fault"),
        [
            ("stride: 2", "expected kernel_size, got none"),
            ("kernel_size: 2 pad: 1", "expected pad 0"),
            ("kernel_size: 2 kernel_h: 2", "expected kernel_size, or kernel_h and kernel_w"),
            ("kernel_size: 2 unpool_h: 3", "expected unpool_size, or unpool_h and unpool_w"),
        ],
    )
    def test_settings_that_the_fork_refuses(self, fields: str, fault: str) -> None:
        with pytest.raises(NetcanvasError, match=fault):
            Rig(LayerCase(f'type: "Unpooling" unpooling_param {{ {fields} }}', [normal(1, 1, 2, 2)]))


class TestInterp:
    @pytest.mark.parametrize(
        ("fields", "size"),
        [
            ("shrink_factor: 2 zoom_factor: 3", (10, 13)),
            ("shrink_factor: 2 zoom_factor: 3 height: 5 width: 6", (5, 6)),
            ("shrink_factor: 2 height: 5 width: 6", (4, 5)),
            ("zoom_factor: 2", (13, 17)),
        ],
    )
    def test_which_setting_counts(self, fields: str, size: tuple[int, int]) -> None:
        case = LayerCase(f'type: "Interp" interp_param {{ {fields} }}', [normal(1, 1, 7, 9)])
        assert Rig(case).run().tops[0].shape[2:] == size

    @pytest.mark.parametrize(
        ("fields", "fault"),
        [
            ("", "expected shrink_factor, zoom_factor, or height and width"),
            ("height: 4", "expected shrink_factor, zoom_factor, or height and width"),
            ("zoom_factor: 0", "zoom_factor of 1 or more"),
            ("pad_beg: 1 zoom_factor: 2", "pad_beg and pad_end of 0 or less"),
            ("pad_beg: -2 pad_end: -2 zoom_factor: 2", "larger than the 4 pixels cut off"),
            ("height: 0 width: 3", "height and width of 1 or more"),
        ],
    )
    def test_settings_that_the_fork_refuses(self, fields: str, fault: str) -> None:
        with pytest.raises(NetcanvasError, match=fault):
            Rig(LayerCase(f'type: "Interp" interp_param {{ {fields} }}', [normal(1, 1, 4, 4)]))


class TestInterpBlobSize:
    @pytest.mark.parametrize(("fields", "inputs"), [("use_blob_size: true", 1), ("height: 3 width: 3", 2)])
    def test_a_size_is_connected_where_it_is_asked_for(self, fields: str, inputs: int) -> None:
        bottoms = [normal(1, 1, 4, 4)] * inputs
        with pytest.raises(NetcanvasError, match="a second bottom with use_blob_size, and none without"):
            Rig(LayerCase(f'type: "Interp" interp_param {{ {fields} }}', bottoms, no_gradient=[1]))

    def test_the_size_may_change(self) -> None:
        case = CASES["interp to a blob's size"]
        rig = Rig(case)
        for size in ((3, 8), (4, 5), (9, 2)):
            assert rig.run([case.bottoms[0], normal(2, 1, *size)]).tops[0].shape == (2, 3, *size)


class TestBN:
    def test_statistics_are_those_of_the_batch(self) -> None:
        case = CASES["bn with statistics"]
        _, mean, variance = Rig(case).run().tops
        np.testing.assert_allclose(mean, case.bottoms[0].mean(axis=(0, 2, 3), keepdims=True)[:1], rtol=1e-5)
        np.testing.assert_allclose(variance, case.bottoms[0].var(axis=(0, 2, 3), keepdims=True)[:1], rtol=1e-5)

    def test_channels_with_nothing_but_rounding_in_them_stay_finite(self) -> None:
        top = Rig(bn(SEGNET)).run([np.full((3, 2, 4, 5), 1234.5678, np.float32)]).tops[0]
        assert (abs(top - 0.25) <= 1.5001).all()  # E(x^2) - E(x)^2 is negative here, in single precision

    @pytest.mark.parametrize("fields", [f"momentum: 0.75 {PSPNET}", f"decay: 0.75 {SEGNET}"])
    def test_statistics_are_averaged_while_training(self, fields: str) -> None:
        case = bn(fields)
        rig = Rig(case)
        rig.load(case.bottoms)
        mean, variance = np.zeros((1, 2, 1, 1)), np.zeros((1, 2, 1, 1))
        for _ in range(2):
            rig.forward()
            mean = 0.75 * mean + 0.25 * case.bottoms[0].mean(axis=(0, 2, 3), keepdims=True)
            variance = 0.75 * variance + 0.25 * case.bottoms[0].var(axis=(0, 2, 3), keepdims=True)
        np.testing.assert_allclose(rig.params[2].data, mean, rtol=1e-5)
        np.testing.assert_allclose(rig.params[3].data, variance, rtol=1e-5)

    def test_nothing_is_averaged_in_testing(self) -> None:
        case = bn(CHEN, phase=Phase.TEST, params=stored())
        rig = Rig(case)
        rig.run()
        np.testing.assert_array_equal(rig.params[2].data, case.params[2])

    @pytest.mark.parametrize(
        ("fields", "rates"),
        [
            (CHEN, [1, 1, 0, 0]),
            (SEGNET, [1, 1]),
            (PSPNET, [1, 1, 0, 0]),
            (f"frozen: true {PSPNET}", [0, 0, 0, 0]),
            ("eps: 0.1", [1, 1, 0, 0]),
        ],
    )
    def test_what_is_learned(self, fields: str, rates: list[float]) -> None:
        rig = Rig(bn(fields))
        assert [param.lr_mult for param in rig.net.learnable] == rates
        assert [blob.shape for blob in rig.params] == [(1, 2, 1, 1)] * len(rates)

    def test_a_frozen_one_starts_with_variance_1_and_keeps_it(self) -> None:
        rig = Rig(bn(f"frozen: true {PSPNET}"))
        outcome = rig.run()
        assert (rig.params[3].data == 1).all() and (rig.params[2].data == 0).all()
        assert not outcome.param_grads[0].any() and not outcome.param_grads[1].any()


OLD_NET = """
input: "data" input_dim: 2 input_dim: 3 input_dim: 8 input_dim: 8
layers { name: "norm" type: BN bottom: "data" top: "normed"
  bn_param { scale_filler { type: "constant" value: 2 } shift_filler { type: "constant" value: 1 } } }
layers { name: "pool" type: POOLING bottom: "normed" top: "pooled" top: "mask"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layers { name: "unpool" type: UNPOOLING bottom: "pooled" bottom: "mask" top: "unpooled"
  unpooling_param { unpool: MAX kernel_size: 2 stride: 2 unpool_size: 8 } }
"""


def test_nets_in_the_old_format_have_the_layers_too() -> None:
    """DeconvNet's are written in it."""
    net = Net(OLD_NET, Phase.TEST)
    assert [node.type for node in net.nodes][-3:] == ["BN", "Pooling", "Unpooling"]
    net.blobs["data"].data[...] = normal(2, 3, 8, 8)
    net.forward()
    normed, unpooled = net.blobs["normed"].data, net.blobs["unpooled"].data
    assert normed.mean() == pytest.approx(1, abs=1e-5)
    largest = normed.reshape(2, 3, 4, 2, 4, 2).max(axis=(3, 5)).repeat(2, axis=2).repeat(2, axis=3)
    np.testing.assert_array_equal(unpooled, np.where(normed == largest, normed, 0))


def test_the_editor_has_shapes_of_the_old_format() -> None:
    registry = default_registry(safe=True)
    graph = OpGraph.parse(OLD_NET)
    assert [node.type for node in graph.nodes()][-3:] == ["BN", "Pooling", "Unpooling"]
    specs = graph_layers(graph)
    message = specs[-1].message(registry.schema())
    assert message.type == "Unpooling" and message.unpooling_param.unpool_size == 8
    client = InspectionClient()
    try:
        found = ShapeService(registry=registry, client=client).infer(specs, Phase.TEST, trusted=True)
    finally:
        client.close()
    assert list(found.values())[-1].tops == ((2, 3, 8, 8),)
