"""Finding a layer of the net by its name or type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["Found", "layers_of"]


@dataclass(frozen=True, slots=True)
class Found:
    """A layer of the net, as the search shows it.

    Attributes
    ----------
    type : str
        What is shown and searched first: the layer's name.
    category, summary : str
        Category of its type, and the type with the phase.
    bottoms, tops : tuple of str
        Its blobs.
    """

    node: NodeId
    type: str
    category: str
    summary: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]


def layers_of(document: Document) -> tuple[Found, ...]:
    """Return all layers of a document; where several share a name, their phase or line tells them apart."""
    found: dict[str, Found] = {}
    for node in document.graph.nodes():
        info = document.registry.info(node.type)
        phase = next(iter(node.phases)) if len(node.phases) == 1 else ""
        label = node.name or node.type
        if label in found:
            label = f"{label} ({phase.lower() or f'line {node.line}'})"
        if label in found:
            label = f"{label}, line {node.line}"
        summary = f"{node.type}, {phase} only" if phase else node.type
        category = info.category if info is not None else "Other"
        found[label] = Found(node.id, label, category, summary, node.bottoms, node.tops)
    return tuple(found.values())
