"""The undo command of what is folded, which is no part of the net."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shiboken6 import isValid

from app.document.commands import Command

if TYPE_CHECKING:
    from app.canvas.navigation import Look, NavigationView
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
    """One change of the blocks of a document.

    Parameters
    ----------
    view : NavigationView, optional
        Where all is shown anew after the change; undo and redo bring back what was in view.
    look : Look, optional
        What was in view before it.
    """

    def __init__(
        self,
        text: str,
        placement: Placement,
        change: BlockChange,
        failed: Callable[[Exception], object],
        view: NavigationView | None = None,
        look: Look | None = None,
    ) -> None:
        super().__init__(text, failed)
        self._placement = placement
        self._change = change
        self._view = view
        self._look = look

    def _forward(self) -> None:
        change = self._change
        with self._looking_back():
            self._do(change.removed, change.added, change.after, change.routes_after)

    def _back(self) -> None:
        change = self._change
        with self._looking_back():
            self._do(change.added, change.removed, change.before, change.routes_before)

    @contextmanager
    def _looking_back(self) -> Iterator[None]:
        """Show after the ``with`` block what was in view before the step, or after it; the next time the other."""
        view, look = self._view, self._look
        if view is None or look is None or not isValid(view):
            yield
            return
        self._look = view.look()
        yield
        view.look_at(look)

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
