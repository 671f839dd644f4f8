"""What is said about a message in few words."""

from __future__ import annotations

import pytest

from app.properties.messages import summarise
from app.properties.snapshot import Snapshot
from engine.prototxt import parse
from engine.schema import load_schema


@pytest.mark.parametrize(
    ("message", "text", "words"),
    [
        ("BlobShape", "dim: 1 dim: 3 dim: 32 dim: 32", "1 × 3 × 32 × 32"),
        ("BlobShape", "dim: [2, 5]", "2 × 5"),
        ("BlobShape", "", "empty"),
        ("NetStateRule", 'phase: TEST stage: "deploy" stage: "fast"', "TEST · deploy, fast"),
        ("FillerParameter", 'type: "gaussian" std: 0.01', "gaussian · std 0.01"),
        ("FillerParameter", "std: 0.01 std: 0.02", "std 0.02"),
        ("InputParameter", "shape { dim: 1 } shape { dim: 2 }", "shape …"),
        ("TransformationParameter", "mean_value: [1, 2, 3, 4, 5, 6, 7]", "mean_value 1, 2, 3, 4, 5, 6 …"),
    ],
)
def test_a_message_says_what_it_holds(message: str, text: str, words: str) -> None:
    assert summarise(load_schema(), message, Snapshot.of(parse(text).root), present=True) == words
