"""What is computed about a net while it is edited: shapes, diagnostics, and marks of a run.

Everything slow runs in the document's thread; the old results stay until new ones are there.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.counting import LiveCosts
from app.diagnosing import LiveDiagnosis
from app.gradients import GradientChecks
from app.pluginpanel.live import LivePlugins
from app.qt import Debounce, guard
from app.timing import Timings
from engine.graph import INPUTS
from engine.paths import search_folders
from engine.prototxt import Scalar
from engine.schema.upgrade import PADDING

if TYPE_CHECKING:
    from app.document import Document
    from engine.diagnostics import Diagnostic
    from engine.graph import Events, NetState, Node, NodeId, OpGraph
    from engine.inspection import InspectionClient
    from engine.plugins import PythonLayerInfo
    from engine.registry import LayerRegistry
    from engine.schema import Schema
    from engine.shapes import LayerSpec, NodeShapes, ShapeService

    _Net = tuple[NetState, frozenset[NodeId]]

__all__ = ["LiveFacts"]

_log = logging.getLogger(__name__)
_PATIENCE = 0.04
_SLICE = 0.008
_TELL_AFTER = 0.3


class LiveFacts(QObject):
    """The computed facts of one document."""

    _known_partly = Signal(object, int)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.shapes: dict[NodeId, NodeShapes] = {}
        self.node_errors: dict[NodeId, Diagnostic] = {}
        self.trusted = False
        self._specs: dict[NodeId, LayerSpec] = {}
        self._started = False
        self._client: InspectionClient | None = None
        self._service: ShapeService | None = None
        self._shapes_due = Debounce(self._infer, 40, self)
        self._more_due = Debounce(self._infer, 0, self)
        self._known_partly.connect(self._take_partly)
        self.diagnosis = LiveDiagnosis(document, self, self._terms, self._told)
        self.gradients = GradientChecks(document, self.spec)
        self.costs = LiveCosts(document)
        self.timings = Timings(document)
        self.plugins = LivePlugins(document, self._take_registry, self._plugins_seen)

    @property
    def schema(self) -> Schema:
        """The schema of the document's dialect, with what plugins add."""
        return self.registry.schema(self._document.dialect)

    @cached_property
    def registry(self) -> LayerRegistry:
        """Built-in layers and plugins."""
        from engine.registry import default_registry

        return default_registry()

    @property
    def python_layers(self) -> dict[tuple[str, str], PythonLayerInfo]:
        """Python layers of plugins that the net may name, by module and class."""
        return self.plugins.python_layers

    @property
    def is_started(self) -> bool:
        """Whether it computes."""
        return self._started

    def start(self) -> None:
        """Begin to compute; called once the document is shown."""
        # The graph draws its network with it when the diagnosis asks first, and the window must not wait for that.
        self._document.jobs.submit("networkx", partial(import_module, "networkx"), self._start)

    def _start(self, _module: object) -> None:
        self._started = True
        self._document.guess_dialect()
        self.find_plugins()
        self.refresh()

    def find_plugins(self) -> None:
        """Look what plugins there are, and compute anew what depends on them."""
        if self._started:
            self.plugins.find()

    def plugins_edited(self) -> None:
        """Files of plugins were saved: load them anew where they are inspected, and look what they offer now."""

        def forget() -> None:
            if self._service is not None:
                infos = self.registry.infos()
                self._service.forget(types={info.type for info in infos if not info.builtin} | {"Python"})

        self._document.jobs.submit("forget plugins", forget, lambda _none: self.refresh())
        self.find_plugins()

    def _take_registry(self, registry: LayerRegistry) -> None:
        old, self.registry = self.registry, registry
        if old.fragments != registry.fragments:
            self._document.dialect_changed.emit()
        self.refresh()

    def _plugins_seen(self) -> None:
        self.diagnosis.trigger()
        self._document.plugins_changed.emit()

    @property
    def busy(self) -> bool:
        """Whether results are still to come."""
        due = self._shapes_due.pending or self._more_due.pending or self.costs.busy
        return due or self.diagnosis.busy or self._document.jobs.busy

    def refresh(self) -> None:
        """Ask for everything anew."""
        if self._started:
            self._shapes_due.trigger()
            self.diagnosis.trigger()

    def dialect_changed(self) -> None:
        """Hold the fields against another schema."""
        if self._started:
            self.diagnosis.trigger()

    def view_changed(self) -> None:
        """Shape and diagnose another net of the document."""
        self.refresh()

    def data_changed(self) -> None:
        """Look at data sources and plugins again: files came or changed."""
        self.find_plugins()

        def forget() -> None:
            if self._service is not None:
                self._service.forget()

        self._document.jobs.submit("forget", forget, lambda _none: self.refresh())

    def close(self) -> None:
        """Drop what is due and end the inspection process."""
        self._shapes_due.cancel()
        self._more_due.cancel()
        self.diagnosis.close()
        self.gradients.close()
        self.timings.close()
        self.costs.close()
        ended = self._document.jobs.close(_PATIENCE)
        client = self._client
        if client is not None and ended:
            client.close()
        elif client is not None:
            # A plugin hangs in the inspection process; it is stopped at its time limit, and nobody waits for that.
            threading.Thread(target=client.close, name="netcanvas-inspection-end", daemon=True).start()

    def graph_changed(self, events: Events) -> None:
        """Ask for what the change made stale."""
        marks_left = False
        for node_id in events.removed:
            marks_left |= self.node_errors.pop(node_id, None) is not None
        self._forget_specs(events)
        self.plugins.graph_changed(events.added | events.changed)
        self.refresh()
        self.costs.graph_changed(events)
        self.timings.graph_changed()
        if marks_left:
            self._told()

    def _forget_specs(self, events: Events) -> None:
        graph = self._document.graph
        texts = [spec.text for node_id in events.removed | events.changed if (spec := self._specs.pop(node_id, None))]
        texts += [graph.layer_text(node_id) for node_id in events.added | events.changed]
        if any("stage" in text or "_level" in text or PADDING in text for text in texts):
            # With what rules ask for, the phases of other layers may change; what pads is part of the next.
            self._specs.clear()

    # Marks

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Faults of a run, then what is wrong with the text."""
        graph = self._document.graph
        marks = [
            replace(each, node=node_id, line=each.line or graph.node(node_id).line)
            for node_id, each in self.node_errors.items()
            if node_id in graph
        ]
        return [*marks, *self.diagnosis.found] if marks else self.diagnosis.found

    def problems_of(self, node_id: NodeId) -> tuple[str, tuple[str, ...]]:
        """Worst severity at a node, and the sentences, worst first."""
        found: list[tuple[str, str]] = []
        if node_id in self.node_errors:
            found.append(("error", _sentence(self.node_errors[node_id])))
        found += [(str(each.severity), _sentence(each)) for each in self.diagnosis.by_node.get(node_id, ())]
        found = [entry for entry in found if entry[0] in ("error", "warning")]
        found.sort(key=lambda entry: entry[0] != "error")
        return (found[0][0] if found else "", tuple(dict.fromkeys(text for _kind, text in found)))

    def set_node_error(self, node: NodeId | str, diagnostic: Diagnostic | None) -> None:
        """Mark the node of an id, or all nodes of a layer name."""
        graph = self._document.graph
        ids = [each.id for each in graph.nodes() if each.id == node or each.name == node]
        for node_id in ids:
            if diagnostic is None:
                self.node_errors.pop(node_id, None)
            else:
                self.node_errors[node_id] = diagnostic
        if ids:
            self._marks_changed()

    def clear_node_errors(self) -> None:
        """Take all marks off."""
        if self.node_errors:
            self.node_errors.clear()
            self._marks_changed()

    def _marks_changed(self) -> None:
        self._document.status_changed.emit()
        self._document.diagnostics_changed.emit()

    # Shapes

    def _infer(self) -> None:
        document = self._document
        specs = self._current_specs(time.perf_counter() + _SLICE)
        if specs is None:
            self._more_due.trigger()
            return
        base_dirs = search_folders(document.path.parent if document.path else None)
        trusted, plugin_paths, serial = self.trusted, self.plugins.paths, document.graph.serial
        inputs = _declared_inputs(document.graph)
        nets = _nets(document)

        def work() -> dict[Any, NodeShapes]:
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
            return found | infer(*looked_at) if looked_at is not None else found

        document.jobs.submit("shapes", work, self._shapes_ready)

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
            self._service = ShapeService(registry=self.registry, client=self._client)
        self._service.use_registry(self.registry)
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
            self._shapes_ready({**self.shapes, **found})

    def _shapes_ready(self, found: Mapping[NodeId, NodeShapes]) -> None:
        graph = self._document.graph
        fresh = {key: shapes for key, shapes in found.items() if key in graph}
        if fresh != self.shapes:
            self.shapes = fresh
            self._document.shapes_changed.emit()
            self.diagnosis.trigger()

    # Diagnostics

    def _terms(self) -> dict[str, Any]:
        """What a diagnosis depends on beside the graph."""
        document = self._document
        return {
            "schema": self.schema,
            "registry": self.registry,
            "shapes": self.shapes,
            "folder": document.path.parent if document.path else None,
            "view": document.seen,
            "param_schemas": self.plugins.param_schemas,
        }

    def _told(self) -> None:
        self._document.diagnostics_changed.emit()


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


def _sentence(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.message} {diagnostic.next_step}".strip()


def _message_reader(text: str) -> Callable[..., Any]:
    """Return a function that reads a layer from its text alone, so that a thread may call it."""

    def read(schema: Schema | None = None) -> Any:
        from engine.prototxt import parse
        from engine.schema import to_message

        message = next(iter(parse(text).root)).message
        assert message is not None  # a layer is a message, or it would be no node
        return to_message(message, "LayerParameter", schema=schema)

    return read
