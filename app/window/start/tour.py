"""A tour of three steps in the real window: each is done by the user, or shown, and then the next one comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.qt import announce, guard
from app.theme import Theme
from app.widgets.letters import letter_scale
from app.wording import by_key

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["Tour"]

_WIDTH = 320


@dataclass(frozen=True, slots=True)
class _Step:
    """One step: what is said, what is pointed at, and what the button does."""

    title: str
    text: str
    button: str
    target: Callable[[], QWidget | None]
    act: Callable[[], object]


class Tour(QObject):
    """Adds a layer by search, trains, and looks at shapes, with the user.

    It begins on the bundled example. Escape or Skip leaves it; the next start goes on where it was left.

    Parameters
    ----------
    window : MainWindow
        Where it goes.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._bubble: TourBubble | None = None
        self._step = -1
        self._nodes = 0
        self._steps = (
            _Step(
                "Add a layer",
                "{search}, and type a few letters of a layer's name: "
                "<b>dropout</b>, say. Enter adds it, wired to the layer that is selected.",
                "Open the search",
                lambda: window.canvas,
                self._search,
            ),
            _Step(
                "Train",
                "Press <b>Train</b>. The curve of the loss begins within moments; you can pause, go on and stop "
                "at any time.",
                "Train",
                lambda: window.toolbar.train_button,
                self._train,
            ),
            _Step(
                "See shapes and costs",
                "Each wire tells the shape of its blob. Click a layer, such as <b>conv1</b>, and change "
                "<b>num_output</b>: shapes and costs follow at once. Undo brings everything back.",
                "Show conv1",
                lambda: window.panels.get("properties"),
                self._show_layer,
            ),
        )

    @property
    def step(self) -> int:
        """Number of the step that is shown, from 0; -1 when the tour is not on."""
        return self._step

    @guard
    def start(self) -> None:
        """Begin, or go on where the tour was left."""
        window = self._window
        if not self._is_on_example():
            window.beginnings.open_example("lenet")
        window.load_panels()
        self._go(min(window.settings.tour_step, len(self._steps) - 1))

    def _is_on_example(self) -> bool:
        path = self._window.document.path
        return path is not None and path.name == "lenet_train_test.prototxt"

    def _go(self, step: int) -> None:
        if step >= len(self._steps):
            self.stop()
            self._window.settings.tour_step = 0
            keys = (("commands", "{} finds everything else"), ("help", "{} helps on a layer"))
            told = (by_key(self._window.keys.key_of(name), words) for name, words in keys)
            more = "; ".join(filter(None, told))
            self._window.notify("That was the tour." + by_key(more, " {}."), "info")
            return
        self._disconnect()
        self._step = step
        self._window.settings.tour_step = step
        if self._bubble is None:
            self._bubble = TourBubble(self._window)
            self._bubble.left.clicked.connect(self.stop)
            self._bubble.next.clicked.connect(lambda: self._go(self._step + 1))
            self._bubble.act.clicked.connect(self._act)
            _application().installEventFilter(self)
        now, key = self._steps[step], self._window.keys.key_of("add")
        search = by_key(key, "Press {} over the canvas, or double-click on it", "Double-click on the canvas")
        self._bubble.say(now.title, now.text.format(search=search), now.button, step, len(self._steps))
        announce(self._bubble, f"{now.title}. {self._bubble.accessibleDescription()}")
        self._nodes = len(self._window.document.graph)
        self._connect()
        self._bubble.point_at(now.target())
        self._bubble.act.setFocus()

    @guard
    def stop(self, _checked: bool = False) -> None:
        """Leave the tour; it can be taken up again."""
        self._disconnect()
        self._step = -1
        bubble, self._bubble = self._bubble, None
        if bubble is not None:
            _application().removeEventFilter(self)
            bubble.hide()
            bubble.deleteLater()
            self._window.canvas.setFocus()

    @guard
    def _act(self, _checked: bool = False) -> None:
        if 0 <= self._step < len(self._steps):
            self._steps[self._step].act()

    # What ends a step

    def _connect(self) -> None:
        self._window.refreshed.connect(self._look)
        training = self._window.panels.get("training")
        if training is not None:
            training.state_changed.connect(self._look)

    def _disconnect(self) -> None:
        if self._step < 0:
            return
        self._window.refreshed.disconnect(self._look)
        training = self._window.panels.get("training")
        if training is not None:
            training.state_changed.disconnect(self._look)

    @guard
    def _look(self, _state: object = None) -> None:
        """Go on when the step is done."""
        window = self._window
        training = window.panels.get("training")
        done = (
            len(window.document.graph) > self._nodes,
            training is not None and training.state in ("running", "finished"),
            False,
        )
        if done[self._step]:
            QTimer.singleShot(0, self, self._next)
        else:
            self._nodes = min(self._nodes, len(window.document.graph))

    @guard
    def _next(self) -> None:
        if self._step >= 0:
            self._go(self._step + 1)

    # What the buttons do

    def _search(self) -> None:
        window = self._window
        last = window.document.graph.named("ip1")
        if last:
            window.document.selection.set([last[0].id])
            window.document.selection.flush()
        window.canvas.setFocus()
        window.actions_by_name["add"].trigger()

    def _train(self) -> None:
        training = self._window.panels["training"]
        self._window.show_panel("training")
        if training.train_action.isEnabled():
            training.train_action.trigger()
        else:
            self._window.notify(training.train_action.toolTip(), "info")

    def _show_layer(self) -> None:
        window = self._window
        found = window.document.graph.named("conv1")
        if found:
            window.document.selection.set([found[0].id])
            window.canvas.reveal(found[0].id)
        window.show_panel("properties")

    @guard(default=False)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        bubble = self._bubble
        if bubble is None:
            return False
        if watched is self._window and event.type() == QEvent.Type.Resize:
            bubble.point_at(self._steps[self._step].target())
        elif (
            event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and QApplication.activePopupWidget() is None
            and isinstance(watched, QWidget)
            and watched.window() is self._window
        ):
            self.stop()
            return True
        return False


def _application() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app


class TourBubble(QFrame):
    """The note of a step, beside what it is about."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("window.tour")
        self.setAccessibleName("Tour")
        self._count = QLabel()
        self._count.setProperty("muted", True)
        self._title = QLabel()
        self._title.setProperty("heading", True)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.RichText)
        self.act = QPushButton()
        self.act.setObjectName("window.tour.act")
        self.act.setProperty("primary", True)
        self.next = QPushButton("Next")
        self.next.setObjectName("window.tour.next")
        self.left = QPushButton("Skip")
        self.left.setObjectName("window.tour.skip")
        self.left.setToolTip("Leave the tour (Esc); Help, Tour goes on here")
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._count)
        row = QHBoxLayout()
        row.addWidget(self.act)
        row.addStretch(1)
        row.addWidget(self.next)
        row.addWidget(self.left)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 12)
        box.setSpacing(8)
        box.addLayout(head)
        box.addWidget(self._text)
        box.addLayout(row)
        Theme.notifier().changed.connect(self._dress)
        self._dress()

    def say(self, title: str, text: str, button: str, step: int, count: int) -> None:
        """Show a step."""
        self._title.setText(title)
        self._text.setText(text)
        self._count.setText(f"{step + 1} of {count}")
        self.act.setText(button)
        self.next.setText("Next" if step + 1 < count else "Done")
        self.setAccessibleDescription(text.replace("<b>", "").replace("</b>", ""))

    def point_at(self, target: QWidget | None) -> None:
        """Stand at the edge of a widget, inside of the window."""
        window = self._window
        width = min(round(_WIDTH * letter_scale(self)), window.width() - 16)
        self.setFixedWidth(width)
        layout = self.layout()
        if layout is not None:
            layout.activate()
        height = layout.heightForWidth(width) if layout is not None else self.sizeHint().height()
        self.resize(width, max(height, self.minimumSizeHint().height()))
        place = QPoint(24, 96)
        if target is not None and target.isVisible():
            corner = target.mapTo(window, QPoint(0, 0))
            if target.width() > 2 * width:  # inside of what is large, beside or below what is small
                place = corner + QPoint(target.width() - width - 24, 48)
            elif corner.x() > width + 16 and target.height() > self.height():
                place = corner + QPoint(-width - 12, 48)
            else:
                place = corner + QPoint(0, target.height() + 8)
        limit = window.rect()
        self.move(
            max(8, min(place.x(), limit.right() - self.width() - 8)),
            max(8, min(place.y(), limit.bottom() - self.height() - 8)),
        )
        self.show()
        self.raise_()

    @guard
    def _dress(self, _theme: object = None) -> None:
        theme = Theme.current()
        back, edge = theme.color("surface").name(), theme.color("accent").name()
        self.setStyleSheet(f"TourBubble {{ background: {back}; border: 1px solid {edge}; border-radius: 8px; }}")
