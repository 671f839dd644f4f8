"""Rules about single settings of a solver: words, steps and files that a run would refuse or take otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from engine.diagnostics.records import Diagnostic, QuickFix
from engine.diagnostics.solver_policy import check_policy_settings
from engine.graph import OpGraph
from engine.graph.binding import scalars
from engine.paths import resolve, search_folders
from engine.prototxt import Message

__all__ = ["check_solver_settings"]

_REGULARIZATIONS = ("L2", "L1")


def check_solver_settings(root: Message, path: Path) -> Iterator[Diagnostic]:
    """Find settings of a solver that no run takes as they are written; no file is opened.

    Parameters
    ----------
    root : Message
        The solver, in text that can be read.
    path : Path
        Its file; weights are looked for from its folder.
    """
    yield from check_policy_settings(root)
    yield from _check_regularization(root)
    yield from _check_steps(root)
    yield from _check_weights(root, path)


def _check_regularization(root: Message) -> Iterator[Diagnostic]:
    for value in scalars(root, "regularization_type"):
        kind = value.as_str()
        if kind in _REGULARIZATIONS:
            continue

        def write(target: OpGraph) -> None:
            target.set_string(None, ("regularization_type",), _REGULARIZATIONS[0])

        yield Diagnostic(
            "solver-regularization",
            "error",
            f"Solver: expected a regularization_type of L1 or L2, got '{kind}'.",
            value.line,
            value.column,
            None,
            ("regularization_type",),
            "Write one of these, or remove it: L2 is what counts without it.",
            QuickFix("Make it L2", write),
        )


def _check_steps(root: Message) -> Iterator[Diagnostic]:
    """Find steps that are not above the one before: Caffe passes them at once, with one drop more."""
    values = [value for value in scalars(root, "stepvalue") if value.text.isdecimal()]
    for index, (before, value) in enumerate(pairwise(values), 1):
        if int(value.text) <= int(before.text):
            yield Diagnostic(
                "solver-steps",
                "warning",
                f"Solver: stepvalue {value.text} is not above the one before it, {before.text}: "
                "the rate drops for both of them at once.",
                value.line,
                value.column,
                None,
                ("stepvalue", index),
                "Write the iterations of the drops in rising order.",
            )


def _check_weights(root: Message, path: Path) -> Iterator[Diagnostic]:
    """Find weights to begin from that are not there; one text may name several files, with commas between them."""
    folders = search_folders(path.parent)
    for index, value in enumerate(scalars(root, "weights")):
        for written in filter(None, (each.strip() for each in value.as_str().split(","))):
            found = resolve(written, folders)
            if not found.found:
                tried = ", ".join(f"'{each}'" for each in found.tried)
                yield Diagnostic(
                    "solver-weights-missing",
                    "error",
                    f"Solver: weights '{written}' were not found; tried {tried}.",
                    value.line,
                    value.column,
                    None,
                    ("weights", index),
                    "Correct the path, or remove the line to begin from the fillers.",
                )
