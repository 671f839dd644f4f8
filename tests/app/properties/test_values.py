from __future__ import annotations

import pytest

from app.properties.values import join_list, prototxt_text, split_list, step_number
from engine.errors import CheckError
from engine.schema import FieldInfo, load_schema

CONVOLUTION = "ConvolutionParameter"


def info(message: str, field: str) -> FieldInfo:
    return load_schema().field_info(message, (field,))


NUM_OUTPUT = info(CONVOLUTION, "num_output")
STD = info("FillerParameter", "std")
AXIS = info(CONVOLUTION, "axis")
POOL = info("PoolingParameter", "pool")
BIAS = info(CONVOLUTION, "bias_term")
NAME = info("LayerParameter", "name")


@pytest.mark.parametrize(
    ("field", "typed", "expected"),
    [
        (NUM_OUTPUT, "20", "20"),
        (NUM_OUTPUT, " 0x20 ", "0x20"),
        (NUM_OUTPUT, "+3", "3"),
        (NUM_OUTPUT, "4294967295", "4294967295"),
        (AXIS, "-1", "-1"),
        (STD, "1e-3", "1e-3"),
        (STD, ".5", "0.5"),
        (STD, "1.", "1."),
        (STD, "inf", "inf"),
        (STD, "0.0100", "0.0100"),
        (POOL, "ave", "AVE"),
        (BIAS, "false", "false"),
        (NAME, 'a "b"\n', "'a \"b\"\\n'"),
        (NAME, "caf\udce9", '"caf\udce9"'),
    ],
)
def test_valid_text_is_kept_as_typed(field: FieldInfo, typed: str, expected: str) -> None:
    assert prototxt_text(field, typed) == expected


@pytest.mark.parametrize(
    ("field", "typed", "words"),
    [
        (NUM_OUTPUT, "-1", "0 or more"),
        (NUM_OUTPUT, "4294967296", "at most 4294967295"),
        (NUM_OUTPUT, "2.5", "whole number"),
        (NUM_OUTPUT, "08", "whole number"),
        (AXIS, "3000000000", "at most 2147483647"),
        (STD, "fast", "a number such as"),
        (STD, "1e39", "3.4e38"),
        (STD, "", "a value is expected"),
        (POOL, "MEDIAN", "MAX, AVE, STOCHASTIC"),
        (BIAS, "yes", "true, false"),
    ],
)
def test_what_is_wrong_is_one_sentence(field: FieldInfo, typed: str, words: str) -> None:
    with pytest.raises(CheckError) as caught:
        prototxt_text(field, typed)
    assert words in str(caught.value)
    assert str(caught.value).startswith(field.name)
    assert str(caught.value).count(". ") == 0


def test_a_string_keeps_its_quotes() -> None:
    assert prototxt_text(NAME, "b", written="'a'") == "'b'"


@pytest.mark.parametrize(
    ("kind", "text", "steps", "expected"),
    [
        ("uint32", "20", 1, "21"),
        ("uint32", "0", -1, "0"),
        ("uint32", "", 1, "1"),
        ("int32", "0", -1, "-1"),
        ("uint32", "0x10", 1, "17"),
        ("float", "0.01", 1, "0.02"),
        ("float", "0.01", -2, "-0.01"),
        ("float", "1e-3", 1, "2e-3"),
        ("float", "0.99", 1, "1.00"),
        ("float", "5", -10, "-5"),
        ("float", "abc", 1, "1"),
    ],
)
def test_steps(kind: str, text: str, steps: int, expected: str) -> None:
    assert step_number(kind, text, steps) == expected


@pytest.mark.parametrize(
    ("field", "typed", "entries"),
    [
        (info(CONVOLUTION, "kernel_size"), "3, 5", ["3", "5"]),
        (info(CONVOLUTION, "kernel_size"), "3 5", ["3", "5"]),
        (info(CONVOLUTION, "kernel_size"), "[3,5]", ["3", "5"]),
        (info(CONVOLUTION, "kernel_size"), " ", []),
        (info("NetStateRule", "stage"), 'a, "b, c"', ["a", "b, c"]),
        (info("NetStateRule", "stage"), "two words,", ["two words"]),
    ],
)
def test_comma_lists(field: FieldInfo, typed: str, entries: list[str]) -> None:
    assert split_list(field, typed) == entries
    assert split_list(field, join_list(field, entries)) == entries
