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

#: Sums that are kept; more are only there where cards come and go.
_KEPT = 1000


class NodeCosts:
    """Costs of the layers of a document; they follow its shapes."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._held: dict[NodeId, tuple[NodeShapes, object, LayerCost]] = {}
        self._totals: dict[tuple[NodeId, ...], tuple[object, int, NetCost | None]] = {}

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

    def total(self, nodes: tuple[NodeId, ...]) -> NetCost | None:
        """Return what layers cost together; None where none is known."""
        shapes, serial = self._document.shapes, self._document.graph.serial
        held = self._totals.get(nodes)
        if held is None or held[0] is not shapes or held[1] != serial:
            if len(self._totals) > _KEPT:
                self._totals.clear()
            held = self._totals[nodes] = shapes, serial, self._sum(nodes)
        return held[2]

    def _sum(self, nodes: Iterable[NodeId]) -> NetCost | None:
        found = [cost for node in nodes if (cost := self.of(node)) is not None]
        if not found:
            return None
        from engine.cost import net_cost

        return net_cost(found)
