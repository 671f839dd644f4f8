"""Helpers of the tests of recovery."""

from __future__ import annotations


def press(window, label: str) -> None:
    next(bar for bar in window.bars if "did not end" in bar.text).findChild(
        object, f"window.bar.action.{label}"
    ).click()
