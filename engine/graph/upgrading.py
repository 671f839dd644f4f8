"""Documents of old formats in today's, as a text that one undoable edit puts in place."""

from __future__ import annotations

from engine.graph.queries import GraphQueries
from engine.schema.upgrade.text import field_of_today, upgraded_net_text

__all__ = ["is_old", "upgraded_text", "why_not_upgraded"]


def is_old(graph: GraphQueries) -> bool:
    """Whether a document has layers of an old format."""
    return any(reading.version < 2 for reading in graph.readings().values())


def why_not_upgraded(graph: GraphQueries) -> str:
    """Return why a document in an old format cannot be upgraded, in sentences; empty where nothing speaks against."""
    fault = field_of_today(graph.tree.root)
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
