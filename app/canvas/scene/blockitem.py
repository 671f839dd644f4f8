"""A block: one card that stands for many layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from app.canvas.scene.describe import count_text
from app.canvas.scene.face import Face, Port
from app.canvas.scene.nodeitem import NodeItem
from app.live.shapes import ABOUT, shape_text
from app.qt import guard
from app.wording import counted

if TYPE_CHECKING:
    from app.canvas.scene.costs import NodeCosts
    from app.canvas.scene.style import CanvasStyle
    from app.document import Document
    from app.document.blocks import Block
    from engine.graph import NodeId

__all__ = ["BlockItem", "Ends", "describe_block"]

#: The port that a wire comes from: layer and number of its top.
End = tuple["NodeId", int]
_STACK = 4.0
_PLAIN = frozenset({"activation", "normalization", "shape", "other"})


class Ends:
    """The wires that go in and out of a block: its ports, each with the layer inside that it leads to.

    Attributes
    ----------
    inputs, outputs : dict
        By the port that a wire comes from: layer and port inside of the block.
    in_ports, out_ports : dict
        By the same: number of the port on the card; see :meth:`number`.
    """

    __slots__ = ("in_ports", "inputs", "out_ports", "outputs")

    def __init__(self) -> None:
        self.inputs: dict[End, End] = {}
        self.outputs: dict[End, End] = {}
        self.in_ports: dict[End, int] = {}
        self.out_ports: dict[End, int] = {}

    def number(self) -> None:
        """Number the ports, once all are known."""
        self.in_ports = {end: number for number, end in enumerate(self.inputs)}
        self.out_ports = {end: number for number, end in enumerate(self.outputs)}


class BlockItem(NodeItem):
    """The card of a block.

    Attributes
    ----------
    layers : tuple of NodeId
        All that it stands for.
    parts : int
        Of how many parts that are alike it consists; more than one look like a stack of cards.
    """

    title_margin = 28.0

    def __init__(self, block: Block, face: Face, style: CanvasStyle) -> None:
        super().__init__(block.id, face, style)
        self.layers: tuple[NodeId, ...] = ()
        self.parts = block.parts
        self.ends = Ends()
        self.input_ends: list[End] = []
        self.output_ends: list[End] = []

    @property
    def ids(self) -> tuple[NodeId, ...]:
        return self.layers

    def end(self, side: str, index: int) -> tuple[NodeId, int]:
        ends = self.input_ends if side == "input" else self.output_ends
        return ends[index]

    def _grow(self) -> None:
        """Keep room for the cards below."""
        self.setRect(self.body.adjusted(-8.0, -8.0, 8.0 + 2 * _STACK, 8.0 + 2 * _STACK))

    @guard
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem | None, widget: QWidget | None = None) -> None:
        painter.setPen(self.style.hover)
        painter.setBrush(self.style.chip_brush)
        for step in (2, 1) if self.parts > 1 else (1,):
            painter.drawRoundedRect(self.body.translated(_STACK * step, _STACK * step), 6.0, 6.0)
        NodeItem.paint(self, painter, option, widget)

    def _paint_ports(self, painter: QPainter, style: CanvasStyle) -> None:
        NodeItem._paint_ports(self, painter, style)  # not of super(): stills of it are painted too
        # A plus, as on everything that can be opened.
        center = QPointF(self.body.right() - 14.0, 14.0)
        painter.setPen(style.muted)
        painter.drawLine(center - QPointF(4.0, 0.0), center + QPointF(4.0, 0.0))
        painter.drawLine(center - QPointF(0.0, 4.0), center + QPointF(0.0, 4.0))


def describe_block(document: Document, block: Block, card: BlockItem, faces: Sequence[Face], costs: NodeCosts) -> Face:
    """Return what the card of a block shows: what is inside, its worst problem, its output and what it costs.

    Parameters
    ----------
    faces : sequence of Face
        Those of the layers inside, in the order of ``card.layers``.
    """
    layers, ends = card.layers, card.ends
    total = costs.total(layers)
    each, rest = divmod(len(layers), block.parts)
    size = f"{block.parts} \u00d7 {each}" if block.parts > 1 and not rest else f"{len(layers)}"
    params = [("layers", size)]
    if 1 < block.alike < block.parts:
        params.append(("exactly alike", f"{block.alike} of {block.parts}"))
    numbers = (total.parameters, total.multiply_adds) if total is not None else (0, 0)
    named = zip(("parameters", "multiply-adds"), numbers, strict=True)
    params += [(name, count_text(value) if value else "\u2013") for name, value in named]
    severity, problems = _worst(faces)
    readings = document.graph.readings()
    return Face(
        title=block.title,
        type=f"{block.parts} \u00d7 {block.kind}" if block.parts > 1 else block.kind or "Block",
        category=_category(faces),
        inputs=tuple(Port("", readings[source].tops[top]) for source, top in ends.inputs),
        outputs=tuple(Port("", *_output(document, source, top)) for source, top in ends.outputs),
        params=tuple(params),
        severity=severity,
        problems=problems,
        ghost=all(face.ghost for face in faces),
        summary=f"{counted(len(layers), 'layer')}, folded. Double-click looks inside.",
    )


def _output(document: Document, source: NodeId, top: int) -> tuple[str, str]:
    shapes = document.shapes.get(source)
    known = shapes.tops if shapes is not None and shapes.state != "unknown" else ()
    shape = known[top] if top < len(known) else None
    about = ABOUT if shapes is not None and shapes.assumed else ""
    return document.graph.readings()[source].tops[top], "" if shape is None else f"{about}{shape_text(shape)}"


def _worst(faces: Sequence[Face]) -> tuple[str, tuple[str, ...]]:
    faulty = [face for face in faces if face.severity]
    worst = "error" if any(face.severity == "error" for face in faulty) else "warning" if faulty else ""
    told = (f"{face.title}: {problem}" for face in faulty if face.severity == worst for problem in face.problems)
    return worst, tuple(islice(told, 8))


def _category(faces: Sequence[Face]) -> str:
    """The category of most of the layers that do the work."""
    counts = Counter([face.category for face in faces])
    work = [entry for entry in counts.most_common() if entry[0] not in _PLAIN]
    return (work or counts.most_common() or [("other", 0)])[0][0]
