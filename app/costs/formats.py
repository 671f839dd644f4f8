"""Costs in words, and whole tables of them as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.canvas.scene.describe import count_text
from app.live.layercosts import NUMBERS, CostCount, CostRow

if TYPE_CHECKING:
    from engine.graph import NodeId
    from engine.timing import LayerTimes

__all__ = ["COUNTED", "TIME_TITLES", "TITLES", "bytes_text", "csv_text", "markdown_text", "number_text", "time_text"]

#: Titles of the columns that are counted.
TITLES = (
    *("Layer", "Type", "Output"),
    *("Parameters", "Multiply-adds", "Weights", "Activations", "Inference", "Training"),
)
#: Titles of those that are measured.
TIME_TITLES = ("Forward", "Backward")
#: What is counted, for tooltips.
COUNTED = {
    "parameters": "Values in all learnable parameters; those that layers share count once.",
    "multiply_adds": "Multiplications with weights, each with its addition, in one forward pass over the batch.",
    "inference": "Memory to run the net: its weights and all blobs, at 4 bytes a value; what works in place, and other "
    "views of a blob, need none of their own.",
    "training": "Memory to train the net: its weights, their gradients and one history value each, as SGD with "
    "momentum keeps, and all blobs with their gradients, at 4 bytes a value. Data have no gradient; what works in "
    "place, and other views of a blob, need no memory of their own.",
}
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
    """Write a number of a row by its place in :data:`app.live.layercosts.NUMBERS`; a dash for nothing."""
    if not value:
        return "\u2013"
    return count_text(value) if index < _COUNTS else bytes_text(value)


def time_text(milliseconds: float) -> str:
    """Write a time in three figures, with its unit."""
    if milliseconds >= 999.5:
        return f"{milliseconds / 1000:.3g} s"
    if milliseconds >= 0.9995:
        return f"{milliseconds:.3g} ms"
    return f"{1000 * milliseconds:.3g} \u00b5s"


def csv_text(rows: Sequence[CostRow], count: CostCount, times: Mapping[NodeId, LayerTimes] | None = None) -> str:
    """Return rows and totals as comma-separated values, every number exact, the memory in bytes.

    With ``times``, those of the layers follow in milliseconds, each the median over all passes.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    timed = [f"{title} (ms)" for title in TIME_TITLES] if times else []
    writer.writerow([*TITLES[: 3 + _COUNTS], *(f"{title} (bytes)" for title in TITLES[3 + _COUNTS :]), *timed])
    for row in rows:
        ends: Sequence[object] = _times_of(row, times) or [""] * len(timed)
        writer.writerow([row.name, row.type, row.output, *(row.numbers or [""] * len(NUMBERS)), *ends])
    writer.writerow(["Total", "", "", *count.totals, *[""] * len(timed)])
    return out.getvalue()


def markdown_text(rows: Sequence[CostRow], count: CostCount, times: Mapping[NodeId, LayerTimes] | None = None) -> str:
    """Return rows and totals as a table in Markdown, as a person reads them."""
    titles = (*TITLES, *(TIME_TITLES if times else ()))
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * 3 + "---:|" * (len(titles) - 3)]
    for row in rows:
        numbers = [number_text(index, value) for index, value in enumerate(row.numbers)] or ["?"] * len(NUMBERS)
        timed = [time_text(value) for value in _times_of(row, times)] or [""] * (len(titles) - len(TITLES))
        cells = [row.name, row.type, row.output, *numbers, *timed]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    totals = [f"**{number_text(index, value)}**" for index, value in enumerate(count.totals)]
    lines.append(f"| **Total** | | | {' | '.join([*totals, *[''] * (len(titles) - len(TITLES))])} |")
    return "\n".join(lines) + "\n"


def _times_of(row: CostRow, times: Mapping[NodeId, LayerTimes] | None) -> list[float]:
    found = (times or {}).get(row.node)
    return [] if found is None else [found.forward.median, found.backward.median]
