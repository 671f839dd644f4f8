"""Python 2's ``StringIO``, whose files hold whatever they are given: bytes or text."""

from __future__ import annotations

import io
from io import BytesIO

__all__ = ["BytesIO", "StringIO"]


def StringIO(value: str | bytes = "") -> io.StringIO | io.BytesIO:
    """Return a file in memory that holds ``value``."""
    return io.BytesIO(value) if isinstance(value, (bytes, bytearray, memoryview)) else io.StringIO(value)
