"""The top of the panel, apart from a document."""

from __future__ import annotations

import pytest

from app.properties.facts import port_rows
from app.properties.pages.header import LayerHeader
from engine.shapes import NodeShapes

STEP = "Put m.py into one of them."


@pytest.mark.parametrize("text", ["Short.", "x" * 200, f"Not found in {'/folder, ' * 80}. {STEP}", "y" * 300])
def test_a_long_fault_is_shortened_before_its_next_step(qtbot, text):
    header = LayerHeader()
    qtbot.addWidget(header)
    header.diagnose(text, True)
    shown = header.diagnosis.text()
    assert len(shown) <= 200 and header.diagnosis.toolTip() == text
    assert (shown == text) is (len(text) <= 200)
    assert shown[:80] == text[:80] and shown.endswith(text[-len(STEP) :])


def test_what_comes_in_is_told_though_what_goes_out_is_unknown():
    shapes = NodeShapes(((2, 3), None), (None,), (), "unknown", "no code")
    assert [row[2] for row in port_rows(["a", "b"], ["c"], shapes)] == ["2\u202f×\u202f3", "", ""]
