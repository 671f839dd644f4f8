"""What a canvas shows, in a form that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app.canvas.scene.blockitem import BlockItem
from app.canvas.scene.scene import CanvasScene


@dataclass(frozen=True, slots=True)
class Look:
    """What a scene shows, apart from ids and from what is only remembered."""

    nodes: list[object]
    wires: list[object]
    blocks: list[object]
    notes: list[object]


def look(scene: CanvasScene) -> Look:
    """Nodes with their texts and places, wires with their labels and courses, cards, frames and notes."""
    graph, folding = scene.document.graph, scene.folding
    nodes = [
        (item.face, dict(item.wired_inputs), (item.x(), item.y()), item.docked, item.isVisible())
        for item in (scene.nodes[node] for node in graph.node_ids())
    ]
    wires = sorted(
        (
            (graph.ordinal(e.source), e.top, graph.ordinal(e.target), e.bottom, e.blob, sorted(e.phases)),
            (item.phase, item.bends, item.isVisible() and item.docked, item.isVisible(), item.label),
            (item.line.p1().toTuple(), item.line.p2().toTuple()) if item.isVisible() else (),
        )
        for e, item in scene.edges.items()
    )
    blocks = sorted(
        ((card.face.title, card.x(), card.y(), [graph.ordinal(node) for node in card.layers]))
        for card in folding.cards.values()
    )
    notes = sorted((item.value.kind, item.value.rect, item.value.text) for item in scene.annotated.items.values())
    return Look(nodes, wires, blocks, notes)


def assert_same(shown: Look, expected: Look) -> None:
    for part in ("nodes", "wires", "blocks", "notes"):
        assert getattr(shown, part) == getattr(expected, part), part


def cards(view) -> list[BlockItem]:
    return list(view.canvas.folding.cards.values())


def picture(view) -> tuple:
    """All that is seen: cards with their places, wires with their courses."""
    items = sorted(
        (item.node_id, item.x(), item.y(), item.face.title, item.face.inputs, item.face.outputs)
        for item in view.canvas.items_shown()
    )
    wires = sorted(
        (
            edge.edge.source,
            edge.edge.target,
            edge.line.p1().toTuple(),
            edge.line.p2().toTuple(),
            0 if edge.docked else len(edge.via),
        )
        for edge in view.canvas.folding.edges()
    )
    return items, wires


def settle(view, qtbot) -> None:
    scene = view.canvas

    def settled() -> bool:
        still = not scene.leading.active and scene.folding.is_wired and not scene.heat._slices.active
        return still and scene.overview.prepare()

    qtbot.waitUntil(settled, timeout=60_000)


def painted(view) -> bytes:
    """The whole net as it is painted from far away."""
    image = QImage(900, 600, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    content = view.canvas.content_rect()
    painter.scale(900 / content.width(), 600 / content.height())
    painter.translate(-content.topLeft())
    view.canvas.overview.paint(painter)
    painter.end()
    return bytes(image.constBits())


def crosses(course: list[QPointF], body: QRectF) -> bool:
    """Whether a course goes through a rectangle."""
    edges = (body.topLeft(), body.topRight(), body.bottomRight(), body.bottomLeft(), body.topLeft())
    bounded = QLineF.IntersectionType.BoundedIntersection
    return any(body.contains(point) for point in course) or any(
        QLineF(a, b).intersects(QLineF(c, d))[0] == bounded for a, b in pairwise(course) for c, d in pairwise(edges)
    )
