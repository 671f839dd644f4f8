"""Small parts of sentences."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["by_key", "counted", "problem_words", "row_words"]


def counted(number: int, noun: str) -> str:
    """Return a number with what is counted: ``1 layer``, ``1,024 layers``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def by_key(key: str, words: str, other: str = "") -> str:
    """Return words with a key put in for ``{}``, or other words where there is no key."""
    return words.format(key) if key else other


def problem_words(errors: int, warnings: int) -> str:
    """Return how many problems there are: ``2 errors, 1 warning``; empty for none."""
    return ", ".join(counted(count, noun) for count, noun in ((errors, "error"), (warnings, "warning")) if count)


def row_words(texts: Sequence[str], titles: Sequence[str]) -> str:
    """Return a row of a table in words, for who only hears it; what is empty is left out.

    Parameters
    ----------
    texts, titles : sequence of str
        One for each column; a text whose title is empty stands for itself.
    """
    pairs = zip(texts, titles, strict=True)
    return ", ".join(f"{title} {text}".strip() for text, title in pairs if text)
