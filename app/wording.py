"""Small parts of sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["breakable", "by_key", "counted", "problem_words", "row_words"]


def counted(number: int, noun: str) -> str:
    """Return a number with what is counted: ``1 layer``, ``1,024 layers``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


#: Words of so many letters may be broken.
_LONG_WORD = re.compile(r"\S{24,}")
_BREAKS = re.compile(r"(?<=[^\W_])([_/.:-]+)(?=\w)")


def breakable(text: str) -> str:
    """Return a text whose long words, such as names of blobs and files, can go on in the next line."""
    return _LONG_WORD.sub(lambda word: _BREAKS.sub("\\1\u200b", word[0]), text)


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
