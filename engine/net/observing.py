"""Watching a net layer by layer: what may look on, and the lines that Caffe's ``debug_info`` prints."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.net.nodes import NetNode

__all__ = ["DebugInfo", "NetObserver"]

_log = logging.getLogger("engine.net.debug_info")


class NetObserver:
    """Told of each layer that has run; its methods may raise, which ends the pass."""

    def forward_done(self, node: NetNode) -> None:
        """Look at a layer after its forward pass."""

    def backward_done(self, node: NetNode) -> None:
        """Look at a layer after its backward pass."""

    def all_backward_done(self, nodes: Sequence[NetNode]) -> None:
        """Look at the net after a backward pass through all of it."""


class DebugInfo(NetObserver):
    """Prints the mean magnitude of every blob, as ``Net::ForwardDebugInfo`` and its kin do in Caffe."""

    def forward_done(self, node: NetNode) -> None:
        """Print the tops and the parameters of a layer."""
        names = list(node.layer_param.top)
        names += ["(automatic)"] * (len(node.tops) - len(names))
        for name, blob in zip(names, node.tops, strict=True):
            _forward(node, f"top blob {name}", blob.read_data())
        for index, blob in enumerate(node.blobs.on_host):
            _forward(node, f"param blob {_param_name(node, index)}", blob.read_data())

    def backward_done(self, node: NetNode) -> None:
        """Print the gradients that a layer computed."""
        bottoms = zip(node.layer_param.bottom, node.bottoms, node.propagate_down, strict=True)
        for name, blob, wanted in bottoms:
            if wanted:
                _backward(node, f"bottom blob {name}", blob.read_diff())
        for index, blob in enumerate(node.blobs.on_host):
            if node.bound.param_propagate_down[index]:
                _backward(node, f"param blob {index}", blob.read_diff())

    def all_backward_done(self, nodes: Sequence[NetNode]) -> None:
        """Print the norms of all parameters and of their gradients."""
        owned = [(owner, index) for owner, index, first in _params(nodes) if owner is first]
        data = [owner.blobs.on_host[index].read_data() for owner, index in owned]
        diffs = [owner.blobs.on_host[index].read_diff() for owner, index in owned]
        _log.info(
            "    [Backward] All net params (data, diff): L1 norm = (%g, %g); L2 norm = (%g, %g)",
            *(sum(_asum(values) for values in each) for each in (data, diffs)),
            *(math.sqrt(sum(_sumsq(values) for values in each)) for each in (data, diffs)),
        )

    def updated(self, nodes: Sequence[NetNode], before: Sequence[float]) -> None:
        """Print what an update subtracted from each parameter.

        Parameters
        ----------
        nodes : sequence of NetNode
            The net; the gradients of its parameters hold what was subtracted.
        before : sequence of float
            What :meth:`magnitudes` returned before the update.
        """
        for (node, index, owner), data in zip(_params(nodes), before, strict=True):
            name, diff = _param_name(node, index), _mean(node.blobs.on_host[index].read_diff())
            if owner is node:
                _log.info("    [Update] Layer %s, param %s data: %g; diff: %g", node.name, name, data, diff)
            else:
                owned = f"(owned by layer {owner.name}, param {name})"
                _log.info("    [Update] Layer %s, param blob %s %s diff: %g", node.name, name, owned, diff)

    @staticmethod
    def magnitudes(nodes: Sequence[NetNode]) -> list[float]:
        """Return the mean magnitude of every parameter, in the order of the net."""
        return [_mean(node.blobs.on_host[index].read_data()) for node, index, _ in _params(nodes)]


def _params(nodes: Sequence[NetNode]) -> list[tuple[NetNode, int, NetNode]]:
    """Return every parameter as its layer, its place there, and the layer that owns it."""
    owners: dict[str, NetNode] = {}
    found = []
    for node in nodes:
        specs = node.layer_param.param
        for index in range(len(node.blobs)):
            name = specs[index].name if index < len(specs) else ""
            owner = owners.setdefault(name, node) if name else node
            found.append((node, index, owner))
    return found


def _param_name(node: NetNode, index: int) -> str:
    specs = node.layer_param.param
    return (specs[index].name if index < len(specs) else "") or str(index)


def _forward(node: NetNode, what: str, values: npt.NDArray[np.generic]) -> None:
    _log.info("    [Forward] Layer %s, %s data: %g", node.name, what, _mean(values))


def _backward(node: NetNode, what: str, values: npt.NDArray[np.generic]) -> None:
    _log.info("    [Backward] Layer %s, %s diff: %g", node.name, what, _mean(values))


def _mean(values: npt.NDArray[np.generic]) -> float:
    return _asum(values) / values.size if values.size else 0.0


def _asum(values: npt.NDArray[np.generic]) -> float:
    return float(np.abs(values).sum(dtype=np.float64))


def _sumsq(values: npt.NDArray[np.generic]) -> float:
    flat = values.reshape(-1).astype(np.float64)
    return float(flat @ flat)
