"""Whose Caffe a file was written for, as commands say it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine import prototxt
from engine.schema import BVLC, Schema, SchemaFragment, find_dialect, guess_dialect, load_schema
from engine.sidecar import read_dialect

__all__ = ["choose_schema"]


def choose_schema(
    tree: prototxt.Tree,
    message_type: str,
    wanted: str | None = None,
    fragments: Sequence[SchemaFragment] = (),
    path: Path | None = None,
) -> tuple[Schema, str]:
    """Return the schema to read a document with, and a sentence if nobody named it here and it is not BVLC's.

    Parameters
    ----------
    tree : engine.prototxt.Tree
    message_type : str
        ``"NetParameter"`` or ``"SolverParameter"``.
    wanted : str, optional
        Dialect that the user named. Without it, the one that was chosen for the file in the editor counts, and is
        guessed where none was.
    fragments : sequence of SchemaFragment
        What plugins add to the messages.
    path : Path, optional
        The document's file.

    Raises
    ------
    SchemaError
        If no dialect is called as ``wanted``.
    """
    if wanted is not None:
        return load_schema(wanted, fragments), ""
    chosen = read_dialect(path) if path is not None else None
    if chosen is not None:
        told = f"Read as a file of {find_dialect(chosen).title} ({chosen}), as was chosen in the editor."
        return load_schema(chosen, fragments), told if chosen != BVLC else ""
    guess = guess_dialect(tree, message_type)
    if not guess.explained:
        return load_schema(guess.name, fragments), ""
    more = len(guess.explained) - 1
    reasons = guess.explained[0] + (f" and {more} more" if more else "")
    told = f"Taken for a file of {find_dialect(guess.name).title} ({guess.name}): {reasons}."
    return load_schema(guess.name, fragments), told
