"""In-place layers that overwrite what a layer before them reads in its backward pass: wrong gradients, as in Caffe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from engine.blob import Blob
from engine.in_place import Step, find_spoiled
from engine.net.nodes import NetNode

__all__ = ["find_overwriting"]


def find_overwriting(nodes: Sequence[NetNode]) -> list[str]:
    """Return a warning for each layer whose gradient may come out wrong, as a later one works in place on its top.

    Such a net computes what Caffe computes all the same.

    Parameters
    ----------
    nodes : sequence of NetNode
        The net in order, with backward flags.
    """
    return [_warning(reader, writer, cast(Blob, blob)) for reader, writer, blob in find_spoiled(map(_step, nodes))]


def _step(node: NetNode) -> Step[NetNode]:
    has_gradient = node.needs_backward and any(node.propagate_down)
    reads = node.layer.backward_reads if has_gradient else ""
    return Step(node, node.bottoms, node.tops, reads, node.layer.in_place_leaves)


def _warning(reader: NetNode, writer: NetNode, blob: Blob) -> str:
    return (
        f"Layer '{writer.name}' ({writer.type}) works in place on '{blob.name}', from which layer '{reader.name}' "
        f"({reader.type}) computes its gradient: it may come out wrong, as it does in Caffe. Give the top of "
        f"'{writer.name}' a name of its own."
    )
