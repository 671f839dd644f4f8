"""What the graph hands out: frozen records of nodes, edges and events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NewType

__all__ = ["INPUTS", "Edge", "Events", "Node", "NodeId", "Path", "phase_words"]

#: Opaque, stable within a session, never a layer's name.
NodeId = NewType("NodeId", int)

#: The node that stands for a net's own ``input`` fields, where it has any.
INPUTS = NodeId(1)

#: Names and indexes that lead to a field of a layer: ``("param", 0, "lr_mult")``.
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A layer of the document, as it stood when the record was asked for.

    Attributes
    ----------
    id : NodeId
        Identity of the layer.
    ordinal : int
        Place in :meth:`OpGraph.nodes`, from 0; not part of a comparison.
    name : str
        Empty for layers without one.
    type : str
        Today's name of the type, where one is known for what old files write.
    bottoms, tops : tuple of str
        Blob names as written, ``"?"`` for a bottom that is not wired.
    phases : frozenset of str
        ``'TRAIN'`` and ``'TEST'``, as far as the layer takes part.
    in_place : tuple of bool
        For each top, whether it overwrites the bottom of the same index.
    line : int
        1-based line on which the layer begins; not part of a comparison.
    version : int
        2 for ``layer``, 1 for ``layers``, 0 for ``layers`` with a ``layer`` inside.
    written_type : str
        The type as the file has it.
    virtual : bool
        True for the node that stands for the net's own ``input`` fields.
    """

    id: NodeId
    ordinal: int = field(compare=False)
    name: str
    type: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]
    phases: frozenset[str]
    in_place: tuple[bool, ...]
    line: int = field(compare=False)
    version: int = 2
    written_type: str = ""
    virtual: bool = False

    @property
    def title(self) -> str:
        """The node as messages call it."""
        return f"layer '{self.name}'" if self.name else f"the {self.type or 'typeless'} layer on line {self.line}"

    @property
    def heading(self) -> str:
        """The same at the beginning of a sentence."""
        return self.title[:1].upper() + self.title[1:]


@dataclass(frozen=True, slots=True)
class Edge:
    """A blob on its way from one layer to another.

    Attributes
    ----------
    source : NodeId
        The layer that writes the version of the blob which the reader gets.
    top : int
        Index of the source's top.
    target : NodeId
        The layer that reads.
    bottom : int
        Index of the target's bottom.
    blob : str
        The blob's name.
    phases : frozenset of str
        The phases in which this holds.
    """

    source: NodeId
    top: int
    target: NodeId
    bottom: int
    blob: str
    phases: frozenset[str]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.source, self.top, self.target, self.bottom)))

    def __hash__(self) -> int:
        return self._hash  # asked for some twenty times for each wire of a net that is shown


@dataclass(frozen=True, slots=True)
class Events:
    """What one change, undo or redo did.

    Attributes
    ----------
    added, removed : frozenset of NodeId
        Nodes that came and went.
    changed : frozenset of NodeId
        Nodes that were there before and are there now, and whose text was edited.
    moved : frozenset of NodeId
        Nodes whose text moved to another place of the document.
    edges_added, edges_removed : frozenset of Edge
        Edges that came and went.
    text_changed : bool
        Whether any character of the document changed.
    """

    added: frozenset[NodeId] = frozenset()
    removed: frozenset[NodeId] = frozenset()
    changed: frozenset[NodeId] = frozenset()
    moved: frozenset[NodeId] = frozenset()
    edges_added: frozenset[Edge] = frozenset()
    edges_removed: frozenset[Edge] = frozenset()
    text_changed: bool = False

    def reversed(self) -> Events:
        """Return what taking that back does."""
        return Events(
            added=self.removed,
            removed=self.added,
            changed=self.changed,
            moved=self.moved,
            edges_added=self.edges_removed,
            edges_removed=self.edges_added,
            text_changed=self.text_changed,
        )


def phase_words(phases: frozenset[str]) -> str:
    """Return phases as messages call them: ``TRAIN and TEST``."""
    return " and ".join(sorted(phases, reverse=True)) or "no phase"
