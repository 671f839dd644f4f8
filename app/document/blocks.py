"""Blocks: layers that are shown as one card. They are a matter of view; the text of the net knows nothing of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from engine.graph import NodeId

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.document.placement import Point

__all__ = ["Block", "Blocks"]

_MOST = 100_000


@dataclass(frozen=True, slots=True)
class Block:
    """Layers that are shown as one card.

    Attributes
    ----------
    id : NodeId
        Negative, so that no layer has it; places of cards are kept under it like those of layers.
    title : str
        Name on the card.
    nodes : tuple of NodeId
        The layers that lie in it directly, not in a block inside. Ids of deleted layers stay: undo brings them back.
    parent : NodeId or None
        The block in which it lies; None on the outermost level.
    parts : int
        How many parts it has that are built alike; 1 where it is no repeat.
    alike : int
        How many of these are the same to the last parameter.
    kind : str
        What a part is called, such as ``residual block``; empty for a block that the user made.
    """

    id: NodeId
    title: str
    nodes: tuple[NodeId, ...] = ()
    parent: NodeId | None = None
    parts: int = 1
    alike: int = 1
    kind: str = ""


class Blocks(QObject):
    """The blocks of one document.

    Attributes
    ----------
    changed : Signal()
        Blocks came, went or hold other layers.
    moving : bool
        Whether places follow a change that is being told.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._blocks: dict[NodeId, Block] = {}
        self._home: dict[NodeId, NodeId] = {}
        self._outside: set[NodeId] = set()
        self._adopted: dict[NodeId, NodeId] = {}  # stays, so that undo and redo of a fold bring them along
        self._inside: dict[NodeId | None, dict[NodeId, None]] = {}
        self._last = 0
        self.moving = False

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks.values())

    def __contains__(self, block: object) -> bool:
        return block in self._blocks

    def __getitem__(self, block: NodeId) -> Block:
        return self._blocks[block]

    @property
    def last(self) -> int:
        """The number of the block made last; its id is the negative of that."""
        return self._last

    def fresh_id(self) -> NodeId:
        """Return an id that no block has had."""
        self._last += 1
        return NodeId(-self._last)

    @property
    def homes(self) -> Mapping[NodeId, NodeId]:
        """The blocks in which layers lie directly; those on the outermost level have none."""
        return self._home

    def home(self, node: NodeId) -> NodeId | None:
        """Return the block in which a layer or a block lies directly; None on the outermost level."""
        block = self._blocks.get(node)
        return block.parent if block is not None else self._home.get(node)

    def path(self, block: NodeId | None) -> tuple[Block, ...]:
        """Return a block and all around it, the outermost first."""
        found: list[Block] = []
        while block is not None and block in self._blocks:
            found.append(self._blocks[block])
            block = self._blocks[block].parent
        return tuple(reversed(found))

    def inside(self, block: NodeId | None) -> tuple[Block, ...]:
        """Return the blocks that lie directly in a block, or on the outermost level, in the order they were made in."""
        return tuple(self._blocks[each] for each in sorted(self._inside.get(block, ()), reverse=True))

    def layers(self, block: NodeId) -> tuple[NodeId, ...]:
        """Return all layers of a block, also those of the blocks inside."""
        found: list[NodeId] = []
        waiting = [block]
        while waiting:
            each = waiting.pop()
            found += self._blocks[each].nodes
            waiting.extend(sorted(self._inside.get(each, ())))
        return tuple(found)

    def replace(self, removed: Iterable[Block], added: Sequence[Block], *, moving: bool = False) -> None:
        """Take blocks away and put others in their place, and tell the canvas.

        Parameters
        ----------
        moving : bool
            What is shown then is moved next, so that its wires need not be led before.
        """
        for block in removed:
            known = self._blocks.pop(block.id, block)  # it may hold layers by now that were made inside
            self._inside.get(known.parent, {}).pop(block.id, None)
            for node in known.nodes:
                if self._home.get(node) == block.id:
                    del self._home[node]
        for block in added:
            self._blocks[block.id] = block
            self._inside.setdefault(block.parent, {})[block.id] = None
            self._home.update(dict.fromkeys(block.nodes, block.id))
            self._last = max(self._last, -block.id)
        came = {block.id for block in added}
        for node, home in self._adopted.items():
            if home in came and node not in self._home:
                self._take(home, (node,))
        self.moving = moving
        self.changed.emit()
        self.moving = False

    def note_removed(self, nodes: Iterable[NodeId]) -> None:
        """Remember which layers lay in no block, for when they come back."""
        self._outside.update(node for node in nodes if node not in self._home)

    def adopt(self, nodes: Iterable[NodeId], block: NodeId) -> None:
        """Count layers that are new, and were made inside a block, to it; not those that undo brings back."""
        new = tuple(node for node in nodes if node not in self._home and node not in self._outside)
        if new and block in self._blocks:
            self._take(block, new)
            self._adopted.update(dict.fromkeys(new, block))

    def _take(self, block: NodeId, nodes: tuple[NodeId, ...]) -> None:
        self._blocks[block] = replace(self._blocks[block], nodes=self._blocks[block].nodes + nodes)
        self._home.update(dict.fromkeys(nodes, block))

    # The file beside the net

    def to_json(self, ordinals: Mapping[NodeId, int], place: Callable[[NodeId], Point | None]) -> list[dict[str, Any]]:
        """Write the blocks; layers by their numbers."""
        numbers = {block.id: number for number, block in enumerate(self._blocks.values())}
        written: list[dict[str, Any]] = []
        for block in self._blocks.values():
            entry: dict[str, Any] = {
                "title": block.title,
                "nodes": [ordinals[node] for node in block.nodes if node in ordinals],
                "inside": numbers.get(block.parent) if block.parent is not None else None,
            }
            if block.kind:
                entry |= {"kind": block.kind, "parts": block.parts, "alike": block.alike}
            point = place(block.id)
            if point is not None:
                entry |= {"x": round(point.x, 1), "y": round(point.y, 1)}
            written.append(entry)
        return written

    def load_json(
        self, entries: Sequence[Mapping[str, Any]], nodes: Mapping[int, NodeId]
    ) -> dict[NodeId, tuple[float, float]]:
        """Read the blocks; return the places of their cards.

        Parameters
        ----------
        entries : sequence of mapping
            What :meth:`to_json` wrote.
        nodes : mapping of int to NodeId
            The layers that were found again, by the numbers under which they were written.

        Raises
        ------
        ValueError, KeyError, TypeError
            When the file is damaged; then there are no blocks.
        """
        ids = [self.fresh_id() for _entry in entries[:_MOST]]
        blocks: list[Block] = []
        places: dict[NodeId, tuple[float, float]] = {}
        for number, (block_id, entry) in enumerate(zip(ids, entries, strict=False)):
            inside = entry.get("inside")
            if inside is not None and not 0 <= int(inside) < number:
                raise ValueError("a block lies in one that is not above it")
            members = tuple(nodes[ordinal] for ordinal in map(int, entry["nodes"]) if ordinal in nodes)
            parent = ids[int(inside)] if inside is not None else None
            parts, alike = int(entry.get("parts", 1)), int(entry.get("alike", 1))
            blocks.append(
                Block(block_id, str(entry["title"]), members, parent, parts, alike, str(entry.get("kind", "")))
            )
            if "x" in entry:
                places[block_id] = (float(entry["x"]), float(entry["y"]))
        self.replace((), blocks)
        return places
