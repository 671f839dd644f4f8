"""The runs of a document, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.qt import guard
from app.training import formats
from app.training.model import is_loss, scalars
from app.widgets.columns import Column, ShedColumns
from app.wording import row_words
from engine.errors import WorkerError
from engine.worker import RunFolder, RunStatus, list_runs, snapshot_iteration

__all__ = ["RunList"]

_REFRESH_MILLISECONDS = 2000
_COLUMNS = ("Run", "State", "Iteration", "Score", "Loss")
#: Names give way, and the state and the numbers have what they need.
_ROOM = (Column(72, 12), Column(48, 1), Column(48, 2), Column(48, 1), Column(48, 1))


class RunList(QWidget):
    """A table of runs.

    Attributes
    ----------
    chosen : Signal(RunFolder)
        A run to show; attach to it when it is under way.
    resumed : Signal(RunFolder)
        A run to go on with from its last snapshot.
    compared : Signal(RunFolder)
        A run whose net shall be compared with the one that is open.
    """

    chosen = Signal(object)
    compared = Signal(object)
    resumed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training.runs")
        self._parents: tuple[Path, ...] = ()
        self.table = QTreeWidget(self)
        self.table.setObjectName("training.runs_table")
        self.table.setAccessibleName("Runs")
        self.table.setHeaderLabels(_COLUMNS)
        self.table.setRootIsDecorated(False)
        self.table.setProperty("flat", True)
        self.table.setUniformRowHeights(True)
        self.table.setAllColumnsShowFocus(True)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._columns = ShedColumns(self.table, _ROOM)
        self.table.itemActivated.connect(lambda item: self._choose())
        self.table.itemSelectionChanged.connect(self._show_buttons)
        self.open_button = self._button("Open", "open", self._choose)
        self.resume_button = self._button("Resume", "resume", self._resume)
        self.compare_button = self._button("Compare", "compare", self._compare)
        self.folder_button = self._button("Folder", "folder", self._show_folder)
        self._empty = QLabel("No runs yet. Each training is kept here.", self)
        self._empty.setProperty("muted", True)
        self._empty.setMargin(12)
        self._arrange()
        self._timer = QTimer(self)
        self._timer.setInterval(_REFRESH_MILLISECONDS)
        self._timer.timeout.connect(self.refresh)
        self._show_buttons()

    def _button(self, text: str, name: str, slot: object) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(f"training.run_{name}_button")
        button.clicked.connect(slot)
        return button

    def _arrange(self) -> None:
        full = QWidget(self)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(8, 4, 8, 4)
        buttons.setSpacing(8)
        for button in (self.open_button, self.resume_button, self.compare_button, self.folder_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.table, 1)
        column.addLayout(buttons)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(full)

    def set_parents(self, parents: Sequence[Path]) -> None:
        """Show the runs below these folders."""
        self._parents = tuple(parents)
        self.refresh()

    def active_runs(self) -> list[RunFolder]:
        """Return the runs that are under way, newest first."""
        found = []
        for run in list_runs(self._parents):
            status = _status(run)
            if status is not None and status.active:
                found.append(run)
        return found

    @guard
    def refresh(self) -> None:
        """Read the folders anew, keeping the selection."""
        selected = self.selected_run()
        runs = list_runs(self._parents)
        self._stack.setCurrentIndex(1 if runs else 0)
        while self.table.topLevelItemCount() > len(runs):
            self.table.takeTopLevelItem(self.table.topLevelItemCount() - 1)
        for row, run in enumerate(runs):
            item = self.table.topLevelItem(row)
            if item is None:
                item = QTreeWidgetItem(self.table)
            _fill(item, run)
            if selected == run:
                self.table.setCurrentItem(item)
        self._fit_columns()
        self._show_buttons()

    def _fit_columns(self) -> None:
        """Give all but the names the room for the longest text in them."""
        model, letters = self.table.model(), self.table.fontMetrics()
        rows, needed = range(model.rowCount()), {}
        for column in range(1, len(_COLUMNS)):
            cells = [model.index(row, column) for row in rows]
            widest = max(cells, key=lambda cell: letters.horizontalAdvance(cell.data()), default=None)
            head = self.table.header().sectionSizeHint(column)
            needed[column] = max(head, self.table.sizeHintForIndex(widest).width() + 1 if widest is not None else 0)
        self._columns.need(needed)

    def selected_run(self) -> RunFolder | None:
        """Return the selected run."""
        items = self.table.selectedItems()
        return RunFolder(Path(items[0].toolTip(0))) if items else None

    def _show_buttons(self) -> None:
        run = self.selected_run()
        status = _status(run) if run is not None else None
        live = status is not None and status.active
        self.open_button.setText("Attach" if live else "Open")
        none = "Select a run first."
        self._enable(self.open_button, none if run is None else "", "Show its curves and log")
        snapshot = run.last_snapshot() if run is not None else None
        reason = none if run is None else _why_not_resumed(status, has_snapshot=snapshot is not None)
        where = f", iteration {formats.count(snapshot_iteration(snapshot))}" if snapshot else ""
        self._enable(self.resume_button, reason, f"Go on from the last snapshot{where}")
        reason = none if run is None else "" if run.net_file.is_file() else "It has no net."
        self._enable(self.compare_button, reason, "Show what differs between the run's net and the one that is open")
        self._enable(self.folder_button, none if run is None else "", "Show the run's files")

    def _enable(self, button: QPushButton, reason: str, help_text: str) -> None:
        button.setEnabled(not reason)
        button.setToolTip(reason or help_text)

    def _choose(self) -> None:
        run = self.selected_run()
        if run is not None:
            self.chosen.emit(run)

    def _resume(self) -> None:
        run = self.selected_run()
        if run is not None:
            self.resumed.emit(run)

    def _compare(self) -> None:
        run = self.selected_run()
        if run is not None:
            self.compared.emit(run)

    def _show_folder(self) -> None:
        run = self.selected_run()
        if run is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.path)))

    @guard
    def showEvent(self, event: object) -> None:
        """Follow the folders while somebody looks."""
        self.refresh()
        self._timer.start()

    @guard
    def hideEvent(self, event: object) -> None:
        """Leave the folders alone."""
        self._timer.stop()


def _status(run: RunFolder) -> RunStatus | None:
    try:
        return run.status()
    except (WorkerError, OSError):
        return None


def _why_not_resumed(status: RunStatus | None, *, has_snapshot: bool) -> str:
    """Return why a run cannot go on from its last snapshot, and what to do; empty where it can."""
    if status is not None and status.active:
        return "It is training."
    if not has_snapshot:
        return "It has no snapshot."
    if status is not None and status.state == "finished" and 0 < status.max_iter <= status.iteration:
        done = f"All its {formats.count(status.max_iter)} iterations are done."
        return f"{done} To go on, raise max_iter in the solver and open the run's last .solverstate."
    return ""


def _fill(item: QTreeWidgetItem, run: RunFolder) -> None:
    status = _status(run)
    item.setToolTip(0, str(run.path))
    texts = [run.name, "unreadable", "", "", ""]
    if status is not None:
        end = f" / {formats.count(status.max_iter)}" if status.max_iter else ""
        score = next((value for name, value in scalars(status.outputs).items() if not is_loss(name)), None)
        texts = [run.name, status.state, formats.count(status.iteration) + end]
        texts += [formats.score(score), formats.number(status.loss)]
        item.setToolTip(1, status.message)
    for column, text in enumerate(texts):
        item.setText(column, text)
    item.setData(0, Qt.ItemDataRole.AccessibleTextRole, row_words(texts, ("", "", "iteration", "score", "loss")))
