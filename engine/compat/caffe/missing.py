"""Errors of the pycaffe interface: names that are not there yet, arrays that do not fit."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from engine.errors import DataError

__all__ = ["ArrayError", "not_offered"]


class ArrayError(DataError, ValueError):
    """An array that does not fit; a ValueError too, which is what scripts await."""


def not_offered(owner: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a missing attribute; it names the closest one that exists."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return AttributeError(f"'{owner}.{name}' is not yet offered by Netcanvas.{hint}", name=name)
