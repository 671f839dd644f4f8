"""Nets from files, with what their layers cost: what ``show`` and ``diff`` print."""

from __future__ import annotations

import argparse
import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.assumed import read_assumed
from engine.blob import Shape
from engine.cli.reading import read_shown_graph
from engine.cli.viewing import phase_of, view_of
from engine.cost import LayerCost, NetCost, layer_cost, net_cost
from engine.errors import NetError, PrototxtError
from engine.graph import Node, NodeId, OpGraph, View
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.paths import search_folders
from engine.registry import default_registry
from engine.shapes import NodeShapes, ShapeService, graph_layers

__all__ = ["Measured", "assumed_of", "assumed_words", "measure", "memory_words", "shape_words"]

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


@dataclass(frozen=True, slots=True)
class Measured:
    """A net in one state.

    Attributes
    ----------
    graph : OpGraph
    view : View
        Which net of the document it is.
    phase : Phase
    nodes : tuple of Node
        The layers that take part, in document order.
    shapes : mapping of NodeId to NodeShapes
    costs : mapping of NodeId to LayerCost
    total : NetCost
    notes : tuple of str
        What there is to say of how the file was read.
    """

    graph: OpGraph
    view: View
    phase: Phase
    nodes: tuple[Node, ...]
    shapes: Mapping[NodeId, NodeShapes]
    costs: Mapping[NodeId, LayerCost]
    total: NetCost
    notes: tuple[str, ...] = ()

    @property
    def unknown(self) -> list[Node]:
        """The layers whose shapes are not known."""
        return [node for node in self.nodes if self.shapes[node.id].state != "known"]


def measure(path: Path, options: argparse.Namespace) -> Measured:
    """Read a net and find out its shapes and costs.

    Parameters
    ----------
    path : Path
        A prototxt file, or a weights file, which holds its net.
    options : Namespace
        With ``phase``, ``level``, ``stage``, ``trust`` and ``assumed``.

    Raises
    ------
    FileFormatError
        If the file is no net.
    """
    graph, notes = read_shown_graph(path)
    if not len(graph) and graph.problems:
        fault = graph.problems[0]
        raise PrototxtError(fault.message, line=fault.line, column=fault.column, source=str(path), next_step=fault.hint)
    view = view_of(options)
    phase, members = phase_of(view), graph.look(view)
    folders = search_folders(path.parent)
    with InspectionClient() as client:
        found = ShapeService(registry=default_registry(folders, trusted=options.trust), client=client).infer(
            graph_layers(graph),
            phase,
            base_dirs=folders,
            trusted=options.trust,
            level=members.state.level,
            stages=sorted(members.state.stages),
            assumed=assumed_of(path, graph, options),
            members=members,
        )
    nodes = tuple(node for node in members.nodes() if node.id in found)
    shapes = {node.id: found[node.id] for node in nodes}
    costs = {node.id: layer_cost(node.type, shapes[node.id], node.in_place) for node in nodes}
    total = net_cost(costs.values(), _shared(graph, nodes, shapes))
    return Measured(graph, view, phase, nodes, shapes, costs, total, notes)


def assumed_of(path: Path, graph: OpGraph, options: argparse.Namespace) -> dict[str, Shape]:
    """Return the shapes that are assumed for a net: beside its file, and in the options.

    Raises
    ------
    NetError
        If the options name a blob that no layer gives.
    """
    given: dict[str, Shape] = dict(options.assumed)
    tops = {top for node in graph.nodes() for top in node.tops}
    for name in given:
        if name not in tops:
            close = difflib.get_close_matches(name, tops, n=1)
            raise NetError(
                f"--input-shape {name}: expected a blob that a layer of '{path.name}' gives.",
                next_step=f"Did you mean '{close[0]}'?" if close else f"See its blobs: netcanvas show {path.name}.",
            )
    return {**read_assumed(path), **given}


def assumed_words(nodes: Iterable[Node], shapes: Mapping[NodeId, NodeShapes]) -> list[str]:
    """Return what is assumed of the tops of layers, a line for each blob from which others follow."""
    lines = []
    for node in nodes:
        known = shapes[node.id]
        if known.assumed in node.tops and (known.absent or known.assumed not in node.bottoms):
            what, verb = ("the code of", "is") if node.bottoms else ("the data of", "are")
            sizes = (f"'{top}' {shape_words(shape)}" for top, shape in zip(node.tops, known.tops, strict=True))
            lines.append(f"assumed, because {what} layer '{node.name}' {verb} not here: {', '.join(sizes)}")
    return lines


def _shared(graph: OpGraph, nodes: tuple[Node, ...], shapes: Mapping[NodeId, NodeShapes]) -> int:
    """Return how many values belong to parameters that an earlier layer has under the same name."""
    seen: set[str] = set()
    shared = 0
    for node in nodes:
        if not node.virtual:
            for param, shape in zip(graph.layer_message(node.id).param, shapes[node.id].params, strict=False):
                if param.name in seen:
                    shared += math.prod(shape)
                elif param.name:
                    seen.add(param.name)
    return shared


def shape_words(shape: Shape | None) -> str:
    """Return a shape as a person reads it."""
    return "?" if shape is None else f"({' x '.join(map(str, shape))})"


def memory_words(count: float) -> str:
    """Return a number of bytes with its unit."""
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count /= 1024
        unit += 1
    return f"{count:.0f} {_UNITS[unit]}" if not unit else f"{count:.1f} {_UNITS[unit]}"
