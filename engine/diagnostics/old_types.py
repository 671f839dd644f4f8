"""Layer types as the older formats spell them: which one is meant, and the fix that writes it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from engine.diagnostics.records import QuickFix
from engine.graph import Node, OpGraph
from engine.schema.upgrade import PADDING, V0_TYPES, V1_TYPES, V1_WORDS

__all__ = ["is_no_old_type", "old_type_fix"]

_ALIKE = 0.7


def is_no_old_type(node: Node) -> bool:
    """Whether a layer of the oldest format has a type that this format never had, be it known today."""
    return node.version == 0 and node.written_type not in V0_TYPES and node.written_type != PADDING


def old_type_fix(node: Node, closest: str | None) -> tuple[str, QuickFix | None]:
    """Return the type that is meant in a layer of an old format, as that format spells it, and the fix that writes it.

    Parameters
    ----------
    node : Node
        A layer of a type that its format does not know.
    closest : str or None
        Today's type that looks most like it.
    """
    written = node.written_type
    word = _alike(written.upper(), V1_TYPES) if node.version == 1 else _alike(written.lower(), (*V0_TYPES, PADDING))
    if not word and closest:
        named = (oldest for oldest, today in V0_TYPES.items() if today == closest)
        word = V1_WORDS.get(closest, "") if node.version == 1 else next(named, "")
    if not word:
        return "", None
    path = ("type",) if node.version == 1 else ("layer", "type")

    def correct(target: OpGraph) -> None:
        if node.version == 1:
            target.set_field(node.id, path, word)
        else:
            target.set_string(node.id, path, word)

    return word, QuickFix(f"Make it {word}", correct)


def _alike(written: str, words: Iterable[str]) -> str:
    """Return the word that looks most like what is written, hyphens and underscores aside; empty for none."""
    squeezed = {word.replace("_", "").lower(): word for word in words}
    found = difflib.get_close_matches(written.replace("_", "").replace("-", "").lower(), squeezed, n=1, cutoff=_ALIKE)
    return squeezed[found[0]] if found else ""
