"""Measured times of the layers of a document: the net runs forward and backward in a process of its own."""

from __future__ import annotations

import contextlib
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.jobs import Jobs
from app.qt import Debounce, guard
from engine.errors import NetcanvasError
from engine.paths import search_folders

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId
    from engine.rules import NetState
    from engine.timing import LayerTimes, NetTimes, TimingProcess

__all__ = ["Timings"]

_PATIENCE = 0.5
_LOOK_MS = 60
Tell = Callable[[str, str], object]


class Timings(QObject):
    """What was measured of a document's net, and the measuring.

    Attributes
    ----------
    changed : Signal()
        A measurement began, came to an end, or is out of date, or no more.
    progressed : Signal(int, int)
        So many passes are done, of so many.
    times : mapping of NodeId to LayerTimes
        Of the layers of the net that was measured; empty before.
    whole : NetTimes or None
        Of all its layers, those that no document names too.
    words : str
        Which net was measured, and how.
    is_stale : bool
        Whether the net was changed since it was measured. Undoing the change makes it hold again.
    progress : tuple of int
        Passes done and wanted of what is being measured; 0 wanted before the first.
    """

    changed = Signal()
    progressed = Signal(int, int)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._jobs = Jobs(self)
        self._process: TimingProcess | None = None
        self._cancelled = False
        self._measured = b""
        self._due = Debounce(self._look, _LOOK_MS, self)
        self.times: Mapping[NodeId, LayerTimes] = {}
        self.whole: NetTimes | None = None
        self.words = ""
        self.is_stale = False
        self.progress = (0, 0)
        self.progressed.connect(self._took_step)

    @property
    def is_running(self) -> bool:
        """Whether a measurement is under way."""
        return self._jobs.busy

    def obstacle(self) -> str:
        """Return why nothing can be measured now, in a sentence, or an empty text."""
        document = self._document
        nodes = [node for node in document.graph.nodes() if not node.virtual]
        if not nodes:
            return "The net is empty. Add layers first (Tab)."
        loose = next((node for node in nodes if "?" in node.bottoms), None)
        if loose is not None:
            return f"{loose.heading} has an open bottom. Connect it first."
        foreign = next((node for node in nodes if node.type == "Python"), None)
        if foreign is not None and document.path is not None and not document.live.trusted:
            return f"Measuring runs the code of {foreign.heading}. Trust the project's plugins first."
        return ""

    def measure(self, tell: Tell) -> None:
        """Measure the net that is looked at, or the one that trains; what stands in the way is told.

        Parameters
        ----------
        tell : callable
            Given a text and its kind: ``info``, ``warning`` or ``error``.
        """
        obstacle = self.obstacle()
        if obstacle:
            tell(f"Nothing can be measured. {obstacle}", "warning")
            return
        if self.is_running:
            return
        document = self._document
        document.settle()
        text = bytes(document.graph)
        state, members = self._net()
        base_dirs = search_folders(document.path.parent if document.path else None)
        plugin_folders = document.plugin_paths
        self._cancelled = False
        self.progress = (0, 0)

        def work() -> NetTimes | None:
            from engine.timing import TimingProcess, TimingRequest

            if self._is_cancelled():
                return None
            self._process = process = TimingProcess(TimingRequest(text, state, tuple(base_dirs), tuple(plugin_folders)))
            if self._cancelled:
                process.stop()
            return process.wait(self._tell_progress)

        def done(found: NetTimes | None) -> None:
            self._process = None
            if found is not None:
                self._take(found, members, text, state)
            self.changed.emit()

        def failed(error: Exception) -> None:
            self._process = None
            self.changed.emit()
            if not isinstance(error, NetcanvasError):
                raise error
            tell(f"The net could not be measured. {error}", "error")

        self._jobs.submit("times", work, done, failed)
        self.changed.emit()

    def cancel(self) -> None:
        """Stop measuring; what was measured before stays."""
        self._cancelled = True
        process = self._process
        if process is not None:
            process.stop()

    def _is_cancelled(self) -> bool:
        return self._cancelled

    def graph_changed(self) -> None:
        """Look whether what was measured still holds."""
        if self.times:
            self._due.trigger()

    def close(self) -> None:
        """Stop measuring; nothing is told any more."""
        self._due.cancel()
        self.cancel()
        self._jobs.close(_PATIENCE)

    def _net(self) -> tuple[NetState, frozenset[NodeId]]:
        """Return the net to measure: the one in view, or the first that trains, or the first."""
        document = self._document
        if document.seen is not None:
            return document.seen.state, frozenset(document.seen.node_ids())
        states = document.graph.states
        state = next((each for each in states if each.phase == "TRAIN"), states[0])
        return state, document.graph.taking_part(state)

    def _tell_progress(self, done: int, of: int) -> None:
        with contextlib.suppress(RuntimeError):  # the document was closed meanwhile
            self.progressed.emit(done, of)

    @guard
    def _took_step(self, done: int, of: int) -> None:
        self.progress = (done, of)

    def _take(self, found: NetTimes, members: frozenset[NodeId], text: bytes, state: NetState) -> None:
        self.whole = found
        graph = self._document.graph
        nodes = (graph.node(each) for each in graph.node_ids() if each in members)
        self.times = match_layers(found.layers, ((node.id, node.name) for node in nodes if not node.virtual))
        stages = f", {', '.join(sorted(state.stages))}" if state.stages else ""
        self.words = f"{state.phase}{stages}: {found.both.median:.3g} ms a pass forward and backward"
        self._measured = _digest(text)
        self.is_stale = _digest(bytes(graph)) != self._measured

    def _look(self) -> None:
        is_stale = _digest(bytes(self._document.graph)) != self._measured
        if is_stale != self.is_stale:
            self.is_stale = is_stale
            self.changed.emit()


def match_layers(layers: Iterable[LayerTimes], nodes: Iterable[tuple[NodeId, str]]) -> dict[NodeId, LayerTimes]:
    """Find the node of each measured layer: of those with its name, the first that is not taken.

    What a net adds by itself, such as copies for blobs with several readers, belongs to no node.
    """
    waiting: dict[str, list[NodeId]] = defaultdict(list)
    for node, name in nodes:
        waiting[name].append(node)
    return {waiting[layer.name].pop(0): layer for layer in layers if waiting.get(layer.name)}


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).digest()
