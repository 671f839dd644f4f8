"""Arithmetic in number fields."""

from __future__ import annotations

import pytest

from app.properties.expressions import read_formula, split_formulas
from engine.errors import CheckError
from engine.schema import FieldInfo, load_schema

SCHEMA = load_schema()


def info(message: str, field: str) -> FieldInfo:
    found = SCHEMA.describe(message).field(field)
    assert found is not None
    return found


OUTPUTS = info("ConvolutionParameter", "num_output")
STEPS = info("SolverParameter", "max_iter")
RATE = info("SolverParameter", "base_lr")


@pytest.mark.parametrize(
    ("field", "typed", "before", "expected"),
    [
        (OUTPUTS, "2*64", "1", "128"),
        (OUTPUTS, "=64/2", "1", "32"),
        (OUTPUTS, "=64", "1", "64"),
        (OUTPUTS, "(3 + 5) * 2**4 // 3", "1", "42"),
        (OUTPUTS, "+8", "20", "28"),
        (OUTPUTS, "-=8", "20", "12"),
        (OUTPUTS, "*2", "20", "40"),
        (OUTPUTS, "/ 2", "20", "10"),
        (OUTPUTS, "+=8", "20", "28"),
        (OUTPUTS, "*1.5", "0x10", "24"),
        (STEPS, "-=8", "20", "12"),
        (RATE, "0.1*3", "", "0.3"),
        (RATE, "*0.1", "0.01", "0.001"),
        (RATE, "/10", "1e-3", "0.0001"),
        (RATE, "1e-2*100", "", "1"),
        (RATE, "*2", "0.5f", "1"),
    ],
)
def test_what_is_computed(field: FieldInfo, typed: str, before: str, expected: str) -> None:
    formula = read_formula(field, typed)
    assert formula is not None
    assert formula.result(field, before) == expected


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        (OUTPUTS, "64"),
        (OUTPUTS, "0x40"),
        (OUTPUTS, "-8"),
        (STEPS, "-8"),
        (RATE, "1e-3"),
        (RATE, "inf"),
        (RATE, ".5f"),
        (OUTPUTS, ""),
        (OUTPUTS, "x"),
        (OUTPUTS, "2*"),
        (OUTPUTS, "len('a')"),
        (OUTPUTS, "True+1"),
        (OUTPUTS, "1" * 300),
        (info("SolverParameter", "net"), "2*3"),
    ],
)
def test_what_is_left_to_others(field: FieldInfo, typed: str) -> None:
    assert read_formula(field, typed) is None


@pytest.mark.parametrize(
    ("field", "typed", "before", "said"),
    [
        (OUTPUTS, "64/3", "1", "whole number"),
        (OUTPUTS, "/3", "64", "whole number"),
        (OUTPUTS, "-=30", "20", "0 or more"),
        (OUTPUTS, "2**40", "1", "at most"),
        (OUTPUTS, "1/0", "1", "divides by zero"),
        (OUTPUTS, "/0", "1", "divides by zero"),
        (OUTPUTS, "9**9**9", "1", "too large"),
        (OUTPUTS, "*".join(["(10**18)**64"] * 5), "1", "too large"),
        (RATE, "(((1/10**18)**64)**64)**64", "1", "too large"),
        (RATE, "9e300*9e300", "1", "too large"),
        (RATE, "*2", "half", "no number"),
    ],
)
def test_what_is_refused(field: FieldInfo, typed: str, before: str, said: str) -> None:
    with pytest.raises(CheckError, match=said):
        formula = read_formula(field, typed)
        assert formula is not None
        formula.result(field, before)


def test_lists() -> None:
    size = info("ConvolutionParameter", "kernel_size")
    assert split_formulas(size, "3, 5 7") is None
    assert split_formulas(size, "2 * 3, 5") == ["2 * 3", "5"]
    assert split_formulas(size, "*2") == ["*2"]
    assert split_formulas(size, "+2") == ["+2"]
