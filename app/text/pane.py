"""The text pane: what the widget shows and what the graph says, kept the same both ways."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QShowEvent, QTextCursor
from PySide6.QtWidgets import QLabel, QTabBar, QVBoxLayout, QWidget

from app.qt import Debounce, blocked, guard
from app.text.ahead import ReadAhead
from app.text.askbar import AskBar
from app.text.differing import both, replace_lines
from app.text.filling import Filler
from app.text.findbar import FindBar
from app.text.mending import Mender
from app.text.mirror import TextMirror
from app.text.mistakes import gather
from app.text.moving import Mover
from app.text.pasting import Paster
from app.text.prototxt_edit import PrototxtEdit
from app.text.solver_text import SolverText
from app.theme import GRID, Theme
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Events, NodeId

__all__ = ["TextPane"]

_TYPING_PAUSE_MS = 600
_SELECT_PAUSE_MS = 80
_MOST_MARKS = 200
#: Where so many layers come, go or change, the text follows a little later.
_VAST = 1000
_MOST_SHOWN = 4 * 2**20  # characters; more than that would take the window minutes


class TextPane(QWidget):
    """The net as text.

    Typing becomes one undoable command after a pause, when the focus leaves, or before a shortcut runs; a change of
    the graph replaces only the lines that differ. The selection follows the cursor and the other way round.

    Parameters
    ----------
    document : Document, optional
        What to show; see :meth:`set_document`.
    """

    def __init__(self, document: Document | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("text.pane")
        self.net: Document | None = None
        self.document: Document | SolverText | None = None
        self.mirror = TextMirror()
        self._syncing = False
        self._typed = False
        self._stale = False
        self._own_selection: tuple[NodeId, ...] | None = None
        self.edit = PrototxtEdit(self)
        self.find_bar = FindBar(self.edit, self)
        self.files = QTabBar(self)
        self.files.setObjectName("text.files")
        self.files.setAccessibleName("Net or solver")
        self.files.setDrawBase(False)
        self.files.addTab("")
        self.files.addTab("")
        self.files.currentChanged.connect(lambda index: self.show_solver(bool(index)))
        self.ask_bar = AskBar(self.edit, self)
        self._message = QLabel(self)
        self._message.setProperty("problem", True)
        self._message.setWordWrap(True)
        self._message.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self._message.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.files)
        layout.addWidget(self.find_bar)
        layout.addWidget(self.ask_bar)
        layout.addWidget(self.edit, 1)
        layout.addWidget(self._message)
        self.setFocusProxy(self.edit)
        self._pause = Debounce(self._rested, _TYPING_PAUSE_MS, self)
        self.ahead = ReadAhead(self.commit, self)
        self._refill_due = Debounce(self._refill, 0, self)
        self._select_due = Debounce(self._select_at_cursor, _SELECT_PAUSE_MS, self)
        self.edit.document().contentsChange.connect(self._contents_changed)
        self.edit.cursorPositionChanged.connect(self._cursor_moved)
        self.edit.leaving.connect(self.commit)
        self.edit.undo_asked.connect(self._undo)
        self.filler = Filler(self.edit, self._filled)
        self.paster = Paster(self.edit, _MOST_SHOWN, self._pause.trigger, self._say)
        self.mender = Mender(self.edit, self.commit, self._say)
        self.mover = Mover(self.edit, self.ask_bar, self._say)
        Theme.notifier().changed.connect(self._dress)
        self.set_document(document)

    def set_document(self, document: Document | None) -> None:
        """Show another document, or none."""
        if self.net is not None:
            self.net.solver_changed.disconnect(self._solver_changed)
            self.net.path_changed.disconnect(self._offer_solver)
        self.net = document
        if document is not None:
            document.solver_changed.connect(self._solver_changed)
            document.path_changed.connect(self._offer_solver)
        self._show_source(document)
        self._offer_solver()

    def show_solver(self, shown: bool) -> None:
        """Show the text of the net's solver, or that of the net again."""
        net = self.net
        solver = net.solver.open() if net is not None and shown else None
        if net is not None and shown and solver is None:
            self._say(net.solver.problem)
        self._show_source(net if net is None or solver is None else SolverText(net, solver, self))
        self._offer_solver()

    @guard
    def _solver_changed(self) -> None:
        if self.shows_solver:
            self.show_solver(self.net is not None and self.net.solver_path is not None)
        else:
            self._offer_solver()

    @property
    def shows_solver(self) -> bool:
        """Whether the text is that of the solver."""
        return isinstance(self.document, SolverText)

    @guard
    def _offer_solver(self) -> None:
        """Show both files to choose from where the net has a solver."""
        path = self.net.solver_path if self.net is not None else None
        self.files.setVisible(path is not None)
        if self.net is not None and path is not None:
            with blocked(self.files):
                self.files.setTabText(0, self.net.title)
                self.files.setTabText(1, path.name)
                self.files.setCurrentIndex(int(self.shows_solver))

    def _show_source(self, document: Document | SolverText | None) -> None:
        if self.document is not None:
            self.commit()
            old = self.document
            old.changed.disconnect(self._graph_changed)
            old.selection.changed.disconnect(self._selection_changed)
            old.diagnostics_changed.disconnect(self._show_mistakes)
            if isinstance(old, SolverText):
                old.deleteLater()
        self._typed = self._stale = False
        self._pause.cancel()
        self._refill_due.cancel()
        text = document.graph.text if document is not None else ""
        self.edit.setPlaceholderText("")
        if len(text) > _MOST_SHOWN:
            size = f"{len(text) / 2**20:.0f} MB"
            self.edit.setPlaceholderText(f"The text of this net has {size}, too much to be shown here. Edit the graph.")
            text, document = "", None
        self.document = document
        self.mirror = TextMirror(text)
        self.edit.setReadOnly(True)
        self.filler.fill(self.mirror.lines)
        self.edit.completer.source = document
        self.edit.completer.root = "SolverParameter" if self.shows_solver else "NetParameter"
        self.mender.document = document
        self.mover.document = None if isinstance(document, SolverText) else document
        if document is not None:
            document.changed.connect(self._graph_changed)
            document.selection.changed.connect(self._selection_changed)
            document.diagnostics_changed.connect(self._show_mistakes)
        self._selection_changed()
        self._show_mistakes()

    @guard
    def _filled(self) -> None:
        self.edit.setReadOnly(self.document is None)
        self._mark_selected(scroll=False)
        self._show_mistakes()

    @property
    def pending(self) -> bool:
        """Whether something is typed that the graph does not have yet."""
        return self._typed

    # From the widget to the graph

    def commit(self) -> None:
        """Give what is typed to the graph, as one undoable command."""
        self.paster.finish()
        self._pause.cancel()
        document = self.document
        if not self._typed or document is None:
            return
        self.filler.finish()
        self._typed = False
        text = self.mirror.merge(self.edit.document().toRawText())
        reading = self.ahead.take(document, text)
        if text == document.graph.text:
            self.mirror.accept(text)
            return
        before = self.mirror.text
        self.mirror.accept(text)
        try:
            document.apply("Edit text", lambda graph: graph.replace_text(text, reading))
        except NetcanvasError as error:
            self.mirror.accept(before)
            self._typed = True
            self._say(str(error))
            return
        self._say("")

    @guard
    def _rested(self) -> None:
        """Commit what was typed; where it is long, once it is read."""
        if self.paster.active or not self._typed:  # a paste commits at its end
            return
        self.filler.finish()
        text = self.mirror.merge(self.edit.document().toRawText())
        if self.net is None or self.net is not self.document or not self.ahead.start(self.net, text):
            self.commit()

    def _contents_changed(self, position: int, removed: int, added: int) -> None:
        if self._syncing or self.filler.inserting or self.document is None or (not removed and not added):
            return
        self._typed = True
        self._pause.trigger()

    @guard
    def _undo(self, redo: bool) -> None:
        self.commit()
        if self.document is None or self._typed:
            return
        stack = self.document.undo_stack
        if redo:
            stack.redo()
        else:
            stack.undo()

    # From the graph to the widget

    @guard
    def _graph_changed(self, events: Events) -> None:
        if not events.text_changed or self.document is None:
            return
        if not self.isVisible() and not self._typed:
            self._stale = True
            return
        vast = len(events.added) + len(events.removed) + len(events.changed) >= _VAST
        if vast and not self._typed and self.mirror.text != self.document.graph.text:
            self._stale = True
            self.edit.setReadOnly(True)
            self._refill_due.trigger()
            return
        self._sync()

    def _refill(self) -> None:
        """Show a text of which very much has changed."""
        if self.document is not None and not self.filler.active:
            self.edit.setReadOnly(False)
        if self.document is not None and self._stale:
            self._sync()

    def _sync(self) -> None:
        assert self.document is not None
        if self._typed:
            self.filler.finish()
        self.paster.finish()
        self._stale = False
        text = self.document.graph.text
        if text == self.mirror.text:
            self._mark_selected(scroll=False)
            self._show_mistakes()
            return
        typed, old = self._typed, self.mirror.lines
        if typed:
            text = both(self.mirror, self.edit.document().toRawText(), text)
            shown = TextMirror(self.mirror.merge(self.edit.document().toRawText()))
            change = shown.update(text)
            self.mirror.accept(self.document.graph.text)
        else:
            change = self.mirror.update(text)
        self._syncing = True
        if change is not None and typed:
            replace_lines(self.edit, change)
        elif change is not None:
            self.filler.follow(change, old, self.mirror.lines)
        self._syncing = False
        self._mark_selected(scroll=False)
        self._show_mistakes()

    @guard
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale and self.document is not None:
            self._sync()

    # Selection

    def _cursor_moved(self) -> None:
        if not (self._syncing or self.filler.inserting) and self.edit.hasFocus():
            self._select_due.trigger()

    @guard
    def _select_at_cursor(self) -> None:
        document = self.document
        if document is None or self._typed or self._stale or not self.edit.hasFocus():
            return
        node = document.graph.node_at(self.edit.line_of_cursor() + 1)
        ids = () if node is None else (node,)
        if ids != document.selection.node_ids and ids:
            self._own_selection = ids
            document.selection.set(ids)

    @guard
    def _selection_changed(self) -> None:
        document = self.document
        own = document is not None and self._own_selection == document.selection.node_ids
        self._own_selection = None
        self._mark_selected(scroll=not own)

    def _mark_selected(self, *, scroll: bool) -> None:
        document = self.document
        if document is None or self._stale:
            self.edit.set_marks([])
            return
        graph = document.graph
        ids = [node for node in document.selection.node_ids if node in graph][-_MOST_MARKS:]
        ranges = [graph.line_range(node) for node in ids]
        self.edit.set_marks([(first - 1, last - 1) for first, last in ranges])
        if scroll and ranges:
            self._reveal(*ranges[-1])

    def _reveal(self, first: int, last: int) -> None:
        """Scroll to a layer and, unless someone types here, put the cursor on its first line."""
        if last > self.edit.blockCount() and self.filler.active:
            self.filler.when_there(last, partial(self._mark_selected, scroll=True))
            return
        bar = self.edit.verticalScrollBar()
        rows = max(bar.pageStep(), 1)
        top = bar.value()
        document = self.edit.document()
        start, end = (document.findBlockByNumber(line - 1).firstLineNumber() for line in (first, last))
        if start < top or end >= top + rows:
            above = max((rows - (end - start + 1)) // 2, 2)
            bar.setValue(max(start - above, 0))
        if not self.edit.hasFocus():
            self._syncing = True
            self.edit.setTextCursor(QTextCursor(self.edit.document().findBlockByNumber(first - 1)))
            bar.setValue(max(bar.value(), 0))
            self._syncing = False

    def reveal_line(self, line: int, column: int = 1) -> None:
        """Put the cursor at a 1-based place of the net and show it."""
        if self.shows_solver:
            self.show_solver(False)
        if line > self.edit.blockCount() and self.filler.active:
            self.filler.when_there(line, partial(self.reveal_line, line, column))
            return
        block = self.edit.document().findBlockByNumber(max(line - 1, 0))
        if not block.isValid():
            return
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + min(max(column - 1, 0), max(block.length() - 1, 0)))
        self._syncing = True
        self.edit.setTextCursor(cursor)
        self._syncing = False
        self.edit.centerCursor()

    # What is wrong

    @guard
    def _show_mistakes(self) -> None:
        document = self.document
        if document is None:
            self.edit.set_mistakes([])
            return
        if self._typed or self._stale:
            return
        self.edit.set_mistakes(gather(document.graph, document.diagnostics))

    def _say(self, problem: str) -> None:
        self._message.setText(problem)
        self._message.setVisible(bool(problem))

    @guard
    def _dress(self, theme: Theme) -> None:
        self.edit.dress(theme)
