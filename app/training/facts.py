"""The figures of a run in a row, above a slim bar of its progress."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.training import formats
from app.training.model import RunModel

__all__ = ["FactsRow", "StateChip"]

_BAR_STEPS = 1000
_NAMES = ("iteration", "loss", "accuracy", "rate", "speed", "left")
_TITLES = ("Iteration", "Loss", "Test accuracy", "Learning rate", "Speed", "Time left")


class StateChip(QLabel):
    """The run's state as a word with a mark, coloured by its meaning."""

    _LOOKS = {
        "idle": ("○", "Not trained", "text_muted"),
        "waiting": ("◌", "Starting", "accent"),
        "running": ("●", "Training", "accent"),
        "paused": ("❚❚", "Paused", "warning"),
        "finished": ("✓", "Finished", "ok"),
        "stopped": ("■", "Stopped", "text_muted"),
        "failed": ("✕", "Failed", "error"),
        "lost": ("✕", "Lost", "error"),
    }
    _WISHES = {"pause": "Pausing", "resume": "Resuming", "stop": "Stopping"}

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.state")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_state("idle", "")

    def show_state(self, state: str, wish: str) -> None:
        """Show a state, or what the run was asked for and has not done yet."""
        mark, word, role = self._LOOKS[state]
        word = self._WISHES.get(wish, word)
        self.setText(f"{mark}  {word}")
        self.setProperty("role", role)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the present theme."""
        theme = Theme.current()
        role = str(self.property("role"))
        fill = theme.mix(role, "window", 0.14).name()
        self.setStyleSheet(
            f"QLabel {{ color: {theme.color(role).name()}; background: {fill}; border-radius: 4px; padding: 4px 8px; }}"
        )


class FactsRow(QWidget):
    """Iteration, loss, accuracy, learning rate, speed and time left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.facts")
        self._columns = 0
        self._tiles: dict[str, tuple[QLabel, QLabel]] = {}
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        for name, title in zip(_NAMES, _TITLES, strict=True):
            self._add_tile(name, title)
        self.bar = QProgressBar(self)
        self.bar.setObjectName("training.progress")
        self.bar.setTextVisible(False)
        self.bar.setStyleSheet("QProgressBar { min-height: 4px; max-height: 4px; border: none; border-radius: 2px; }")
        self.bar.setRange(0, _BAR_STEPS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(self._grid)
        layout.addWidget(self.bar)
        self.set_columns(len(_NAMES))
        self.show_model(RunModel())

    def _add_tile(self, name: str, title: str) -> None:
        heading, value = QLabel(title, self), QLabel(self)
        heading.setProperty("muted", True)
        value.setObjectName(f"training.{name}")
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        font = value.font()
        font.setPointSizeF(font.pointSizeF() * 1.2)
        font.setWeight(font.Weight.DemiBold)
        value.setFont(font)
        for label in (heading, value):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._tiles[name] = (heading, value)

    def set_columns(self, columns: int) -> None:
        """Lay the figures out in so many columns."""
        if columns == self._columns:
            return
        self._columns = columns
        for index, (heading, value) in enumerate(self._tiles.values()):
            row, column = divmod(index, columns)
            self._grid.addWidget(heading, 2 * row, column)
            self._grid.addWidget(value, 2 * row + 1, column)
        for column in range(len(self._tiles)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def show_model(self, model: RunModel) -> None:
        """Show the figures of a run."""
        idle = model.state == "idle"
        end = formats.count(model.max_iter) if model.max_iter else formats.NOTHING
        self._set("iteration", formats.NOTHING if idle else f"{formats.count(model.iteration)} / {end}")
        self._set("loss", formats.number(model.loss))
        accuracy = model.accuracy
        self._tiles["accuracy"][0].setText("Test accuracy" if accuracy is None else f"Test {accuracy[0]}")
        self._set("accuracy", formats.NOTHING if accuracy is None else formats.score(accuracy[1]))
        self._set("rate", formats.number(model.learning_rate))
        self._set("speed", formats.rate(model.speed))
        self._set("left", formats.duration(model.seconds_left))
        done = model.iteration / model.max_iter if model.max_iter else 0.0
        self.bar.setValue(round(_BAR_STEPS * min(done, 1.0)))
        starting = model.state == "waiting" and model.max_iter == 0
        self.bar.setRange(0, 0 if starting else _BAR_STEPS)

    def _set(self, name: str, text: str) -> None:
        self._tiles[name][1].setText(text)
