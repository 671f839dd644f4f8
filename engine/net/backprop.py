"""Which layers the backward pass calls, which gradients it asks for, and why (Caffe's ``Net::Init``)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.blob import Blob
from engine.errors import LayerError
from engine.net.nodes import NetNode, call_layer

__all__ = ["plan_backward"]


def plan_backward(nodes: Sequence[NetNode], *, force: bool) -> None:
    """Set ``propagate_down``, ``needs_backward`` and ``reason`` of every node.

    Parameters
    ----------
    nodes : sequence of NetNode
        The net in order; parameters and loss weights are known.
    force : bool
        The net's ``force_backward``.
    """
    _from_below(nodes)
    _from_above(nodes)
    if force:
        _force(nodes)


def _from_below(nodes: Sequence[NetNode]) -> None:
    """A gradient is wanted where something to be learned lies at or below."""
    wanted: dict[Blob, bool] = {}
    for node in nodes:
        flags = node.layer_param.propagate_down
        if flags and len(flags) != len(node.bottoms):
            raise LayerError(
                node.name,
                node.type,
                f"expected propagate_down once for each of its {len(node.bottoms)} bottoms, got {len(flags)} values.",
                next_step="Write one value for each bottom, or none.",
            )
        node.propagate_down = [
            bool(flags[port]) if flags else wanted.get(blob, False) for port, blob in enumerate(node.bottoms)
        ]
        below = any(wanted.get(blob, False) for blob in node.bottoms)
        learns = any(node.bound.param_propagate_down)
        node.needs_backward = below or learns
        if learns:
            node.reason = "it has parameters to learn"
        elif below:
            node.reason = "a layer below it has parameters to learn"
        elif len(node.blobs):
            node.reason = "the lr_mult of all its parameters is 0 and nothing below it learns"
        else:
            node.reason = "neither it nor a layer below it has parameters to learn"
        for blob in node.tops:
            wanted[blob] = node.needs_backward


def _from_above(nodes: Sequence[NetNode]) -> None:
    """Nothing is wanted where no loss lies above, or where every path from it was cut by ``propagate_down``."""
    under_loss: set[Blob] = set()
    cut: set[Blob] = set()
    for node in reversed(nodes):
        contributes = any(node.loss_weights) or any(blob in under_loss for blob in node.tops)
        skipped = bool(node.tops) and all(blob in cut for blob in node.tops)
        if not contributes:
            if node.needs_backward:
                node.reason = "no loss lies above it"
            node.needs_backward = False
        elif node.needs_backward and skipped:
            node.needs_backward = False
            node.reason = "propagate_down: false above it cuts it off from the loss"
        if not contributes or (skipped and not node.needs_backward):
            node.propagate_down = [False] * len(node.bottoms)
        for blob, wanted in zip(node.bottoms, node.propagate_down, strict=True):
            if contributes:
                under_loss.add(blob)
            if not wanted:
                cut.add(blob)


def _force(nodes: Sequence[NetNode]) -> None:
    for node in nodes:
        if not node.needs_backward:
            node.reason = "the net says force_backward"
        node.needs_backward = True
        node.propagate_down = [
            wanted or call_layer(node.layer, "allow_force_backward", port)
            for port, wanted in enumerate(node.propagate_down)
        ]
        node.bound.param_propagate_down = [True] * len(node.blobs)
