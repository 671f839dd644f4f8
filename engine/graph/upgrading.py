"""Documents of old formats in today's, as a text that one undoable edit puts in place."""

from __future__ import annotations

from engine.errors import PrototxtError, SchemaError
from engine.graph.queries import GraphQueries
from engine.schema.upgrade.text import field_of_today, upgraded_net_text

__all__ = ["is_old", "upgraded_text", "why_not_upgraded"]

#: So many layers are upgraded for a try: longer nets of an old format are hardly there, and it would hold a window up.
_TRIED = 200


def is_old(graph: GraphQueries) -> bool:
    """Whether a document has layers of an old format."""
    return any(reading.version < 2 for reading in graph.readings().values())


def why_not_upgraded(graph: GraphQueries) -> str:
    """Return why a document in an old format cannot be upgraded, in sentences; empty where nothing speaks against.

    Of a net with very many layers only the likeliest reason is looked for, which takes no time.
    """
    for problem in graph.problems:
        return f"Line {problem.line}: {problem.message} {problem.hint}".rstrip()
    fault: Exception | None = field_of_today(graph.tree.root)
    if fault is None and len(graph) <= _TRIED:
        try:
            upgraded_net_text(graph.tree)
        except (PrototxtError, SchemaError) as error:
            fault = error
    return "" if fault is None else str(fault)


def upgraded_text(graph: GraphQueries) -> str:
    """Return a document in today's format; its own text, if it is in that already.

    ``graph.replace_text(upgraded_text(graph))`` makes one undoable edit of it, and layers keep their ids.

    Raises
    ------
    engine.errors.PrototxtError
        If the text is broken.
    engine.errors.SchemaError
        If what is written fits no format.
    """
    return upgraded_net_text(graph.tree)
