"""What the training panel shows, and how it fits a low strip as well as a narrow column."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSplitter, QTabWidget, QVBoxLayout, QWidget

from app.qt import guard
from app.training.actions import ActionButton, TrainingActions
from app.training.facts import FactsRow, StateChip
from app.training.logview import LogView
from app.training.pictures import Pictures
from app.training.runlist import RunList
from app.training.solverbox import SolverBox
from app.training.strip import MessageStrip
from app.training.weights import WeightsView
from app.widgets.letters import letter_scale

__all__ = ["TrainingFace"]

_NARROW, _ONE_ROW, _COLUMN = 760, 560, 400
_LOW, _ALL_FIGURES, _THREE_FIGURES = 184, 880, 480
_SMALLEST = QSize(240, 88)
_LEAST_PICTURE = 32


class TrainingFace(QWidget):
    """The parts of the training panel in their places; what they show and do is the panel's business.

    Attributes
    ----------
    train_action, pause_action, stop_action, snapshot_action, tell_action : QAction
        For the window's toolbar and menus; they carry their shortcuts.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.panel")
        self._make_parts()
        self._arrange()

    def _make_parts(self) -> None:
        self._actions = TrainingActions(self)
        self.train_action: QAction = self._actions.train
        self.pause_action: QAction = self._actions.pause
        self.stop_action: QAction = self._actions.stop
        self.snapshot_action: QAction = self._actions.snapshot
        self.tell_action: QAction = self._actions.tell
        self._buttons = [ActionButton(action, self, primary=not i) for i, action in enumerate(self._actions.all())]
        self.chip = StateChip(self)
        self.solver_label = QLabel("Solver", self)
        self.solver_label.setProperty("muted", True)
        self.solver_box = SolverBox(self)
        self.solver_label.setBuddy(self.solver_box)
        self.strip = MessageStrip(self)
        self.facts = FactsRow(self)
        self.pictures = Pictures(self)
        self.log = LogView(self)
        self.runs = RunList(self)
        self.weights = WeightsView(self)
        self._tabs = QTabWidget(self)
        self._tabs.setObjectName("training.tabs")
        self._tabs.setAccessibleName("Log, runs and weights of the training")
        self._tabs.setDocumentMode(True)
        self._tabs.addTab(self.log, "Log")
        self._tabs.addTab(self.runs, "Runs")
        self._tabs.addTab(self.weights, "Weights")

    def _arrange(self) -> None:
        self._top = QHBoxLayout()
        self._top.setSpacing(8)
        for button in self._buttons:
            self._top.addWidget(button)
        self._top.addSpacing(4)
        self._top.addWidget(self.chip)
        self._top.addStretch(1)
        self._second = QHBoxLayout()
        self._second.setSpacing(8)
        self._solver_place(self._top)
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setChildrenCollapsible(False)
        for part in (self.pictures, self._tabs):
            part.setMinimumHeight(_LEAST_PICTURE)  # these give way, not the figures above, where the dock is low
            self._split.addWidget(part)
        self._split.setStretchFactor(0, 2)
        self._split.setStretchFactor(1, 1)
        self._split.setSizes([400, 200])
        head = QVBoxLayout()
        head.setContentsMargins(8, 8, 8, 4)
        head.setSpacing(8)
        head.addLayout(self._top)
        head.addLayout(self._second)
        head.addWidget(self.strip)
        head.addWidget(self.facts)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self._split, 1)
        layout.addStretch(0)
        self.strip.changed.connect(self._fit)
        self.setMinimumSize(_SMALLEST)  # said outright, or a long message would make the dock grow

    def _solver_place(self, row: QHBoxLayout) -> None:
        row.addWidget(self.solver_label)
        row.addWidget(self.solver_box, 1 if row is self._second else 0)

    @guard
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit a narrow column as well as a wide strip."""
        super().resizeEvent(event)
        self.strip.fit(event.size())
        self._fit()

    def _fit(self) -> None:
        letters = letter_scale(self)  # large ones leave less room
        width, height = round(self.width() / letters), round(self.height() / letters)
        low, slim = height < _LOW, width < _ONE_ROW
        for button in self._buttons:
            first = button is self._buttons[0]
            button.set_compact(width < (_NARROW if not first else _ONE_ROW if low else _COLUMN))
        crowded = low and self.strip.notice is not None
        self.facts.set_room(not crowded)
        self._split.setVisible(not crowded)  # a message that cannot be read helps nobody
        self.facts.set_low(low)
        few = 2 if low and width < _THREE_FIGURES else 3
        self.facts.set_columns(few if slim or (low and width < _ALL_FIGURES) else 6)
        self.pictures.set_low(low)
        self._place_solver(self._second if slim and not low else self._top)
        self.solver_label.setVisible(not (slim and low))
        self.solver_box.setMinimumContentsLength(5 if slim and low else 14)
        standing = width < _NARROW and height > 0.8 * width
        self._tabs.setVisible(standing or width >= _ONE_ROW)  # where there is room for one, it is for the curves
        way = Qt.Orientation.Vertical if standing else Qt.Orientation.Horizontal
        if self._split.orientation() != way:
            self._split.setOrientation(way)
            self._split.setSizes([400, 200])

    def _place_solver(self, wanted: QHBoxLayout) -> None:
        if wanted.indexOf(self.solver_box) < 0:
            for row in (self._top, self._second):
                row.removeWidget(self.solver_label)
                row.removeWidget(self.solver_box)
            self._solver_place(wanted)
