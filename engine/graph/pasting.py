"""What becomes of a text that is pasted into a document, and the names of the copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.graph.foresight import Foresight
from engine.graph.records import Node, NodeId
from engine.graph.versions import base_name, fresh_name
from engine.prototxt import Field, Item

__all__ = ["Names", "Pasting"]


@dataclass(frozen=True, slots=True)
class Pasting:
    """What becomes of a text that is pasted into a document.

    Attributes
    ----------
    text : str
    version : int
        What the document's tree was like.
    terms : tuple
        How it is pasted: behind which layer, and whether inputs stay wired.
    originals : tuple of Node
        The layers of the text, brought to today's format.
    copies : tuple of Field
        The layers that come, in the same order.
    items : tuple of Field, Junk and Note
        What stands at the top of the document then.
    spaced : Field or None
        A layer of the document that is to be parted from the one before it.
    foresight : Foresight
        What the graph will find in them.
    """

    text: str
    version: int
    terms: tuple[NodeId | None, bool]
    originals: tuple[Node, ...]
    copies: tuple[Field, ...]
    items: tuple[Item, ...]
    spaced: Field | None
    foresight: Foresight


class Names:
    """Names for copies that neither the document nor another copy has.

    Layers of different phases that share a name, or a blob, share the new one too.

    Parameters
    ----------
    layers, blobs : set of str
        The names that the document has; those of the copies are added.
    """

    def __init__(self, layers: set[str], blobs: set[str]) -> None:
        self._layers, self._taken = layers, blobs
        self._names, self._blobs = _Renamed(), _Renamed()

    def name(self, node: Node) -> str:
        """Return the name of a layer's copy."""
        name = self._names.twin(node.name, node.phases)
        if not name:
            taken = not node.name or node.name in self._layers
            name = fresh_name(*base_name(node.type), self._layers, self._taken) if taken else node.name
            self._names.add(node.name, name, node.phases)
        return name

    def newest(self, blob: str) -> str:
        """Return what a blob is called that a copy above writes; nothing where none does."""
        return self._blobs.newest(blob)

    def tops(self, node: Node, name: str) -> list[str]:
        """Return the tops of a layer's copy."""
        tops: list[str] = []
        for place, blob in enumerate(node.tops):
            held = self._blobs.newest(blob)
            if node.in_place[place] and held:
                tops.append(held)
                continue
            fresh = self._blobs.twin(blob, node.phases)
            fresh = fresh or self._free(name if len(node.tops) == 1 else blob, tops)
            self._blobs.add(blob, fresh, node.phases)
            tops.append(fresh)
        return tops

    def take(self, name: str, bottoms: Sequence[str], tops: Sequence[str]) -> None:
        """Note what a copy is called and names."""
        self._layers.add(name)
        self._taken.update(bottoms, tops)

    def _free(self, base: str, taken: list[str]) -> str:
        """Return a name that no blob has, nor a top that is about to be written."""
        name, place = fresh_name(base, True, self._taken), 0
        while name in taken:
            place += 1
            name = fresh_name(f"{base}_{place}", True, self._taken)
        return name


class _Renamed:
    """New names for old ones. Layers of different phases that share a name share the new one too."""

    def __init__(self) -> None:
        self._names: dict[str, list[tuple[str, frozenset[str]]]] = {}

    def add(self, old: str, new: str, phases: frozenset[str]) -> None:
        self._names.setdefault(old, []).append((new, phases))

    def newest(self, old: str) -> str:
        """Return the last new name, or nothing."""
        known = self._names.get(old)
        return known[-1][0] if known else ""

    def twin(self, old: str, phases: frozenset[str]) -> str:
        """Return the new name that was given in other phases only, or nothing."""
        known = self._names.get(old, ())
        return next((new for new, _ in known if all(new != n or not (p & phases) for n, p in known)), "")
