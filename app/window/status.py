"""The line at the bottom of the window: what the net is, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLabel, QStatusBar, QWidget

from app.canvas.scene.describe import count_text
from app.qt import guard
from app.wording import counted, problem_words
from engine.graph import ALL

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["StatusLine"]


class _Link(QLabel):
    """A label that is clicked; what it does has a key of its own."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @guard
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


class StatusLine(QStatusBar):
    """Layers, parameters, memory, diagnostics, zoom and pointer.

    Attributes
    ----------
    problems_asked : Signal()
        The number of problems was clicked.
    """

    problems_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("window.status")
        self.setSizeGripEnabled(False)
        self.layers = self._label("layers", "Layers in the file")
        self.params = self._label("params", "Learnable parameters of the net")
        self.memory = self._label("memory", "")
        link = _Link()
        link.clicked.connect(self.problems_asked)
        self.problems = self._label("problems", "Errors and warnings; click to see them", link)
        self.following = self._label("following", "Blobs that stand out on the canvas", permanent=True)
        self.following.hide()
        self.pointer = self._label("pointer", "Pointer on the canvas, in pixels at 100 %", permanent=True)
        self.zoom = self._label("zoom", "Zoom; 1 for 100 %, F to frame the selection", permanent=True)
        self.pointer.setMinimumWidth(self.fontMetrics().horizontalAdvance("\u22128888, \u22128888") + 16)
        self.zoom.setMinimumWidth(self.fontMetrics().horizontalAdvance("888 %") + 16)

    def _label(self, name: str, tip: str, label: QLabel | None = None, *, permanent: bool = False) -> QLabel:
        label = label or QLabel()
        label.setObjectName(f"window.status.{name}")
        label.setToolTip(tip)
        if permanent:
            self.addPermanentWidget(label)
        else:
            self.addWidget(label)
        return label

    def show_document(self, document: Document) -> None:
        """Count the net anew; cheap, for it only adds up what is known."""
        graph = document.graph
        count = graph.layer_count()
        if document.seen is None:
            self.layers.setText(counted(count, "layer"))
        else:
            seen = graph.layer_count(document.seen.node_ids())
            self.layers.setText(f"{seen:,} of {counted(count, 'layer')}: {document.view.words}")
        self._show_costs(document)
        kinds = [each.severity for each in document.diagnostics]
        words = problem_words(kinds.count("error"), kinds.count("warning"))
        self.problems.setText(words or "No problems")

    def _show_costs(self, document: Document) -> None:
        """Say what the net costs, as the cost table and the properties do; nothing while that is not known."""
        count = document.live.costs.count
        if count is None or count.unknown == len(count.rows):
            self.params.clear()
            self.memory.clear()
            return
        from app.costs.formats import COUNTED, bytes_text  # known counts have what is behind it loaded
        from app.live.shapes import ABOUT

        trains = document.view.show in (ALL, "TRAIN")
        parameters, _multiply_adds, _weights, _activations, inference, training = count.totals
        at_least = "\u2265 " if count.unknown else ""
        lower_bound = f"{at_least}{count_text(parameters)}" if parameters or not count.unknown else "?"
        about = ABOUT if count.assumed and not count.unknown else ""
        names = " and ".join(f"'{name}'" for name in count.assumed)
        assumed = f"\nApproximate: the shape of {names} is assumed." if names else ""
        self.params.setText(f"{about if parameters else ''}{lower_bound} parameters")
        self.params.setToolTip(f"{COUNTED['parameters']}{assumed}")
        words = "to train" if trains else "to run"
        self.memory.setText(f"{at_least or about}{bytes_text(training if trains else inference)} {words}")
        whole = "\nOf all nets of the file together; look at one of them for it alone." if document.seen is None else ""
        self.memory.setToolTip(f"{COUNTED['training' if trains else 'inference']}{whole}{assumed}")

    def show_following(self, words: str) -> None:
        """Say which blob is followed on the canvas; nothing for none."""
        self.following.setText(words)
        self.following.setVisible(bool(words))

    def show_pointer(self, point: QPointF) -> None:
        """Show where the pointer is."""
        self.pointer.setText(f"{point.x():.0f}, {point.y():.0f}".replace("-", "\u2212"))

    def show_scale(self, scale: float) -> None:
        """Show the zoom."""
        self.zoom.setText(f"{scale * 100:.0f} %")
