"""The keys of the code editor that those of other texts do not have."""

from __future__ import annotations

__all__ = ["CODE_KEYS"]

#: Name, what it does, and its keys in portable notation.
CODE_KEYS: tuple[tuple[str, str, tuple[str, ...]], ...] = (("save", "Save the file of code", ("Ctrl+S",)),)
