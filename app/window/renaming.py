"""Renaming a blob: another thing than renaming its layer, and asked about where two phases share a name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.window.bars import Question

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.document import Document
    from engine.graph import NodeId

__all__ = ["BlobRenaming"]

_MOST_NAMED = 4


class BlobRenaming:
    """Renames a blob by questions in bars, none of which stops anything.

    Parameters
    ----------
    document : Document
    ask : callable
        Shows a :class:`app.window.bars.Question`.
    attempt : callable
        Makes an edit, and says so where a rule refuses it.
    """

    def __init__(
        self,
        document: Document,
        ask: Callable[[Question], object],
        attempt: Callable[[Callable[[], object]], object],
    ) -> None:
        self._document = document
        self._ask = ask
        self._attempt = attempt

    def start(self, node: NodeId, top: int) -> None:
        """Ask for the new name of a blob.

        Raises
        ------
        engine.errors.GraphError
            If there is no such layer.
        """
        old = self._document.graph.node(node).tops[top]
        given = partial(self._given, node, top, old)
        self._ask(Question(f"New name of blob '{old}', for all that read it:", (("Rename", given),), old))

    def _given(self, node: NodeId, top: int, old: str, name: str) -> None:
        if name.strip() != old:
            self._attempt(lambda: self.rename(node, top, name.strip()))

    def rename(self, node: NodeId, top: int, name: str) -> None:
        """Rename a blob with all its readers, as one command; ask whether a namesake of the other phase shall follow.

        Raises
        ------
        engine.errors.CheckError
            If the name is another blob's; nothing is asked then.
        """
        graph = self._document.graph
        graph.check_rename_blob(node, top, name)
        old = graph.node(node).tops[top]
        others = graph.namesakes(node, top)
        if not others:
            self._rename(node, top, old, name, everywhere=False)
            return
        titles = ", ".join(graph.node(other).title for other in others[:_MOST_NAMED])
        titles += "\u2026" if len(others) > _MOST_NAMED else ""
        actions = tuple(
            (label, partial(self._answered, node, top, old, name, everywhere))
            for label, everywhere in (("Rename both", True), ("Only this one", False))
        )
        self._ask(Question(f"Another blob is called '{old}' too, of {titles}. Rename that as well?", actions))

    def _answered(self, node: NodeId, top: int, old: str, name: str, everywhere: bool) -> None:
        self._attempt(lambda: self._rename(node, top, old, name, everywhere=everywhere))

    def _rename(self, node: NodeId, top: int, old: str, name: str, *, everywhere: bool) -> None:
        text = f"Rename blob {old} to {name}"
        self._document.assumptions.rename_blob(node, top, name, text, everywhere=everywhere)
