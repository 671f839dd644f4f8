"""Damaged public files neither crash the document model nor hang it, and lose no byte."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.benchmarks.fuzz_documents import Hang, check_document, main, mutated, seeds, time_limit

FILES = seeds()
SMALL = [data for data in FILES if len(data) < 6_000]


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32), st.sampled_from(SMALL))
def test_damaged_files_are_read_edited_and_kept(seed, data):
    chance = random.Random(seed)
    check_document(mutated(data, SMALL, chance), seed)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 100))
def test_any_bytes_are_read_edited_and_kept(data, seed):
    check_document(data, seed)


# Found by fuzzing.
@pytest.mark.parametrize("case", [16, 27, 177, 265, 343, 415, 617, 864, 997, 1030, 2111, 4075, 4236, 4250])
def test_cases_that_failed_once(case):
    chance = random.Random(case)
    check_document(mutated(chance.choice(FILES), FILES, chance), case)


@pytest.mark.parametrize(
    "case", ["[a.\udcff] { x: 1 }", "layer { phase: \udcff }", "layer { include { phase: \udcff } }"]
)
def test_names_and_words_that_are_not_utf8(case):
    check_document(case.encode("utf-8", "surrogateescape"), 0)


def test_the_script_counts_its_cases(capsys):
    assert main(["--seconds", "60", "--seed", "3", "--cases", "2"]) == 0
    assert "2 cases from 3, 0 failed" in capsys.readouterr().out


def test_a_hang_is_told():
    with pytest.raises(Hang), time_limit(0.05):
        while True:
            pass


@pytest.mark.parametrize(
    "text",
    [
        "# note\n" * 200_000,
        "#" + "x" * 2_000_000 + "\na: 1",
        "a:" + " " * 1_000_000 + "1",
        " " * 1_000_000 + "?",
        'name: "' + "x" * 2_000_000 + '"',
        'name: "' + "x" * 2_000_000,
        "name: " + "'a' " * 100_000,
        "a {" * 50_000 + "}" * 50_000,
        "layer {" * 5_000,
        "layer { a: [" * 2_000,
        "a: [" * 10_000,
        "}" * 20_000,
        "a: 1 " * 20_000,
        "layer { " + "bogus: 1 " * 5_000 + "}",
        "layer { " + "name: 'a' " * 5_000 + "}",
    ],
    ids=lambda text: text[:12] + "...",
)
def test_long_and_deep_texts_take_their_length_in_time(text):
    check_document(text.encode(), 0, edits=1)
