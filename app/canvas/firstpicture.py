"""The first picture of a net: arranged, and folded where it repeats itself.

A big one is made in slices between which the window answers, and in the document's thread; nothing of it is painted
before all is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from app.canvas.edits.arrange import arrange, find_places, gather_inputs, place_new, room_of, take_routes
from app.canvas.edits.foldedits import fold_at_start, fold_first
from app.canvas.scene.docking import find_docked
from engine.graph.repeats import repeats_of

if TYPE_CHECKING:
    from app.canvas.edits.arrange import Arrangement
    from app.canvas.layout.layout import LayoutEdge, LayoutNode
    from app.canvas.scene.scene import CanvasScene
    from app.canvas.view import CanvasView
    from app.document.placement import Point
    from engine.graph import NodeId
    from engine.graph.repeats import Repeat

__all__ = ["show_first"]

_SLOW_FROM = 60


def show_first(view: CanvasView, done: Callable[[], object]) -> None:
    """Give a net that is not seen yet its picture, then call ``done``.

    Nodes that come without a place into a net that has some find a free one.
    """
    scene, positions = view.canvas, view.document.positions
    if not scene.nodes or any(node_id in positions for node_id in scene.nodes):
        place_new(scene)
        done()
    elif len(scene.nodes) < _SLOW_FROM:
        arrange(view, undoable=False, done=lambda: (fold_at_start(view), done()))
    else:
        _BigPicture(view, done).begin()


class _BigPicture:
    """Makes the picture of a big net; each of its methods leads to the next."""

    def __init__(self, view: CanvasView, done: Callable[[], object]) -> None:
        self._view = view
        self._scene = view.canvas
        self._done = done
        self._serial = view.document.graph.serial

    def begin(self) -> None:
        self._lay_out(self._laid_out)

    def _lay_out(self, finish: Callable[[Arrangement], object]) -> None:
        nodes: list[LayoutNode[NodeId]] = []
        edges: list[LayoutEdge[NodeId]] = []
        room = room_of(self._view)

        def submit() -> None:
            self._view.document.jobs.submit("first layout", lambda: find_places(nodes, edges, room), finish)

        self._view.slices.start(gather_inputs(self._scene, nodes, edges), submit)

    def _laid_out(self, found: Arrangement) -> None:
        self._view.slices.start(self._put(found), self._find_repeats)

    def _find_repeats(self) -> None:
        document = self._view.document

        def failed(_error: Exception) -> None:
            """The net was edited while it was looked through."""
            self._fold(())

        document.jobs.submit("repeats", lambda: repeats_of(document.graph), self._fold, failed)

    def _fold(self, repeats: Sequence[Repeat]) -> None:
        is_same = self._view.document.graph.serial == self._serial
        if is_same and fold_first(self._view, repeats=repeats):
            self._scene.lies_in_heap = True
            self._scene.folding.when_wired(lambda: self._lay_out(self._folded))
        else:
            self._view.slices.start(_lead(self._scene), self._done)

    def _folded(self, found: Arrangement) -> None:
        self._view.slices.start(chain(self._put(found), _lead(self._scene)), self._done)

    def _put(self, found: Arrangement) -> Iterator[None]:
        """Take over what a layout found, a node a step; the wires are still to be led."""
        points = take_routes(self._scene, found)
        self._scene.show_routes(moving=True)
        yield
        yield from _place(self._scene, points)


def _place(scene: CanvasScene, points: Mapping[NodeId, Point]) -> Iterator[None]:
    positions = scene.document.positions
    for node_id, point in points.items():
        item = scene.folding.item(node_id)
        if item is not None:
            positions.place(node_id, point.x, point.y)
            item.setPos(point.x, point.y)
        yield
    scene.overview.forget()
    for item in scene.items_shown():
        find_docked(item)
        yield


def _lead(scene: CanvasScene) -> Iterator[None]:
    scene.lies_in_heap = False
    for wire in scene.folding.edges():
        wire.update_path()
        yield
    scene.fit_scene_rect()
    yield
    scene.told_shown()
    yield
