"""Connecting by keyboard: every input in view gets a letter, the wire is shown, Enter connects."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.canvas.gestures.connecting import ConnectGesture
from app.qt import guard
from app.wording import by_key

if TYPE_CHECKING:
    from app.canvas.scene.nodeitem import NodeItem
    from app.canvas.view import CanvasView
    from engine.graph import Edge

__all__ = ["PortHints"]

#: Letters in the order in which fingers find them.
_LETTERS = "FJDKSLAGHEIRUWOTYQPVNCMBXZ"
_MOST = len(_LETTERS) ** 2
_DIRECTIONS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}

Target = tuple["NodeItem", str, int]


class PortHints(QWidget):
    """The letters over a canvas, and the keys while they are shown.

    A letter, an arrow or Tab points the wire at an input; a digit chooses another output of the layer it begins at;
    Enter connects, or without a target opens the search for a layer to add; Escape leaves all as it was.
    """

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self.setObjectName("canvas.hints")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        self._view = view
        self._gesture: ConnectGesture | None = None
        self._source: NodeItem | None = None
        self._loose: tuple[Edge, ...] = ()
        self._targets: dict[str, Target] = {}
        self._typed = ""
        self._aim = ""

    @property
    def is_open(self) -> bool:
        """Whether the letters are shown."""
        return self._gesture is not None

    @property
    def labels(self) -> dict[str, Target]:
        """The inputs on offer by their letters, the nearest first."""
        return dict(self._targets)

    def open(self) -> None:
        """Begin a wire at the layer selected last, or take the selected wire off its input to lead it elsewhere."""
        view = self._view
        last = view.document.selection.last
        item = view.canvas.folding.shown(last) if last is not None else None
        wire = view.canvas.edges.get(view.canvas.selected_edge) if view.canvas.selected_edge is not None else None
        if wire is not None:
            item = wire.tail
        self._loose = (wire.edge,) if wire is not None else ()
        if item is None or not item.face.outputs:
            first = "Select a layer with an output first"
            text = by_key(view.key_of("connect"), first + ", then press {} to connect it.", first + ".")
            view.show_reason(text, view.viewport().rect().center(), refused=False, stays=True)
            return
        view.reveal_card(item)
        self._source = item
        self._begin(wire.out_port if wire is not None else 0)
        self.setGeometry(view.viewport().geometry())
        self.show()
        self.raise_()

    def _begin(self, output: int) -> None:
        view, item = self._view, self._source
        assert item is not None
        start = view.mapFromScene(item.output_point(output))
        gesture = ConnectGesture(view, start, item, "output", output, self._loose)
        view.begin(gesture)
        self._gesture, self._typed, self._aim = gesture, "", ""
        here = item.output_point(output)
        targets: list[tuple[float, Target]] = []
        for other in view.canvas.nodes_in(view.visible_rect()):
            ends = range(0 if other is item or (other.docked and other.face.chip) else len(other.face.inputs))
            for index in ends:
                point = other.input_point(index)
                targets.append(((point - here).manhattanLength(), (other, "input", index)))
        targets.sort(key=lambda each: (each[0], each[1][2]))
        letters = list(_LETTERS) if len(targets) <= len(_LETTERS) else map("".join, product(_LETTERS, repeat=2))
        self._targets = dict(zip(letters, (target for _far, target in targets[:_MOST]), strict=False))
        self.update()

    def close(self) -> bool:
        """Take the letters away; return whether they were shown."""
        shown, self._gesture = self._gesture is not None, None
        self.hide()
        return shown

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; return whether the letters are shown and it was theirs."""
        if self._gesture is None:
            return False
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self._view.cancel_gesture()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finish()
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self._step(1 if key == Qt.Key.Key_Tab else -1)
        elif key in _DIRECTIONS:
            self._turn(*_DIRECTIONS[key])
        elif key == Qt.Key.Key_Backspace:
            self._typed = ""
            self.update()
        else:
            self._type(event.text().upper())
        return True

    def _finish(self) -> None:
        aimed = self._targets.get(self._aim)
        place = self._point(aimed) if aimed is not None else self._view.mapFromScene(self._beside())
        if aimed is None and self._gesture is not None:
            self._gesture.aim(None, place)
        self.close()
        self._view.finish_gesture(place)

    def _beside(self) -> QPointF:
        assert self._source is not None
        return self._source.scene_body().topRight() + QPointF(80.0, 40.0)

    def _type(self, text: str) -> None:
        source = self._source
        if text.isdigit() and source is not None and 0 < int(text) <= len(source.face.outputs):
            self._begin(int(text) - 1)
            return
        typed = self._typed + text
        if not text or not any(label.startswith(typed) for label in self._targets):
            self._typed = ""
        elif typed in self._targets:
            self._typed = ""
            self._point_at(typed)
        else:
            self._typed = typed
        self.update()

    def _step(self, by: int) -> None:
        labels = list(self._targets)
        if labels:
            at = labels.index(self._aim) + by if self._aim in labels else (0 if by > 0 else -1)
            self._point_at(labels[at % len(labels)])

    def _turn(self, dx: int, dy: int) -> None:
        """Point at the nearest input in a direction."""
        source = self._source
        assert source is not None
        aimed = self._targets.get(self._aim)
        here = aimed[0].input_point(aimed[2]) if aimed is not None else source.scene_body().center()
        best: tuple[float, str] | None = None
        for label, (item, _side, index) in self._targets.items():
            step = item.input_point(index) - here
            ahead, aside = step.x() * dx + step.y() * dy, abs(step.x() * dy) + abs(step.y() * dx)
            if label != self._aim and ahead > 1.0:
                best = min(filter(None, (best, (ahead + 2.0 * aside, label))))
        if best is not None:
            self._point_at(best[1])

    def _point_at(self, label: str) -> None:
        assert self._gesture is not None
        self._aim = label
        target = self._targets[label]
        self._gesture.aim(target, self._point(target))
        self.update()

    def _point(self, target: Target) -> QPoint:
        item, _side, index = target
        return self._view.mapFromScene(item.input_point(index))

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        style = self._view.canvas.style_set
        painter.setFont(style.title_font)
        accent, paper = QColor(style.accent.color()), style.theme.color("surface")
        for label, target in self._targets.items():
            if not label.startswith(self._typed):
                continue
            at = self._point(target)
            width = style.width_of(label, "title_font") + 10.0
            aside = 8.0 + (width + 2.0) * (target[2] % 2)  # ports of a node stand close together
            box = QRectF(at.x() - width - aside, at.y() - 10.0, width, 20.0)
            aimed = label == self._aim
            painter.setPen(accent)
            painter.setBrush(accent if aimed else paper)
            painter.drawRoundedRect(box, 4.0, 4.0)
            painter.setPen(paper if aimed else style.text.color())
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label)
        painter.end()
