"""What is assumed of the shapes of data that are not on this machine: kept beside the net, never in its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.document.commands import SwapCommand
from engine.assumed import stored_assumed

if TYPE_CHECKING:
    from app.document.document import Document
    from engine.blob import Shape
    from engine.diagnostics import QuickFix
    from engine.graph import NodeId

__all__ = ["Assumptions"]


class Assumptions(QObject):
    """The shapes that are assumed for blobs of one document; see :mod:`engine.assumed`.

    Attributes
    ----------
    changed : Signal()
        Others are assumed.
    asked : Signal(NodeId)
        Somebody wants to type the shapes of the tops of a layer.
    shapes : mapping of blob to shape
        Replaced, never changed.
    stored : mapping of blob to shape
        What the file beside the net holds.
    """

    changed = Signal()
    asked = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.shapes: Mapping[str, Shape] = {}
        self.stored: Mapping[str, Shape] = {}

    def load(self, stored: str) -> None:
        """Take what the text of the file beside the net says."""
        self.stored = self.shapes = stored_assumed(stored)

    def assume(self, shapes: Mapping[str, Shape | None], text: str = "") -> None:
        """Assume shapes of blobs, or take that back where they are None, in one undoable step."""
        before = {name: self.shapes.get(name) for name in shapes}
        if dict(shapes) == before:
            return
        self._put(shapes)
        label = text or ("Assume a shape" if any(shapes.values()) else "Assume no shape")
        document = self._document
        step = SwapCommand(label, self._put, before, shapes, lambda error: document.edit_failed.emit(str(error)))
        document.undo_stack.push(step)

    def mend(self, fix: QuickFix) -> None:
        """Make a fix, as one undoable step: in the text of the net, or in what is assumed of it.

        Raises
        ------
        NetcanvasError
            If the text is not as the fix expects it.
        """
        if fix.asks is not None:
            self.asked.emit(fix.asks)
        elif fix.assumed is not None:
            self.assume(fix.assumed, fix.label)
        else:
            self._document.apply(fix.label, fix.apply)

    def rename_blob(self, node: NodeId, top: int, name: str, text: str, *, everywhere: bool = False) -> None:
        """Rename a blob with all its readers; what is assumed of it goes along, in the same undoable step.

        Raises
        ------
        CheckError
            If the name is another blob's.
        """
        document = self._document
        old = document.graph.node(node).tops[top]
        shape = self.shapes.get(old)
        document.graph.check_rename_blob(node, top, name)
        if shape is not None:
            document.undo_stack.beginMacro(text)
        try:
            document.apply(text, lambda graph: graph.rename_blob(node, top, name, everywhere=everywhere))
            if shape is not None:
                stays = any(old in each.tops for each in document.graph.nodes())
                self.assume({old: shape if stays else None, name: shape})
        finally:
            if shape is not None:
                document.undo_stack.endMacro()

    def _put(self, shapes: Mapping[str, Shape | None]) -> None:
        joined = {**self.shapes, **shapes}
        self.shapes = {name: shape for name, shape in joined.items() if shape is not None}
        self.changed.emit()
