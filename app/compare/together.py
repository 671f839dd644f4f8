"""Two canvases that move as one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QPainter

from app.canvas.layout.layout import Room, lay_out
from app.canvas.scene.nodeitem import LOD_BOXES
from app.compare.aligning import Plan, place, plan
from app.qt import blocked, guard
from app.slices import Slices

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from app.canvas.layout.layout import LayoutResult
    from app.compare.aligning import Key
    from app.compare.canvas import CompareCanvas
    from engine.graph import NodeId

__all__ = ["Together"]

#: From so many layers on.
_SLOW_FROM = 150


class Together(QObject):
    """Keeps two canvases at the same place and scale, and arranges what they show as one net.

    Parameters
    ----------
    old, new : CompareCanvas
    """

    def __init__(self, old: CompareCanvas, new: CompareCanvas, parent: QObject) -> None:
        super().__init__(parent)
        self._both = old, new
        self._moving = False
        self._slices = Slices(self)
        old.moved.connect(lambda: self._follow(old, new))
        new.moved.connect(lambda: self._follow(new, old))

    @guard
    def _follow(self, leader: CompareCanvas, other: CompareCanvas) -> None:
        if self._moving:
            return
        self._moving = True
        try:
            bars = (
                (leader.horizontalScrollBar(), other.horizontalScrollBar()),
                (leader.verticalScrollBar(), other.verticalScrollBar()),
            )
            other.follows_size = False
            with blocked(other):
                if other.transform() != leader.transform():
                    other.setTransform(leader.transform())
                    other.setRenderHint(QPainter.RenderHint.Antialiasing, leader.scale_factor >= LOD_BOXES)
                for bar, its in bars:
                    its.setValue(bar.value())
            other.told_panned()
        finally:
            self._moving = False

    def arrange(self, showing: Generator[None, None, Mapping[NodeId, NodeId]], done: Callable[[], object]) -> None:
        """Lay both sides out as one net, a long one in slices and in the document's thread, and call ``done``.

        Parameters
        ----------
        showing : generator
            Shows on both sides what is to be seen, a little at each step, and returns which of it is the same.
        """
        self._slices.start(self._arranging(showing, done))
        if max(len(canvas.canvas.nodes) for canvas in self._both) < _SLOW_FROM:
            self._slices.finish()

    def _arranging(
        self, showing: Generator[None, None, Mapping[NodeId, NodeId]], done: Callable[[], object]
    ) -> Iterator[None]:
        old, new = self._both
        pairs = yield from showing
        room = Room(*new.room())
        versions = self._versions()
        wanted = yield from plan(old.canvas, new.canvas, pairs)
        if len(wanted.nodes) < _SLOW_FROM:
            yield from self._placing(wanted, lay_out(wanted.nodes, wanted.edges, room), done)
            return

        def finish(result: LayoutResult[Key]) -> None:
            if self._versions() == versions and not self._slices.active:  # else it is arranged anew
                self._slices.start(self._placing(wanted, result, done))

        new.document.jobs.submit("layout", partial(lay_out, wanted.nodes, wanted.edges, room), finish)

    def _placing(self, wanted: Plan, result: LayoutResult[Key], done: Callable[[], object]) -> Iterator[None]:
        versions = self._versions()
        for canvas, keys in zip(self._both, wanted.keys, strict=True):
            canvas.canvas.lies_in_heap = False
            for _step in place(canvas.canvas, keys, result):
                yield
                if self._versions() != versions:
                    return
        old, new = self._both
        new.is_placed = True
        self.share_room()
        yield
        done()
        yield  # to paint one of them takes long enough
        old.is_placed = True
        old.viewport().update()

    @property
    def busy(self) -> bool:
        """Whether something is being arranged."""
        return self._slices.active or any(canvas.canvas.leading.active for canvas in self._both)

    def close(self) -> None:
        """Leave what is under way."""
        self._slices.cancel()

    def _versions(self) -> tuple[int, ...]:
        return tuple(canvas.document.graph.version for canvas in self._both)

    def share_room(self) -> None:
        """Give both scenes the same bounds, so that the same scroll position is the same place."""
        for canvas in self._both:
            canvas.canvas.fit_scene_rect()
        room = self._both[0].canvas.sceneRect().united(self._both[1].canvas.sceneRect())
        for canvas in self._both:
            canvas.canvas.setSceneRect(room)

    def frame(self) -> None:
        """Bring everything on both sides into view."""
        leader = self._both[1]
        rect = self._both[0].canvas.content_rect().united(leader.canvas.content_rect())
        leader.frame_rect(rect)
