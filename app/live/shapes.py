"""The shapes of a net that is edited: layers are read in slices, and inferred in the document's thread."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.qt import Debounce, guard
from engine.graph import INPUTS
from engine.node_shapes import needs_assumption
from engine.paths import search_folders
from engine.prototxt import Scalar
from engine.schema.upgrade import PADDING

if TYPE_CHECKING:
    from app.document import Document
    from app.live.facts import LiveFacts
    from engine.graph import Events, NetState, Node, NodeId, OpGraph
    from engine.inspection import InspectionClient
    from engine.schema import Schema
    from engine.shape_guesses import Guess
    from engine.shapes import LayerSpec, NodeShapes, ShapeService

    _Net = tuple[NetState, frozenset[NodeId]]

__all__ = ["ABOUT", "LiveShapes", "shape_text"]

#: Stands before a shape or a count that follows from a shape that is only assumed.
ABOUT = "\u2248\u202f"

_PAUSE_MS = 40
_SLICE = 0.008
_TELL_AFTER = 0.3
_TIMES = "\u00d7"


class LiveShapes(QObject):
    """The shapes of one document.

    Attributes
    ----------
    found : dict of NodeId to NodeShapes
        The newest that are known.
    guesses : dict of NodeId to tuple of Guess
        What the items of layers may look like whose data are not there.
    changed : Signal()
        There are others.
    """

    changed = Signal()
    _known_partly = Signal(object, int)

    def __init__(self, document: Document, live: LiveFacts) -> None:
        super().__init__(live)
        self._document, self._live = document, live
        self.found: dict[NodeId, NodeShapes] = {}
        self.guesses: dict[NodeId, tuple[Guess, ...]] = {}
        self._guessed: dict[Hashable, tuple[Guess, ...]] = {}  # the thread's
        self._specs: dict[NodeId, LayerSpec] = {}
        self._client: InspectionClient | None = None
        self._service: ShapeService | None = None
        self._due = Debounce(self._infer, _PAUSE_MS, self)
        self._more_due = Debounce(self._infer, 0, self)
        self._known_partly.connect(self._take_partly)

    @property
    def is_due(self) -> bool:
        """Whether shapes are about to be inferred."""
        return self._due.pending or self._more_due.pending

    def trigger(self) -> None:
        """Infer all shapes anew, soon."""
        self._due.trigger()

    def cancel(self) -> None:
        """Infer none any more."""
        self._due.cancel()
        self._more_due.cancel()

    def close(self, *, waits: bool) -> None:
        """End the inspection process; without ``waits`` behind the back of a plugin that hangs in it."""
        client = self._client
        if client is not None and waits:
            client.close()
        elif client is not None:
            # It is stopped at its time limit, and nobody waits for that.
            threading.Thread(target=client.close, name="netcanvas-inspection-end", daemon=True).start()

    def forget(self, then: Callable[[], object]) -> None:
        """Take nothing for known any more, and call ``then`` after."""

        def work() -> None:
            if self._service is not None:
                self._service.forget()

        self._document.jobs.submit("forget", work, lambda _none: then())

    def forget_plugins(self, then: Callable[[], object]) -> None:
        """Take nothing for known of layers that plugins bring, and call ``then`` after."""

        def work() -> None:
            if self._service is not None:
                infos = self._live.registry.infos()
                self._service.forget(types={info.type for info in infos if not info.builtin} | {"Python"})

        self._document.jobs.submit("forget plugins", work, lambda _none: then())

    def look_for_data(self) -> None:
        """Ask anew about layers whose data were not there: they may be by now."""
        graph = self._document.graph
        types = {graph.node(node).type for node in self.guesses if node in graph}

        def work() -> None:
            self._guessed = {}  # weights may have come too
            if self._service is not None:
                self._service.forget(types=types)

        if types:
            self._document.jobs.submit("look for data", work, lambda _none: self.trigger())

    def graph_changed(self, events: Events) -> None:
        """Forget how layers read that the change touched."""
        graph = self._document.graph
        texts = [spec.text for node_id in events.removed | events.changed if (spec := self._specs.pop(node_id, None))]
        texts += [graph.layer_text(node_id) for node_id in events.added | events.changed]
        if any("stage" in text or "_level" in text or PADDING in text for text in texts):
            # With what rules ask for, the phases of other layers may change; what pads is part of the next.
            self._specs.clear()

    def _infer(self) -> None:
        document = self._document
        specs = self._current_specs(time.perf_counter() + _SLICE)
        if specs is None:
            self._more_due.trigger()
            return
        base_dirs = search_folders(document.path.parent if document.path else None)
        trusted, plugin_paths, serial = self._live.trusted, document.plugin_paths, document.graph.serial
        inputs = _declared_inputs(document.graph)
        nets = _nets(document)
        assumed, title, path = document.assumptions.shapes, document.graph.net_name, document.path
        weights = document.weights

        def work() -> tuple[dict[Any, NodeShapes], dict[Any, tuple[Guess, ...]]]:
            from engine.layer import Phase
            from engine.shapes import NodeShapes, join_shapes

            done: list[Mapping[Any, NodeShapes]] = []
            told = time.monotonic()

            def partly(found: Mapping[Any, NodeShapes]) -> None:
                nonlocal told
                if time.monotonic() - told > _TELL_AFTER:  # foreign code takes its time; what is known is shown
                    told = time.monotonic()
                    with contextlib.suppress(RuntimeError):  # the document was closed meanwhile
                        self._known_partly.emit(join_shapes([*done, found]), serial)

            def infer(state: NetState, members: frozenset[NodeId]) -> dict[Any, NodeShapes]:
                found = service.infer(
                    specs,
                    Phase[state.phase],
                    base_dirs=base_dirs,
                    plugin_folders=plugin_paths,
                    trusted=trusted,
                    level=state.level,
                    stages=sorted(state.stages),
                    inputs=inputs,
                    assumed=assumed,
                    members=members,
                    partly=partly,
                )
                done.append(found)
                return found

            service = self._shape_service()
            declared = {INPUTS: NodeShapes((), tuple(inputs.values()))} if inputs else {}
            whole, looked_at = nets
            found: dict[Any, NodeShapes] = declared | join_shapes(infer(*net) for net in whole)
            # Of the net that is looked at, its own shapes count.
            found |= infer(*looked_at) if looked_at is not None else {}
            return found, self._guess(specs, found, title, path, weights)

        document.jobs.submit("shapes", work, lambda answer: self._shapes_ready(*answer))

    def _guess(
        self,
        specs: Sequence[LayerSpec],
        found: Mapping[Any, NodeShapes],
        title: str,
        path: Path | None,
        weights: Path | None,
    ) -> dict[Any, tuple[Guess, ...]]:
        """Guess what the items of layers look like whose data are not there; in the thread, for it reads files."""
        from engine.shape_guesses import guesses_for
        from engine.weights_guesses import first_reader

        asked = [spec for spec in specs if spec.node_id in found and needs_assumption(found[spec.node_id])]
        guesses: dict[Any, tuple[Guess, ...]] = {}
        held, registry = self._guessed, self._live.registry
        terms: dict[str, Any]
        self._guessed = {}
        for spec in asked:
            reader, bottoms = first_reader(spec, specs), found[spec.node_id].bottoms
            read = reader and (reader.top, reader.spec.text)
            key = (spec.text, title, path, registry.fragments, read, weights, bottoms)
            terms = {"registry": registry, "specs": specs, "weights": weights, "bottoms": bottoms}
            guess = held[key] if key in held else guesses_for(spec, title, path, **terms)
            self._guessed[key] = guesses[spec.node_id] = guess
        return guesses

    def _current_specs(self, until: float) -> list[LayerSpec] | None:
        """The layers as the service takes them; only those that changed since the last time are read again.

        None when ``until`` came first: the rest is for the next time, so that a big net does not hold the window up.
        """
        graph = self._document.graph
        specs: list[LayerSpec] = []
        for node_id in graph.node_ids():
            spec = self._specs.get(node_id)
            if spec is None:
                node = graph.node(node_id)
                if node.virtual:
                    continue
                if time.perf_counter() > until:
                    return None
                spec = self._specs[node_id] = self._spec(node, graph.layer_text(node_id))
            specs.append(spec)
        return specs

    def _shape_service(self) -> ShapeService:
        """The service, made in the thread that owns it."""
        if self._service is None:
            from engine.inspection import InspectionClient
            from engine.shapes import ShapeService

            self._client = self._client or InspectionClient()
            self._service = ShapeService(registry=self._live.registry, client=self._client)
        self._service.use_registry(self._live.registry)
        return self._service

    def spec(self, node_id: NodeId) -> LayerSpec:
        """Return a layer as the shape service takes it."""
        graph = self._document.graph
        return self._spec(graph.node(node_id), graph.layer_text(node_id))

    def _spec(self, node: Node, text: str) -> LayerSpec:
        from engine.shapes import LayerSpec

        if node.version < 2:  # what the layer means today may depend on the one above it too
            spec = LayerSpec.of_message(node.id, self._document.graph.layer_message(node.id))
            return replace(spec, text=f"{text}\n{spec.text}", phases=node.phases)
        return LayerSpec(
            node.id,
            text,
            node.name,
            node.type,
            node.bottoms,
            node.tops,
            _message_reader(text),
            node.phases,
        )

    @guard
    def _take_partly(self, found: Mapping[NodeId, NodeShapes], serial: int) -> None:
        if serial == self._document.graph.serial:
            self._shapes_ready({**self.found, **found}, self.guesses)

    def _shapes_ready(self, found: Mapping[NodeId, NodeShapes], guesses: Mapping[NodeId, tuple[Guess, ...]]) -> None:
        graph = self._document.graph
        fresh = {key: shapes for key, shapes in found.items() if key in graph}
        guessed = {key: held for key, held in guesses.items() if key in graph}
        if (fresh, guessed) != (self.found, self.guesses):
            self.found, self.guesses = fresh, guessed
            self.changed.emit()


def shape_text(shape: Sequence[int]) -> str:
    """Write a shape as people read it; a scalar as the word."""
    return _TIMES.join(str(size) for size in shape) if shape else "scalar"


def _declared_inputs(graph: OpGraph) -> dict[str, tuple[int, ...]]:
    """Shapes of the blobs that the net itself declares with ``input`` and ``input_shape`` or ``input_dim``."""
    names = [graph.field(None, ("input", index)) for index in range(graph.count(None, ("input",)))]
    shapes: dict[str, tuple[int, ...]] = {}
    for index, name in enumerate(names):
        if graph.count(None, ("input_shape",)):
            path: tuple[str | int, ...] = ("input_shape", index, "dim")
            dims = [graph.value(None, (*path, place)) for place in range(graph.count(None, path))]
        else:
            dims = [graph.value(None, ("input_dim", 4 * index + place)) for place in range(4)]
        sizes = [int(dim) for dim in dims if dim is not None and dim.isdigit()]
        if isinstance(name, Scalar) and sizes and len(sizes) == len(dims):
            shapes[name.as_str()] = tuple(sizes)
    return shapes


def _nets(document: Document) -> tuple[list[_Net], _Net | None]:
    """Return all nets that a document holds, and the one that is looked at, if it is one."""
    graph, seen = document.graph, document.seen
    whole = [(state, graph.taking_part(state)) for state in reversed(graph.states)]
    return whole, None if seen is None else (seen.state, frozenset(seen.node_ids()))


def _message_reader(text: str) -> Callable[..., Any]:
    """Return a function that reads a layer from its text alone, so that a thread may call it."""

    def read(schema: Schema | None = None) -> Any:
        from engine.prototxt import parse
        from engine.schema import to_message

        message = next(iter(parse(text).root)).message
        assert message is not None  # a layer is a message, or it would be no node
        return to_message(message, "LayerParameter", schema=schema)

    return read
