"""Layers against independent formulas in double precision; these need no files beside the checkout."""

from __future__ import annotations

import numpy as np
import pytest

from engine.testing.case import Rig
from tests.nodes.references import REFERENCES, Reference

NAMES = [f"{index} {reference.type}" for index, reference in enumerate(REFERENCES)]
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-4}  # numbers of the files are exact in float32


@pytest.mark.parametrize("reference", REFERENCES, ids=NAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("use_plan", [False, True])
def test_layer_computes_its_formula(reference: Reference, dtype: type, use_plan: bool) -> None:
    assert len(reference.source) > 10
    rig = Rig(reference.case, dtype=dtype, use_plan=use_plan)
    bottoms = [np.asarray(values, dtype) for values in reference.bottoms]
    params = [blob.data.astype(np.float64) for blob in rig.params]
    rig.load(bottoms)
    rig.forward()
    expected = reference.formula([values.astype(np.float64) for values in bottoms], params)
    assert len(expected) == reference.tops
    for name, values in zip(reference.case.top_names, expected, strict=True):
        actual = rig.net.blobs[name].data
        assert actual.shape == values.shape
        np.testing.assert_allclose(actual, values, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
