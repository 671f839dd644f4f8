"""The network that a graph is as networkx has it, loaded and drawn only when somebody asks for it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

    from engine.graph.records import Edge, NodeId

__all__ = ["draw_network", "load_network"]


def load_network() -> None:
    """Import what the network is drawn with; it takes its time, so that an editor had better do it in a thread."""
    importlib.import_module("networkx")


def draw_network(nodes: Iterable[NodeId], wires: Iterable[Mapping[Edge, int]]) -> nx.MultiDiGraph[NodeId]:
    """Return the nodes and edges as networkx has them, with the states of each edge as its ``mask``."""
    import networkx as nx

    network: nx.MultiDiGraph[NodeId] = nx.MultiDiGraph()
    network.add_nodes_from(nodes)
    for edges in wires:
        for edge, mask in edges.items():
            network.add_edge(edge.source, edge.target, key=edge, mask=mask)
    return network
