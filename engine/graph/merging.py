"""Merging what two sides made of one document, layer by layer; comments and spelling go with their layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from engine.graph.comparing import Difference, compare
from engine.graph.opgraph import OpGraph
from engine.graph.records import Node
from engine.schema import Schema

__all__ = ["Conflict", "Merge", "Part", "join_parts", "merge", "split_parts"]

Side = Literal["mine", "theirs"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """What both sides changed, and not in the same way.

    Attributes
    ----------
    what : str
        The layer, as in ``layer 'conv1'``; or ``the net's own fields`` or ``the order of layers``.
    mine, theirs : str
        What each side did, in few words.
    """

    what: str
    mine: str
    theirs: str

    def __str__(self) -> str:
        return f"{self.what} (here: {self.mine}; in the file: {self.theirs})"


@dataclass(frozen=True, slots=True)
class Merge:
    """A merged document.

    Attributes
    ----------
    text : bytes
        With all changes of both sides; where they conflict, those of the preferred one.
    conflicts : tuple of Conflict
    """

    text: bytes
    conflicts: tuple[Conflict, ...]


@dataclass(slots=True)
class Part:
    """A layer with all that stands between it and the layer before.

    Attributes
    ----------
    node : Node or None
        None for a text that is no layer of a graph.
    text : str
    """

    node: Node | None
    text: str


@dataclass(slots=True)
class _Side:
    """What one side made of the base.

    Attributes
    ----------
    of_base : dict
        Its parts by the layers of the base that they come from.
    words : dict
        What it changed in those layers, in few words; what is only spelt anew is not in it.
    """

    head: str
    parts: list[Part]
    tail: str
    difference: Difference
    of_base: dict[Node, Part] = field(default_factory=dict)
    words: dict[Node, str] = field(default_factory=dict)
    added: list[Part] = field(default_factory=list)


def merge(
    base: OpGraph, mine: OpGraph, theirs: OpGraph, *, prefer: Side = "mine", schema: Schema | None = None
) -> Merge:
    """Merge two documents that were made from a third.

    Parameters
    ----------
    base : OpGraph
        What both come from.
    mine, theirs : OpGraph
        What was made of it.
    prefer : str
        Whose change holds where both changed the same layer: ``"mine"`` or ``"theirs"``.
    schema : Schema, optional
        That of the document's dialect; BVLC's where left out.
    """
    head, parts, tail = split_parts(base)
    sides = {"mine": _read(base, mine, schema), "theirs": _read(base, theirs, schema)}
    return _Merging(head, parts, tail, sides["mine"], sides["theirs"], prefer).run()


def split_parts(graph: OpGraph) -> tuple[str, list[Part], str]:
    """Return what stands before the first layer, the layers, and what stands after the last."""
    owners: dict[object, Node] = {graph.message(node.id).owner: node for node in graph.nodes() if not node.virtual}
    head, waiting = graph.tree.bom, ""
    parts: list[Part] = []
    for item in graph.tree.root.items:
        node = owners.get(item)
        if node is None:
            waiting += item.text
        elif parts:
            parts.append(Part(node, waiting + item.text))
            waiting = ""
        else:  # a comment directly above the first layer belongs to it, not to the head
            head, waiting = head + waiting, ""
            parts.append(Part(node, item.text))
    if not parts:
        head, waiting = head + waiting, ""
    return head, parts, waiting + graph.tree.root.close_lead


def _read(base: OpGraph, made: OpGraph, schema: Schema | None) -> _Side:
    head, parts, tail = split_parts(made)
    found = compare(base, made, (schema, schema))
    side = _Side(head, parts, tail, found)
    by_node = {part.node: part for part in parts}
    for before, after in found.pairs:
        if after in by_node:
            side.of_base[before] = by_node[after]
    for before, _after, changes in found.changed:
        fields = dict.fromkeys(change.field for change in changes)
        side.words[before] = ", ".join(fields)
    for before, after in found.renamed:
        more = f", {side.words[before]}" if before in side.words else ""
        side.words[before] = f"renamed to '{after.name}'{more}"
    for before in found.removed:
        side.words[before] = "removed"
    side.added = [by_node[node] for node in found.added if node in by_node]
    return side


class _Merging:
    """One merge."""

    def __init__(self, head: str, parts: list[Part], tail: str, mine: _Side, theirs: _Side, prefer: Side) -> None:
        self._head, self._base, self._tail = head, parts, tail
        self._mine, self._theirs, self._prefer = mine, theirs, prefer
        self._conflicts: list[Conflict] = []

    def run(self) -> Merge:
        head = self._choose(self._head, self._mine.head, self._theirs.head, "the net's own fields")
        texts = {part.node: self._layer(part) for part in self._base if part.node is not None}
        frame, other = self._frame()
        pieces = self._in_order(frame, other, texts)
        tail = self._choose(self._tail, self._mine.tail, self._theirs.tail, "the end of the file")
        return Merge(join_parts(head, pieces, tail).encode("utf-8", "surrogateescape"), tuple(self._conflicts))

    def _choose(self, base: str, mine: str, theirs: str, what: str) -> str:
        if base == mine or mine == theirs:
            return theirs
        if base == theirs:
            return mine
        self._conflicts.append(Conflict(what, "changed", "changed"))
        return mine if self._prefer == "mine" else theirs

    def _layer(self, base: Part) -> str | None:
        """Return the text that a layer of the base has from now on; None where it is gone."""
        node = base.node
        assert node is not None
        texts = [part.text if (part := side.of_base.get(node)) else None for side in (self._mine, self._theirs)]
        mine, theirs = texts
        if mine == theirs or theirs == base.text:
            return mine
        if mine == base.text:
            return theirs
        words = [side.words.get(node, "") for side in (self._mine, self._theirs)]
        if not words[1] or (all(words) and self._same(node)):
            return mine  # the other side only wrote it in another way, or made the same of it
        if not words[0]:
            return theirs
        self._conflicts.append(Conflict(f"layer '{node.name}'", *words))
        return mine if self._prefer == "mine" else theirs

    def _same(self, node: Node) -> bool:
        """Whether both sides changed the same fields of a layer to the same values."""
        return _values(self._mine.difference, node) == _values(self._theirs.difference, node)

    def _frame(self) -> tuple[_Side, _Side]:
        """Return the side whose order holds, and the other."""
        mine, theirs = self._mine, self._theirs
        if theirs.difference.moved and mine.difference.moved:
            if _order(mine) != _order(theirs):
                self._conflicts.append(Conflict("the order of layers", "changed", "changed"))
            return (mine, theirs) if self._prefer == "mine" else (theirs, mine)
        return (theirs, mine) if theirs.difference.moved else (mine, theirs)

    def _in_order(self, frame: _Side, other: _Side, texts: Mapping[Node, str | None]) -> list[str]:
        """Put the layers into the order of one side, and what only the other has behind what it stood behind there."""
        base_of = {id(part): node for node, part in frame.of_base.items()}
        sequence: list[tuple[object, str | None]] = []
        for part in frame.parts:
            node = base_of.get(id(part))
            sequence.append((node, texts[node]) if node is not None else (id(part), part.text))
        self._take_in_kept(sequence, other, texts)
        self._take_in_added(sequence, frame, other)
        return [text for _key, text in sequence if text is not None]

    def _take_in_kept(
        self, sequence: list[tuple[object, str | None]], other: _Side, texts: Mapping[Node, str | None]
    ) -> None:
        """Add layers of the base that one side removed and the other kept, where the other's change holds."""
        present = {key for key, _text in sequence}
        before: object = None
        for part in self._base:
            node = part.node
            if node is not None and node not in present and node in other.of_base and texts[node] is not None:
                _insert(sequence, before, (node, texts[node]))
            before = node

    def _take_in_added(self, sequence: list[tuple[object, str | None]], frame: _Side, other: _Side) -> None:
        base_of = {id(part): node for node, part in other.of_base.items()}
        added = {id(part) for part in other.added}
        ours = {part.node.name: part for part in frame.added if part.node is not None}
        before: object = None
        for part in other.parts:
            key = base_of.get(id(part), id(part))
            if id(part) in added and part.node is not None:
                twin = ours.get(part.node.name)
                if twin is None:
                    _insert(sequence, before, (key, part.text))
                elif _bare(twin.text) != _bare(part.text):
                    self._conflicts.append(Conflict(f"layer '{part.node.name}'", "added", "added otherwise"))
                    keeps = "mine" if frame is self._mine else "theirs"
                    if self._prefer != keeps:
                        index = next(i for i, each in enumerate(sequence) if each[0] == id(twin))
                        sequence[index] = (key, part.text)
                    else:
                        key = id(twin)
                else:
                    key = id(twin)
            before = key


def _insert(sequence: list[tuple[object, str | None]], before: object, entry: tuple[object, str | None]) -> None:
    place = next((index + 1 for index, each in enumerate(sequence) if each[0] == before), 0)
    sequence.insert(place, entry)


def _values(difference: Difference, node: Node) -> object:
    fields = next((changes for before, _after, changes in difference.changed if before is node), ())
    name = next((after.name for before, after in difference.renamed if before is node), node.name)
    return name, node in difference.removed, frozenset((change.field, change.new) for change in fields)


def _order(side: _Side) -> list[Node]:
    base_of = {id(part): node for node, part in side.of_base.items()}
    return [base_of[id(part)] for part in side.parts if id(part) in base_of]


def _bare(text: str) -> str:
    return " ".join(text.split())


def join_parts(head: str, pieces: Sequence[str], tail: str) -> str:
    """Put texts together so that each begins on a line of its own."""
    text = head
    for piece in (*pieces, tail):
        if text and piece and not text.endswith("\n") and not piece.startswith(("\n", "\r")):
            text += "\n"
        text += piece
    return text
