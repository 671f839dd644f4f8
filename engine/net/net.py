"""The net: what a solver, a script or the editor runs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends import Backend, Workspace, get_backend
from engine.blob import Blob
from engine.layer import Layer, LayerContext, Phase, stream
from engine.net.backprop import plan_backward
from engine.net.build import BuiltNet, build_nodes
from engine.net.filtering import NetState, filter_net
from engine.net.nodes import NetNode, call_layer, close_nodes, last_readers
from engine.net.noting import layer_notes
from engine.net.observing import DebugInfo, NetObserver
from engine.net.overwriting import find_overwriting
from engine.net.params import LearnableParam
from engine.net.plan import Plan
from engine.net.prepare import check_wiring, inputs_to_layers, read_param
from engine.net.ranges import layer_index
from engine.net.splits import insert_splits
from engine.net.taking import share_params
from engine.registry import LayerRegistry, default_registry

__all__ = ["Net"]

_log = logging.getLogger(__name__)


class Net:
    """Layers and blobs of one phase.

    Parameters
    ----------
    param : NetParameter or str
        The file's message or its prototxt text; layers of the other phase are left out.
    phase : Phase
        Training or testing.
    registry : LayerRegistry, optional
        Where layer types are looked up; all installed ones when omitted.
    backend : Backend or str, optional
        Where to compute; ``"numpy"`` when omitted.
    level, stages : int, sequence of str
        Net state for include rules, beside the file's own.
    base_dirs : sequence of Path
        Folders against which data layers look up relative paths.
    seed : int, optional
        Makes fillers, dropout and data augmentation repeatable.
    share_with : Net, optional
        A net whose parameters this one uses, layer by layer of the same name (a test net that follows training).
    shapes_only : bool
        Only shapes are wanted: no parameter is filled and no memory touched.
    dtype : dtype
        Element type of all blobs.
    use_plan : bool
        Run what :meth:`Layer.lower` describes through the backend's primitives where a layer offers it.
    source_opener : callable, optional
        Replaces :func:`engine.data.open_source` for data layers.

    Attributes
    ----------
    name : str
        The file's name for the net.
    phase : Phase
        As given.
    param : NetParameter
        What was built: filtered, with split layers.
    layers : list of Layer
        In the order in which they run, split layers included.
    layer_names : list of str
        Their names.
    blobs : dict of Blob
        By name, in the order of their producers.
    params : dict of list of Blob
        Parameters of the layers that have any, by layer name, in net order.
    inputs, outputs : list of str
        Blobs of Input layers in file order; blobs that no layer reads, sorted by name.
    bottom_names, top_names : dict of list of str
        Blob names by layer name.
    learnable : list of LearnableParam
        What a solver updates.
    loss_weights : dict of float
        Weights by blob name, where not 0.
    observers : list of NetObserver
        Told of every layer that has run.
    warnings : list of str
        What is allowed but probably not meant.

    Raises
    ------
    engine.errors.NetError
        If the net cannot be built; names the layer where there is one.
    """

    def __init__(
        self,
        param: Any,
        phase: Phase,
        *,
        registry: LayerRegistry | None = None,
        backend: Backend | str | None = None,
        level: int = 0,
        stages: Sequence[str] = (),
        base_dirs: Sequence[Path] = (),
        seed: int | None = None,
        share_with: Net | None = None,
        shapes_only: bool = False,
        dtype: npt.DTypeLike = np.float32,
        use_plan: bool = False,
        source_opener: Any = None,
    ) -> None:
        registry = registry or default_registry(tuple(base_dirs))
        whole = read_param(param, registry.schema)
        self.phase = Phase(phase)
        self.name: str = whole.name
        self.backend = backend if isinstance(backend, Backend) else get_backend(backend or "numpy")
        self.workspace = Workspace(self.backend)
        state = NetState.of(whole, self.phase, level, tuple(stages))
        filtered = inputs_to_layers(filter_net(whole, state))
        check_wiring(filtered, whole, state)
        self.param = insert_splits(filtered)
        context = LayerContext(
            phase=self.phase,
            backend=self.backend,
            workspace=self.workspace,
            dtype=np.dtype(dtype),
            base_dirs=tuple(base_dirs),
            seed=seed,
            level=state.level,
            stages=tuple(sorted(state.stages)),
            shapes_only=shapes_only,
            source_opener=source_opener,
            net_name=self.name,
        )
        trained = {node.name: node for node in share_with.nodes} if share_with is not None else {}
        built = build_nodes(self.param, registry, context, trained)
        plan_backward(built.nodes, force=self.param.force_backward)
        self._describe(built)
        self._readers = last_readers(built.nodes)
        self._plan = Plan(built.nodes) if use_plan else None
        self._notes = layer_notes(built.nodes)
        self.observers: list[NetObserver] = [DebugInfo()] if self.param.debug_info else []
        self.warnings = self._find_warnings()
        for warning in self.warnings:
            _log.warning("%s", warning)

    def _describe(self, built: BuiltNet) -> None:
        nodes = self._nodes = built.nodes
        self.layers: list[Layer] = [node.layer for node in nodes]
        self.layer_names: list[str] = [node.name for node in nodes]
        self._index_by_name = {name: index for index, name in enumerate(self.layer_names)}
        self.blobs: dict[str, Blob] = built.blobs
        self.params: dict[str, list[Blob]] = {node.name: node.blobs.on_host for node in nodes if len(node.blobs)}
        self.bottom_names: dict[str, list[str]] = {node.name: list(node.layer_param.bottom) for node in nodes}
        self.top_names: dict[str, list[str]] = {node.name: list(node.layer_param.top) for node in nodes}
        self.inputs: list[str] = [top for node in nodes if node.type == "Input" for top in node.layer_param.top]
        self.outputs: list[str] = sorted(built.unread)
        self.learnable: list[LearnableParam] = built.params.learnable
        self.loss_weights: dict[str, float] = {
            blob.name: weight
            for node in nodes
            for blob, weight in zip(node.tops, node.loss_weights, strict=False)
            if weight
        }

    def _find_warnings(self) -> list[str]:
        names = Counter(node.name for node in self._nodes if len(node.blobs))
        found = [
            f"{count} layers with parameters are named '{name}' in phase {self.phase}: weights are stored and found by "
            "name, so only the last would get its own back. Give each a name of its own."
            for name, count in names.items()
            if count > 1
        ]
        if self.phase is not Phase.TRAIN:
            return found
        found += find_overwriting(self._nodes)
        for node in self._nodes:
            unread = bool(node.tops) and all(blob.name in self.outputs for blob in node.tops)
            if node.type == "Python" and unread and not node.loss_weights and node.bottoms:
                found.append(
                    f"Layer '{node.name}' (Python): its tops are read by no layer and have no loss_weight, so it "
                    "trains nothing. Write loss_weight: 1 if it is a loss."
                )
        if not self.loss_weights and self.learnable:
            found.append(
                f"Net '{self.name}' has parameters but no loss: nothing will be learned. "
                "Add a loss layer, or a loss_weight."
            )
        return found

    # -- running -------------------------------------------------------------------------------------------------

    def forward(self, start: str | int | None = None, end: str | int | None = None) -> float:
        """Run layers in order; each is reshaped first, so that new input shapes carry through.

        Parameters
        ----------
        start, end : str or int, optional
            First and last layer, both included; the whole net when omitted.

        Returns
        -------
        float
            Weighted sum of the losses in the range.

        Raises
        ------
        engine.net.UnknownLayerError
            If a name is no layer's.
        engine.errors.LayerError
            If a layer fails; :class:`~engine.errors.PluginError` for user code.
        """
        first = self._index(start, 0)
        last = self._index(end, len(self._nodes) - 1)
        loss = 0.0
        notes = self._notes
        for index in range(first, last + 1):
            node = self._nodes[index]
            if notes is not None:
                notes.forward(index)
            for conversion in node.conversions:
                conversion.forward()
            if self._plan is not None:
                self._plan.forward(index)
            else:
                call_layer(node.layer, "reshape", node.bottom_views, node.top_views)
                call_layer(node.layer, "forward", node.bottom_views, node.top_views)
            if node.loss_weights:
                loss += self._loss_of(node)
            for observer in self.observers:
                observer.forward_done(node)
        if notes is not None:
            notes.done()
        return loss

    def backward(
        self, start: str | int | None = None, end: str | int | None = None, *, seed_losses: bool = True
    ) -> None:
        """Compute gradients, from the loss down; parameter gradients are added to, see :meth:`clear_param_diffs`.

        Parameters
        ----------
        start, end : str or int, optional
            First layer (nearest the loss) and last (nearest the data), both included.
        seed_losses : bool
            Write loss weights into the gradients of the losses; off where the caller has set them.
        """
        first = self._index(start, len(self._nodes) - 1)
        last = self._index(end, 0)
        notes = self._notes
        for index in range(first, last - 1, -1):
            node = self._nodes[index]
            if node.loss_weights and seed_losses:
                self._seed(node, first)
            if not node.needs_backward:
                continue
            if notes is not None:
                notes.backward(index)
            if self._plan is not None:
                self._plan.backward(index)
            else:
                call_layer(node.layer, "backward", node.top_views, node.propagate_down, node.bottom_views)
            for conversion in node.conversions:
                if node.propagate_down[conversion.port]:
                    conversion.backward()
            for observer in self.observers:
                observer.backward_done(node)
        if notes is not None:
            notes.done()
        if start is None and end is None:
            for observer in self.observers:
                observer.all_backward_done(self._nodes)

    @property
    def debug_info(self) -> bool:
        """Whether the log tells the mean magnitude of every blob, as in Caffe."""
        return any(isinstance(observer, DebugInfo) for observer in self.observers)

    @debug_info.setter
    def debug_info(self, wanted: bool) -> None:
        if wanted != self.debug_info:
            others = [observer for observer in self.observers if not isinstance(observer, DebugInfo)]
            self.observers = [*others, DebugInfo()] if wanted else others

    def _loss_of(self, node: NetNode) -> float:
        loss = 0.0
        for blob, weight in zip(node.top_views, node.loss_weights, strict=True):
            if weight:
                loss += weight * float(blob.data.sum())
        return loss

    def _seed(self, node: NetNode, first: int) -> None:
        """Write the loss weight into the gradient of each loss, on top of what a reader in the range sent down."""
        for blob, weight in zip(node.top_views, node.loss_weights, strict=True):
            if weight == 0:
                continue
            diff = blob.diff
            if self._readers.get(blob.on_host, first + 1) <= first:
                diff += weight
            else:
                diff[...] = weight

    def seed_losses(self) -> None:
        """Write loss weights into the gradients of all losses, for a caller who then changes some of them."""
        for node in self._nodes:
            if node.loss_weights:
                self._seed(node, -1)

    def clear_param_diffs(self) -> None:
        """Set the gradients of all parameters to zero."""
        for param in self.learnable:
            param.blob.on_device().diff[...] = 0

    def reshape(self) -> None:
        """Carry new input shapes through the net without computing."""
        for node in self._nodes:
            for conversion in node.conversions:
                conversion.reshape()
            call_layer(node.layer, "reshape", node.bottom_views, node.top_views)

    def _index(self, key: str | int | None, default: int) -> int:
        return layer_index(key, default, len(self._nodes), self._index_by_name, self.blobs)

    # -- facts and state -----------------------------------------------------------------------------------------

    @property
    def needs_backward(self) -> dict[str, tuple[bool, str]]:
        """For each layer, whether the backward pass calls it, and why."""
        return {node.name: (node.needs_backward, node.reason) for node in self._nodes}

    @property
    def nodes(self) -> Sequence[NetNode]:
        """Layers with their blobs and backward flags, in order."""
        return self._nodes

    @property
    def plan(self) -> Plan | None:
        """The plan, where the net was built with ``use_plan``."""
        return self._plan

    def layer(self, name: str | int) -> Layer:
        """Return a layer by name or position."""
        return self.layers[self._index(name, 0)]

    def has_layer(self, name: str) -> bool:
        """Whether a layer has that name."""
        return name in self._index_by_name

    def share_trained_layers_with(self, other: Net) -> None:
        """Use the parameters of another net, layer by layer of the same name."""
        for node in other.nodes:
            if node.name in self._index_by_name:
                share_params(self._nodes[self._index_by_name[node.name]], node)

    def get_state(self) -> dict[str, Any]:
        """Return what an exact resume needs beyond parameters: each layer's random stream and own state, JSON-able."""
        state: dict[str, Any] = {}
        for node in self._nodes:
            own = call_layer(node.layer, "get_state")
            rng = node.bound.rng
            if own or rng is not None:
                state[node.name] = {"rng": rng and rng.bit_generator.state, "own": own}
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`get_state` returned; layers it does not name keep theirs."""
        for node in self._nodes:
            saved = state.get(node.name)
            if saved is None:
                continue
            if saved["rng"] is not None:
                stream(node.layer).bit_generator.state = saved["rng"]
            call_layer(node.layer, "set_state", saved["own"])

    def close(self) -> None:
        """Release files and threads of the layers."""
        close_nodes(self._nodes)

    def __enter__(self) -> Net:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Net '{self.name}' {self.phase}: {len(self.layers)} layers, {len(self.blobs)} blobs>"
