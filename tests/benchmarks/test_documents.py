"""The promised times for big documents, with room for a slower machine."""

from __future__ import annotations

from tests.benchmarks.documents import (
    CHECK_BUDGET,
    DIAGNOSIS_BUDGET,
    EDIT_BUDGET,
    MOST_TIMES,
    OPEN_BUDGET,
    TYPING_BUDGET,
    measure,
)

ROOM = 3


def test_ten_thousand_layers_open_and_change_in_time():
    figures = measure(tries=2)
    assert figures.open < ROOM * OPEN_BUDGET
    assert figures.times_official < MOST_TIMES
    assert figures.check < ROOM * CHECK_BUDGET
    assert figures.typing < ROOM * TYPING_BUDGET
    assert figures.diagnosis < ROOM * DIAGNOSIS_BUDGET
    late = {name: seconds for name, seconds in figures.edits.items() if seconds > ROOM * EDIT_BUDGET}
    assert not late
