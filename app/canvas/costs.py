"""What the layers of a document cost, as far as their shapes are known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.document import Document
    from engine.cost import LayerCost, NetCost
    from engine.graph import NodeId
    from engine.shapes import NodeShapes

__all__ = ["NodeCosts"]


class NodeCosts:
    """Costs of the layers of a document; they follow its shapes."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._held: dict[NodeId, tuple[NodeShapes, object, LayerCost]] = {}

    def of(self, node: NodeId) -> LayerCost | None:
        """Return what a layer costs; None while its shapes are not known."""
        known = self._document.shapes.get(node)
        if known is None or known.state == "unknown":
            return None
        record, held = self._document.graph.readings()[node], self._held.get(node)
        if held is not None and held[0] is known and held[1] is record:
            return held[2]
        from engine.cost import layer_cost  # with numpy behind it, and needed only once shapes are known

        cost = layer_cost(record.type, known, record.in_place)
        self._held[node] = known, record, cost
        return cost

    def total(self, nodes: Iterable[NodeId]) -> NetCost | None:
        """Return what layers cost together; None where none is known."""
        found = [cost for node in nodes if (cost := self.of(node)) is not None]
        if not found:
            return None
        from engine.cost import net_cost

        return net_cost(found)
