"""Small parts of sentences."""

from __future__ import annotations

import pytest

from app.wording import breakable

LONG = "a_rather_long_name_of_a_blob/with/folders.in.it"


@pytest.mark.parametrize("text", ["No layer makes bottom 'conv1'.", "lenet_train.prototxt", "", "x" * 90])
def test_usual_words_are_left_alone(text):
    assert breakable(text) == text


def test_a_long_word_can_go_on_in_the_next_line():
    shown = breakable(f"No layer makes '{LONG}' here.")
    assert shown.replace("\u200b", "") == f"No layer makes '{LONG}' here."
    assert max(map(len, shown.replace("\u200b", " ").split())) < 12
