"""The keys of a comparison, which hold while the keyboard is in it."""

from __future__ import annotations

__all__ = ["COMPARE_KEYS", "keys_of"]

#: Name, what it does, and its keys in portable notation.
COMPARE_KEYS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("take", "Take over a difference", ("T",)),
    ("map", "Show the whole nets small", ("M",)),
    ("equal_next", "Show, fold or hide what is equal", ("H",)),
    ("previous", "Previous difference", ("F7",)),
    ("next", "Next difference", ("F8",)),
    ("close", "Close the comparison", ("Esc",)),
)


def keys_of(name: str) -> tuple[str, ...]:
    """Return the keys that something has unless the user gave it others."""
    return next(keys for each, _text, keys in COMPARE_KEYS if each == name)
