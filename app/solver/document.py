"""A solver's file that is open in the editor."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.document import ChangedOnDiskError
from app.document.bridge import GraphBridge
from app.document.editing import Editable
from app.document.netfile import FileState, read_net_file
from app.qt import guard
from engine.errors import NetcanvasError
from engine.files import atomic_write
from engine.graph import Events, OpGraph
from engine.schema import Schema, guess_dialect, load_schema
from engine.solvers.extras import SolverExtras, read_extras

__all__ = ["SolverDocument"]


class SolverDocument(Editable):
    """One solver file, edited byte for byte like a net; its settings are the fields of the file itself.

    Parameters
    ----------
    graph : OpGraph
        The text; it holds no layers.
    path : Path
        Its file.

    Attributes
    ----------
    changed : Signal()
        After each change of the text, its undo and its redo.
    modified_changed : Signal(bool)
        There is something to save, or no longer.
    disk : app.document.netfile.FileState
        What the file held when it was last read or written.
    schema : Schema
        That of the dialect which the file looks like.
    """

    changed = Signal()
    modified_changed = Signal(bool)

    def __init__(self, graph: OpGraph, path: Path, parent: QObject | None = None) -> None:
        super().__init__(graph, parent)
        self.path = path
        self.disk = FileState()
        self.schema: Schema = load_schema(guess_dialect(graph.tree, "SolverParameter").name)
        self.bridge = GraphBridge(graph, self)
        self.bridge.changed.connect(self._graph_changed)
        self.undo_stack.cleanChanged.connect(self._clean_changed)

    @classmethod
    def open(cls, path: Path, parent: QObject | None = None) -> SolverDocument:
        """Open a solver's file.

        Raises
        ------
        FileFormatError
            When it is no text.
        OSError
            When it cannot be read.
        """
        path = path.absolute()
        data = read_net_file(path)
        opened = cls(OpGraph.parse(data), path, parent)
        opened.disk.took(path, data)
        return opened

    @property
    def text(self) -> str:
        """The text as it is edited; bytes that are no UTF-8 as surrogates."""
        return bytes(self.graph).decode("utf-8", "surrogateescape")

    @property
    def modified(self) -> bool:
        """Whether there is something to save."""
        return not self.undo_stack.isClean()

    @property
    def extras(self) -> SolverExtras:
        """What the file beside it adds to Caffe's settings; nothing where it cannot be read."""
        try:
            return read_extras(self.path)
        except NetcanvasError:
            return SolverExtras()

    def changed_on_disk(self) -> bool:
        """Whether another program changed the file."""
        return self.disk.changed(self.path)

    def save(self, *, force: bool = False) -> None:
        """Write the file, aside and then renamed.

        Parameters
        ----------
        force : bool
            Overwrite changes that another program made.

        Raises
        ------
        ChangedOnDiskError
            When the file is not what was last read or written, and not ``force``.
        """
        self.settle()
        if not force and self.changed_on_disk():
            raise ChangedOnDiskError(self.path)
        data = bytes(self.graph)
        atomic_write(self.path, data)
        self.disk.took(self.path, data)
        self.undo_stack.setClean()
        self.modified_changed.emit(False)  # of a file that was gone, the history does not tell

    def reload(self) -> None:
        """Take over what another program wrote into the file, as a step that can be undone."""
        data = read_net_file(self.path)
        self.apply(f"Reload {self.path.name}", lambda graph: graph.replace_text(data))
        self.disk.took(self.path, data)
        self.undo_stack.setClean()

    def close(self) -> None:
        """Forget the history and stop listening; the document cannot be used any more."""
        self.undo_stack.cleanChanged.disconnect(self._clean_changed)
        self.undo_stack.clear()
        self.bridge.close()

    @guard
    def _clean_changed(self, clean: bool) -> None:
        self.modified_changed.emit(not clean)

    @guard
    def _graph_changed(self, _events: Events) -> None:
        self.changed.emit()
