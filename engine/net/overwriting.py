"""In-place layers that overwrite what a layer before them reads in its backward pass: wrong gradients, as in Caffe."""

from __future__ import annotations

from collections.abc import Sequence

from engine.blob import Blob
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
    found: list[str] = []
    writers: dict[Blob, list[NetNode]] = {}
    for node in nodes:
        for blob in node.tops:
            if blob not in node.bottoms:
                writers[blob] = []
            found += [_warning(reader, node, blob) for reader in writers[blob] if _spoils(node, reader)]
            writers[blob] = [each for each in writers[blob] if not _spoils(node, each)]
            if node.needs_backward and any(node.propagate_down) and node.layer.backward_reads:
                writers[blob].append(node)
    return found


def _spoils(node: NetNode, reader: NetNode) -> bool:
    """Whether a layer in place on a blob leaves less of it than a layer before it reads."""
    leaves = node.layer.in_place_leaves
    return leaves != "values" and leaves != reader.layer.backward_reads


def _warning(reader: NetNode, writer: NetNode, blob: Blob) -> str:
    return (
        f"Layer '{writer.name}' ({writer.type}) works in place on '{blob.name}', from which layer '{reader.name}' "
        f"({reader.type}) computes its gradient: it may come out wrong, as it does in Caffe. Give the top of "
        f"'{writer.name}' a name of its own."
    )
