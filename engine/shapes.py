"""Shapes of every blob and parameter of a document, while it is being edited.

A layer's shapes follow from its text, the shapes of its bottoms and the phase; they are computed by the layer's own
``setup`` and ``reshape`` and remembered under these three, so that an edit costs the layers that it reaches. Built-in
layers are asked here; plugin code and data sources only through :mod:`engine.inspection`. What cannot be known says
why, and so does all that depends on it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from engine.assumed import Assumed, assumed_tops
from engine.backends import Workspace, get_backend
from engine.blob import Shape
from engine.errors import DataError, MissingDataError, NetcanvasError, PluginError, UnknownLayerTypeError
from engine.inspection import InspectionClient, LayerShapes, PluginLost
from engine.inspection.shaping import shape_layer
from engine.layer import LayerContext, Phase
from engine.layer_specs import LayerSpec, graph_layers
from engine.net.filtering import NetState, layer_included
from engine.net.params import surplus_params
from engine.node_shapes import NodeShapes, join_shapes
from engine.plugins import is_safe_mode
from engine.plugins.ordinary import file_stamp
from engine.plugins.provenance import missing_module, runs_without_trust
from engine.registry import LayerRegistry, default_registry

__all__ = ["LayerSpec", "NodeShapes", "ShapeService", "graph_layers", "join_shapes"]

_RETRY_SECONDS = 5.0
_UNWIRED = "?"


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A blob without a shape: why, told from the layer where that began."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A remembered answer.

    ``until`` is when a failure of the outside world is asked about again; ``file`` and ``stamp`` are the source of a
    plugin's class and its version. ``backward`` is what :class:`NodeShapes` tells of the backward pass. ``refused`` is
    why a net would not be built all the same.
    """

    tops: tuple[Shape | None, ...] = ()
    params: tuple[Shape, ...] = ()
    error: NetcanvasError | None = None
    reason: str = ""
    until: float = math.inf
    file: str = ""
    stamp: tuple[int, int] = (0, 0)
    backward: tuple[str, str, bool] = ("", "", False)
    refused: NetcanvasError | None = None
    warnings: tuple[str, ...] = ()
    absent: bool = False

    @property
    def holds(self) -> bool:
        """Whether the answer still counts."""
        if self.until < math.inf and time.monotonic() >= self.until:
            return False
        return not self.file or file_stamp(self.file) == self.stamp


@dataclass(frozen=True, slots=True)
class _Sure:
    """What a layer of ours made of its bottoms, which it does again as long as its text is the same."""

    spec: LayerSpec
    key: Hashable
    node: NodeShapes


class ShapeService:
    """Infers shapes, remembering what it has seen.

    Not safe for calls from several threads at once; one background thread owns it.

    Parameters
    ----------
    registry : LayerRegistry, optional
        The layer types; all installed ones when omitted.
    client : InspectionClient, optional
        Where data layers and Python layers are asked; without one they are unknown.
    """

    def __init__(self, *, registry: LayerRegistry | None = None, client: InspectionClient | None = None) -> None:
        self._registry = registry or default_registry()
        self._client = client
        self._backend = get_backend("numpy")
        self._workspace = Workspace(self._backend)
        self._memo: dict[Hashable, _Outcome] = {}
        self._last: dict[tuple[Hashable, Phase], NodeShapes] = {}
        self._sure: dict[tuple[Hashable, Phase], _Sure] = {}

    def infer(
        self,
        layers: Iterable[LayerSpec],
        phase: Phase,
        *,
        base_dirs: Sequence[Path] = (),
        plugin_folders: Sequence[Path] = (),
        trusted: bool = False,
        level: int = 0,
        stages: Sequence[str] = (),
        inputs: Mapping[str, Shape] | None = None,
        assumed: Assumed | None = None,
        members: Container[Hashable] | None = None,
        partly: Callable[[Mapping[Hashable, NodeShapes]], object] | None = None,
    ) -> dict[Hashable, NodeShapes]:
        """Return the shapes of all layers that take part in a phase.

        Parameters
        ----------
        layers : iterable of LayerSpec
            In document order.
        phase : Phase
            The net's phase; with ``level`` and ``stages`` it decides which layers take part.
        base_dirs, plugin_folders : sequence of Path
            Where data files and Python modules are looked for.
        trusted : bool
            Whether plugin code may run, in the inspection process; never in safe mode.
        level, stages : int, sequence of str
            The net's state. With neither, layers that belong to some stage of the phase take part too, as in the
            graph.
        inputs : mapping, optional
            Shapes of blobs that the net itself declares.
        assumed : mapping of blob to shape, optional
            What is assumed of the tops of layers that read data, as :mod:`engine.assumed` has it; it counts only where
            their data, or the code that reads them, are not there.
        members : container of node ids, optional
            The layers that take part, where the caller knows, as from a :class:`engine.graph.GraphView`.
        partly : callable, optional
            Called with what is known so far before foreign code is asked, which may take its time.

        Returns
        -------
        dict of NodeShapes
            By node id. Nothing is raised for a layer's faults; they are in its :class:`NodeShapes`.
        """
        run = _Run(self, phase, tuple(base_dirs), tuple(plugin_folders), trusted, level, tuple(stages), partly)
        run.assumed = assumed or {}
        if members is not None:
            layers = [spec for spec in layers if spec.node_id in members]
        found = run.infer(layers, inputs or {}, chosen=members is not None)
        if len(self._memo) > 4 * len(run.used) + 4096:
            self._memo = {key: self._memo[key] for key in run.used & self._memo.keys()}
        if len(self._last) > 4 * len(found) + 4096:
            self._last = {key: node for key, node in self._last.items() if key[0] in found}
            self._sure = {key: sure for key, sure in self._sure.items() if key[0] in found}
        return found

    def use_registry(self, registry: LayerRegistry) -> None:
        """Take other layer types from now on. What was last known of a layer stays until it is known anew."""
        if registry is not self._registry:
            self._registry = registry
            self._memo.clear()
            self._sure.clear()

    def forget(self, *, types: Iterable[str] | None = None) -> None:
        """Ask again about all layers, or those of the given types: a data source or a plugin has changed."""
        self._sure.clear()
        wanted = None if types is None else frozenset(types)
        for key in [key for key in self._memo if wanted is None or key[1] in wanted]:  # type: ignore[index]
            del self._memo[key]


class _Run:
    """One pass over a document."""

    def __init__(
        self,
        service: ShapeService,
        phase: Phase,
        base_dirs: tuple[Path, ...],
        plugin_folders: tuple[Path, ...],
        trusted: bool,
        level: int,
        stages: tuple[str, ...],
        partly: Callable[[Mapping[Hashable, NodeShapes]], object] | None,
    ) -> None:
        self._service = service
        self._phase = phase
        self._base_dirs = base_dirs
        self._plugin_folders = plugin_folders
        self._trusted = trusted and not is_safe_mode()
        self._state = NetState(phase, level, frozenset(stages))
        self._where = (phase, level, stages)
        self._search: tuple[Path, ...] | None = None
        self._partly = partly
        self._found: dict[Hashable, NodeShapes] = {}
        self.assumed: Assumed = {}
        self.used: set[Hashable] = set()

    def infer(
        self, layers: Iterable[LayerSpec], inputs: Mapping[str, Shape], *, chosen: bool = False
    ) -> dict[Hashable, NodeShapes]:
        shapes: dict[str, Shape | _Unknown] = dict(inputs)
        follows: dict[str, str] = {}  # blobs whose shapes follow from one that is assumed, which stands behind
        found = self._found
        for spec in layers:
            if not chosen and not self._takes_part(spec):
                continue
            node = self._node(spec, shapes)
            cause = node.assumed or next((follows[name] for name in spec.bottoms if name in follows), "")
            if cause:
                node = replace(node, assumed=cause)
            found[spec.node_id] = node
            for top in spec.tops:
                follows.pop(top, None)
                if cause:
                    follows[top] = cause
            if None in node.tops:
                unknown = _root(spec, node, shapes)
                shapes.update(
                    (top, unknown if shape is None else shape) for top, shape in zip(spec.tops, node.tops, strict=True)
                )
            else:
                shapes.update(zip(spec.tops, node.tops, strict=True))  # type: ignore[arg-type]  # every one is a shape
        return found

    def _takes_part(self, spec: LayerSpec) -> bool:
        if spec.phases is not None and self._where[1:] == (0, ()):
            return self._phase.name in spec.phases
        try:
            return layer_included(spec.message(), self._state)
        except NetcanvasError:
            return True  # both kinds of rules: shown with its shapes, refused by the net

    def _node(self, spec: LayerSpec, shapes: Mapping[str, Shape | _Unknown]) -> NodeShapes:
        bottoms = [shapes.get(name) for name in spec.bottoms]
        known = tuple(shape if isinstance(shape, tuple) else None for shape in bottoms)
        last_key = (spec.node_id, self._phase)
        sure = self._service._sure.get(last_key)
        if sure is not None and sure.spec is spec and sure.node.bottoms == known:
            self.used.add(sure.key)
            return sure.node
        for index, (name, shape) in enumerate(zip(spec.bottoms, bottoms, strict=True)):
            if not isinstance(shape, tuple):
                return self._unknown(spec, known, _missing(index, name, shape))
        outcome = self._outcome(spec, known)  # type: ignore[arg-type]  # every one is a shape
        if outcome.error is None and not outcome.reason:
            facts = (*outcome.backward, outcome.warnings)
            node = NodeShapes(known, outcome.tops, outcome.params, "known", "", outcome.refused, *facts)
            if None in outcome.tops:
                top = spec.tops[outcome.tops.index(None)]
                return replace(node, state="unknown", reason=f"it shapes '{top}' only while it runs.")
            self._service._last[last_key] = node
            if not self._is_foreign(spec.type):
                self._service._sure[last_key] = _Sure(spec, (spec.text, spec.type, known, self._phase), node)
            return node
        last = self._service._last.get(last_key)
        tops = self._assumed(spec, outcome, known) if self.assumed else ()  # type: ignore[arg-type]
        if tops:
            error = None if _is_absent(outcome.error) else outcome.error
            source = next(top for top in spec.tops if top in self.assumed)
            state: Literal["known", "unknown"] = "unknown" if None in tops else "known"
            return NodeShapes(known, tops, (), state, outcome.reason, error, assumed=source, absent=outcome.absent)
        may_recover = outcome.until < math.inf or bool(outcome.file)
        if may_recover and last is not None and len(last.tops) == len(spec.tops):
            return replace(last, bottoms=known, state="stale", reason=outcome.reason, error=outcome.error)
        return replace(self._unknown(spec, known, outcome.reason, outcome.error), absent=outcome.absent)

    def _assumed(self, spec: LayerSpec, outcome: _Outcome, bottoms: tuple[Shape, ...]) -> tuple[Shape | None, ...]:
        """Return what is assumed of a layer that could not be asked; nothing where it is the text that is wrong."""
        if not any(top in self.assumed for top in spec.tops):
            return ()
        error = outcome.error
        absent = error is None or isinstance(error, (DataError, PluginError, UnknownLayerTypeError))
        of_ours = bool(spec.bottoms) and spec.type != "Python" and not isinstance(error, UnknownLayerTypeError)
        if of_ours or not absent:
            return ()
        try:
            registry = self._service._registry
            message = spec.message(registry.schema()) if registry.fragments else spec.message()
            return assumed_tops(message, self.assumed, bottoms)
        except NetcanvasError:
            return ()

    @staticmethod
    def _unknown(
        spec: LayerSpec, bottoms: tuple[Shape | None, ...], reason: str, error: NetcanvasError | None = None
    ) -> NodeShapes:
        return NodeShapes(bottoms, (None,) * len(spec.tops), (), "unknown", reason, error)

    def _outcome(self, spec: LayerSpec, bottoms: tuple[Shape, ...]) -> _Outcome:
        key: Hashable = (spec.text, spec.type, bottoms, self._phase)
        lost: Hashable = None
        foreign = self._is_foreign(spec.type)
        if foreign:
            asked = (self._trusted, self._base_dirs, self._plugin_folders)
            key, lost = (*key, self._where, *asked), (spec.text, spec.type, bottoms, *asked)  # type: ignore[misc]
        memo = self._service._memo
        self.used |= {key} if lost is None else {key, lost}
        outcome = memo.get(key) or memo.get(lost)
        if outcome is None or not outcome.holds:
            if foreign and self._partly is not None:
                self._partly(dict(self._found))
            outcome = memo[key] = self._ask(spec, bottoms)
            if isinstance(outcome.error, PluginLost):
                memo[lost] = outcome  # it would be lost in every phase, and each would cost as much time
        return outcome

    def _is_foreign(self, layer_type: str) -> bool:
        """Whether layers of the type run code that is not ours, or may look at files."""
        registry = self._service._registry
        info = registry.info(layer_type)
        return info is not None and (not info.builtin or info.max_bottoms == 0 or registry.has_variants(layer_type))

    def _ask(self, spec: LayerSpec, bottoms: tuple[Shape, ...]) -> _Outcome:
        registry = self._service._registry
        try:
            message = spec.message(registry.schema()) if registry.fragments else spec.message()
            info = registry.info_of(message)
            if info is not None and not info.builtin:
                if (spec.type == "Python" or info.needs_trust) and not self._trusted:
                    if spec.type == "Python" and self._is_of_the_user(message.python_param.module):
                        return self._inspect(message, bottoms, alone=True)
                    return self._not_run(message)
                return self._inspect(message, bottoms)
            layer = registry.create(message, self._context())
            if layer.is_source and info is not None and info.max_bottoms == 0 and self._service._client is not None:
                return self._inspect(message, bottoms)
            if layer.is_source:
                return _Outcome(reason="its data source is looked at by the inspection process, which is off.")
            tops, params = shape_layer(layer, message, bottoms)
            facts = (layer.backward_reads, layer.in_place_leaves, layer.spoils_itself)
            return _Outcome(tops, params, backward=facts, refused=surplus_params(message, len(params)))
        except NetcanvasError as error:
            return _Outcome(error=error, reason=str(error))

    def _not_run(self, message: Any) -> _Outcome:
        """Say why code that came with the net is not run; where there is none, no trust would mend that."""
        if is_safe_mode():
            return _Outcome(reason="this is safe mode, so it was not run.")
        if message.type == "Python":
            missing = missing_module(message.python_param.module, self._plugin_folders, self._base_dirs)
            if missing:
                return _Outcome(reason=missing, absent=True)
        return _Outcome(reason="the plugin code of this folder is not trusted, so it was not run.")

    def _is_of_the_user(self, module: str) -> bool:
        """Whether a Python layer is the user's own code, and not what came with the net."""
        return not is_safe_mode() and runs_without_trust(module, self._plugin_folders, self._base_dirs)

    def _inspect(self, message: Any, bottoms: tuple[Shape, ...], *, alone: bool = False) -> _Outcome:
        """Ask the inspection process; ``alone`` keeps the net's folders out of its reach."""
        client = self._service._client
        if client is None:
            return _Outcome(reason="plugin code is run by the inspection process, which is off.")
        try:
            shapes: LayerShapes = client.layer_shapes(
                message,
                self._phase,
                bottoms,
                base_dirs=() if alone else self._base_dirs,
                plugin_folders=self._plugin_folders,
                trusted=self._trusted,
                level=self._where[1],
                stages=self._where[2],
            )
        except NetcanvasError as error:
            if isinstance(error, PluginLost) and error.file:  # it would cost as much again until it is mended
                return _Outcome(error=error, reason=str(error), file=error.file, stamp=file_stamp(error.file))
            # Files appear and plugins are mended while the editor is open.
            wait = _RETRY_SECONDS * (12 if isinstance(error, PluginLost) else 1)
            absent = message.type == "Python" and bool(
                missing_module(message.python_param.module, self._plugin_folders, self._base_dirs)
            )
            return _Outcome(error=error, reason=str(error), until=time.monotonic() + wait, absent=absent)
        stamp = file_stamp(shapes.file) if shapes.file else (0, 0)
        return _Outcome(shapes.tops, shapes.params, file=shapes.file, stamp=stamp, warnings=shapes.warnings)

    def _context(self) -> LayerContext:
        service = self._service
        return LayerContext(
            phase=self._phase,
            backend=service._backend,
            workspace=service._workspace,
            base_dirs=self._base_dirs,
            level=self._where[1],
            stages=self._where[2],
            shapes_only=True,
        )


def _is_absent(error: NetcanvasError | None) -> bool:
    """Whether all that is wrong is that data, or what reads them, are not there."""
    return isinstance(error, MissingDataError)


def _missing(index: int, name: str, shape: _Unknown | None) -> str:
    if name == _UNWIRED:
        return f"bottom {index} is not connected."
    if shape is None:
        return f"bottom {index}: no layer above produces '{name}'."
    return f"the shape of '{name}' is not known: {shape.reason}"


def _root(spec: LayerSpec, node: NodeShapes, shapes: Mapping[str, Shape | _Unknown]) -> _Unknown:
    """Return why this layer's tops are unknown: where that began, not every layer in between."""
    for name in spec.bottoms:
        cause = shapes.get(name)
        if isinstance(cause, _Unknown):
            return cause
    return _Unknown(str(node.error) if node.error is not None else f"layer '{spec.name}': {node.reason}")
