"""The whole net as batches of boxes and lines, for far zoom and for the minimap."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QColor, QPainter

from app.canvas.face import GHOST

if TYPE_CHECKING:
    from app.canvas.scene import CanvasScene

__all__ = ["Overview"]


class Overview:
    """Lists of boxes by colour and of lines, kept until the scene changes.

    Attributes
    ----------
    version : int
        Grows whenever there is something else to paint.
    """

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self.version = 0
        self._boxes: dict[str, list[QRectF]] | None = None
        self._heated: dict[str, list[QRectF]] = {}
        self._lines: list[QLineF] = []
        self._ghosts: list[QRectF] = []
        self._ghost_lines: list[QLineF] = []
        self._marked: list[QRectF] = []
        self._faults: dict[str, list[QRectF]] = {}

    def forget(self) -> None:
        """Throw the lists away; the next painting makes them anew."""
        self._boxes = None
        self.version += 1

    def paint(self, painter: QPainter) -> None:
        """Paint in scene coordinates."""
        boxes = self._boxes if self._boxes is not None else self._collect()
        style = self._scene.style_set
        self._scene.annotated.paint_far(painter)
        self._paint_ghosts(painter)
        painter.setPen(style.wire_far)
        painter.drawLines(self._lines)
        painter.setPen(style.no_pen)
        for category, rects in boxes.items():
            painter.setBrush(style.far[category])
            painter.drawRects(rects)
        for name, rects in self._heated.items():
            painter.setBrush(QColor(name))
            painter.drawRects(rects)
        if self._marked:
            painter.setBrush(style.accent_brush)
            painter.drawRects(self._marked)
        for severity, rects in self._faults.items():
            painter.setBrush(style.error if severity == "error" else style.warning)
            painter.drawRects(rects)

    def _paint_ghosts(self, painter: QPainter) -> None:
        """Paint faintly what is not in the view of the document."""
        style = self._scene.style_set
        painter.setOpacity(GHOST)
        painter.setPen(style.wire_far)
        painter.drawLines(self._ghost_lines)
        painter.setPen(style.no_pen)
        painter.setBrush(style.far["other"])
        painter.drawRects(self._ghosts)
        painter.setOpacity(1.0)

    def _collect(self) -> dict[str, list[QRectF]]:
        boxes: dict[str, list[QRectF]] = {}
        heated: dict[str, list[QRectF]] = {}
        self._marked, self._ghosts = [], []
        self._faults = {}
        for item in self._scene.items_shown():
            body = item.scene_body()
            if item.marked:
                self._marked.append(body)
            elif item.face.ghost or item.face.bypassed or item.opacity() < 1.0:
                self._ghosts.append(body)
            elif item.heat is not None:
                heated.setdefault(item.heat.color.name(), []).append(body)
            else:
                boxes.setdefault(item.face.category, []).append(body)
            if item.face.severity:
                corner = QRectF(body.right() - 40.0, body.top() - 20.0, 60.0, 60.0)
                self._faults.setdefault(item.face.severity, []).append(corner)
        self._lines, self._ghost_lines = [], []
        for edge in self._scene.folding.edges():
            if edge.docked or edge.stale:
                continue
            lines = self._ghost_lines if edge.ghost or edge.opacity() < 1.0 else self._lines
            if edge.via:
                points = [edge.line.p1(), *edge.via, edge.line.p2()]
                lines += [QLineF(a, b) for a, b in pairwise(points)]
            else:
                lines.append(edge.line)
        self._boxes, self._heated = boxes, heated
        return boxes
