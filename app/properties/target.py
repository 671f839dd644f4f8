"""What a form reads from and writes to: the fields of the selected layers, through undoable edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Protocol

from app.properties.snapshot import Entry, Path, Snapshot

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId, OpGraph
    from engine.plugins import ParamStrSchema
    from engine.schema import Schema

__all__ = ["FieldState", "LayerTarget", "Target"]


@dataclass(frozen=True, slots=True)
class FieldState:
    """What the file says about one field.

    Attributes
    ----------
    entries : tuple of Entry
        The values; empty where the field is absent.
    mixed : bool
        The selected layers differ; ``entries`` are the first one's.
    """

    entries: tuple[Entry, ...] = ()
    mixed: bool = False

    @property
    def written(self) -> str | None:
        """The value that counts, as written; None where the field is absent."""
        return self.entries[-1].text if self.entries else None

    @property
    def is_set(self) -> bool:
        """Whether the file says anything."""
        return bool(self.entries) or self.mixed


class Target(Protocol):
    """The fields of one message, or of several that are edited at once.

    Writing raises :class:`engine.errors.GraphError` when a rule refuses the edit; then nothing has changed.
    """

    @property
    def schema(self) -> Schema:
        """The schema of the fields."""

    @property
    def folder(self) -> FilePath | None:
        """Folder that relative paths belong to."""

    @property
    def is_single(self) -> bool:
        """Whether one message is edited, not several at once."""

    def state(self, path: Path) -> FieldState:
        """Return what the file says at ``path``."""

    def group(self, path: Path) -> Snapshot:
        """Return the message at ``path``, an empty one where there is none."""

    def write(self, path: Path, text: str) -> None:
        """Set the field at ``path`` to a value given as prototxt."""

    def write_list(self, path: Path, texts: Sequence[str]) -> None:
        """Give a repeated field these values, touching only those that change."""

    def append(self, path: Path, text: str) -> None:
        """Add an entry to a repeated field."""

    def clear(self, path: Path) -> None:
        """Take a field, or an entry of one, out of the text."""

    def replace_value(self, path: Path, old: str, new: str, label: str) -> None:
        """Replace the text of one value if it is still ``old``."""


class LayerTarget:
    """The fields of the layers with these ids.

    Parameters
    ----------
    document : Document
        The document that is edited.
    ids : sequence of node ids
        Layers of one type; at least one.
    """

    def __init__(self, document: Document, ids: Sequence[NodeId]) -> None:
        self.document = document
        self.ids = tuple(ids)
        self._snapshots: tuple[Snapshot, ...] = ()
        self.refresh()

    def refresh(self) -> bool:
        """Read the layers again; return whether anything differs from before."""
        graph = self.document.graph
        # The node of the net's own inputs has the whole file as its message, and no form.
        snapshots = tuple(
            Snapshot() if graph.node(node_id).virtual else Snapshot.of(graph.message(node_id)) for node_id in self.ids
        )
        changed = snapshots != self._snapshots
        self._snapshots = snapshots
        return changed

    @property
    def schema(self) -> Schema:
        """The schema of the fields."""
        return self.document.schema

    @property
    def folder(self) -> FilePath | None:
        """Folder that relative paths belong to."""
        return self.document.path.parent if self.document.path is not None else None

    @property
    def is_single(self) -> bool:
        """Whether one layer is edited, not several at once."""
        return len(self.ids) == 1

    @property
    def layer_type(self) -> str:
        """Type of the layers, as written."""
        return self._snapshots[0].scalar("type")

    @property
    def param_schema(self) -> ParamStrSchema | None:
        """What the ``param_str`` of these Python layers may hold, where their plugin says so."""
        module, layer = (self._snapshots[0].scalar("python_param", name) for name in ("module", "layer"))
        known = self.document.live.python_layers.get((module, layer))
        return known.param_str if known is not None else None

    @property
    def present(self) -> frozenset[str]:
        """Names of the fields that any of the layers has."""
        return frozenset().union(*(snapshot.names() for snapshot in self._snapshots))

    def state(self, path: Path) -> FieldState:
        """Return what the file says at ``path``."""
        first = self._snapshots[0].entries(path)
        mixed = any(_texts(other.entries(path)) != _texts(first) for other in self._snapshots[1:])
        return FieldState(first, mixed)

    def group(self, path: Path) -> Snapshot:
        """Return the message at ``path`` of the first layer, an empty one where there is none."""
        return self._snapshots[0].group(path)

    def write(self, path: Path, text: str) -> None:
        """Set the field at ``path`` of every layer to a value given as prototxt."""
        self._apply(
            f"Set {_spell(path)} of {self._whose()} to {_short(text)}",
            lambda graph, node_id: graph.set_field(node_id, path, text),
        )

    def write_list(self, path: Path, texts: Sequence[str]) -> None:
        """Give a repeated field these values, touching only those that change."""
        label = f"Set {_spell(path)} of {self._whose()} to {_short(', '.join(texts)) or 'nothing'}"
        self._apply(label, lambda graph, node_id: self._edit_list(graph, node_id, path, texts))

    def append(self, path: Path, text: str) -> None:
        """Add an entry to a repeated field."""
        self._apply(
            f"Add {_spell(path)} to {self._whose()}", lambda graph, node_id: graph.append_field(node_id, path, text)
        )

    def clear(self, path: Path) -> None:
        """Take a field, or an entry of one, out of the text of every layer."""
        label = f"Reset {_spell(path)} of {self._whose()}"
        if isinstance(path[-1], int):
            label = f"Remove {_spell(path)} from {self._whose()}"

        def clear(graph: OpGraph, node_id: NodeId) -> None:
            if graph.field(node_id, path) is not None:
                graph.clear_field(node_id, path)

        self._apply(label, clear)

    def replace_value(self, path: Path, old: str, new: str, label: str) -> None:
        """Replace the text of one value in each layer where it is still ``old``."""

        def replace(graph: OpGraph, node_id: NodeId) -> None:
            if self._written(graph, node_id, path) == old:
                graph.set_field(node_id, path, new)

        self._apply(f"{label} of {self._whose()}", replace)

    def _edit_list(self, graph: OpGraph, node_id: NodeId, path: Path, texts: Sequence[str]) -> None:
        old = [entry.text for entry in Snapshot.of(graph.message(node_id)).entries(path)]
        if old == list(texts):
            return
        if not texts:
            graph.clear_field(node_id, path)
            return
        for index in range(len(old) - 1, len(texts) - 1, -1):
            graph.clear_field(node_id, (*path, index))
        for index, (before, after) in enumerate(zip(old, texts, strict=False)):
            if before != after:
                graph.set_field(node_id, (*path, index), after)
        for text in texts[len(old) :]:
            graph.append_field(node_id, path, text)

    def _written(self, graph: OpGraph, node_id: NodeId, path: Path) -> str | None:
        entries = Snapshot.of(graph.message(node_id)).entries(path)
        return entries[-1].text if entries else None

    def _apply(self, label: str, edit: Callable[[OpGraph, NodeId], object]) -> None:
        def run(graph: OpGraph) -> None:
            for node_id in self.ids:
                edit(graph, node_id)

        self.document.apply(label, run)

    def _whose(self) -> str:
        if self.is_single:
            return self._snapshots[0].scalar("name") or "layer"
        return f"{len(self.ids)} layers"


def _texts(entries: Sequence[Entry]) -> list[str]:
    return [entry.text for entry in entries]


def _spell(path: Path) -> str:
    """Return a path as a history entry names it: ``weight_filler.std``, ``param 2``."""
    names = [str(step + 1) if isinstance(step, int) else step for step in path[-2:]]
    if len(names) == 2 and isinstance(path[-1], int):
        return f"{names[0]} {names[1]}"
    if len(path) > 1 and isinstance(path[-2], str) and not path[-2].endswith("_param"):
        return ".".join(names)
    return names[-1]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"
