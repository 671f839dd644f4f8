"""The two primitive edits of a tree, recorded so that they can be taken back exactly.

Splicing items of a container and assigning a piece of text are all that ever changes a tree. Both keep the objects:
undo puts the same fields back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.prototxt.parser import parse
from engine.prototxt.parts import Container, Document, Element, Field, Junk, ListValue, Message, Note, Scalar
from engine.prototxt.problems import Fault
from engine.prototxt.tree import Tree

__all__ = ["EditLog", "top_of"]

Part = Scalar | Message | ListValue | Element | Field | Junk | Note | Tree
Touched = Callable[[Part, Sequence[Any]], None]


class _Splice:
    __slots__ = ("container", "index", "inserted", "removed")

    def __init__(self, container: Container, index: int, removed: list[Any], inserted: list[Any]) -> None:
        self.container = container
        self.index = index
        self.removed = removed
        self.inserted = inserted

    @property
    def moved(self) -> list[Any]:
        return self.removed + self.inserted

    def run(self, out: list[Any], new: list[Any]) -> Part:
        items: list[Any] = self.container.items
        items[self.index : self.index + len(out)] = new
        for item in out:
            item.parent = None
        for item in new:
            item.parent = self.container
        return self.container

    def redo(self) -> Part:
        return self.run(self.removed, self.inserted)

    def undo(self) -> Part:
        return self.run(self.inserted, self.removed)


class _Assign:
    __slots__ = ("after", "attribute", "before", "part")

    moved: Sequence[Any] = ()

    def __init__(self, part: Part, attribute: str, before: Any, after: Any) -> None:
        self.part = part
        self.attribute = attribute
        self.before = before
        self.after = after

    def run(self, value: Any) -> Part:
        setattr(self.part, self.attribute, value)
        if self.attribute == "value":
            value.owner = self.part
        return self.part

    def redo(self) -> Part:
        return self.run(self.after)

    def undo(self) -> Part:
        return self.run(self.before)


class EditLog:
    """Makes edits and remembers them.

    Parameters
    ----------
    touched : callable
        Called after each edit, also when one is taken back or made again, with the part that was edited and with the
        items that a splice took out or put in.
    """

    def __init__(self, touched: Touched) -> None:
        self._touched = touched
        self._edits: list[_Splice | _Assign] = []

    def __len__(self) -> int:
        return len(self._edits)

    def splice(self, container: Container, index: int, count: int, items: Sequence[Any] = ()) -> None:
        """Replace ``count`` items of a message (or elements of a list) from ``index`` on by ``items``."""
        edit = _Splice(container, index, list(container.items[index : index + count]), list(items))
        if edit.removed or edit.inserted:
            self._edits.append(edit)
            self._after(edit, edit.redo())

    def assign(self, part: Part, attribute: str, value: Any) -> None:
        """Give a piece of the tree (``text``, ``lead``, ``gap``, ``tail``, ``name``, ``value``, ...) another value."""
        before = getattr(part, attribute)
        if before is not value and before != value:
            edit = _Assign(part, attribute, before, value)
            self._edits.append(edit)
            self._after(edit, edit.redo())

    def undo(self, mark: int = 0) -> None:
        """Take back the edits after the first ``mark``, the last one first; they stay recorded."""
        for edit in reversed(self._edits[mark:]):
            self._after(edit, edit.undo())

    def redo(self) -> None:
        """Make all edits again."""
        for edit in self._edits:
            self._after(edit, edit.redo())

    def roll_back(self, mark: int) -> None:
        """Take back the edits after the first ``mark`` and forget them."""
        self.undo(mark)
        del self._edits[mark:]

    def extend(self, later: EditLog) -> None:
        """Take over the edits of a log that was recorded after this one."""
        self._edits += later._edits

    def _after(self, edit: _Splice | _Assign, part: Part) -> None:
        top = top_of(part)
        if isinstance(top, (Field, Junk, Note)):
            top.forget()
            root = top.parent
            if root is not None and isinstance(root.owner, Tree):
                root.owner.touch()
                if top.faults:
                    top.faults = tuple(
                        Fault(problem.offset, problem.message, problem.hint) for problem in parse(top.text).problems
                    )
        elif isinstance(top, Tree):
            top.touch()
        self._touched(part, edit.moved)


def top_of(part: Part) -> Part | None:
    """Return the item at the top of a file that holds ``part``; the tree for its root; None outside a tree."""
    here: Part | Document | None = part
    inside = part
    while here is not None and not isinstance(here, Tree):
        if isinstance(here, (Scalar, Message, ListValue)):
            here = here.owner
        else:
            inside = here
            here = here.parent
    if here is None:
        return inside if isinstance(inside, (Field, Junk, Note)) else None
    return here if isinstance(inside, (Tree, Message)) else inside
