"""The undo command of what is folded, which is no part of the net."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.document.commands import Command

if TYPE_CHECKING:
    from app.document.blocks import Block
    from app.document.placement import EdgeKey, Placement, Point, Route
    from engine.graph import NodeId

__all__ = ["BlockChange", "BlockCommand"]


@dataclass(frozen=True, slots=True)
class BlockChange:
    """What a step of the history does to blocks, and to the places of what is shown then.

    Attributes
    ----------
    removed, added : tuple of Block
        Blocks that go and come.
    before, after : dict
        Places of the same layers and cards.
    routes_before, routes_after : dict or None
        Courses of wires; None where they stay.
    """

    removed: tuple[Block, ...] = ()
    added: tuple[Block, ...] = ()
    before: dict[NodeId, Point] = field(default_factory=dict)
    after: dict[NodeId, Point] = field(default_factory=dict)
    routes_before: dict[EdgeKey, Route] | None = None
    routes_after: dict[EdgeKey, Route] | None = None


class BlockCommand(Command):
    """One change of the blocks of a document."""

    def __init__(
        self, text: str, placement: Placement, change: BlockChange, failed: Callable[[Exception], object]
    ) -> None:
        super().__init__(text, failed)
        self._placement = placement
        self._change = change

    def _forward(self) -> None:
        change = self._change
        self._do(change.removed, change.added, change.after, change.routes_after)

    def _back(self) -> None:
        change = self._change
        self._do(change.added, change.removed, change.before, change.routes_before)

    def _do(
        self,
        removed: Sequence[Block],
        added: Sequence[Block],
        places: Mapping[NodeId, Point],
        routes: dict[EdgeKey, Route] | None,
    ) -> None:
        placement = self._placement
        if routes is not None:
            placement.routes = dict(routes)
        placement.touched = True
        moved = placement.place_all(places)
        placement.blocks.replace(removed, added, moving=True)
        placement.move(moved, by_user=False)
