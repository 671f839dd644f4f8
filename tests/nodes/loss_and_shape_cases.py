"""Cases of losses, shape layers and Embed for the harness."""

from __future__ import annotations

import numpy as np

from engine.testing import LayerCase

__all__ = ["LOSS_CASES", "PAIRS", "PLACES", "SHAPE_CASES"]

RNG = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def integers(stop: int, *shape: int) -> np.ndarray:
    return RNG.integers(0, stop, shape).astype(float)


def loss(fields: str, *bottoms: np.ndarray, tops: int = 1) -> LayerCase:
    """Return a case of a loss of which only the first bottom has a gradient; a third one is no batch."""
    return LayerCase(fields, bottoms, tops, no_gradient=range(1, len(bottoms)), batched=len(bottoms) < 3)


def pairs(fields: str, scale: float = 1) -> LayerCase:
    """Return a case of three unlike pairs and two like ones."""
    like = np.array([0, 1, 0, 1, 0.0])
    return LayerCase(
        f'type: "ContrastiveLoss" {fields}', [scale * normal(5, 3), scale * normal(5, 3), like], no_gradient=[2]
    )


def reduction(fields: str) -> LayerCase:
    return LayerCase(f'type: "Reduction" reduction_param {{ {fields} }}', [normal(3, 4, 2)])


def reshape(fields: str) -> LayerCase:
    return LayerCase(f'type: "Reshape" reshape_param {{ {fields} }}', [normal(2, 3, 4)])


EMBED = 'type: "Embed" embed_param { num_output: 3 input_dim: 5 weight_filler { type: "gaussian" }'

LOSS_CASES = {
    "hinge": loss('type: "HingeLoss"', normal(5, 4), integers(4, 5)),
    "hinge squared": loss('type: "HingeLoss" hinge_loss_param { norm: L2 }', normal(5, 2, 2), integers(4, 5)),
    "multinomial": loss(
        'type: "MultinomialLogisticLoss" loss_weight: 2', RNG.uniform(0.2, 1, (4, 3, 2)), integers(6, 4)
    ),
    "sigmoid loss": loss('type: "SigmoidCrossEntropyLoss"', 3 * normal(5, 4), RNG.random((5, 4))),
    "sigmoid loss ignoring": loss(
        'type: "SigmoidCrossEntropyLoss" loss_param { ignore_label: 2 normalization: VALID }',
        normal(5, 4),
        integers(3, 5, 4),
    ),
    "infogain": loss('type: "InfogainLoss"', normal(5, 4), integers(4, 5), normal(1, 1, 4, 4)),
    "infogain axis": loss(
        'type: "InfogainLoss" infogain_loss_param { axis: -1 } loss_param { ignore_label: 1 normalization: FULL }',
        normal(4, 2, 4),
        integers(4, 4, 2),
        normal(4, 4),
        tops=2,
    ),
    "contrastive legacy": pairs("contrastive_loss_param { margin: 8 legacy_version: true }"),
}
SHAPE_CASES = {
    "reshape": reshape("shape { dim: 0 dim: 2 dim: -1 }"),
    "reshape middle": reshape("shape { dim: 2 dim: -1 } axis: -2 num_axes: 1"),
    "slice": LayerCase('type: "Slice"', [normal(3, 6, 2)], 3),
    "slice points": LayerCase(
        'type: "Slice" slice_param { axis: -1 slice_point: 1 slice_point: 3 }', [normal(3, 2, 5)], 3
    ),
    "slice one": LayerCase('type: "Slice"', [normal(3, 2)]),
    "tile": LayerCase('type: "Tile" tile_param { tiles: 3 }', [normal(3, 2, 4)]),
    "tile last axis": LayerCase('type: "Tile" tile_param { axis: -1 tiles: 2 }', [normal(3, 2, 4)]),
    "tile once": LayerCase('type: "Tile" tile_param { tiles: 1 }', [normal(3, 2)]),
    "sum": reduction(""),
    "sum of magnitudes": reduction("operation: ASUM axis: 1 coeff: 0.5"),
    "sum of squares": reduction("operation: SUMSQ axis: -1 coeff: 2"),
    "mean": reduction("operation: MEAN axis: 1 coeff: -3"),
    "batch reindex": LayerCase('type: "BatchReindex"', [normal(5, 2, 3), np.array([3, 0, 3, 2, 3.0])], no_gradient=[1]),
    "crop": LayerCase('type: "Crop" crop_param { offset: 1 offset: 2 }', [normal(2, 3, 5, 6), normal(2, 1, 3, 2)]),
    "crop one axis": LayerCase('type: "Crop" crop_param { axis: -1 }', [normal(2, 3, 5), normal(2, 3, 4)]),
    "filter": LayerCase(
        'type: "Filter"', [normal(5, 2), normal(5, 3, 2), np.array([0, 1, 2, 0, -1.0])], 2, no_gradient=[2]
    ),
    "embed": LayerCase(EMBED + 'bias_filler { type: "gaussian" } }', [integers(5, 4, 3)], no_gradient=[0]),
    "embed no bias": LayerCase(EMBED + "bias_term: false }", [integers(5, 9)], no_gradient=[0]),
}
#: Caffe's gradient differs from the true one by up to 1e-4 of the distance.
PAIRS = {
    "contrastive": pairs("contrastive_loss_param { margin: 3 }"),
    "contrastive far apart": pairs("contrastive_loss_param { margin: 3000 }", scale=1000),
}
#: Without a gradient.
PLACES = {
    "argmax": LayerCase('type: "ArgMax" argmax_param { top_k: 2 out_max_val: true }', [normal(4, 5)], no_gradient=[0]),
    "argmax axis": LayerCase(
        'type: "ArgMax" argmax_param { top_k: 2 axis: 1 }', [integers(3, 4, 5, 2)], no_gradient=[0]
    ),
}
