"""Where curves are drawn, and what stands there while there are none."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QVBoxLayout, QWidget

from app.collector import importing
from app.icons import icon_pixmap
from app.qt import guard
from app.slices import Slices
from app.theme import Theme
from app.training.curvewalk import CurveWalk
from app.training.model import RunModel

if TYPE_CHECKING:
    from app.training.curves import CurvesView

__all__ = ["Pictures"]


class EmptyHint(QWidget):
    """What to do while there is nothing to draw."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._mark = QLabel(self)
        self._text = QLabel(self)
        self._text.setObjectName("training.hint")
        self._text.setProperty("muted", True)
        self._text.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setSpacing(8)
        layout.addStretch(1)
        for label in (self._mark, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            layout.addWidget(label)
        layout.addStretch(1)
        self.restyle()

    def say(self, text: str) -> None:
        """Show a sentence."""
        self._text.setText(text)

    def set_low(self, low: bool) -> None:
        """Leave the picture out where there is little height."""
        self._mark.setVisible(not low)

    def restyle(self) -> None:
        """Take the colours of the present theme."""
        color = Theme.current().color("text_disabled")
        self._mark.setPixmap(icon_pixmap("chart-line", color, 32, self.devicePixelRatioF()))


class Pictures(QStackedWidget):
    """Curves of a run, or a hint.

    The curves come after the first frame: importing pyqtgraph takes half a second, and is done in a thread. It looks
    at all classes of Qt there; PySide makes each when it is first looked at, which crashes where two threads do that at
    once. So they are made here before, in slices.

    Attributes
    ----------
    curves : CurvesView or None
        None until they are loaded.
    walk : CurveWalk
        Goes along them by keys.
    """

    _loaded = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.curves: CurvesView | None = None
        self._model = RunModel()
        self._loader: threading.Thread | None = None
        self._classes = Slices(self)
        self._hint = EmptyHint(self)
        self.walk = CurveWalk(self)
        self.addWidget(self._hint)
        self._loaded.connect(self._make_curves)

    def say(self, text: str) -> None:
        """Change the hint."""
        self._hint.say(text)

    def set_low(self, low: bool) -> None:
        """Fit little height."""
        self._hint.set_low(low)

    def show_model(self, model: RunModel) -> None:
        """Show the curves of a run, or the hint where there is no run."""
        self._model = model
        if self.curves is not None and model.state != "idle":
            self.setCurrentWidget(self.curves)
            self.curves.show_model(model)
        else:
            self.setCurrentWidget(self._hint)
        self.walk.offer(self.currentWidget() is not self._hint and bool(len(model.train)))

    def restyle(self) -> None:
        """Take the colours of the present theme."""
        self._hint.restyle()

    def shutdown(self) -> None:
        """Wait for the thread that loads."""
        self._classes.cancel()
        if self._loader is not None:
            self._loader.join()
            self._loader = None

    @guard
    def _load(self) -> None:
        if self._loader is None and self.curves is None and not self._classes.active:
            self._classes.start(_make_classes(), self._load_in_thread)

    def _load_in_thread(self) -> None:
        if self._loader is None:
            self._loader = threading.Thread(target=self._import, name="netcanvas-plots", daemon=True)
            self._loader.start()

    def _import(self) -> None:
        with importing:
            importlib.import_module("pyqtgraph")
        self._loaded.emit()

    @guard
    def _make_curves(self) -> None:
        from app.training.curves import CurvesView

        if self.curves is None:
            self.curves = CurvesView(self)
            self.walk.serve(self.curves)
            self.addWidget(self.curves)
            self.show_model(self._model)

    @guard
    def showEvent(self, event: QShowEvent) -> None:
        """Begin to load once this is in view."""
        super().showEvent(event)
        if self.curves is None:
            QTimer.singleShot(0, self, self._load)


def _make_classes() -> Iterator[None]:
    """Have PySide make the classes that pyqtgraph looks at, one a step."""
    for module in (QtCore, QtGui, QtWidgets):
        for name in dir(module):
            getattr(module, name)
            yield
