"""Changing a part of a string literal in place: every other byte of it, escapes and quotes, stays as written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.prototxt import quote, unquote, unquote_bytes

__all__ = ["changed_span", "splice_literal"]

_UNIT = re.compile(
    r"\\(?:[0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|.",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """One character or escape of a literal: its place, the bytes it stands for, and the quotes around it."""

    start: int
    end: int
    first_byte: int
    mark: str


def splice_literal(written: str, start: int, end: int, text: str) -> str:
    """Replace a part of the string that a literal stands for.

    Parameters
    ----------
    written : str
        The literal as the file spells it, quotes included; adjacent strings too.
    start, end : int
        Half-open span in the unquoted string, in characters.
    text : str
        What shall stand there.

    Returns
    -------
    str
        The new literal; outside the span its spelling is unchanged.
    """
    value = unquote(written)
    wanted = value[:start] + text + value[end:]
    units, close = _units(written)
    if close is not None:
        low = len(value[:start].encode("utf-8", "surrogateescape"))
        high = len(value[:end].encode("utf-8", "surrogateescape"))
        first, first_mark = _place(units, low, close)
        last, last_mark = _place(units, high, close)
        if high > low:  # up to the end of what is replaced, so that an adjacent string stays apart
            last = max((unit.end for unit in units if unit.first_byte < high), default=last)
            last_mark = next((unit.mark for unit in reversed(units) if unit.first_byte < high), last_mark)
        if first_mark == last_mark and first <= last:
            escaped = _escape(text, first_mark)
            result = written[:first] + escaped + written[last:]
            if unquote(result) == wanted:
                return result
    mark = "'" if written.startswith("'") else '"'
    return quote(wanted, mark)


def changed_span(before: str, after: str) -> tuple[int, int, str]:
    """Return the part of ``before`` that changed, and what stands there in ``after``."""
    shortest = min(len(before), len(after))
    first = next((i for i in range(shortest) if before[i] != after[i]), shortest)
    rest = shortest - first
    tail = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    return first, len(before) - tail, after[first : len(after) - tail]


def _units(written: str) -> tuple[list[_Unit], tuple[int, str] | None]:
    """Return the units of a literal and where its last string closes, with its mark; None if it is not one."""
    units: list[_Unit] = []
    close: tuple[int, str] | None = None
    byte = position = 0
    while position < len(written):
        mark = written[position]
        if mark.isspace():
            position += 1
            continue
        if mark not in "\"'":
            return [], None
        position += 1
        while position < len(written) and written[position] != mark:
            match = _UNIT.match(written, position)
            if match is None:
                return [], None
            units.append(_Unit(position, match.end(), byte, mark))
            byte += len(unquote_bytes(f"{mark}{match.group()}{mark}"))
            position = match.end()
        if position >= len(written):
            return [], None
        close = (position, mark)
        position += 1
    return units, close


def _place(units: list[_Unit], byte: int, close: tuple[int, str]) -> tuple[int, str]:
    for unit in units:
        if unit.first_byte >= byte:
            return unit.start, unit.mark
    return close


def _escape(text: str, mark: str) -> str:
    body = quote(text, mark)
    if body[0] == mark:
        return body[1:-1]
    return body[1:-1].replace(mark, f"\\{mark}")
