"""Formulas of layers that move values, and of those that combine a few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.layer import Phase
from tests.nodes.references.reference import Reference, Values, normal

__all__ = ["SHAPES"]

MOVES = "Caffe's documentation of the layer: values are moved, not changed"


def best_two(bottoms: Sequence[Values], _: object) -> list[Values]:
    """Sort each item; the places of the largest come first, then their values."""
    rows = []
    for row in bottoms[0]:
        places = sorted(range(len(row)), key=lambda place: -row[place])[:2]
        rows.append([places, [row[place] for place in places]])
    return [np.array(rows)]


def tiled(bottoms: Sequence[Values], _: object) -> list[Values]:
    return [np.concatenate([bottoms[0]] * 3, axis=1)]


SHAPES = [
    Reference('type: "Split"', [normal(2, 3)], lambda b, _: [b[0], b[0]], MOVES, 2),
    Reference('type: "Silence"', [normal(2, 3)], lambda b, _: [], "a layer without tops computes nothing", 0),
    Reference('type: "Flatten"', [normal(2, 3, 4)], lambda b, _: [np.array([x.ravel() for x in b[0]])], MOVES),
    Reference(
        'type: "Reshape" reshape_param { shape { dim: 0 dim: 2 dim: -1 } }',
        [normal(2, 3, 4)],
        lambda b, _: [np.array(b[0].ravel().tolist()).reshape(2, 2, 6)],
        MOVES,
    ),
    Reference(
        'type: "Concat" concat_param { axis: -1 }',
        [normal(2, 3), normal(2, 1), normal(2, 2)],
        lambda b, _: [np.array([[*x, *y, *z] for x, y, z in zip(*b, strict=True)])],
        MOVES,
    ),
    Reference(
        'type: "Slice" slice_param { slice_point: 1 slice_point: 3 }',
        [normal(2, 4, 2)],
        lambda b, _: [b[0][:, :1], b[0][:, 1:3], b[0][:, 3:]],
        MOVES,
        3,
    ),
    Reference('type: "Tile" tile_param { tiles: 3 }', [normal(2, 3, 2)], tiled, MOVES),
    Reference(
        'type: "Crop" crop_param { offset: 1 offset: 2 }',
        [normal(2, 3, 5, 6), normal(2, 1, 3, 2)],
        lambda b, _: [b[0][:, :, 1:4, 2:4]],
        MOVES,
    ),
    Reference(
        'type: "BatchReindex"',
        [normal(4, 3), np.array([3, 0, 3.0])],
        lambda b, _: [np.array([b[0][3], b[0][0], b[0][3]])],
        MOVES,
    ),
    Reference(
        'type: "Filter"',
        [normal(4, 3), np.array([0, 1, 0, -2.0])],
        lambda b, _: [np.array([b[0][1], b[0][3]])],
        MOVES,
    ),
    Reference('type: "ArgMax" argmax_param { top_k: 2 out_max_val: true }', [normal(3, 5)], best_two, "a sorted list"),
    Reference(
        'type: "Eltwise" eltwise_param { coeff: 1 coeff: -0.5 coeff: 2 }',
        [normal(2, 3), normal(2, 3), normal(2, 3)],
        lambda b, _: [b[0] - 0.5 * b[1] + 2 * b[2]],
        "Caffe's EltwiseParameter: SUM",
    ),
    Reference(
        'type: "Eltwise" eltwise_param { operation: PROD }',
        [normal(2, 3), normal(2, 3), normal(2, 3)],
        lambda b, _: [b[0] * b[1] * b[2]],
        "Caffe's EltwiseParameter: PROD",
    ),
    Reference(
        'type: "Eltwise" eltwise_param { operation: MAX }',
        [normal(2, 3), normal(2, 3), normal(2, 3)],
        lambda b, _: [np.array([max(values) for values in zip(*map(np.ravel, b), strict=True)]).reshape(2, 3)],
        "Caffe's EltwiseParameter: MAX",
    ),
    *(
        Reference(
            f'type: "Reduction" reduction_param {{ operation: {operation} axis: 1 coeff: 0.5 }}',
            [normal(2, 3, 4)],
            lambda b, _, reduce=reduce: [np.array([0.5 * reduce(x.ravel().tolist()) for x in b[0]])],  # type: ignore[misc]
            "Caffe's ReductionParameter",
        )
        for operation, reduce in (
            ("SUM", sum),
            ("ASUM", lambda values: sum(abs(x) for x in values)),
            ("SUMSQ", lambda values: sum(x * x for x in values)),
            ("MEAN", lambda values: sum(values) / len(values)),
        )
    ),
    Reference(
        'type: "Parameter" parameter_param { shape { dim: 2 dim: 3 } }', [], lambda _, p: [p[0]], "its own parameter"
    ),
    Reference(
        'type: "DummyData" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { value: 1.5 } }',
        [],
        lambda _, __: [np.full((2, 3), 1.5)],
        "Caffe's constant filler",
        phase=Phase.TEST,
    ),
    Reference(
        'type: "Input" input_param { shape { dim: 2 dim: 3 } }',
        [],
        lambda _, __: [np.zeros((2, 3))],
        "nothing was put into it",
    ),
]
