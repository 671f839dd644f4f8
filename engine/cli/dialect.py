"""Whose Caffe a file was written for, as commands say it."""

from __future__ import annotations

from engine import prototxt
from engine.schema import Schema, find_dialect, guess_dialect, load_schema

__all__ = ["choose_schema"]


def choose_schema(tree: prototxt.Tree, message_type: str, wanted: str | None = None) -> tuple[Schema, str]:
    """Return the schema to read a document with, and a sentence if it was guessed and is not BVLC's.

    Parameters
    ----------
    tree : engine.prototxt.Tree
    message_type : str
        ``"NetParameter"`` or ``"SolverParameter"``.
    wanted : str, optional
        Dialect that the user named; guessed without it.

    Raises
    ------
    SchemaError
        If no dialect is called as ``wanted``.
    """
    if wanted is not None:
        return load_schema(wanted), ""
    guess = guess_dialect(tree, message_type)
    if not guess.explained:
        return load_schema(guess.name), ""
    more = len(guess.explained) - 1
    reasons = guess.explained[0] + (f" and {more} more" if more else "")
    return load_schema(guess.name), f"Taken for a file of {find_dialect(guess.name).title} ({guess.name}): {reasons}."
