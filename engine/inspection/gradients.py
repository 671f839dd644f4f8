"""The gradient check of a layer, as the inspection process runs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.blob import Shape
from engine.layer import Phase
from engine.registry import LayerRegistry
from engine.testing.gradcheck import check_layer_gradients
from engine.testing.python_layers import case_of_message
from engine.testing.reports import GradientReport

__all__ = ["check_message"]


def check_message(
    layer_param: Any,
    phase: Phase,
    bottoms: Sequence[Shape],
    *,
    labels: Sequence[int],
    seed: int,
    base_dirs: Sequence[Path],
    registry: LayerRegistry,
) -> GradientReport:
    """Check the gradients of a layer on random values.

    Parameters
    ----------
    layer_param : LayerParameter
        The layer.
    phase : Phase
        What its net is built for.
    bottoms : sequence of shapes
        One for each bottom.
    labels : sequence of int
        Bottoms that are 0 or 1 and have no gradient.
    seed : int
        Of values and directions.
    base_dirs : sequence of Path
        The net's folders.
    registry : LayerRegistry
        Where its type is found.
    """
    rng = np.random.default_rng(seed)
    values = [
        rng.integers(0, 2, shape).astype(np.float64) if index in labels else np.asarray(rng.normal(size=shape))
        for index, shape in enumerate(bottoms)
    ]
    case = case_of_message(layer_param, values, phase=phase, blocked=labels, registry=registry)
    return check_layer_gradients(case, layer=layer_param.name, base_dirs=base_dirs, seed=seed)
