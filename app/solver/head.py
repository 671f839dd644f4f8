"""The head of the solver panel: the file, its history, saving, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.icons import icon
from app.properties.editors.lists import small_button
from app.qt import guard
from app.theme import GRID
from app.widgets.elidedlabel import ElidedLabel
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.solver.document import SolverDocument
    from engine.diagnostics import QuickFix

__all__ = ["SolverHead"]

_MOST_TOLD = 4
_SIGNS = ("\u26a0", "\u2716")  # of a warning and an error


class SolverHead(QWidget):
    """Name and state of a solver's file, with buttons for its own history.

    Attributes
    ----------
    fix_chosen : Signal(engine.diagnostics.QuickFix)
        The user wants something mended.
    """

    fix_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = ElidedLabel("", self, Qt.TextElideMode.ElideMiddle)
        self.name.setObjectName("solver.name")
        self.name.setProperty("heading", True)
        self.undo = small_button("arrow-u-up-left", "Undo", self)
        self.undo.setObjectName("solver.undo")
        self.redo = small_button("arrow-u-up-right", "Redo", self)
        self.redo.setObjectName("solver.redo")
        self.save = small_button("floppy-disk", "Save the solver", self)
        self.save.setObjectName("solver.save")
        self.problems = QLabel(self)
        self.problems.setObjectName("solver.problems")
        self.problems.setWordWrap(True)
        self.problems.hide()
        self.problem = QLabel(self)
        self.problem.setObjectName("solver.problem")
        self.problem.setWordWrap(True)
        self.problem.setProperty("problem", True)
        self.problem.hide()
        self.overwrite = QPushButton("Overwrite", self)
        self.reload = QPushButton("Reload", self)
        self._build()

    def _build(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(0)
        line.addWidget(self.name, 1)
        for button in (self.undo, self.redo, self.save):
            line.addWidget(button)
        self._choices = QWidget(self)
        choices = QHBoxLayout(self._choices)
        choices.setContentsMargins(0, 0, 0, 0)
        choices.addWidget(self.reload)
        choices.addWidget(self.overwrite)
        choices.addStretch(1)
        self._choices.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(line)
        layout.addWidget(self.problem)
        layout.addWidget(self._choices)
        layout.addWidget(self.problems)
        self._fixes = QVBoxLayout()
        self._fixes.setSpacing(GRID)
        layout.addLayout(self._fixes)
        self._solver: SolverDocument | None = None
        self.reload.clicked.connect(self._reload)
        self.overwrite.clicked.connect(self._overwrite)

    def show_solver(self, solver: SolverDocument) -> None:
        """Show what can be done to a solver."""
        if solver is not self._solver or not solver.modified:
            self.say("")
        self._solver = solver
        gone = solver.disk.gone
        if gone:
            self.say(f"'{solver.path.name}' is no longer there. Save it again to keep it.", choices=True)
        self.reload.setVisible(not gone)
        self.overwrite.setText("Save it again" if gone else "Overwrite")
        dot = "\u25cf " if solver.modified or gone else ""
        self.name.setText(f"{dot}{solver.path.name}")
        self.name.setToolTip(str(solver.path))
        stack = solver.undo_stack
        for button, can, word, what in (
            (self.undo, stack.canUndo(), "undo", stack.undoText()),
            (self.redo, stack.canRedo(), "redo", stack.redoText()),
        ):
            button.setEnabled(can)
            button.setToolTip(f"{word.capitalize()} {what}" if can else f"Nothing to {word}")
        self.save.setEnabled(solver.modified or gone)
        self.save.setToolTip("Save the solver" if solver.modified or gone else "Nothing to save: nothing was changed.")

    def diagnose(self, found: Sequence[tuple[str, bool]]) -> None:
        """List what is wrong with the solver, or with it and its net; whether each is an error comes with it."""
        marks = [f"{_SIGNS[is_error]} {text}" for text, is_error in found[:_MOST_TOLD]]
        if len(found) > _MOST_TOLD:
            marks.append(f"and {len(found) - _MOST_TOLD} more; see Problems.")
        is_error = any(is_error for _text, is_error in found)
        self.problems.setText("\n".join(marks))
        self.problems.setTextFormat(Qt.TextFormat.PlainText)
        self.problems.setProperty("problem", is_error)
        self.problems.setProperty("hint", not is_error)
        self.problems.style().unpolish(self.problems)
        self.problems.style().polish(self.problems)
        self.problems.setVisible(bool(marks))

    def offer(self, fixes: Sequence[QuickFix]) -> None:
        """Offer to mend what is wrong, a button for each edit."""
        while (item := self._fixes.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for fix in fixes[:_MOST_TOLD]:
            button = QPushButton(icon("wrench", "accent"), fix.label.replace("&", "&&"), self)
            button.setObjectName("solver.fix")
            button.setToolTip("Mend this in the solver; it can be undone here")
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            button.clicked.connect(partial(self._chosen, fix))
            self._fixes.addWidget(button)

    @guard
    def _chosen(self, fix: QuickFix, _checked: bool = False) -> None:
        self.fix_chosen.emit(fix)

    def say(self, problem: str, *, choices: bool = False) -> None:
        """Say why something did not work; nothing for an empty text."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self._choices.setVisible(choices and bool(problem))

    def look_at_disk(self, solver: SolverDocument) -> None:
        """Take over what another program wrote, or ask where there are changes here too."""
        if solver.disk.look_for(solver.path):
            solver.modified_changed.emit(solver.modified)
        if not solver.changed_on_disk():
            return
        if solver.modified:
            self.say(f"'{solver.path.name}' was changed by another program, and here too.", choices=True)
        else:
            self._reload()

    def _reload(self) -> None:
        self._try(lambda solver: solver.reload())

    def _overwrite(self) -> None:
        self._try(lambda solver: solver.save(force=True))

    def _try(self, action: Callable[[SolverDocument], object]) -> None:
        if self._solver is None:
            return
        try:
            action(self._solver)
        except (NetcanvasError, OSError) as error:
            self.say(str(error))
            return
        self.say("")
        self.show_solver(self._solver)
