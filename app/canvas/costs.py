"""What the layers of a document cost, as far as their shapes are known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.document import Document
    from engine.cost import LayerCost, NetCost
    from engine.graph import NodeId

__all__ = ["NodeCosts"]


class NodeCosts:
    """Costs of the layers of a document; they follow its shapes."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._shapes: object = None
        self._held: dict[NodeId, LayerCost] = {}

    def of(self, node: NodeId) -> LayerCost | None:
        """Return what a layer costs; None while its shapes are not known."""
        shapes = self._document.shapes
        if shapes is not self._shapes:
            self._shapes, self._held = shapes, {}
        held = self._held.get(node)
        if held is None:
            known = shapes.get(node)
            if known is None or known.state == "unknown":
                return None
            from engine.cost import layer_cost  # with numpy behind it, and needed only once shapes are known

            record = self._document.graph.node(node)
            held = self._held[node] = layer_cost(record.type, known, record.in_place)
        return held

    def total(self, nodes: Iterable[NodeId]) -> NetCost | None:
        """Return what layers cost together; None where none is known."""
        found = [cost for node in nodes if (cost := self.of(node)) is not None]
        if not found:
            return None
        from engine.cost import net_cost

        return net_cost(found)
