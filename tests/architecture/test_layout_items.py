"""Nothing asks a layout for its items: what stands for one in Python outlives it, and brings the program down."""

from __future__ import annotations

import ast
from pathlib import Path

APP = Path(__file__).parents[2] / "app"


def test_no_layout_is_asked_for_its_items():
    """PySide keeps what ``QLayout.itemAt`` returned as long as the layout is there.

    When the widget goes, Qt deletes the item, and what stands for it is left at an address that belongs to something
    else by then: whatever Python's own object is made there is freed twice when it ends. A list of the widgets that
    were added says the same; ``takeAt`` hands its item over and does no harm.
    """
    found = [
        f"{path.relative_to(APP)}:{node.lineno}"
        for path in APP.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("itemAt", "itemAtPosition")
    ]
    assert not found
