"""Small parts of sentences."""

from __future__ import annotations

__all__ = ["counted", "problem_words"]


def counted(number: int, noun: str) -> str:
    """Return a number with what is counted: ``1 layer``, ``1,024 layers``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def problem_words(errors: int, warnings: int) -> str:
    """Return how many problems there are: ``2 errors, 1 warning``; empty for none."""
    return ", ".join(counted(count, noun) for count, noun in ((errors, "error"), (warnings, "warning")) if count)
