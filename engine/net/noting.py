"""Noting which layer runs, for the case that the process dies in it."""

from __future__ import annotations

from collections.abc import Sequence

from engine.last_words import LastWords, last_words
from engine.net.nodes import NetNode

__all__ = ["LayerNotes", "layer_notes"]


class LayerNotes:
    """Notes of the layers of a net, written out in advance.

    Parameters
    ----------
    words : LastWords
        Where they go.
    nodes : sequence of NetNode
        The net.
    """

    def __init__(self, words: LastWords, nodes: Sequence[NetNode]) -> None:
        self._words = words
        titles = [f"Layer '{node.name}' ({node.type})" for node in nodes]
        self._forward = [LastWords.entry(f"{title} in forward") for title in titles]
        self._backward = [LastWords.entry(f"{title} in backward") for title in titles]

    def forward(self, index: int) -> None:
        """Note that a layer is shaped and run."""
        self._words.note(self._forward[index])

    def backward(self, index: int) -> None:
        """Note that a layer's gradient is computed."""
        self._words.note(self._backward[index])

    def done(self) -> None:
        """Note that no layer runs any more."""
        self._words.note()


def layer_notes(nodes: Sequence[NetNode]) -> LayerNotes | None:
    """Return the notes of a net, or None where nobody would read them."""
    words = last_words()
    return LayerNotes(words, nodes) if words is not None else None
