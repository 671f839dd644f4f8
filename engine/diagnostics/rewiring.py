"""Fixes that have a layer read something else."""

from __future__ import annotations

from collections.abc import Sequence

from engine.diagnostics.records import QuickFix
from engine.graph import Node, OpGraph

__all__ = ["insert_before", "read_blob", "swap_inputs"]


def read_blob(node: Node, bottom: int, blob: str, label: str = "") -> QuickFix:
    """Return a fix that connects a bottom to another blob."""

    def read(target: OpGraph) -> None:
        target.set_string(node.id, ("bottom", bottom), blob)

    return QuickFix(label or f"Read '{blob}'", read)


def swap_inputs(node: Node, label: str) -> QuickFix:
    """Return a fix that gives the first two bottoms in the other order."""

    def swap(target: OpGraph) -> None:
        for place, blob in enumerate(reversed(node.bottoms[:2])):
            target.set_string(node.id, ("bottom", place), blob)

    return QuickFix(label, swap)


def insert_before(node: Node, bottom: int, kind: str, bottoms: Sequence[str], fields: str, label: str) -> QuickFix:
    """Return a fix that puts a layer right above another, which then reads its top instead of what it read.

    Parameters
    ----------
    bottom : int
        The bottom that reads the top.
    kind : str
        The type of the layer.
    bottoms : sequence of str
        The blobs that it reads.
    fields : str
        Its other fields, as text.
    """

    def insert(target: OpGraph) -> None:
        ids = list(target.node_ids())
        above = ids[ids.index(node.id) - 1]
        made = target.add_node(kind, bottoms=bottoms, tops=1, fields=fields, after=above)
        target.set_string(node.id, ("bottom", bottom), target.node(made).tops[0])

    return QuickFix(label, insert)
