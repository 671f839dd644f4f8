"""The figures of a run in a row, above a slim bar of its progress."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Theme
from app.training import formats
from app.training.model import RunModel
from app.widgets.elidedlabel import ElidedLabel

__all__ = ["FactsRow", "StateChip"]

_BAR_STEPS = 1000
_NAMES = ("iteration", "loss", "accuracy", "rate", "speed", "left")
_TITLES = ("Iteration", "Loss", "Test accuracy", "Learning rate", "Speed", "Time left")


class StateChip(QLabel):
    """The run's state as a word with a mark, coloured by its meaning.

    Attributes
    ----------
    word : str
        What it says.
    """

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
        self.word = self._WISHES.get(wish, word)
        self.setText(f"{mark}  {self.word}")
        self.setAccessibleName(f"Training: {self.word}")
        self.setProperty("role", role)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the present theme."""
        theme = Theme.current()
        role = str(self.property("role"))
        fill = theme.mix(role, "window", 0.10).name()
        self.setStyleSheet(
            f"QLabel {{ color: {theme.color(role).name()}; background: {fill}; border-radius: 4px; padding: 4px 8px; }}"
        )


class FactsRow(QWidget):
    """Iteration, loss, accuracy, learning rate, speed and time left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.facts")
        self._columns, self._is_low = 0, False
        self._has_room, self._is_idle = True, True
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
        self.bar.setAccessibleName("Progress of the training")
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
        heading, value = QLabel(title, self), ElidedLabel("", self)
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
        if columns != self._columns:
            self._columns = columns
            self._arrange()

    def set_low(self, low: bool) -> None:
        """Where there is little height, have one line of figures, each beside its name; those that fit no more go."""
        if low != self._is_low:
            self._is_low = low
            self._arrange()

    def set_room(self, room: bool) -> None:
        """Say whether there is any room for the figures."""
        self._has_room = room
        self.setVisible(room and not self._is_idle)

    def _arrange(self) -> None:
        for index, (heading, value) in enumerate(self._tiles.values()):
            row, column = divmod(index, self._columns)
            shown = not self._is_low or not row
            heading.setVisible(shown)
            value.setVisible(shown)
            if self._is_low:
                self._grid.addWidget(heading, row, 2 * column)
                self._grid.addWidget(value, row, 2 * column + 1)
            else:
                self._grid.addWidget(heading, 2 * row, column)
                self._grid.addWidget(value, 2 * row + 1, column)
            kind = QSizePolicy.Policy.Preferred if self._is_low else QSizePolicy.Policy.Ignored
            heading.setSizePolicy(kind, QSizePolicy.Policy.Preferred)
        self._grid.setHorizontalSpacing(8 if self._is_low else 16)
        for column in range(2 * len(self._tiles)):
            wide = column % 2 == 1 and column < 2 * self._columns if self._is_low else column < self._columns
            self._grid.setColumnStretch(column, 1 if wide else 0)

    def show_model(self, model: RunModel) -> None:
        """Show the figures of a run."""
        idle = model.state == "idle"
        self._is_idle = idle
        self.setVisible(self._has_room and not idle)
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

        self.bar.setAccessibleDescription(self.words)

    @property
    def words(self) -> str:
        """The figures that are known, in one sentence."""
        known = [(title.text(), value.text()) for title, value in self._tiles.values()]
        return ", ".join(f"{title} {value}" for title, value in known if value != formats.NOTHING)

    def _set(self, name: str, text: str) -> None:
        title, value = self._tiles[name]
        if text != value.text():
            value.setText(text)
            value.setAccessibleName(f"{title.text()}: {text}")
