"""What the parts of a tree ask of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.prototxt.parts import Container, Part, TopItem

__all__ = ["Document"]


class Document:
    """What a tree is to its parts.

    Attributes
    ----------
    offsets : dict
        For messages and lists in which a place was asked for, where the texts of their parts begin; empty after edits.
    """

    __slots__ = ("offsets",)

    def __init__(self) -> None:
        self.offsets: dict[Container, dict[Part, int]] = {}

    def start_line(self, item: TopItem) -> int:
        """1-based line on which the text of a top item begins; 0 for what is not at the top of this document."""
        raise NotImplementedError

    def start_column(self, item: TopItem) -> int:
        """1-based column at which the text of a top item begins."""
        raise NotImplementedError
