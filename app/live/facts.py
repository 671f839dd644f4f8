"""What is computed about a net while it is edited: shapes, diagnostics, and marks of a run.

Everything slow runs in the document's thread; the old results stay until new ones are there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.live.counting import LiveCosts
from app.live.diagnosing import LiveDiagnosis
from app.live.gradients import GradientChecks
from app.live.plugins import LivePlugins
from app.live.shapes import LiveShapes
from app.live.timing import Timings
from app.live.updates import LiveUpdates

if TYPE_CHECKING:
    from app.document import Document
    from engine.diagnostics import Diagnostic
    from engine.graph import Events, NodeId
    from engine.plugins import PythonLayerInfo
    from engine.registry import LayerRegistry
    from engine.schema import Schema
    from engine.shapes import NodeShapes

__all__ = ["LiveFacts"]

_PATIENCE = 0.04


class LiveFacts(QObject):
    """The computed facts of one document.

    Attributes
    ----------
    node_errors : dict of NodeId to Diagnostic
        Marks of a run.
    trusted : bool
        Whether code that came with the net may run.
    shaping, diagnosis, costs, plugins : LiveShapes, LiveDiagnosis, LiveCosts, LivePlugins
        What follows each change.
    gradients, timings : GradientChecks, Timings
        What is computed when it is asked for.
    updates : LiveUpdates
        Figures of a run.
    """

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.node_errors: dict[NodeId, Diagnostic] = {}
        self.trusted = False
        self._started = False
        self.shaping = LiveShapes(document, self)
        self.shaping.changed.connect(self._shapes_changed)
        self.diagnosis = LiveDiagnosis(document, self, self._terms, self._told)
        self.gradients = GradientChecks(document, self.shaping.spec)
        self.costs = LiveCosts(document)
        self.timings = Timings(document)
        self.updates = LiveUpdates(document)
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
        self.shaping.forget_plugins(self.refresh)
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
        due = self.shaping.is_due or self.costs.busy
        return due or self.diagnosis.busy or self._document.jobs.busy or self._document.ahead.busy

    def refresh(self) -> None:
        """Ask for everything anew."""
        if self._started:
            self.shaping.trigger()
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
        self.shaping.forget(self.refresh)

    def close(self) -> None:
        """Drop what is due and end the inspection process."""
        self.shaping.cancel()
        self.diagnosis.close()
        self.gradients.close()
        self.timings.close()
        self.costs.close()
        self.shaping.close(waits=self._document.jobs.close(_PATIENCE))

    def graph_changed(self, events: Events) -> None:
        """Ask for what the change made stale."""
        marks_left = False
        for node_id in events.removed:
            marks_left |= self.node_errors.pop(node_id, None) is not None
        self.shaping.graph_changed(events)
        self.plugins.graph_changed(events.added | events.changed)
        self.refresh()
        self.costs.graph_changed(events)
        self.timings.graph_changed()
        if marks_left:
            self._told()

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

    @property
    def shapes(self) -> dict[NodeId, NodeShapes]:
        """Shapes by node, the newest that are known."""
        return self.shaping.found

    def _shapes_changed(self) -> None:
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
            "guesses": self.shaping.guesses,
            "folder": document.path.parent if document.path else None,
            "view": document.seen,
            "param_schemas": self.plugins.param_schemas,
            "missing": self.plugins.missing,
        }

    def _told(self) -> None:
        self._document.diagnostics_changed.emit()


def _sentence(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.message} {diagnostic.next_step}".strip()
