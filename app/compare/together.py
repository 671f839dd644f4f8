"""Two canvases that move as one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QPainter

from app.canvas.layout import lay_out
from app.canvas.nodeitem import LOD_BOXES
from app.compare.aligning import Plan, place, plan
from app.qt import blocked, guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from app.canvas.layout import LayoutResult
    from app.compare.aligning import Key
    from app.compare.canvas import CompareCanvas
    from engine.graph import NodeId

__all__ = ["Together"]

_IN_THREAD_FROM = 150


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
        self._serial = 0
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

    def arrange(self, pairs: Mapping[NodeId, NodeId], done: Callable[[], object]) -> None:
        """Lay both sides out as one net, a long one in the document's thread, and call ``done``."""
        old, new = self._both
        size = new.viewport().size()
        aspect = max(0.8, min(2.2, size.width() / max(1, size.height())))
        wanted = plan(old.canvas, new.canvas, pairs)
        is_big = len(wanted.nodes) >= _IN_THREAD_FROM
        versions = old.document.graph.version, new.document.graph.version
        self._serial += 1
        serial = self._serial

        def finish(result: LayoutResult[Key], side: int = 0) -> None:
            """Place one side after the other; those of a big net each in an event of its own."""
            if self._serial != serial or versions != (old.document.graph.version, new.document.graph.version):
                return
            if side == len(self._both):
                self.share_room()
                done()
                return
            self._place(side, wanted, result)

            def go_on() -> None:
                finish(result, side + 1)

            if is_big:
                QTimer.singleShot(0, self, guard(go_on))
            else:
                go_on()

        if is_big:
            new.document.jobs.submit("layout", partial(lay_out, wanted.nodes, wanted.edges, aspect), finish)
        else:
            finish(lay_out(wanted.nodes, wanted.edges, aspect))

    def _place(self, side: int, wanted: Plan, result: LayoutResult[Key]) -> None:
        place(self._both[side].canvas, wanted.keys[side], result)
        self._both[side].is_placed = True

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

    def hide(self, old: Iterable[NodeId], new: Iterable[NodeId]) -> None:
        """Hide layers on both sides."""
        for canvas, nodes in zip(self._both, (old, new), strict=True):
            canvas.hiding.hide(nodes)
