"""What lies at a place of the scene: nodes, ports, wires and their bends."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtWidgets import QGraphicsScene

from app.canvas.layout.avoiding import Box
from app.canvas.scene.edgeitem import EdgeItem
from app.canvas.scene.face import NODE_WIDTH
from app.canvas.scene.nodeitem import NodeItem

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from app.canvas.scene.folding import Folding
    from app.canvas.scene.overview import Overview
    from engine.graph import Edge, NodeId

__all__ = ["PickingScene"]

#: So many times Qt is asked what is near, before a list of all cards is made.
_FEW = 50
#: So many times it is answered while nothing is shown anew: wires of a big net that no layout leads stay as they are.
_MOST = 250


class PickingScene(QGraphicsScene):
    """A scene of nodes and wires that can be asked what is where.

    Attributes
    ----------
    nodes, edges : dict
        Items by node id, and by edge.
    is_indexed : bool
        Whether Qt has had the time to put the items in order, so that it finds some without looking at all.
    folding : Folding
        Which of the items are shown, and the cards of blocks that stand for others.
    """

    nodes: dict[NodeId, NodeItem]
    edges: dict[Edge, EdgeItem]
    folding: Folding
    overview: Overview
    is_indexed = False
    _asked: tuple[int, int] = (-1, 0)
    _boxes: Sequence[tuple[Box, NodeItem]] = ()
    _content: tuple[int, QRectF] = (-1, QRectF())

    def items_shown(self) -> list[NodeItem]:
        """Return the cards that are shown: of layers, and of blocks in which others are folded."""
        return self.folding.items()

    def content_rect(self, ids: Iterable[NodeId] | None = None) -> QRectF:
        """Rectangle around some or all nodes, empty for none."""
        if ids is not None:
            return _around_all([item for item in map(self.folding.shown, ids) if item is not None])
        version = self.overview.version
        if self._content[0] != version:  # many ask while nothing is shown anew
            self._content = version, _around_all(self.items_shown())
        return QRectF(self._content[1])

    def node_at(self, point: QPointF) -> NodeItem | None:
        """The topmost node whose card covers a place in the scene."""
        for item in self.items(point):
            if isinstance(item, NodeItem) and item.scene_body().contains(point):
                return item
        return None

    def boxes_in(self, area: QRectF, apart: Container[NodeItem]) -> list[Box]:
        """The cards that touch an area of the scene, less some, from left to right.

        What is asked while nothing is shown anew is answered from a list, up to a limit; the first few times Qt is
        asked, as while a node is dragged.
        """
        version = self.overview.version
        if version != self._asked[0]:
            self._asked, self._boxes = (version, 0), []
        self._asked = version, self._asked[1] + 1
        if self._asked[1] > _MOST:
            return []
        if self.is_indexed and self._asked[1] < _FEW:
            found = self.items(area, Qt.ItemSelectionMode.IntersectsItemBoundingRect)
            near: Sequence[tuple[Box, NodeItem]] = [
                (box_of(each), each) for each in found if isinstance(each, NodeItem)
            ]
        else:
            if not self._boxes:
                self._boxes = self._all_boxes()
            first = bisect_left(self._boxes, area.left() - NODE_WIDTH, key=lambda pair: pair[0].left)
            last = bisect_right(self._boxes, area.right(), key=lambda pair: pair[0].left)
            near = self._boxes[first:last]
        top, bottom, left, right = area.top(), area.bottom(), area.left(), area.right()
        return sorted(
            box
            for box, item in near
            if box.top <= bottom and box.bottom >= top and box.left <= right and box.right >= left and item not in apart
        )

    def _all_boxes(self) -> list[tuple[Box, NodeItem]]:
        folding = getattr(self, "folding", None)  # a scene that is being made has none yet
        items = self.nodes.values() if folding is None else folding.items()
        return sorted(((box_of(item), item) for item in items), key=lambda pair: pair[0])

    def badge_at(self, point: QPointF) -> NodeItem | None:
        """The topmost node whose badge, the sign that something is wrong, covers a place in the scene."""
        for item in self.items(_around(point, 1.0)):
            if isinstance(item, NodeItem) and item.face.severity and item.scene_badge().contains(point):
                return item
        return None

    def port_at(self, point: QPointF, reach: float) -> tuple[NodeItem, str, int] | None:
        """The nearest port within ``reach`` pixels of the scene: node, ``input`` or ``output``, number."""
        best: tuple[float, tuple[NodeItem, str, int]] | None = None
        for item in self.items(_around(point, reach)):
            if not isinstance(item, NodeItem):
                continue
            found = item.port_at(point, reach)
            if found is None:
                continue
            side, index = found
            end = item.input_point(index) if side == "input" else item.output_point(index)
            distance = (end - point).manhattanLength()
            if best is None or distance < best[0]:
                best = (distance, (item, side, index))
        return best[1] if best else None

    def edge_at(self, point: QPointF, reach: float) -> EdgeItem | None:
        """The nearest wire within ``reach`` pixels of the scene."""
        near = (item for item in self.items(_around(point, reach)) if isinstance(item, EdgeItem))
        found = min(((item.distance(point), id(item), item) for item in near), default=None)
        return found[2] if found is not None and found[0] <= reach else None

    def bend_at(self, point: QPointF, reach: float) -> tuple[EdgeItem, int] | None:
        """The bend of a wire within ``reach`` pixels of the scene, and its number."""
        for item in self.items(_around(point, reach)):
            for index, bend in enumerate(item.bends if isinstance(item, EdgeItem) else ()):
                if (QPointF(*bend) - point).manhattanLength() <= reach:
                    assert isinstance(item, EdgeItem)
                    return item, index
        return None

    def nodes_in(self, area: QRectF) -> list[NodeItem]:
        """The nodes whose cards touch an area of the scene."""
        left, right, top, bottom = area.left() - NODE_WIDTH, area.right(), area.top(), area.bottom()
        found = [
            item
            for item in self.items_shown()
            if left < item.x() < right and item.y() < bottom and item.y() + item.height > top
        ]
        found.reverse()  # the topmost first, as Qt has it
        return found

    def wires_in(self, area: QRectF) -> list[EdgeItem]:
        """The wires whose boxes touch an area of the scene."""
        return [item for item in self.items(area) if isinstance(item, EdgeItem)]

    def edges_at_port(self, node_id: NodeId, side: str, index: int) -> list[EdgeItem]:
        """Wires at one port; at an input there is more than one where phases differ."""
        edges = self.nodes[node_id].edges
        if side == "input":
            return [item for item in edges if item.edge.target == node_id and item.edge.bottom == index]
        return [item for item in edges if item.edge.source == node_id and item.edge.top == index]

    def edges_into(self, node_id: NodeId, bottom: int) -> list[EdgeItem]:
        """Wires at one input."""
        return self.edges_at_port(node_id, "input", bottom)


def box_of(item: NodeItem) -> Box:
    """The card in the scene, as numbers."""
    x, y = item.x(), item.y()
    return Box(x, y, x + NODE_WIDTH, y + item.height)


def _around_all(items: Sequence[NodeItem]) -> QRectF:
    if not items:
        return QRectF()
    lefts, tops = [item.x() for item in items], [item.y() for item in items]
    left, top = min(lefts), min(tops)
    bottom = max([y + item.height for y, item in zip(tops, items, strict=True)])
    return QRectF(left, top, max(lefts) + NODE_WIDTH - left, bottom - top)


def _around(point: QPointF, reach: float) -> QRectF:
    return QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)
