"""What a form reads from and writes to: the fields of the selected layers, through undoable edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Protocol

from app.properties.snapshot import Entry, Path, Snapshot

if TYPE_CHECKING:
    from app.document import Document
    from app.document.editing import Editable, Trial
    from engine.graph import NodeId, OpGraph
    from engine.plugins import ParamStrSchema, PythonLayerInfo
    from engine.schema import Schema

__all__ = ["FieldState", "GraphTarget", "LayerTarget", "Rewrite", "Target"]

#: Which parameter of its layer a filler fills.
_FILLED = {"weight_filler": 0, "filler": 0, "bias_filler": 1}

#: Makes the values of a field from those that are written.
Rewrite = Callable[[Sequence[str]], Sequence[str]]


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

    def param_shape(self, path: Path) -> tuple[int, ...] | None:
        """Return the shape of the parameter that the filler at ``path`` fills; None where it is not known."""

    def write(self, path: Path, text: str) -> None:
        """Set the field at ``path`` to a value given as prototxt."""

    def write_list(self, path: Path, texts: Sequence[str]) -> None:
        """Give a repeated field these values, touching only those that change."""

    def rewrite(self, path: Path, change: Rewrite, label: str) -> None:
        """Give each message that is edited values of its own, made from those it has, in one step."""

    def try_rewrite(self, path: Path, change: Rewrite, label: str) -> None:
        """Show what :meth:`rewrite` would do, in place of what was shown before; see :meth:`end_trial`."""

    def end_trial(self, *, keep: bool) -> None:
        """Make what is shown a step of the history, or leave everything as it was."""

    def append(self, path: Path, text: str) -> None:
        """Add an entry to a repeated field."""

    def move(self, path: Path, to: int) -> None:
        """Move an entry of a repeated field; the path ends in the index that it has."""

    def clear(self, path: Path) -> None:
        """Take a field, or an entry of one, out of the text."""

    def replace_value(self, path: Path, old: str, new: str, label: str) -> None:
        """Replace the text of one value if it is still ``old``."""


class GraphTarget:
    """The fields of messages of one graph, edited together.

    Parameters
    ----------
    document : Editable
        The document that is edited.
    ids : sequence of node ids or None
        Layers of one type, at least one; None for the fields of the file itself.
    """

    def __init__(self, document: Editable, ids: Sequence[NodeId | None]) -> None:
        self._edited = document
        self._ids = tuple(ids)
        self._snapshots: tuple[Snapshot, ...] = ()
        self._trial: Trial | None = None
        self.refresh()

    def refresh(self) -> bool:
        """Read the messages again; return whether anything differs from before."""
        snapshots = tuple(self._read(node_id) for node_id in self._ids)
        changed = snapshots != self._snapshots
        self._snapshots = snapshots
        return changed

    def _read(self, node_id: NodeId | None) -> Snapshot:
        return Snapshot.of(self._edited.graph.message(node_id))

    @property
    def is_single(self) -> bool:
        """Whether one message is edited, not several at once."""
        return len(self._ids) == 1

    def param_shape(self, path: Path) -> tuple[int, ...] | None:
        """Return the shape of the parameter that the filler at ``path`` fills; None where it is not known."""
        return None

    @property
    def present(self) -> frozenset[str]:
        """Names of the fields that any of the messages has."""
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

    def rewrite(self, path: Path, change: Rewrite, label: str) -> None:
        """Give each message values of its own, made from those it has, in one step."""
        self._edited.apply(*self._rewriting(path, change, label))

    def try_rewrite(self, path: Path, change: Rewrite, label: str) -> None:
        """Show what :meth:`rewrite` would do, in place of what was shown before."""
        if self._trial is None or self._trial.is_over:
            self._trial = self._edited.try_out()
        self._trial.attempt(*self._rewriting(path, change, label))

    def end_trial(self, *, keep: bool) -> None:
        """Make what is shown a step of the history, or leave everything as it was."""
        trial, self._trial = self._trial, None
        if trial is not None and not trial.is_over:
            (trial.keep if keep else trial.drop)()

    def move(self, path: Path, to: int) -> None:
        """Move an entry of a repeated field of every message; the path ends in the index that it has."""
        label = f"Move {_spell(path)} of {self._whose()}"
        self._apply(label, lambda graph, node_id: graph.move_field(node_id, path, to))

    def _rewriting(self, path: Path, change: Rewrite, label: str) -> tuple[str, Callable[[OpGraph], None]]:
        def run(graph: OpGraph) -> None:
            for node_id in self._ids:
                old = [entry.text for entry in Snapshot.of(graph.message(node_id)).entries(path)]
                self._edit_list(graph, node_id, path, change(old))

        return f"{label} of {self._whose()}", run

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

        def clear(graph: OpGraph, node_id: NodeId | None) -> None:
            if graph.field(node_id, path) is not None:
                graph.clear_field(node_id, path)

        self._apply(label, clear)

    def replace_value(self, path: Path, old: str, new: str, label: str) -> None:
        """Replace the text of one value in each layer where it is still ``old``."""

        def replace(graph: OpGraph, node_id: NodeId | None) -> None:
            if self._written(graph, node_id, path) == old:
                graph.set_field(node_id, path, new)

        self._apply(f"{label} of {self._whose()}", replace)

    def _edit_list(self, graph: OpGraph, node_id: NodeId | None, path: Path, texts: Sequence[str]) -> None:
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

    def _written(self, graph: OpGraph, node_id: NodeId | None, path: Path) -> str | None:
        entries = Snapshot.of(graph.message(node_id)).entries(path)
        return entries[-1].text if entries else None

    def _apply(self, label: str, edit: Callable[[OpGraph, NodeId | None], object]) -> None:
        def run(graph: OpGraph) -> None:
            for node_id in self._ids:
                edit(graph, node_id)

        self._edited.apply(label, run)

    def _whose(self) -> str:
        raise NotImplementedError


class LayerTarget(GraphTarget):
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
        super().__init__(document, ids)

    def _read(self, node_id: NodeId | None) -> Snapshot:
        # The node of the net's own inputs has the whole file as its message, and no form.
        virtual = node_id is not None and self.document.graph.node(node_id).virtual
        return Snapshot() if virtual else super()._read(node_id)

    @property
    def schema(self) -> Schema:
        """The schema of the fields."""
        return self.document.schema

    @property
    def folder(self) -> FilePath | None:
        """Folder that relative paths belong to."""
        return self.document.path.parent if self.document.path is not None else None

    def param_shape(self, path: Path) -> tuple[int, ...] | None:
        """Return the shape of the parameter that the filler at ``path`` fills, in the first of several layers."""
        shapes = self.document.shapes.get(self.ids[0])
        index = _FILLED.get(str(path[-1]))
        if shapes is None or index is None or shapes.state == "unknown" or index >= len(shapes.params):
            return None
        return tuple(shapes.params[index])

    @property
    def layer_type(self) -> str:
        """Type of the layers, as written."""
        return self._snapshots[0].scalar("type")

    @property
    def python_layer(self) -> PythonLayerInfo | None:
        """What a plugin says of these Python layers."""
        module, layer = (self._snapshots[0].scalar("python_param", name) for name in ("module", "layer"))
        return self.document.live.python_layers.get((module, layer))

    @property
    def param_schema(self) -> ParamStrSchema | None:
        """What the ``param_str`` of these Python layers may hold, where their plugin says so."""
        known = self.python_layer
        return known.param_str if known is not None else None

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
