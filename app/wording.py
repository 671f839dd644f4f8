"""Small parts of sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """Return a number with what is counted: ``1 layer``, ``1,024 layers``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
