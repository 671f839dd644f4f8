"""The whole net as batches of boxes and lines, for far zoom and for the minimap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QColor, QPainter

from app.canvas.scene.face import GHOST, NODE_WIDTH
from app.slices import Slices

if TYPE_CHECKING:
    from PySide6.QtGui import QBrush, QPen

    from app.canvas.scene.edgeitem import EdgeItem
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene

__all__ = ["Overview"]

#: The lists of so many cards take longer to make than a painting may.
_SLOW_FROM = 1500
#: So often lists that were begun are given up because something changed meanwhile; then they are shown all the same.
_PATIENCE = 3
#: What cards are painted with: ``category``, ``heat``, ``marked`` or ``ghost``, and the name of a category or colour.
_Group = tuple[str, str]


class _Lists:
    """Boxes of cards by what they are painted with, and lines of wires.

    Attributes
    ----------
    boxes, faults : dict of dict of QRectF
        Cards by group, and the signs at their corners by severity.
    wires, ghosts, followed : dict of list of QLineF
        Wires, those that are not in the view of the document, and those that carry a blob that is followed.
    """

    def __init__(self) -> None:
        self.boxes: dict[_Group, dict[NodeItem, QRectF]] = {}
        self.faults: dict[str, dict[NodeItem, QRectF]] = {"error": {}, "warning": {}}
        self.wires: dict[EdgeItem, list[QLineF]] = {}
        self.ghosts: dict[EdgeItem, list[QLineF]] = {}
        self.followed: dict[EdgeItem, list[QLineF]] = {}
        self._groups: dict[NodeItem, _Group] = {}

    def put_card(self, item: NodeItem) -> None:
        """Enter a card, or enter it anew."""
        old = self._groups.get(item)
        if old is not None:
            del self.boxes[old][item]
            for signs in self.faults.values():
                signs.pop(item, None)
        face = item.face
        if item.marked:
            group = "marked", ""
        elif face.ghost or face.bypassed or item.opacity() < 1.0:
            group = "ghost", ""
        elif item.heat is not None:
            group = "heat", item.heat.color.name()
        else:
            group = "category", face.category
        x, y = item.x(), item.y()
        self._groups[item] = group
        self.boxes.setdefault(group, {})[item] = QRectF(x, y, NODE_WIDTH, item.height)
        if face.severity:
            self.faults[face.severity][item] = QRectF(x + NODE_WIDTH - 40.0, y - 20.0, 60.0, 60.0)

    def put_wire(self, edge: EdgeItem) -> None:
        """Enter a wire, or enter it anew."""
        for wires in (self.wires, self.ghosts, self.followed):
            wires.pop(edge, None)
        if edge.docked or edge.stale or not edge.isVisible():
            return
        lines = [edge.line]
        if edge.via:
            lines = [QLineF(a, b) for a, b in pairwise([edge.line.p1(), *edge.via, edge.line.p2()])]
        faint = edge.ghost or edge.opacity() < 1.0
        (self.followed if edge.followed else self.ghosts if faint else self.wires)[edge] = lines


class Overview:
    """Lists of boxes by colour and of lines, kept until the scene changes.

    Those of a big net are made anew in slices, between which the window answers; what was there before is painted
    meanwhile.

    Attributes
    ----------
    version : int
        Grows whenever there is something else to paint.
    painted : int
        The version that is painted.
    """

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self.version = 0
        self.painted = -1
        self._lists: _Lists | None = None
        self._slices = Slices(scene)
        self._given_up = 0
        self._is_outdated = False
        self._cards: dict[NodeItem, None] = {}
        self._edges: dict[EdgeItem, None] = {}

    def forget(self) -> None:
        """Have the lists made anew for the next painting."""
        self.version += 1
        self._is_outdated = True
        if self._slices.active and self._given_up < _PATIENCE:
            self._given_up += 1
            self._begin()

    def follow(self, cards: Iterable[NodeItem], edges: Iterable[EdgeItem] = ()) -> None:
        """Have some cards and wires entered anew, which are shown already and look different, or stand elsewhere."""
        self.version += 1
        self._cards.update(dict.fromkeys(cards))
        self._edges.update(dict.fromkeys(edges))

    def close(self) -> None:
        """Make no more lists."""
        self._slices.cancel()
        self._lists = None
        self._cards.clear()
        self._edges.clear()

    def prepare(self, *, at_once: bool = True) -> bool:
        """Have the lists made, those of a big net in slices; return whether they are as the net is.

        Parameters
        ----------
        at_once : bool
            Where there are none yet, make those of a big net now all the same.
        """
        if self.painted == self.version or self._slices.active:
            return self.painted == self.version
        if self._lists is not None and not self._is_outdated:
            self._enter(self._lists)
            self.painted = self.version
        elif (self._lists is None and at_once) or len(self._scene.items_shown()) < _SLOW_FROM:
            for _step in self.collected():
                pass
        else:
            self._begin()
        return self.painted == self.version

    def collected(self) -> Iterator[None]:
        """Make the lists, a card or a wire a step."""
        version, lists, self._is_outdated = self.version, _Lists(), False
        self._cards.clear()
        self._edges.clear()
        folding = self._scene.folding
        cards = folding.items()
        edges = folding.edges() if folding.is_wired else ()  # until they join the cards that are shown
        for card in cards:
            lists.put_card(card)
            yield
        for edge in edges:
            lists.put_wire(edge)
            yield
        self._enter(lists)
        self._lists, self.painted = lists, version if self._is_outdated else self.version

    def _enter(self, lists: _Lists) -> None:
        """Enter anew what has changed since the lists were made."""
        for card in self._cards:
            lists.put_card(card)
        for edge in self._edges:
            lists.put_wire(edge)
        self._cards.clear()
        self._edges.clear()

    def _begin(self) -> None:
        self._slices.start(self.collected(), self._done)

    def _done(self) -> None:
        self._given_up = 0
        self._scene.overview_changed.emit()

    # Painting

    def paint(self, painter: QPainter) -> None:
        """Paint in scene coordinates."""
        self.prepare()
        lists = self._lists
        if lists is None:
            return
        style = self._scene.style_set
        self._scene.annotated.paint_far(painter)
        painter.setOpacity(GHOST)  # faintly what is not in the view of the document
        _draw_lines(painter, style.wire_far, lists.ghosts)
        painter.setPen(style.no_pen)
        _draw_boxes(painter, style.far["other"], lists.boxes.get(("ghost", ""), {}))
        painter.setOpacity(1.0)
        _draw_lines(painter, style.wire_far, lists.wires)
        _draw_lines(painter, style.followed_far, lists.followed)
        painter.setPen(style.no_pen)
        for (kind, name), boxes in sorted(lists.boxes.items(), key=lambda entry: entry[0][0] == "marked"):
            if kind == "category":
                _draw_boxes(painter, style.far[name], boxes)
            elif kind == "heat":
                _draw_boxes(painter, QColor(name), boxes)
            elif kind == "marked":
                _draw_boxes(painter, style.accent_brush, boxes)
        for severity, signs in lists.faults.items():
            _draw_boxes(painter, style.error if severity == "error" else style.warning, signs)


def _draw_boxes(painter: QPainter, brush: QBrush | QColor, boxes: dict[NodeItem, QRectF]) -> None:
    if boxes:
        painter.setBrush(brush)
        painter.drawRects(list(boxes.values()))


def _draw_lines(painter: QPainter, pen: QPen, wires: dict[EdgeItem, list[QLineF]]) -> None:
    if wires:
        painter.setPen(pen)
        painter.drawLines([line for lines in wires.values() for line in lines])
