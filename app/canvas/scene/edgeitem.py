"""A wire: one graphics item with a cached path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPainterPathStroker, QPen
from PySide6.QtWidgets import QGraphicsRectItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.layout.avoiding import detour, free_level
from app.canvas.layout.channels import TRACK
from app.canvas.layout.routes import bent_path, distance_to, dock_path, flattened, free_reach, wire_box, wire_path
from app.canvas.scene.docking import followers, root_of
from app.canvas.scene.face import GHOST, NODE_WIDTH
from app.canvas.scene.nodeitem import LOD_TEXT, NO_PEN, NodeItem
from app.qt import guard

if TYPE_CHECKING:
    from app.canvas.layout.avoiding import Box
    from app.canvas.scene.picking import PickingScene
    from app.canvas.scene.style import CanvasStyle
    from app.document.placement import Point, Route
    from engine.graph import Edge

__all__ = ["EdgeItem"]

_LABEL_MARGIN = 22.0
#: Twice the width of the longest label that is surely clear of those on the next wires.
_LABEL_COLUMN = 240.0
#: Above others is a wire with a label: one that begins at the same port must not cross the label out.
_BELOW, _LABELLED, _ABOVE = -1.0, -0.9, 4.0
#: A wire whose end lies farther back than this goes around its nodes, so far from them.
_BACK, _CLEAR = 40.0, 24.0
#: A wire that goes no farther to the right than this has nothing between its ends.
_SHORT = 170.0
#: One that goes farther than this is left as it is: far too many cards would have to be looked at.
_LONG = 1800.0
#: How far from a wire cards are looked for that it may have to go around.
_NEAR = 260.0
#: Wires of one port go so far together before they part.
_TRUNK = 22.0


class EdgeItem(QGraphicsRectItem):
    """One connection of the net.

    Attributes
    ----------
    edge : engine.graph.Edge
        The connection as a value.
    tail, out_port, head, in_port : NodeItem and int
        The cards and ports that it joins on the canvas: those of its nodes, or of the blocks in which they are folded.
    label : str
        Shape that flows, shown where the wire is long enough; empty for none.
    route : Route or None
        What the layout found; followed while its two nodes stand to each other as they did then.
    via : tuple of QPointF
        Points that the wire passes now.
    bends : tuple of Point
        Points through which the user leads the wire; they go before the route.
    chosen_bend : int
        The bend that is selected, or -1.
    stale : bool
        Its course is not what it should be: it was hidden while something moved, and follows once it is shown.
    roams : bool
        No layout leads it, so that its course depends on the cards in its way.
    doomed, lit : bool
        A gesture would cut the wire, or put something on it.
    followed : bool
        It carries the blob that is followed; see :meth:`follow`.
    lifted : bool
        A gesture draws it in its own way, and it is not painted.
    """

    __slots__ = (
        "_path", "bends", "box", "chosen", "chosen_bend", "doomed", "edge", "followed", "ghost", "head",
        "hovered", "in_port", "label", "label_at", "lifted", "line", "lit", "out_port", "phase", "points",
        "roams", "route", "source", "stale", "style", "tail", "target", "via", "wanted",
    )  # fmt: skip

    def __init__(self, edge: Edge, source: NodeItem, target: NodeItem, style: CanvasStyle) -> None:
        super().__init__()
        self.setPen(NO_PEN)
        self.setZValue(_BELOW)
        self.edge = edge
        self.source = source
        self.target = target
        self.tail, self.out_port = source, edge.top
        self.head, self.in_port = target, edge.bottom
        self.style = style
        self.route: Route | None = None
        self.via: tuple[QPointF, ...] = ()
        self.label = ""
        self.wanted = ""
        self.label_at = QPointF()
        self.hovered = False
        self.ghost = False
        self.bends: tuple[Point, ...] = ()
        self.points: list[QPointF] | None = None
        self.chosen = False
        self.chosen_bend = -1
        self.doomed = False
        self.lit = False
        self.followed = False
        self.lifted = False
        self.stale = True
        self.roams = False
        self.phase = ""
        self._path: QPainterPath | None = QPainterPath()
        self.line = QLineF()
        self.box = QRectF()

    @property
    def docked(self) -> bool:
        """Whether it only joins a node with what is docked under it."""
        head = self.head
        joins = head is self.target and head.hangs_under is self.tail
        return joins and head.face.chip and self.edge.bottom == 0

    def join(self, tail: NodeItem, out_port: int, head: NodeItem, in_port: int) -> None:
        """Show the wire between other cards."""
        self.tail, self.out_port, self.head, self.in_port = tail, out_port, head, in_port

    @property
    def path(self) -> QPainterPath:
        """The course, made when it is painted or pointed at: most wires of a big net are out of sight."""
        if self._path is None:
            start, end = self.line.p1(), self.line.p2()
            trunk = _TRUNK if self.fans() else 0.0
            self._path = bent_path(start, end, self.via) if self.bends else wire_path(start, end, self.via, trunk)
        return self._path

    def fans(self) -> bool:
        """Whether other wires begin at its port."""
        tail, port = self.tail, self.out_port
        return any(each.tail is tail and each.out_port == port and each is not self for each in tail.edges)

    def update_path(self) -> None:
        """Follow the nodes."""
        self.stale = False
        self._path = None
        self.roams = False
        if self.docked:
            x = self.source.pos().x() + NODE_WIDTH / 2
            start = QPointF(x, self.source.scene_body().bottom())
            end = QPointF(x, self.target.pos().y())
            self.via = ()
            self._path = dock_path(start, end)
        else:
            start = self.tail.output_point(self.out_port)
            end = self.head.input_point(self.in_port)
            self.via = tuple(QPointF(*bend) for bend in self.bends) if self.bends else self._via(start, end)
        self.points = None
        self.line = QLineF(start, end)
        self._place_label()
        box = self.path.controlPointRect() if self.bends else wire_box(start, end, self.via)
        box.adjust(-7.0, -7.0, 7.0, 7.0)
        if self.label:
            box = box.united(self.label_box().adjusted(-2.0, -2.0, 2.0, 2.0))
        self.box = box
        self.setRect(box)  # not before: the scene was asked what is near, and must know the box that is kept

    def set_label(self, text: str) -> None:
        """Show a shape on the wire where there is room."""
        if text != self.wanted:
            self.wanted = text
            if self.stale or not self.isVisible():
                self.stale = True  # it is led, with its label, once it is shown
            else:
                self.update_path()
                self.update()

    def set_ghost(self, ghost: bool) -> None:
        """Dim the wire when it is not in the view of the document."""
        if ghost != self.ghost:
            self.ghost = ghost
            self.update()

    def set_route(self, route: Route | None) -> None:
        """Lead the wire as the layout found."""
        if route is not self.route:
            self.route = route
            self.update_path()

    def set_bends(self, bends: tuple[Point, ...]) -> None:
        """Lead the wire through points of the user's."""
        self.bends = bends
        self.chosen_bend = min(self.chosen_bend, len(bends) - 1)
        self.update_path()
        self.update()

    def lift(self, *, lifted: bool) -> None:
        """Leave it to a gesture to draw the wire, or take that back."""
        self.lifted = lifted
        self.update()

    def mark(self, *, doomed: bool = False, lit: bool = False) -> None:
        """Show that a gesture would cut the wire, or put something on it."""
        if (doomed, lit) != (self.doomed, self.lit):
            self.doomed, self.lit = doomed, lit
            self._lay()
            self.update()

    def follow(self, *, followed: bool) -> None:
        """Show that the wire carries the blob that is followed, or no longer."""
        if followed != self.followed:
            self.followed = followed
            self.update()

    def _via(self, start: QPointF, end: QPointF) -> tuple[QPointF, ...]:
        route = self.route
        if route is None:
            return self._roam(start, end)
        a, b = self.tail.pos(), self.head.pos()
        dx, dy = a.x() - route.source.x, a.y() - route.source.y
        if abs(b.x() - route.target.x - dx) > 0.5 or abs(b.y() - route.target.y - dy) > 0.5:
            return self._roam(start, end)
        return tuple(QPointF(point.x + dx, point.y + dy) for point in route.points)

    def _roam(self, start: QPointF, end: QPointF) -> tuple[QPointF, ...]:
        """Points of a wire that no layout leads: around the cards in its way, and none where it is short."""
        back = end.x() <= start.x() - _BACK
        away = abs(end.x() - start.x()), abs(end.y() - start.y())
        self.roams = (back or away[0] > _SHORT) and max(away) < _LONG
        scene = cast("PickingScene | None", self.scene())
        if not self.roams or scene is None:
            return self._around(start, end, ()) if back else ()
        room = QRectF(start, end).normalized().adjusted(-_NEAR, -_NEAR, _NEAR, _NEAR)
        boxes = scene.boxes_in(room, {self.tail, self.head})
        if back:
            return self._around(start, end, boxes)
        points = detour(start.toTuple(), end.toTuple(), free_reach(end.x() - start.x()), boxes)
        return tuple(QPointF(*point) for point in points)

    def _around(self, start: QPointF, end: QPointF, boxes: Sequence[Box]) -> tuple[QPointF, ...]:
        """Points of a wire that leads back, between its two nodes or below both."""
        above = root_of(self.tail)
        hung = followers(above)
        top, bottom = above.pos().y(), max(each.scene_body().bottom() for each in (above, *hung))
        box = self.head.scene_body()
        if box.top() - bottom > 2 * _CLEAR:
            level = (bottom + box.top()) / 2
        elif top - box.bottom() > 2 * _CLEAR:
            level = (top + box.bottom()) / 2
        else:
            level = max(bottom, box.bottom()) + _CLEAR
        out, into = start.x() + _CLEAR, end.x() - _CLEAR
        level = free_level(into, out, (level,), boxes) or level
        return (QPointF(out, start.y()), QPointF(out, level), QPointF(into, level), QPointF(into, end.y()))

    def _place_label(self) -> None:
        self.label = ""
        if not self.wanted or self.docked:
            self._lay()
            return
        width = self.style.width_of(self.wanted, "small_font") + _LABEL_MARGIN
        if self.via and not self.bends:
            at = self._beside_others(width)
        elif self.line.dx() >= 2 * width:  # between neighbours it would be all that is seen of the wire
            at = self.path.pointAtPercent(0.5) if self.bends else self.line.center()
        else:
            at = None
        if at is not None:
            self.label = self.wanted
            self.label_at = at
        self._lay()

    def _lay(self) -> None:
        """Lie where it belongs: marked over the card that may cover it."""
        marked = self.doomed or self.lit
        self.setZValue(_ABOVE if marked else _LABELLED if self.label else _BELOW)

    def _beside_others(self, width: float) -> QPointF | None:
        """Return where a label has room on the longest level piece, clear of those on the wires just above and below.

        These run so near that labels would cover each other; so labels stand at other columns on every second level.
        """
        longest = 0.0
        piece = QLineF()
        for a, b in pairwise((self.line.p1(), *self.via, self.line.p2())):
            length = abs(b.x() - a.x())
            if abs(a.y() - b.y()) < 0.5 and length > longest:
                longest, piece = length, QLineF(a, b)
        if longest < width:
            return None
        first = (0.25 + 0.5 * (piece.y1() // TRACK % 2)) * _LABEL_COLUMN
        x = first + round((piece.center().x() - first) / _LABEL_COLUMN) * _LABEL_COLUMN
        low, high = sorted((piece.x1(), piece.x2()))
        return QPointF(x, piece.y1()) if low + width / 2 <= x <= high - width / 2 else None

    def label_box(self) -> QRectF:
        width = self.style.width_of(self.label, "small_font") + 10.0
        return QRectF(self.label_at.x() - width / 2, self.label_at.y() - 8.0, width, 16.0)

    def shape(self) -> QPainterPath:
        stroker = QPainterPathStroker()
        stroker.setWidth(10.0)
        return stroker.createStroke(self.path)

    def course(self) -> list[QPointF]:
        """The wire as a line of short straight pieces, made once for each course."""
        if self.points is None:
            self.points = flattened(self.path)
        return self.points

    def distance(self, point: QPointF) -> float:
        """How far a place in the scene is from the wire, in pixels of the scene."""
        return distance_to(point, self.course())

    def pen(self) -> QPen:
        """Pen of the wire in its present state; phases differ by their dashes, not only by colour."""
        style = self.style
        if self.doomed:
            return style.wire_doomed
        if self.lit or self.followed:
            return style.wire_lit
        if self.hovered:
            return style.wire_hover
        if self.chosen or self.tail.marked or self.head.marked:
            return style.wire_selected
        if self.phase:
            return style.wire_train if self.phase == "TRAIN" else style.wire_test
        return style.wire

    @guard
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if self.stale or self.lifted:
            return
        style = self.style
        opacity = painter.opacity()
        if self.ghost:
            painter.setOpacity(opacity * GHOST)
        painter.setPen(self.pen())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self.path)
        if self.bends and painter.worldTransform().m11() >= LOD_TEXT and not self.docked:
            self._paint_bends(painter)
        if self.label and painter.worldTransform().m11() >= LOD_TEXT:
            rect = self.label_box()
            painter.setPen(style.no_pen)
            painter.setBrush(style.label_back)
            painter.drawRoundedRect(rect, 4.0, 4.0)
            painter.setFont(style.small_font)
            painter.setPen(style.muted)
            label = style.label(self.label, "small_font", 0.0)
            painter.drawStaticText(QPointF(rect.x() + 5.0, rect.y() + 8.0 - label.height / 2), label.static)
        painter.setOpacity(opacity)

    def _paint_bends(self, painter: QPainter) -> None:
        style = self.style
        grown = self.hovered or self.chosen
        for index, point in enumerate(self.via):
            painter.setPen(style.port_pen)
            painter.setBrush(style.accent_brush if self.chosen and index == self.chosen_bend else style.port_open)
            painter.drawEllipse(point, *((5.0, 5.0) if grown else (3.0, 3.0)))
