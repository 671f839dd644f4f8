"""The line at the bottom of the window: what the net is, in numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QLabel, QStatusBar, QWidget

from app.canvas.describe import count_text
from engine.graph import ALL

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["StatusLine"]

_FLOAT = 4


class StatusLine(QStatusBar):
    """Layers, parameters, memory, diagnostics, zoom and pointer."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("window.status")
        self.setSizeGripEnabled(False)
        self.layers = self._label("layers", "Layers in the file")
        self.params = self._label("params", "Learnable parameters of the net")
        self.memory = self._label(
            "memory", "Blobs and parameters at 4 bytes a value; of a training net with their gradients"
        )
        self.problems = self._label("problems", "Errors and warnings")
        self.pointer = self._label("pointer", "Pointer on the canvas, in pixels at 100 %", permanent=True)
        self.zoom = self._label("zoom", "Zoom; 1 for 100 %, F to frame the selection", permanent=True)
        self.pointer.setMinimumWidth(self.fontMetrics().horizontalAdvance("\u22128888, \u22128888") + 16)
        self.zoom.setMinimumWidth(self.fontMetrics().horizontalAdvance("888 %") + 16)

    def _label(self, name: str, tip: str, *, permanent: bool = False) -> QLabel:
        label = QLabel()
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
        count = len(graph)
        plural = "" if count == 1 else "s"
        if document.seen is None:
            self.layers.setText(f"{count} layer{plural}")
        else:
            self.layers.setText(f"{len(document.seen.node_ids())} of {count} layer{plural}: {document.view.words}")
        shapes = document.shapes
        blobs: dict[tuple[str, frozenset[str]], int] = {}
        weights = 0
        unknown = 0
        seen: set[str] = set()
        training = document.view.show in (ALL, "TRAIN")
        for node in graph.nodes():
            if not document.in_view(node.id):
                continue
            known = shapes.get(node.id)
            if known is None or known.state == "unknown":
                unknown += 1
                continue
            if node.name not in seen:
                seen.add(node.name)
                weights += sum(math.prod(shape) for shape in known.params)
            if not training or "TRAIN" in node.phases:
                for name, shape in zip(node.tops, known.tops, strict=False):
                    if shape is not None:
                        blobs[name, node.phases] = math.prod(shape)
        at_least = "\u2265 " if unknown and unknown < count else ""
        self.params.setText(f"{at_least}{count_text(weights)} parameters" if unknown < count else "")
        total = (2 if training else 1) * _FLOAT * (sum(blobs.values()) + weights)
        self.memory.setText(f"{at_least}{_bytes_text(total)}" if unknown < count else "")
        kinds = [str(each.severity) for each in document.diagnostics]
        errors, warnings = kinds.count("error"), kinds.count("warning")
        words = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
        self.problems.setText(", ".join(words) or "No problems")

    def show_pointer(self, point: QPointF) -> None:
        """Show where the pointer is."""
        self.pointer.setText(f"{point.x():.0f}, {point.y():.0f}".replace("-", "\u2212"))

    def show_scale(self, scale: float) -> None:
        """Show the zoom."""
        self.zoom.setText(f"{scale * 100:.0f} %")


def _bytes_text(count: int) -> str:
    if count < 2**20:
        return f"{count / 2**10:.0f} KB"
    if count < 2**30:
        return f"{count / 2**20:.3g} MB"
    return f"{count / 2**30:.3g} GB"
