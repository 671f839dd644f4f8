"""What a diagnosis says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Literal

from engine.blob import Shape
from engine.graph import NodeId, OpGraph, Path

__all__ = ["Diagnostic", "QuickFix", "Severity"]

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class QuickFix:
    """An edit that mends what a diagnostic is about.

    Attributes
    ----------
    label : str
        What it does, as a button says it.
    apply : callable
        Makes the edit on a graph; to be called inside of a change.
    assumed : mapping of blob to shape, optional
        What it assumes beside the text, as :mod:`engine.assumed` has it, in place of an edit; None takes back.
    asks : NodeId, optional
        The layer of which a person is asked what to assume, in place of an edit.
    """

    label: str
    apply: Callable[[OpGraph], None] = field(compare=False)
    assumed: Mapping[str, Shape | None] | None = None
    asks: NodeId | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong or doubtful.

    Attributes
    ----------
    code : str
        Which rule speaks, in words joined by hyphens; stable, for filters and tests.
    severity : str
        ``'error'`` (the net cannot run), ``'warning'`` or ``'info'``.
    message : str
        One sentence.
    line, column : int
        1-based place; 0 when it concerns no place.
    node : NodeId or None
        The layer.
    field : tuple of str and int
        Path of the field in the layer; empty for the layer as a whole.
    next_step : str
        What to do about it; may be empty.
    fix : QuickFix or None
        An edit that mends it.
    others : tuple of NodeId
        More layers of which the same is told.
    file : pathlib.Path or None
        The file of which it is told, where that is not the document: its solver.
    more_fixes : tuple of QuickFix
        Other edits that mend it, where a person may want one of them.
    """

    code: str
    severity: Severity
    message: str
    line: int = 0
    column: int = 0
    node: NodeId | None = None
    field: Path = ()
    next_step: str = ""
    fix: QuickFix | None = None
    others: tuple[NodeId, ...] = ()
    file: FilePath | None = None
    more_fixes: tuple[QuickFix, ...] = ()

    @property
    def fixes(self) -> tuple[QuickFix, ...]:
        """All edits that mend it, the likeliest first."""
        return () if self.fix is None else (self.fix, *self.more_fixes)
