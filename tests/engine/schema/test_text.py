"""Printing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import prototxt
from engine.schema import format_float32, load_schema, quote, to_message, to_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (0.01, "0.01"),
        (0.00390625, "0.00390625"),
        (0.0005, "0.0005"),
        (0.00001, "1e-05"),
        (1e-8, "1e-08"),
        (1.5e-7, "1.5e-07"),
        (100000.0, "100000"),
        (1e9, "1e+09"),
        (123456.789, "123456.79"),
        (1 / 3, "0.33333334"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
    ],
)
def test_floats_are_short(value, text):
    """B21."""
    assert format_float32(value) == text


@given(st.floats(width=32, allow_nan=False))
def test_floats_read_back_equal(value):
    """B21."""
    text = format_float32(value)
    message = to_message(prototxt.parse(f"power: {text}").root, "PowerParameter", strict=True)
    assert np.float32(message.power).tobytes() == np.float32(value).tobytes()


@given(st.text(alphabet=st.characters(blacklist_categories=("Cs",))))
def test_strings_read_back_equal(value):
    assert to_message(prototxt.parse(f"name: {quote(value)}").root, "NetParameter", strict=True).name == value


@given(st.binary())
def test_bytes_read_back_equal(value):
    assert to_message(prototxt.parse(f"data: {quote(value)}").root, "Datum", strict=True).data == value


def test_layout():
    net = load_schema().message("NetParameter")(name="n")
    layer = net.layer.add(name="pool", type="Pooling", bottom=["a"], top=["b"], phase=1)
    layer.pooling_param.pool = 1
    layer.pooling_param.global_pooling = True
    layer.relu_param.SetInParent()
    assert to_text(net) == (
        'name: "n"\nlayer {\n  name: "pool"\n  type: "Pooling"\n  bottom: "a"\n  top: "b"\n  phase: TEST\n'
        "  pooling_param {\n    pool: AVE\n    global_pooling: true\n  }\n  relu_param {\n  }\n}\n"
    )
