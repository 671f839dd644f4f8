"""The solver of the net in view: its learning rate as a picture, its settings as a form, edited in place."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget

from app.properties.editors.edits import ValueEdit, is_undo_key
from app.properties.fieldgroups import FieldGroups
from app.properties.formarea import FormArea
from app.properties.rows.row import asks_for_help
from app.properties.snapshot import Path
from app.properties.style import dress_names, panel_stylesheet
from app.qt import Debounce, guard
from app.solver.creating import create_solver, why_not
from app.solver.head import SolverHead
from app.solver.plot import SchedulePlot
from app.solver.schedule import read_schedule
from app.solver.target import SolverTarget, solver_groups
from app.theme import GRID, Theme
from app.widgets.searchline import search_line
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from app.solver.document import SolverDocument
    from engine.diagnostics import QuickFix

__all__ = ["SolverPanel"]


class SolverPanel(QWidget):
    """Shows and edits the solver of a net; its history is its own, and Ctrl+Z in the panel goes back in that.

    Parameters
    ----------
    document : Document, optional
        The net; see :meth:`set_document`.

    Attributes
    ----------
    solver : SolverDocument or None
        What is edited.
    created : Signal(Document, Path, bytes)
        A solver was written for a net; the file and what it says.
    """

    created = Signal(object, object, bytes)

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("solver.panel")
        self.document: Document | None = None
        self.solver: SolverDocument | None = None
        self.target: SolverTarget | None = None
        self.fields: FieldGroups | None = None
        self._folds: dict[str, bool] = {}
        self._due = Debounce(self._show_schedule, 0, self)
        self._build()
        Theme.notifier().changed.connect(self._dress)
        self.setStyleSheet(panel_stylesheet())
        self.set_document(document)

    def _build(self) -> None:
        self.head = SolverHead(self)
        self.head.undo.clicked.connect(self._undo)
        self.head.redo.clicked.connect(self._redo)
        self.head.save.clicked.connect(self.save)
        self.head.fix_chosen.connect(self._mend)
        self.plot = SchedulePlot(self)
        self.search_line = search_line("solver.search", "Search settings", self, glass=True)
        self.search_line.textChanged.connect(self._search)
        self.hint = QLabel(self)
        self.hint.setObjectName("solver.hint")
        self.hint.setWordWrap(True)
        self.hint.setProperty("muted", True)
        self.create_button = QPushButton("New solver beside the net", self)
        self.create_button.setObjectName("solver.create")
        self.create_button.clicked.connect(self._create)
        self.area = FormArea(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        top = QVBoxLayout()
        top.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 0)
        top.setSpacing(2 * GRID)
        for widget in (self.head, self.plot, self.search_line, self.hint, self.create_button):
            top.addWidget(widget)
        layout.addLayout(top)
        layout.addWidget(self.area, 1)
        layout.addStretch(0)  # takes the room where there is no form
        self.setMinimumWidth(65 * GRID)
        self.setFocusProxy(self.search_line)
        self._add_find()

    def _add_find(self) -> None:
        find = QAction("Search in the solver", self)
        find.setObjectName("solver.find")
        find.setShortcuts(QKeySequence.keyBindings(QKeySequence.StandardKey.Find))
        find.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.triggered.connect(self._start_search)
        self.addAction(find)

    @guard
    def _start_search(self, _checked: bool = False) -> None:
        self.search_line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search_line.selectAll()

    # What is shown

    def set_document(self, document: Document | None) -> None:
        """Show the solver of another net, or none."""
        if self.document is not None:
            self.document.solver_changed.disconnect(self._solver_chosen)
            self.document.diagnostics_changed.disconnect(self._diagnose)
        self.document = document
        if document is not None:
            document.solver_changed.connect(self._solver_chosen)
            document.diagnostics_changed.connect(self._diagnose)
        self._solver_chosen()
        self._diagnose()  # of a solver that the net before has too, another net tells something else

    @guard
    def _solver_chosen(self) -> None:
        """Show the solver that the net names now."""
        solver = self.document.solver.open() if self.document is not None else None
        if solver is None or solver is not self.solver:
            self._show(solver)

    def _show(self, solver: SolverDocument | None) -> None:
        self.commit()
        if self.solver is not None:
            self.solver.changed.disconnect(self._changed)
            self.solver.undo_stack.indexChanged.disconnect(self._show_head)
            self.solver.modified_changed.disconnect(self._show_head)
        self.solver = solver
        if solver is not None:
            solver.changed.connect(self._changed)
            solver.undo_stack.indexChanged.connect(self._show_head)
            solver.modified_changed.connect(self._show_head)
        self._make_form()
        self._show_head()
        self._show_schedule()
        for widget in (self.head, self.plot, self.search_line, self.area):
            widget.setVisible(solver is not None)
        self._show_hint()

    def _make_form(self) -> None:
        if self.fields is not None:
            self.fields.hide()
            self.area.forms.removeWidget(self.fields)
            self.fields.deleteLater()
        self.fields = self.target = None
        if self.solver is None:
            return
        self.target = SolverTarget(self.solver)
        groups = solver_groups(self.target.schema)
        self.fields = FieldGroups(self.target, groups, self._folds, self.target.unknown, self.area.body)
        self.area.forms.addWidget(self.fields)
        self.area.forms.setAlignment(self.fields, Qt.AlignmentFlag.AlignTop)
        self._search(self.search_line.text())
        self._diagnose()

    def _show_hint(self) -> None:
        document = self.document
        problem = document.solver.problem if document is not None else ""
        reason = "Open a net first." if document is None else why_not(document)
        text = problem or "This net has no solver yet, the file that says how it is trained."
        self.hint.setText(text if self.solver is None else "")
        self.hint.setVisible(self.solver is None)
        self.create_button.setVisible(self.solver is None and not problem)
        self.create_button.setEnabled(not reason)
        self.create_button.setToolTip(reason)

    @guard
    def _changed(self) -> None:
        if self.target is not None and self.fields is not None and self.target.refresh():
            self.fields.refresh()
        self._due.trigger()

    @guard
    def _show_head(self, _value: object = None) -> None:
        if self.solver is not None:
            self.head.show_solver(self.solver)

    def _show_schedule(self) -> None:
        if self.solver is not None:
            root = self.solver.graph.tree.root
            self.plot.show_schedule(read_schedule(root, self.solver.schema, self.solver.extras.warm_up))

    @guard
    def _diagnose(self) -> None:
        if self.document is None or self.fields is None or self.solver is None:
            return
        named = [each for each in self.document.diagnostics if each.file == self.solver.path]
        found: dict[Path, tuple[str, bool]] = {}
        for each in sorted(named, key=lambda each: each.severity != "error"):
            text = f"{each.message} {each.next_step}".strip().removeprefix("Solver: ")
            found.setdefault(each.field, (text[:1].upper() + text[1:], each.severity == "error"))
        self.head.diagnose([(text, is_error) for text, is_error in found.values()])
        self.head.offer(list({fix.label: fix for each in named for fix in each.fixes}.values()))
        self.fields.diagnose(found)

    @guard
    def _dress(self, _theme: Theme) -> None:
        dress_names(self)

    # What the user does

    def commit(self) -> None:
        """Write what is typed into the focused field and not committed yet; call it before saving or training."""
        focused = QApplication.focusWidget()
        if isinstance(focused, ValueEdit) and self.isAncestorOf(focused):
            focused.commit()

    def look_at_disk(self) -> None:
        """Take over what another program wrote into the file, or ask; say it where the file is gone."""
        if self.solver is not None:
            self.head.look_at_disk(self.solver)

    def save(self, *, force: bool = False) -> bool:
        """Save the solver alone; return whether that worked. What is in the way is said in the panel."""
        self.commit()
        if self.solver is None:
            return False
        try:
            self.solver.save(force=force)
        except (NetcanvasError, OSError) as error:
            self.head.say(str(error))
            return False
        self._show_head()
        return True

    @guard
    def _mend(self, fix: QuickFix) -> None:
        if self.solver is None:
            return
        try:
            self.solver.apply(fix.label, fix.apply)
        except NetcanvasError as error:
            self.head.say(str(error))

    def _undo(self) -> None:
        if self.solver is not None:
            self.solver.undo_stack.undo()

    def _redo(self) -> None:
        if self.solver is not None:
            self.solver.undo_stack.redo()

    def _create(self) -> None:
        if self.document is None:
            return
        try:
            made: FilePath = create_solver(self.document)
            text = made.read_bytes()
        except OSError as error:
            self.hint.setText(f"The solver was not written: {error.strerror or error}.")
            return
        self.document.set_solver(made)
        self.search_line.setFocus()  # the button goes away, and the keyboard would go to some other panel
        self.created.emit(self.document, made, text)

    def _search(self, text: str) -> None:
        if self.fields is not None:
            self.fields.search(text.strip().lower())

    # Events

    @guard(default=False)
    def event(self, event: QEvent) -> bool:
        is_key = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if is_key and is_undo_key(event) and self.solver is not None:  # type: ignore[arg-type]
            event.accept()  # the solver's own history, not the net's
            return True
        if asks_for_help(self, event):
            return True
        if event.type() == QEvent.Type.WindowActivate:
            self.look_at_disk()
        return super().event(event)

    @guard
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.search_line.text():
            self.search_line.clear()
        elif self.solver is not None and event.matches(QKeySequence.StandardKey.Undo):
            self._undo()
        elif self.solver is not None and is_undo_key(event):
            self._redo()
        else:
            super().keyPressEvent(event)
