"""Costs in words, and whole tables of them as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from app.canvas.describe import count_text
from app.costs.rows import NUMBERS, CostCount, CostRow

__all__ = ["TITLES", "bytes_text", "csv_text", "markdown_text", "number_text"]

#: Titles of all columns.
TITLES = (
    *("Layer", "Type", "Output"),
    *("Parameters", "Multiply-adds", "Weights", "Activations", "Inference", "Training"),
)
_UNITS = ("B", "KB", "MB", "GB", "TB")
_COUNTS = 2
_MEMORY = NUMBERS[_COUNTS:]


def bytes_text(count: float) -> str:
    """Write a number of bytes in three figures, with its unit."""
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count /= 1024
        unit += 1
    return f"{count:.3g} {_UNITS[unit]}"


def number_text(index: int, value: int) -> str:
    """Write a number of a row by its place in :data:`app.costs.rows.NUMBERS`; a dash for nothing."""
    if not value:
        return "\u2013"
    return count_text(value) if index < _COUNTS else bytes_text(value)


def csv_text(rows: Sequence[CostRow], count: CostCount) -> str:
    """Return rows and totals as comma-separated values, every number exact, the memory in bytes."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*TITLES[: 3 + _COUNTS], *(f"{title} (bytes)" for title in TITLES[3 + _COUNTS :])])
    for row in rows:
        writer.writerow([row.name, row.type, row.output, *(row.numbers or [""] * len(NUMBERS))])
    writer.writerow(["Total", "", "", *count.totals])
    return out.getvalue()


def markdown_text(rows: Sequence[CostRow], count: CostCount) -> str:
    """Return rows and totals as a table in Markdown, as a person reads them."""
    lines = [f"| {' | '.join(TITLES)} |", "|" + "---|" * 3 + "---:|" * len(NUMBERS)]
    for row in rows:
        numbers = [number_text(index, value) for index, value in enumerate(row.numbers)] or ["?"] * len(NUMBERS)
        cells = [row.name, row.type, row.output, *numbers]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    totals = [number_text(index, value) for index, value in enumerate(count.totals)]
    lines.append(f"| **Total** | | | {' | '.join(f'**{total}**' for total in totals)} |")
    return "\n".join(lines) + "\n"
