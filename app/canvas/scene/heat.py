"""The heat-map: what each layer costs, or how it learns, on its card, by a bar, a number and a colour.

The colours run from dark blue to yellow, which every kind of colour vision tells apart and which gets lighter steadily;
the length of the bar and the printed number say the same without colour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from app.canvas.scene.describe import count_text
from app.canvas.scene.face import CHIP_HEIGHT
from app.slices import Slices

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.scene.scene import CanvasScene
    from app.canvas.scene.style import CanvasStyle
    from engine.cost import LayerCost, NetCost
    from engine.graph import NodeId

__all__ = ["MEASURES", "TIME", "UPDATES", "Heat", "HeatMap", "Measure", "heat_color"]

_STOPS = (
    (0.0, (32, 44, 98)),
    (0.25, (58, 88, 142)),
    (0.5, (112, 128, 138)),
    (0.75, (186, 166, 104)),
    (1.0, (252, 214, 64)),
)
_DARK, _PALE = QColor(0, 0, 0), QColor(255, 255, 255)
#: Up to this luminance white is read more easily on a colour than black: their contrasts of WCAG 2.1 are equal there.
_PALE_BELOW = 0.179
_BAR = 5.0
_FLOAT = 4  # bytes of a value
_SHADES = 24
#: So many cards take longer to be measured than anybody shall wait for an answer.
_MANY = 1000
_LOD_TEXT = 0.4
#: Of a number that is none, in all themes; its word is read on it.
_BAD, _BAD_COLOR = -1, QColor(176, 0, 32)
#: Powers of ten between which updates are told apart by their colour. In the middle is the usual 1e-3.
_SMALLEST, _LARGEST = -5, -1


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that layers cost.

    Attributes
    ----------
    name : str
        For actions and settings.
    title : str
        For people.
    of : callable or None
        Reads it off a cost; None for times, which are measured, and updates, which a run tells.
    text : callable
        Writes a value with its unit.
    """

    name: str
    title: str
    of: Callable[[LayerCost], float] | None
    text: Callable[[float], str]


def _bytes_text(count: float) -> str:
    for limit, unit in ((2**10, "B"), (2**20, "KB"), (2**30, "MB")):
        if count < limit:
            return f"{count / limit * 2**10:.3g} {unit}"
    return f"{count / 2**30:.3g} GB"


def _count(count: float) -> str:
    return count_text(int(count))


def _time_text(seconds: float) -> str:
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.3g} \u00b5s"
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def _ratio_text(ratio: float) -> str:
    if not math.isfinite(ratio):
        return "NaN" if math.isnan(ratio) else "Inf"
    return f"{ratio:.1e}".replace("e-0", "e-").replace("e+0", "e+") if ratio else "0"


def _ratio_share(ratio: float) -> float:
    """Return the share of an update, by its order of magnitude, and so that the bar's length goes with that."""
    if not 0.0 < ratio < math.inf:
        return 0.0 if ratio == 0.0 else 1.0
    along = (math.log10(ratio) - _SMALLEST) / (_LARGEST - _SMALLEST)
    return min(1.0, max(0.0, along)) ** 2


def _alone(cost: LayerCost) -> NetCost:
    """What a net of this layer alone would cost."""
    from engine.cost import net_cost  # with numpy behind it, and needed only once shapes are known

    return net_cost((cost,))


#: Forward and backward together.
TIME = Measure("time", "Measured time", None, _time_text)
#: Of a run that trains: the last update of a layer's weights by the weights, as L2 norms.
UPDATES = Measure("updates", "Live: size of updates", None, _ratio_text)
MEASURES = (
    Measure("parameters", "Parameters", lambda cost: cost.parameters, _count),
    Measure("multiply_adds", "Multiply-adds", lambda cost: cost.multiply_adds, _count),
    Measure("memory", "Activation memory", lambda cost: _FLOAT * cost.activations, _bytes_text),
    Measure("inference", "Memory to run", lambda cost: _alone(cost).inference, _bytes_text),
    Measure("training", "Memory to train", lambda cost: _alone(cost).training, _bytes_text),
    TIME,
    UPDATES,
)


def heat_color(share: float) -> QColor:
    """Return the colour of a share between 0 and 1."""
    for (low, start), (high, end) in pairwise(_STOPS):
        if share <= high:
            along = max(0.0, (share - low) / (high - low))
            return QColor(*(round(a + (b - a) * along) for a, b in zip(start, end, strict=True)))
    return QColor(*_STOPS[-1][1])


def _luminance(color: QColor) -> float:
    """Relative luminance of a colour (WCAG 2.1)."""
    parts = (color.redF(), color.greenF(), color.blueF())
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _without_color(color: QColor) -> QColor:
    """Return the grey that is as light as a colour."""
    light = round(0.299 * color.red() + 0.587 * color.green() + 0.114 * color.blue())
    return QColor(light, light, light)


@cache
def _tools(shade: int, is_stale: bool) -> tuple[QColor, QBrush, QPen]:
    """Return a colour, its brush, and the pen that is read on it."""
    color = _BAD_COLOR if shade == _BAD else heat_color(shade / _SHADES)
    color = _without_color(color) if is_stale else color
    return color, QBrush(color), QPen(_PALE if _luminance(color) < _PALE_BELOW else _DARK)


class Heat:
    """What one card shows of its cost.

    Parameters
    ----------
    share : float
        Part of the dearest card's cost, between 0 and 1.
    text : str
        The cost, with its unit.
    is_stale : bool
        Whether it is that of the net before it was changed, or of a run that is over: it is painted without colour.
    is_bad : bool
        Whether it is no number that a net can go on with: it has the colour of an error then.
    """

    __slots__ = ("brush", "color", "is_bad", "is_stale", "pen", "reach", "text")

    def __init__(self, share: float, text: str, *, is_stale: bool = False, is_bad: bool = False) -> None:
        self.reach = share**0.5  # so that what is small is still told apart
        self.text = text
        self.is_stale = is_stale
        self.is_bad = is_bad
        # Few colours, so that many cards are painted in one go from far away.
        shade = _BAD if is_bad else round(self.reach * _SHADES)
        self.color, self.brush, self.pen = _tools(shade, is_stale and not is_bad)

    def shows(self, share: float, text: str, *, is_stale: bool, is_bad: bool = False) -> bool:
        """Whether it is that of these values."""
        return (self.reach, self.text, self.is_stale, self.is_bad) == (share**0.5, text, is_stale, is_bad)

    def width(self, style: CanvasStyle) -> float:
        """Room that the number takes at the right of a card, in pixels at 100 %."""
        return style.label(self.text, "badge_font", 0.0).width + 22.0 if self.text else 0.0

    def paint(self, painter: QPainter, style: CanvasStyle, body: QRectF, scale: float) -> None:
        """Paint on a card; from far away the card is its colour."""
        painter.setPen(style.no_pen)
        painter.setBrush(self.brush)
        if scale < _LOD_TEXT:
            painter.drawRect(body)
            return
        if self.reach > 0.0:
            painter.drawRect(QRectF(0.5, body.height() - _BAR, (body.width() - 1.0) * self.reach, _BAR - 0.5))
        if not self.text:
            return
        label = style.label(self.text, "badge_font", 0.0)
        top = 6.0 if body.height() <= CHIP_HEIGHT else 22.0
        plate = QRectF(body.width() - label.width - 20.0, top, label.width + 12.0, 16.0)
        painter.drawRoundedRect(plate, 8.0, 8.0)
        painter.setFont(style.badge_font)
        painter.setPen(self.pen)
        painter.drawStaticText(QPointF(plate.x() + 6.0, plate.center().y() - label.height / 2), label.static)


class HeatMap:
    """The heat-map of one scene; many cards are measured in slices, between which the window answers.

    Attributes
    ----------
    measure : Measure or None
        What is shown; None for no heat-map.
    largest, total : float
        The dearest card, and all together.
    known : bool
        Whether the cost of any layer is known.
    updates_at : int
        Updates that were done when those were told that are shown.
    """

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._times: dict[NodeId, float] = {}
        self._times_are_stale = False
        self._updates: dict[NodeId, float] = {}
        self._updates_are_stale = False
        self.updates_at = 0
        self.measure: Measure | None = None
        self.largest = self.total = 0.0
        self.known = False
        self._slices = Slices(scene)

    def close(self) -> None:
        """Measure no more."""
        self._slices.cancel()

    def set_measure(self, measure: Measure | None) -> None:
        """Show another cost, or none."""
        if measure is not self.measure:
            self.measure = measure
            self.refresh()
            self._scene.overview.forget()
            self._scene.update()
            self._scene.heat_changed.emit()

    def set_times(self, times: Mapping[NodeId, float], *, is_stale: bool = False) -> None:
        """Take over measured times by layer, in seconds, and whether they are those of the net as it is."""
        self._times, self._times_are_stale = dict(times), is_stale
        self._told_anew(TIME)

    def set_updates(self, sizes: Mapping[NodeId, float], at: int, *, is_stale: bool) -> None:
        """Take over the sizes of updates by layer, after so many of them, and whether they are the last of a run."""
        self._updates, self.updates_at, self._updates_are_stale = dict(sizes), at, is_stale
        self._told_anew(UPDATES)

    def _told_anew(self, measure: Measure) -> None:
        if self.measure is measure:
            self.refresh()
            self._scene.overview.forget()
            self._scene.update()
        self._scene.heat_changed.emit()

    @property
    def is_stale(self) -> bool:
        """Whether what is shown was measured before the net was changed, or in a run that is over."""
        return self._times_are_stale if self.measure is TIME else self.measure is UPDATES and self._updates_are_stale

    @property
    def has_times(self) -> bool:
        """Whether times were measured."""
        return bool(self._times)

    @property
    def has_updates(self) -> bool:
        """Whether a run told how large updates are."""
        return bool(self._updates)

    def words(self, item: NodeItem) -> str:
        """What the heat-map says of a card, in words; nothing without one."""
        if self.measure is None or item.heat is None or not item.heat.text:
            return ""
        if self.measure is UPDATES:
            return f"{'Last update' if self.is_stale else 'Size of updates'}: {item.heat.text} of the weights"
        return f"{self.measure.title}: {item.heat.text}"

    def refresh(self) -> None:
        """Measure the cards that are shown anew."""
        self._slices.cancel()
        if self.measure is None:
            if self.known:
                for item in (*self._scene.nodes.values(), *self._scene.items_shown()):
                    item.heat = None
                self.known = False
            return
        if len(self._scene.items_shown()) >= _MANY:
            self._slices.start(self._measured(self.measure), self._all_measured)
            return
        for _step in self._measured(self.measure):
            pass

    def _measured(self, measure: Measure) -> Iterator[None]:
        """Measure the cards, one a step, and then show it."""
        before, is_stale = (self.largest, self.total), self.is_stale
        values: list[tuple[NodeItem, float | None]] = []
        for item in self._scene.items_shown():
            values.append((item, self._value(measure, item.ids)))
            yield
        numbers = [value for _item, value in values if value is not None]
        self.known = bool(numbers)
        self.largest, self.total = max(numbers, default=0.0), sum(numbers)
        for item, value in values:
            heat = None if value is None else self._heat(measure, value, is_stale=is_stale, shown=item.heat)
            if heat is not item.heat:
                item.heat = heat
                item.update()
            yield
        if before != (self.largest, self.total):
            self._scene.heat_changed.emit()

    def _heat(self, measure: Measure, value: float, *, is_stale: bool, shown: Heat | None) -> Heat:
        """Return what a card shows of a value; what is shown already, where it is the same."""
        is_bad = not math.isfinite(value)
        if measure is UPDATES:
            share, text = _ratio_share(value), measure.text(value)
        else:
            share = value / self.largest if value and self.largest else 0.0
            text = measure.text(value) if value else ""
        if shown is not None and shown.shows(share, text, is_stale=is_stale, is_bad=is_bad):
            return shown
        return Heat(share, text, is_stale=is_stale, is_bad=is_bad)

    def _all_measured(self) -> None:
        self._scene.overview.forget()
        self._scene.update()

    def _value(self, measure: Measure, nodes: tuple[NodeId, ...]) -> float | None:
        if measure is UPDATES:
            sizes = [self._updates[node] for node in nodes if node in self._updates]
            return next((each for each in sizes if math.isnan(each)), max(sizes, default=None))
        if measure.of is None:
            times = [self._times[node] for node in nodes if node in self._times]
            return sum(times) if times else None
        costs = self._scene.folding.costs
        found = [measure.of(cost) for node in nodes if (cost := costs.of(node)) is not None]
        return float(sum(found)) if found else None


def paint_scale(painter: QPainter, area: QRectF, *, is_stale: bool = False) -> None:
    """Paint the colours from the least to the most along an area; greys for what is out of date."""
    steps = 48
    width = area.width() / steps
    painter.setPen(Qt.PenStyle.NoPen)
    for step in range(steps):
        color = heat_color(step / (steps - 1))
        painter.setBrush(_without_color(color) if is_stale else color)
        painter.drawRect(QRectF(area.x() + step * width, area.y(), width + 0.6, area.height()))
