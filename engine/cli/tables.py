"""Tables of text."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["table"]


def table(rows: Sequence[Sequence[str]], words: int) -> list[str]:
    """Return rows as lines with aligned columns.

    Parameters
    ----------
    rows : sequence of rows
        Each of the same number of cells; the first may be the head.
    words : int
        How many columns, from the left, hold words; the others hold numbers and are aligned to the right.
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
