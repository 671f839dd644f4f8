"""Rules about settings of data layers that Caffe knows and does not read where they stand."""

from __future__ import annotations

from collections.abc import Iterator

from engine.diagnostics.records import Diagnostic, QuickFix
from engine.graph import Node, OpGraph, Path

__all__ = ["check_data_fields"]

_OWN = {"Data": "data_param", "ImageData": "image_data_param", "WindowData": "window_data_param"}
_MOVED = ("scale", "mean_file", "crop_size", "mirror")  # fields that the formats before today's kept in the layer's own
_TRANSFORM = "transform_param"


def check_data_fields(graph: OpGraph, node: Node) -> Iterator[Diagnostic]:
    """Find settings of the transformation in the block where the layer's type does not look for them.

    Today's layers read all of them from ``transform_param``, except the ``scale`` of WindowData, which is read from
    ``window_data_param`` (Caffe's ``WindowDataLayer``).
    """
    own = _OWN.get(node.type)
    if own is None or node.version != 2:
        return
    for name in _MOVED:
        wrong, right = own, _TRANSFORM
        if name == "scale" and node.type == "WindowData":
            wrong, right = right, wrong
        if graph.value(node.id, (wrong, name)) is not None:
            yield _ignored(graph, node, (wrong, name), (right, name))


def _ignored(graph: OpGraph, node: Node, path: Path, right: Path) -> Diagnostic:
    line, column = graph.place(node.id, path)
    text = graph.value(node.id, path)
    taken = graph.value(node.id, right) is not None

    def move(target: OpGraph) -> None:
        if not taken and text is not None:
            target.set_field(node.id, right, text)
        target.clear_field(node.id, path)

    return Diagnostic(
        "field-ignored",
        "warning",
        f"{node.heading} does not read {path[0]}.{path[1]}: {node.type} takes it from {right[0]}.",
        line,
        column,
        node.id,
        path,
        f"Remove it; {right[0]}.{right[1]} counts." if taken else f"Write it as {right[0]}.{right[1]}.",
        QuickFix("Remove it" if taken else f"Move it to {right[0]}", move),
    )
