"""What is shown on the canvas at one moment, to be painted later while the canvas goes on changing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QTransform

from app.canvas.scene.edgeitem import EdgeItem
from app.canvas.scene.style import CanvasStyle
from app.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtWidgets import QGraphicsItem

    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene

__all__ = ["Portrait"]

_MARGIN = 24.0
#: The theme of pictures for print: what is amiss on this machine is no part of the net there.
_PAPER = "paper"
#: How cards, wires and frames look when the pointer, the keyboard and the selection are elsewhere.
_AT_REST: Mapping[str, Any] = {
    "marked": False,
    "chosen": False,
    "chosen_bend": -1,
    "hovered": False,
    "ringed": False,
    "hot_port": None,
    "doomed": False,
    "lit": False,
    "followed": False,
    "lifted": False,
    "has_grip": False,
}
#: What the painting of a wire reads of it.
_WIRE = ("_path", "line", "via", "bends", "stale", "phase", "ghost", "label", "label_at", "tail", "out_port")
_of_wire = attrgetter(*_WIRE)


class _Painted:
    """What is painted in the place of an item: values of its attributes, and methods and properties of its class."""

    def __init__(self, kind: type[QGraphicsItem], values: Mapping[str, Any]) -> None:
        self.kind = kind
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        held = getattr(self.kind, name)
        return held.__get__(self, self.kind) if hasattr(held, "__get__") else held


class _Still:
    """An item as it was; no more is done for it at first than to note its values, for there are many.

    Parameters
    ----------
    item : QGraphicsItem
        One that paints itself in Python.
    values : mapping
        What its painting reads, by the names of attributes.
    """

    __slots__ = ("_kind", "_opacity", "_values", "_x", "_y")

    def __init__(self, item: QGraphicsItem, values: Mapping[str, Any]) -> None:
        self._kind = type(item)
        self._opacity, self._x, self._y = item.opacity(), item.x(), item.y()
        self._values = values

    def paint(self, painter: QPainter, view: QTransform, style: CanvasStyle) -> None:
        """Paint as the scene would."""
        painter.setWorldTransform(QTransform.fromTranslate(self._x, self._y) * view)
        painter.save()
        painter.setOpacity(self._opacity)
        _Painted(self._kind, {**self._values, **_AT_REST, "style": style}).paint(painter, None)
        painter.restore()


class _StillWire:
    """The same of a wire."""

    __slots__ = ("_docked", "_opacity", "_values")

    def __init__(self, wire: EdgeItem) -> None:
        self._values = _of_wire(wire)
        self._opacity = wire.opacity()
        self._docked = bool(wire.bends) and wire.docked

    @property
    def port(self) -> tuple[NodeItem, int]:
        """Where it begins."""
        *_rest, tail, port = self._values
        return tail, port

    def paint(self, painter: QPainter, view: QTransform, style: CanvasStyle, *, fans: bool) -> None:
        """Paint as the scene would; ``fans`` where other wires begin at the same port."""
        painter.setWorldTransform(view)
        painter.save()
        painter.setOpacity(self._opacity)
        values = dict(zip(_WIRE, self._values, strict=True))
        ends = {"tail": _Rest, "head": _Rest, "docked": self._docked, "fans": lambda: fans}
        _Painted(EdgeItem, {**values, **_AT_REST, **ends, "style": style}).paint(painter, None)
        painter.restore()


class _Rest:
    """The end of a wire, where nothing is selected."""

    marked = False


class Portrait:
    """All that a scene shows on the level that is looked at, with nothing selected or pointed at.

    Parameters
    ----------
    scene : CanvasScene
        All its wires are led.
    theme : str
        ``paper``, ``light`` or ``dark``.

    Attributes
    ----------
    area : QRectF
        What it covers in the scene, with a margin; null where nothing is shown.
    title : str
        What the document is called.
    style : CanvasStyle
        What it is painted with.
    """

    def __init__(self, scene: CanvasScene, theme: str) -> None:
        self.title = scene.document.title
        self.style = CanvasStyle(Theme.load(theme))
        shown, wires = scene.annotated.shown(), scene.folding.edges()
        area = scene.content_rect()
        for item in shown:
            area = area.united(item.area)
        if not area.isNull():
            for wire in wires:
                area = area.united(wire.box)
            area.adjust(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)
        self.area: QRectF = area
        notes = [(item.zValue(), _Still(item, item.__dict__.copy())) for item in shown]
        self._below = [still for z, still in notes if z < 0.0]
        self._wires = [_StillWire(wire) for wire in sorted(wires, key=lambda wire: bool(wire.label))]
        told = theme != _PAPER
        self._above = [_still_card(card, told=told) for card in scene.items_shown()]
        self._above += [still for z, still in notes if z >= 0.0]

    def __len__(self) -> int:
        return len(self._below) + len(self._wires) + len(self._above)

    def paint(self, painter: QPainter, target: QRectF) -> Generator[None, None, None]:
        """Paint card by card, so that no view and no screen is needed, and texts stay texts; one a step."""
        area = self.area
        ratio = min(target.width() / area.width(), target.height() / area.height())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.save()
        try:
            painter.setClipRect(target, Qt.ClipOperation.IntersectClip)
            view = QTransform().translate(target.left(), target.top()).scale(ratio, ratio)
            painter.setWorldTransform(view.translate(-area.left(), -area.top()), True)
            yield from self._paint(painter)
        finally:  # it may be broken off
            painter.restore()

    def _paint(self, painter: QPainter) -> Iterator[None]:
        view = painter.worldTransform()
        for still in self._below:
            still.paint(painter, view, self.style)
            yield
        begin = Counter(wire.port for wire in self._wires)
        for wire in self._wires:
            wire.paint(painter, view, self.style, fans=begin[wire.port] > 1)
            yield
        for still in self._above:
            still.paint(painter, view, self.style)
            yield


def _still_card(card: NodeItem, *, told: bool) -> _Still:
    """Return a card as it is; without the mark of a problem unless that is to be told."""
    values = card.__dict__.copy()
    if not told and card.face.severity:
        values["face"] = replace(card.face, severity="", problems=())
    values["docked"] = card.face.chip and card.docked
    values["wired_inputs"] = frozenset(card.wired_inputs)
    return _Still(card, values)
