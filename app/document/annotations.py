"""Frames around layers and notes beside them: what people write on the canvas. The text of the net is left alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRectF, Signal

from engine.graph import NodeId

if TYPE_CHECKING:
    from app.document.blocks import Blocks

__all__ = ["COLORS", "Annotation", "Annotations", "rect_of"]

#: Colours of frames and notes, by the category of layers whose hue they have in every theme.
COLORS = ("other", "vision", "shape", "dense", "activation", "loss")
_SMALLEST = 40.0
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Annotation:
    """A frame or a note.

    Attributes
    ----------
    id : int
        Its identity in the document.
    kind : str
        ``frame`` or ``note``.
    rect : tuple of float
        Left, top, width and height in pixels at 100 %.
    text : str
        Title of a frame, words of a note.
    color : str
        One of :data:`COLORS`.
    level : NodeId or None
        The block in which it is seen; None on the outermost level.
    """

    id: int
    kind: str
    rect: tuple[float, float, float, float]
    text: str = ""
    color: str = "other"
    level: NodeId | None = None

    @property
    def area(self) -> QRectF:
        """The rectangle as Qt has it."""
        return QRectF(*self.rect)


def rect_of(area: QRectF) -> tuple[float, float, float, float]:
    """Return a rectangle as a value, no smaller than can be taken hold of."""
    return area.x(), area.y(), max(_SMALLEST, area.width()), max(_SMALLEST, area.height())


class Annotations(QObject):
    """The frames and notes of one document.

    Attributes
    ----------
    changed : Signal(frozenset of int)
        These came, went or are others now.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: dict[int, Annotation] = {}
        self._last = 0

    def __iter__(self) -> Iterator[Annotation]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def get(self, number: int) -> Annotation | None:
        """Return a frame or note, or None."""
        return self._all.get(number)

    def fresh_id(self) -> int:
        """Return an id that none has had."""
        self._last += 1
        return self._last

    def set(self, values: Mapping[int, Annotation | None]) -> None:
        """Put these in the place of those of the same ids, None for none, and tell the canvas."""
        for number, value in values.items():
            if value is None:
                self._all.pop(number, None)
            else:
                self._all[number] = value
        self.changed.emit(frozenset(values))

    def to_json(self, blocks: Blocks) -> list[dict[str, Any]]:
        """Write all; levels as numbers of blocks."""
        numbers = {block.id: number for number, block in enumerate(blocks)}
        return [
            {
                "kind": each.kind,
                "rect": [round(value, 1) for value in each.rect],
                "text": each.text,
                "color": each.color,
                "inside": numbers.get(each.level) if each.level is not None else None,
            }
            for each in self._all.values()
        ]

    def load_json(self, entries: Sequence[Mapping[str, Any]], blocks: Iterable[NodeId]) -> None:
        """Read all.

        Raises
        ------
        ValueError, KeyError, TypeError, IndexError
            When the file is damaged; then there are none.
        """
        levels = list(blocks)
        found: dict[int, Annotation | None] = {}
        for entry in entries[:_MOST]:
            left, top, width, height = map(float, entry["rect"])
            if not all(math.isfinite(value) and abs(value) < 1e7 for value in (left, top, width, height)):
                raise ValueError("a frame lies nowhere")
            kind = "note" if entry["kind"] == "note" else "frame"
            color = str(entry["color"]) if entry["color"] in COLORS else COLORS[0]
            level = levels[int(entry["inside"])] if entry.get("inside") is not None else None
            number = self.fresh_id()
            rect = rect_of(QRectF(left, top, width, height))
            found[number] = Annotation(number, kind, rect, str(entry["text"]), color, level)
        self.set(found)
