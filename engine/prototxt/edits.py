"""The two primitive edits of a tree, recorded so that they can be taken back exactly.

Splicing items of a container and assigning a piece of text are all that ever changes a tree. Both keep the objects:
undo puts the same fields back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.prototxt.parser import parse
from engine.prototxt.parts import (
    Container,
    Document,
    Element,
    Field,
    Item,
    Junk,
    ListValue,
    Message,
    Note,
    Scalar,
    TopItem,
)
from engine.prototxt.problems import Fault
from engine.prototxt.tree import Tree

__all__ = ["EditLog", "top_of"]

Part = Scalar | Message | ListValue | Element | Field | Junk | Note | Document
Touched = Callable[[Part, Sequence[Any]], None]


class _Edit:
    """Base of the two; ``faults`` holds those of the edited item before and after, where it had any."""

    __slots__ = ("faults",)

    faults: tuple[tuple[Fault, ...], tuple[Fault, ...]] | None
    moved: Sequence[Any] = ()

    def redo(self) -> Part:
        raise NotImplementedError

    def undo(self) -> Part:
        raise NotImplementedError


class _Splice(_Edit):
    __slots__ = ("container", "index", "inserted", "moved", "removed")

    def __init__(self, container: Container, index: int, removed: list[Any], inserted: list[Any]) -> None:
        self.container = container
        self.index = index
        self.removed = removed
        self.inserted = inserted
        self.moved = removed + inserted
        self.faults = None

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


class _Assign(_Edit):
    __slots__ = ("after", "attribute", "before", "part")

    def __init__(self, part: Part, attribute: str, before: Any, after: Any) -> None:
        self.part = part
        self.attribute = attribute
        self.before = before
        self.after = after
        self.faults = None

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
    touched : callable, optional
        Called after each edit, also when one is taken back or made again, with the part that was edited and with the
        items that a splice took out or put in.

    Attributes
    ----------
    doubtful : set of Field, Junk and Note
        Items at the top of the file that had faults when something in them was edited.
    """

    def __init__(self, touched: Touched = lambda _part, _items: None) -> None:
        self._touched = touched
        self._edits: list[_Edit] = []
        self.doubtful: set[TopItem] = set()

    def __len__(self) -> int:
        return len(self._edits)

    def splice(self, container: Container, index: int, count: int, items: Sequence[Any] = ()) -> None:
        """Replace ``count`` items of a message (or elements of a list) from ``index`` on by ``items``."""
        edit = _Splice(container, index, list(container.items[index : index + count]), list(items))
        if edit.removed or edit.inserted:
            self._make(edit)

    def assign(self, part: Part, attribute: str, value: Any) -> None:
        """Give a piece of the tree (``text``, ``lead``, ``gap``, ``tail``, ``name``, ``value``, ...) another value."""
        before = getattr(part, attribute)
        if before is not value and before != value:
            edit = _Assign(part, attribute, before, value)
            self._make(edit)

    def correct(self, item: Item, faults: tuple[Fault, ...]) -> None:
        """Give an item at the top of the file other faults; its text stays."""
        edit = _Assign(item, "faults", item.faults, faults)
        edit.redo()
        self._edits.append(edit)

    def undo(self, mark: int = 0) -> None:
        """Take back the edits after the first ``mark``, the last one first; they stay recorded."""
        for edit in reversed(self._edits[mark:]):
            self._run(edit, edit.undo(), 0)

    def redo(self) -> None:
        """Make all edits again."""
        for edit in self._edits:
            self._run(edit, edit.redo(), 1)

    def roll_back(self, mark: int) -> None:
        """Take back the edits after the first ``mark`` and forget them."""
        self.undo(mark)
        del self._edits[mark:]

    def extend(self, later: EditLog) -> None:
        """Take over the edits of a log that was recorded after this one."""
        self._edits += later._edits

    def _make(self, edit: _Edit) -> None:
        self._edits.append(edit)
        part = edit.redo()
        top = self._forget(part)
        if isinstance(top, TopItem) and top.faults:
            now = tuple(Fault(each.offset, each.message, each.hint) for each in parse(top.text).problems)
            self.doubtful.add(top)
            edit.faults = (top.faults, now)
            top.faults = now
        self._touched(part, edit.moved)

    def _run(self, edit: _Edit, part: Part, side: int) -> None:
        top = self._forget(part)
        if isinstance(top, TopItem) and edit.faults is not None:
            top.faults = edit.faults[side]
        self._touched(part, edit.moved)

    def _forget(self, part: Part) -> Part | None:
        """Drop what was derived from the text around ``part``; return the item at the top, or the tree."""
        top = top_of(part)
        if isinstance(top, TopItem):
            top.forget()
            root = top.parent
            if root is not None and isinstance(root.owner, Tree):
                root.owner.touch()
        elif isinstance(top, Tree):
            top.touch()
        return top


def top_of(part: Part) -> Part | None:
    """Return the item at the top of a file that holds ``part``; the tree for its root; None outside a tree."""
    here: Part | None = part
    inside = part
    while here is not None and not isinstance(here, Document):
        if isinstance(here, (Scalar, Message, ListValue)):
            here = here.owner
        else:
            inside = here
            here = here.parent
    if here is None:
        return inside if isinstance(inside, (Field, Junk, Note)) else None
    return here if isinstance(inside, (Document, Message)) else inside
