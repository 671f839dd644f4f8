"""What is known of an open net beside its text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.document.dialect import DialectChoice
    from app.live import LiveFacts
    from engine.diagnostics import Diagnostic
    from engine.graph import NodeId
    from engine.registry import LayerRegistry
    from engine.schema import Schema
    from engine.shapes import NodeShapes

__all__ = ["KnownFacts"]


class KnownFacts:
    """The facts of a document, wherever they are computed.

    Attributes
    ----------
    live : app.live.LiveFacts
        Who computes them.
    dialect_choice : app.document.dialect.DialectChoice
        Which dialect the net is read in.
    """

    live: LiveFacts
    dialect_choice: DialectChoice

    @property
    def dialect(self) -> str:
        """Name of the dialect that the net is read in: the user's choice, or a guess; see ``set_dialect``."""
        return self.dialect_choice.name

    @property
    def schema(self) -> Schema:
        """The schema that the net is read with: that of its dialect."""
        return self.live.schema

    @property
    def plugin_paths(self) -> tuple[Path, ...]:
        """Plugin folders that the user named and trusts."""
        return self.live.plugins.paths

    @property
    def registry(self) -> LayerRegistry:
        """The layer types that are known."""
        return self.live.registry

    @property
    def shapes(self) -> Mapping[NodeId, NodeShapes]:
        """Shapes by node, the newest that are known; see ``shapes_changed``."""
        return self.live.shapes

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What is wrong or doubtful, worst first; see ``diagnostics_changed``."""
        return self.live.diagnostics

    def problems_of(self, node_id: NodeId) -> tuple[str, tuple[str, ...]]:
        """Worst severity at a node (``error``, ``warning`` or empty), and the sentences, worst first."""
        return self.live.problems_of(node_id)

    def set_node_error(self, node: NodeId | str, diagnostic: Diagnostic | None) -> None:
        """Mark a node, given by id or layer name, with a fault of a run, or take the mark off."""
        self.live.set_node_error(node, diagnostic)

    def clear_node_errors(self) -> None:
        """Take all marks of a run off."""
        self.live.clear_node_errors()
