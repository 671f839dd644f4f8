"""Telling a slip from what another Caffe knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.schema import SchemaProblem, dialects_with, dialects_with_type, find_dialect

__all__ = ["name_origin", "name_type", "origin_of_type"]


def name_origin(problem: SchemaProblem) -> SchemaProblem:
    """Say of an unknown field whose Caffe has it; a field that none has is told as before."""
    names = dialects_with(problem.message_type, problem.field)
    if not names:
        return problem
    text = f"Field '{problem.field}' belongs to {find_dialect(names[0]).title}."
    step = f"Choose {_either(names)} as the dialect of the document, or remove the field."
    return replace(problem, text=text, next_step=step)


def origin_of_type(layer_type: str) -> str:
    """Return whose Caffe has a layer type that is not offered, such as ``SSD's Caffe``; empty where none is known."""
    names = dialects_with_type(layer_type)
    return find_dialect(names[0]).title if names else ""


def name_type(layer_type: str, *, starts: bool = False) -> str:
    """Return a layer type with whose it is; ``starts`` says that a sentence starts with it."""
    origin = origin_of_type(layer_type)
    if not origin:
        return f"Caffe's layer type '{layer_type}'"
    return f"{'Layer' if starts else 'layer'} type '{layer_type}' of {origin}"


def _either(names: Sequence[str]) -> str:
    """Join dialects: ``ssd, intel or nvidia``."""
    return " or ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])
