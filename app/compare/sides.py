"""The two canvases of a comparison, each under a line that says what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QSplitter, QVBoxLayout, QWidget

from app.compare.canvas import CompareCanvas
from app.qt import guard
from app.theme import GRID

if TYPE_CHECKING:
    from app.compare.comparison import Comparison

__all__ = ["Sides"]


class Sides(QSplitter):
    """Makes the canvases one after the other, those of big nets in slices between which the window answers.

    Attributes
    ----------
    opened : Signal()
        Both are there.
    canvases : pair of CompareCanvas or None
        The other net's and this one's.
    """

    opened = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setChildrenCollapsible(False)
        self.canvases: tuple[CompareCanvas, CompareCanvas] | None = None
        self._titles = QLabel(self), QLabel(self)
        self._made: list[CompareCanvas] = []
        self._closed = False

    def open(self, comparison: Comparison) -> None:
        """Begin to make the canvases of a comparison whose nets are read."""
        assert comparison.old is not None
        old = CompareCanvas(comparison.old, "old", self, slowly=True)
        self._made.append(old)
        old.canvas.growth.when_done(lambda: QTimer.singleShot(0, self, lambda: self._open_second(comparison, old)))

    @guard
    def _open_second(self, comparison: Comparison, old: CompareCanvas) -> None:
        if self._closed or comparison.new is None:
            return
        new = CompareCanvas(comparison.new, "new", self, slowly=True)
        self._made.append(new)
        new.canvas.growth.when_done(lambda: self._add(comparison.other.title, old, self._titles[0]))
        title = f"{comparison.document.title}, as it is here"
        new.canvas.growth.when_done(lambda: QTimer.singleShot(0, self, lambda: self._open_both(title, old, new)))
        self._titles[0].setProperty("detail", comparison.other.detail)

    @guard
    def _open_both(self, title: str, old: CompareCanvas, new: CompareCanvas) -> None:
        if self._closed:
            return
        self._add(title, new, self._titles[1])
        self.canvases = old, new
        self.share()
        self.opened.emit()

    def _add(self, text: str, canvas: CompareCanvas, label: QLabel) -> None:
        """Show a canvas under its title; Qt takes its time to dress and to lay it out, so that it is one at a time."""
        if self._closed:
            return
        side = QWidget(self)
        box = QVBoxLayout(side)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        label.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        label.setText(text)
        label.setProperty("side", text)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # both sides equally wide
        canvas.setAccessibleName(text)
        box.addWidget(label)
        box.addWidget(canvas, 1)
        self.addWidget(side)

    def share(self) -> None:
        """Give both sides the same width."""
        self.setSizes([1000, 1000])

    def tell(self, words: tuple[str, str]) -> None:
        """Say something of each net behind its title."""
        for label, each in zip(self._titles, words, strict=True):
            label.setText(f"<b>{label.property('side')}</b> &nbsp; {each}")
            label.setToolTip("\n".join(filter(None, (each, str(label.property("detail") or "")))))

    def close_sides(self) -> None:
        """Let go of both nets, also while their canvases are made."""
        self._closed = True
        for canvas in self._made:
            canvas.canvas.close()
