"""The weights of the selected layer of a run that is under way, as a picture that follows the training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRect, QTimer, Signal
from PySide6.QtGui import QHideEvent, QImage, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.qt import guard
from app.training import formats
from app.training.filters import filter_picture
from app.training.model import LIVE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from app.document import Document
    from engine.graph import NodeId
    from engine.worker import TensorReply

__all__ = ["WeightsView"]

_EVERY = 1000  # milliseconds
_MOST_VALUES = 4 * 2**20  # a copy of more would hold the training up
_LARGEST_TILE = 12  # pixels that one weight becomes, at most
_HINT = "Select a layer with weights while its net trains, or waits, to see them."


class WeightsView(QWidget):
    """Shows the first param of the layer selected last; of the first layer that has some while none is selected.

    Attributes
    ----------
    asked : Signal(str)
        The weights of a layer of that name are wanted; answer with :meth:`show_reply`.
    """

    asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.weights")
        self.setAccessibleName("Weights of the selected layer")
        self._document: Document | None = None
        self._state = ""
        self._weights: NDArray[Any] | None = None
        self.caption = QLabel(_HINT, self)
        self.caption.setObjectName("training.weights_caption")
        self.caption.setWordWrap(True)
        self.caption.setProperty("muted", True)
        self.sheet = _Sheet(self)
        self.sheet.resized.connect(self._draw)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(4)
        layout.addWidget(self.caption)
        layout.addWidget(self.sheet, 1)
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY)
        self._timer.timeout.connect(self.look)

    def set_document(self, document: Document | None) -> None:
        """Follow the selection of another document."""
        if self._document is not None:
            self._document.selection.changed.disconnect(self.look)
        self._document = document
        self._clear()
        if document is not None:
            document.selection.changed.connect(self.look)

    def show_state(self, state: str) -> None:
        """Take over the state of the run in view; weights that were shown stay when it ends."""
        if state == self._state:
            return
        self._state = state
        if state in ("idle", "waiting"):
            self._clear()
        self._run_timer()
        self.look()

    @guard
    def look(self, *_what: object) -> None:
        """Ask for the weights again, where somebody sees them."""
        name = self._layer() if self.isVisible() and self._state in LIVE else ""
        if name:
            self.asked.emit(name)

    def _layer(self) -> str:
        """Return the name of the layer to show; nothing where none has weights, or too many."""
        if self._document is None:
            return ""
        graph, last = self._document.graph, self._document.selection.last
        if last is not None and last in graph:
            return graph.node(last).name if self._fits(last) else ""
        return next((node.name for node in graph.nodes() if self._fits(node.id)), "")

    def _fits(self, node: NodeId) -> bool:
        known = None if self._document is None else self._document.shapes.get(node)
        return known is not None and bool(known.params) and 0 < math.prod(known.params[0]) <= _MOST_VALUES

    def show_reply(self, reply: TensorReply) -> None:
        """Show weights that came, if they are still the ones that are wanted."""
        if reply.name != self._layer():
            return
        if reply.error or not reply.array.size:
            self._clear(reply.error or _HINT)
            return
        weights = reply.array
        shape = " \u00d7 ".join(map(str, weights.shape))
        ends = f"{formats.number(float(weights.min()))} to {formats.number(float(weights.max()))}"
        self.caption.setText(f"{reply.name}: {shape}, {ends}, iteration {formats.count(reply.iteration)}")
        self._weights = weights
        self._draw()

    @guard
    def _draw(self) -> None:
        """Lay the weights out for the room there is."""
        weights = self._weights
        if weights is None:
            return
        wide = self.sheet.width() / max(self.sheet.height(), 1)
        pixels = filter_picture(weights, self.palette().window().color().lightness(), wide)
        height, width, _ = pixels.shape
        self.sheet.show_image(QImage(pixels.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy())

    def _clear(self, words: str = _HINT) -> None:
        self._weights = None
        self.caption.setText(words)
        self.sheet.show_image(QImage())

    def _run_timer(self) -> None:
        if self.isVisible() and self._state in LIVE:
            self._timer.start()
        else:
            self._timer.stop()

    @guard
    def showEvent(self, event: QShowEvent) -> None:
        """Begin to follow."""
        super().showEvent(event)
        self._run_timer()
        self.look()

    @guard
    def hideEvent(self, event: QHideEvent) -> None:
        """Ask no more."""
        super().hideEvent(event)
        self._run_timer()


class _Sheet(QWidget):
    """An image as large as there is room for, with sharp pixels."""

    resized = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.image = QImage()

    def show_image(self, image: QImage) -> None:
        self.image = image
        self.update()

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    @guard
    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint whole pixels of the screen for each of the image, where there are so many."""
        if self.image.isNull():
            return
        size = self.image.size()
        times = min(self.width() / size.width(), self.height() / size.height(), _LARGEST_TILE)
        times = math.floor(times) if times >= 1.0 else times
        target = QRect(0, 0, max(1, int(size.width() * times)), max(1, int(size.height() * times)))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, times < 1.0)
        painter.drawImage(target, self.image)
        painter.end()
