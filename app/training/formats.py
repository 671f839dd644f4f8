"""Numbers as the training panel writes them."""

from __future__ import annotations

import math

__all__ = ["NOTHING", "count", "duration", "number", "rate", "score"]

NOTHING = "–"


def number(value: float | None) -> str:
    """Four significant digits, such as ``0.02134`` or ``1.2e-05``."""
    if value is None:
        return NOTHING
    return f"{value:.4g}" if math.isfinite(value) else str(value)


def score(value: float | None) -> str:
    """A test output: a part of one as percent, such as ``97.40 %``; anything else as a number."""
    if value is None or not 0.0 <= value <= 1.0:
        return number(value)
    return f"{100 * value:.2f} %"


def count(value: int) -> str:
    """A whole number with thin gaps between thousands."""
    return f"{value:,}".replace(",", "\u202f")


def rate(per_second: float) -> str:
    """Iterations per second, or seconds per iteration where these are few."""
    if per_second <= 0 or not math.isfinite(per_second):
        return NOTHING
    if per_second < 1:
        return f"{1 / per_second:.1f} s/it"
    return f"{per_second:.1f} it/s" if per_second < 100 else f"{per_second:.0f} it/s"


def duration(seconds: float) -> str:
    """A time in its two largest units, such as ``3 min 20 s``."""
    if not math.isfinite(seconds) or seconds < 0:
        return NOTHING
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"
