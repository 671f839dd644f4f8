"""An open net: its graph, file, history, places, selection, and what is computed about it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.document.ahead import Ahead
from app.document.assumptions import Assumptions
from app.document.bridge import GraphBridge, Selection
from app.document.commands import SwapCommand
from app.document.dialect import DialectChoice, DialectCommand
from app.document.editing import Editable
from app.document.known import KnownFacts
from app.document.netfile import ChangedOnDiskError, FileState, LayoutNotSavedError, read_net_file
from app.document.placement import Placement, Point, named_nodes, read_view
from app.document.solverfile import find_solver
from app.jobs import Jobs
from app.live import LiveFacts
from app.qt import guard
from app.solver.link import SolverLink
from engine.files import atomic_write
from engine.graph import ALL, GraphView, OpGraph, View
from engine.schema import find_dialect
from engine.sidecar import sidecar_path

if TYPE_CHECKING:
    from engine.graph import Edge, Events, NodeId

__all__ = ["Document"]

_log = logging.getLogger(__name__)


class Document(KnownFacts, Editable):
    """One net that is open in the editor.

    Parameters
    ----------
    graph : OpGraph
        The net.
    path : Path, optional
        Its file; None for a net that was never saved.

    Attributes
    ----------
    ahead : app.document.ahead.Ahead
        Prepares edits of very much.
    changed : Signal(engine.graph.Events)
        After each change of the graph, its undo and its redo.
    assumptions : app.document.assumptions.Assumptions
        What is assumed of the shapes of data that are not there.
    dialect_changed : Signal()
        The net is read in another dialect, and ``schema`` is another.
    plugins_changed : Signal()
        Plugins were looked for; ``registry`` and ``live.plugins`` may say something else.
    shapes_changed, diagnostics_changed, status_changed : Signal()
        New results in ``shapes``, ``diagnostics``, and marks set by a run.
    view_changed : Signal(engine.graph.View)
        Another net of the document is looked at; see :meth:`set_view`.
    view : engine.graph.View
        Which net of the document is looked at.
    seen : engine.graph.GraphView or None
        What is in it; None where all is.
    identity : str
        What tells this document from all others, whatever their names.
    label : str
        What it is called while it has no file.
    disk : app.document.netfile.FileState
        What its file held when it was last read or written.
    solver : app.solver.link.SolverLink
        The solver at ``solver_path``, as far as it is open.
    weights : Path or None
        The weights file that it was opened from, if it was from one: what is trained or shown of it may begin there.
    waits_for : str
        Why the net cannot be trained yet, in a sentence; see :meth:`set_waits_for`.
    """

    changed = Signal(object)
    path_changed = Signal()
    solver_changed = Signal()
    modified_changed = Signal(bool)
    view_changed = Signal(object)
    dialect_changed = Signal()
    plugins_changed = Signal()
    shapes_changed = Signal()
    diagnostics_changed = Signal()
    status_changed = Signal()

    def __init__(self, graph: OpGraph, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(graph, parent)
        self.path = path
        self.solver_path: Path | None = None
        self.solver = SolverLink(self)
        self.weights: Path | None = None
        self.waits_for = ""
        self.view = View()
        self.seen: GraphView | None = None
        self.selection = Selection(self)
        self.positions = Placement(self)
        self.dialect_choice = DialectChoice(self)
        self.assumptions = Assumptions(self)
        self.jobs = Jobs(self)
        self.ahead = Ahead(self)
        self.bridge = GraphBridge(graph, self)
        self.live = LiveFacts(self)
        self.identity = uuid.uuid4().hex
        self.label = "Untitled"
        self.disk = FileState()
        self._closed = False
        self.bridge.changed.connect(self._graph_changed)
        self.dialect_choice.changed.connect(self._dialect_changed)
        self.assumptions.changed.connect(self.live.refresh)
        self.undo_stack.cleanChanged.connect(self._clean_changed)
        self.undo_stack.postpone = self.ahead.postpone

    # Files

    @classmethod
    def new(cls, parent: QObject | None = None) -> Document:
        """Return an empty, untitled net."""
        return cls(OpGraph.parse(b""), None, parent)

    @classmethod
    def open(
        cls, path: Path | str, parent: QObject | None = None, *, content: tuple[bytes, OpGraph] | None = None
    ) -> Document:
        """Open a net file. No code that the file names is run.

        Parameters
        ----------
        path : Path or str
            The file.
        content : tuple of bytes and OpGraph, optional
            The file as it was read already, and its graph.

        Raises
        ------
        FileFormatError
            When the file is no text or larger than a net can be.
        OSError
            When it cannot be read.
        """
        path = Path(path).absolute()
        if content is None:
            data = read_net_file(path)
            content = data, OpGraph.parse(data)
        data, graph = content
        document = cls(graph, path, parent)
        document.disk.took(path, data)
        sidecar = sidecar_path(path)
        if sidecar.is_file():
            stored = sidecar.read_text(encoding="utf-8", errors="replace")
            document.positions.load_json(document.graph.nodes(), stored, data)
            document.dialect_choice.load(stored)
            document.assumptions.load(stored)
            document._take_view(read_view(stored))
        document.solver_path = find_solver(path)
        return document

    def reload(self) -> None:
        """Take over what another program wrote into the file, as an undoable step: what was edited here is not lost.

        Raises
        ------
        FileFormatError, OSError
            As :meth:`open`; then nothing is changed.
        ValueError
            When the document has no file.
        """
        if self.path is None:
            raise ValueError("the net has no file yet")
        data = read_net_file(self.path)
        self.apply(f"Reload {self.path.name}", lambda graph: graph.replace_text(data))
        self.disk.took(self.path, data)
        self.undo_stack.setClean()
        self.guess_dialect()

    def take_merge(self, merged: bytes, theirs: bytes) -> None:
        """Take over a text that was merged with what the file holds by now, ``theirs``, as an undoable step."""
        if self.path is None:
            raise ValueError("the net has no file yet")
        self.apply(f"Merge changes of {self.path.name}", lambda graph: graph.replace_text(merged))
        self.disk.took(self.path, theirs)
        if merged == theirs:
            self.undo_stack.setClean()
        else:
            self.undo_stack.resetClean()

    def save(self, path: Path | str | None = None, *, force: bool = False) -> None:
        """Write the net, aside and then renamed, and its sidecar when the user arranged it.

        Parameters
        ----------
        path : Path, optional
            Save as; the document then belongs to that file.
        force : bool
            Overwrite changes that another program made.

        Raises
        ------
        ChangedOnDiskError
            When the file is not what was last read or written, and not ``force``.
        LayoutNotSavedError
            When all is saved but the sidecar.
        OSError
            When the net cannot be written.
        ValueError
            When the document has no file yet and no ``path`` is given.
        """
        target = Path(path).absolute() if path is not None else self.path
        if target is None:
            raise ValueError("the net has no file yet")
        if not force and target == self.path and self.changed_on_disk():
            raise ChangedOnDiskError(target)
        self.settle()
        data = bytes(self.graph)
        atomic_write(target, data)
        self.disk.took(target, data)
        moved = target != self.path
        self.path = target
        self.undo_stack.setClean()
        self.modified_changed.emit(False)  # of a file that was gone, the history does not tell
        if moved:
            if self.solver_path is None:
                self.set_solver(find_solver(target))
            self.path_changed.emit()
        try:
            self._save_sidecar(target, data, moved=moved)
        except OSError as error:
            raise LayoutNotSavedError(sidecar_path(target), error) from error

    def follow_file(self, path: Path) -> None:
        """Belong to the file that another program renamed the net's own file to."""
        self.path = path
        self.disk.look_for(path)
        self.path_changed.emit()
        self.modified_changed.emit(self.modified)

    def _save_sidecar(self, target: Path, data: bytes, *, moved: bool) -> None:
        """Write what belongs to the net but not into its text, if the user arranged it or chose something for it."""
        dialect, assumed = self.dialect_choice, self.assumptions
        stored = (None, {}) if moved else (dialect.stored, assumed.stored)
        if self.positions.touched or (dialect.chosen, assumed.shapes) != stored:
            atomic_write(sidecar_path(target), self.sidecar_text(data).encode())
        dialect.stored, assumed.stored = dialect.chosen, assumed.shapes

    def sidecar_text(self, data: bytes) -> str:
        """Return what belongs to the net of this text but not into it: places, dialect, assumed shapes, view."""
        return self.capture_sidecar()(data)

    def capture_sidecar(self) -> Callable[[bytes], str]:
        """Copy what belongs beside the net; the function that is returned writes it for the text, in any thread."""
        nodes = named_nodes(self.graph) if self.positions.touched else ()
        return self.positions.capture(nodes, self.dialect_choice.chosen, self.view, self.assumptions.shapes)

    def changed_on_disk(self) -> bool:
        """Whether another program changed the file; a file that is gone does not count."""
        return self.path is not None and self.disk.changed(self.path)

    @property
    def is_untouched(self) -> bool:
        """Whether it is an empty net without a file or a history, which nobody would miss."""
        untouched = self.path is None and not self.undo_stack.count() and not self.graph.text
        return untouched and self.solver_path is None

    def close(self) -> None:
        """Stop everything that works for this document; it cannot be used any more.

        The history is emptied here and not left to the garbage collector, which may free the commands before the
        stack that deletes them.
        """
        if self._closed:
            return
        self._closed = True
        self.ahead.close()
        self.live.close()
        self.solver.close()
        self.undo_stack.cleanChanged.disconnect(self._clean_changed)
        self.undo_stack.postpone = lambda _step: False
        self.undo_stack.clear()
        self.bridge.close()

    @property
    def modified(self) -> bool:
        """Whether there is something of the net to save."""
        return not self.undo_stack.isClean()

    @property
    def unsaved(self) -> bool:
        """Whether there is something to save, of the net or of its solver; what lost its file is."""
        return self.modified or self.disk.gone or self.solver.modified or self.ahead.pending

    @property
    def title(self) -> str:
        """Name to show: the file's, or the label of a net without one."""
        return self.path.name if self.path else self.label

    @property
    def solver_text(self) -> str | None:
        """Text of the solver as it is edited, or of its file; None without one."""
        return self.solver.text

    def set_solver(self, path: Path | None) -> None:
        """Choose the solver that trains this net."""
        if path != self.solver_path:
            self.solver_path = path
            self.solver_changed.emit()

    def set_waits_for(self, reason: str) -> None:
        """Say what must be there before this net can be trained; an empty text when it is."""
        if reason != self.waits_for:
            self.waits_for = reason
            self.solver_changed.emit()

    # Edits

    def settle(self) -> None:
        """Keep what a gesture that is still going on has done so far, and make the edit that is being prepared."""
        super().settle()
        self.ahead.finish()

    def move_nodes(
        self, points: Mapping[NodeId, Point], text: str = "", before: Mapping[NodeId, Point] | None = None
    ) -> None:
        """Move nodes in one undoable step.

        Parameters
        ----------
        points : mapping of node id to Point
            New places, in scene pixels.
        before : mapping of node id to Point, optional
            Where they were, when they are shown at their new places already.
        """
        old = dict(before) if before is not None else self.positions.of(points)
        if all(old.get(node_id) == point for node_id, point in points.items()):
            return
        self.positions.move(points)
        label = text or ("Move node" if len(points) == 1 else f"Move {len(points)} nodes")
        self.undo_stack.push(SwapCommand(label, self.positions.move, old, points, self._command_failed))

    def set_view(self, view: View) -> None:
        """Look at one net of the document, or at all of it: what is not in the view is dimmed, the rest follows.

        No step of the history, for no net is another.
        """
        if view != self.view:
            self._take_view(view)
            self.live.view_changed()
            self.view_changed.emit(view)

    def _take_view(self, view: View) -> None:
        self.view = view
        self.seen = None if view.show == ALL else self.graph.look(view)

    def in_view(self, item: NodeId | Edge) -> bool:
        """Whether a node or a wire is in the view that is looked at."""
        return self.seen is None or item in self.seen

    def set_dialect(self, name: str | None) -> None:
        """Read the net in a dialect, in one undoable step; None leaves it to what the net looks like.

        Raises
        ------
        SchemaError
            If there is no such dialect.
        """
        label = "Guess the dialect" if name is None else f"Read as {find_dialect(name).title}"
        before = self.dialect_choice.chosen
        if name != before:
            self.dialect_choice.choose(name)
            self.undo_stack.push(DialectCommand(label, self.dialect_choice, before, self._command_failed))

    def guess_dialect(self) -> None:
        """Find out off the window's thread which dialect the net looks like."""
        self.dialect_choice.look(bytes(self.graph), self.jobs)

    @guard
    def _dialect_changed(self) -> None:
        self.live.dialect_changed()
        self.dialect_changed.emit()

    @guard
    def _clean_changed(self, clean: bool) -> None:
        self.modified_changed.emit(not clean)

    def _graph_changed(self, events: Events) -> None:
        if events.removed:
            self.selection.remove(events.removed)
        self.live.graph_changed(events)
        self.changed.emit(events)
