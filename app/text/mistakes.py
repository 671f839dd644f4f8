"""What is wrong in a text, gathered from how it reads and from what the diagnosis says, and how it is mended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.text.edit import Mistake

if TYPE_CHECKING:
    from engine.diagnostics import Diagnostic, QuickFix
    from engine.graph import OpGraph

__all__ = ["fixes_on", "gather"]

_MOST = 400


def gather(graph: OpGraph, diagnostics: Iterable[Diagnostic]) -> list[Mistake]:
    """Return the places to underline: what cannot be read, then the errors and warnings of this file."""
    found: dict[tuple[int, str], Mistake] = {}
    for problem in graph.problems[:_MOST]:
        text = f"{problem.message} {problem.hint}".strip()
        found[problem.line, problem.message] = Mistake(problem.line, problem.column, text)
    for each in diagnostics:
        if len(found) >= 2 * _MOST:
            break
        if each.line and each.file is None and each.severity != "info":
            text = f"{each.message} {each.next_step}".strip()
            mistake = Mistake(each.line, each.column, text, each.severity == "error", each.fix, each.more_fixes)
            found.setdefault((each.line, each.message), mistake)
    return list(found.values())


def fixes_on(mistakes: Iterable[Mistake]) -> list[QuickFix]:
    """Return the edits that mend mistakes, each once."""
    found: dict[str, QuickFix] = {}
    for each in mistakes:
        for fix in (each.fix, *each.more_fixes):
            if fix is not None:
                found.setdefault(fix.label, fix)
    return list(found.values())
