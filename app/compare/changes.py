"""What differs between two nets, layer by layer, with shapes and costs, in the order in which people go through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.canvas.scene.describe import count_text

if TYPE_CHECKING:
    from app.live.layercosts import CostRow
    from engine.graph import Node, NodeId
    from engine.graph.comparing import Difference, FieldChange

__all__ = ["ARROW", "KINDS", "Change", "Kind", "delta_text", "list_changes"]

#: Between what was and what is.
ARROW = " \u2192 "
Rows = Mapping["NodeId", "CostRow"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A way in which a layer may differ.

    Attributes
    ----------
    sign : str
        One character that says it without colour.
    role : str
        Colour of the theme.
    words : str
        For a person.
    """

    sign: str
    role: str
    words: str


#: All kinds by name; of several at one layer the first counts for its sign.
KINDS: Mapping[str, Kind] = {
    "added": Kind("+", "ok", "added"),
    "removed": Kind("\u2212", "error", "removed"),
    "changed": Kind("\u2260", "warning", "changed"),
    "renamed": Kind("\u2192", "accent", "renamed"),
    "moved": Kind("\u2195", "accent", "moved"),
    "reshaped": Kind("\u25a1", "text_muted", "of other shape or cost"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One layer that is not the same on both sides.

    Attributes
    ----------
    kinds : tuple of str
        Of :data:`KINDS`, in their order.
    old, new : Node or None
        The layer on each side; None where that side has none.
    fields : tuple of FieldChange
        The fields that differ.
    before, after : CostRow or None
        Shapes and costs on each side, where they are known.
    """

    kinds: tuple[str, ...]
    old: Node | None
    new: Node | None
    fields: tuple[FieldChange, ...] = ()
    before: CostRow | None = None
    after: CostRow | None = None

    @property
    def kind(self) -> Kind:
        """What it is marked as."""
        return KINDS[self.kinds[0]]

    @property
    def words(self) -> str:
        """Everything that happened to it."""
        return ", ".join(KINDS[kind].words for kind in self.kinds)

    @property
    def name(self) -> str:
        """The layer's name; both where it has another."""
        old, new = self.old, self.new
        names = dict.fromkeys(node.name or "(no name)" for node in (old, new) if node is not None)
        return ARROW.join(names)

    @property
    def output(self) -> str:
        """Shape of the output; both where it has another."""
        shapes = [row.output or "?" for row in (self.before, self.after) if row is not None]
        return ARROW.join(dict.fromkeys(shapes))

    def delta(self, number: int) -> int | None:
        """Return by how much a cost grew, by its place in :data:`app.live.layercosts.NUMBERS`; None where unknown."""
        values = [
            0 if node is None else row.numbers[number] if row is not None and row.numbers else None
            for node, row in ((self.old, self.before), (self.new, self.after))
        ]
        return None if values[0] is None or values[1] is None else values[1] - values[0]


def delta_text(delta: int | None, text: Callable[[int], str] = count_text) -> str:
    """Write by how much something grew; nothing where it did not."""
    if delta is None:
        return "?"
    return "" if not delta else f"{'+' if delta > 0 else chr(0x2212)}{text(abs(delta))}"


def list_changes(found: Difference, old_rows: Rows, new_rows: Rows) -> list[Change]:
    """Return all layers that differ, in the order of the second net; what it has no more stands where it stood."""
    fields = {new: changes for _old, new, changes in found.changed}
    renamed = {new for _old, new in found.renamed}
    moved = set(found.moved)
    partner = {new: old for old, new in found.pairs}
    changes: list[Change] = []
    for old, new in _in_order(found):
        before = old_rows.get(old.id) if old is not None else None
        after = new_rows.get(new.id) if new is not None else None
        if old is None or new is None:
            changes.append(Change(("added" if old is None else "removed",), old, new, (), before, after))
            continue
        assert partner[new] is old
        marks = {"changed": new in fields, "renamed": new in renamed, "moved": new in moved}
        marks["reshaped"] = _reshaped(before, after)
        kinds = tuple(kind for kind, holds in marks.items() if holds)
        if kinds:
            changes.append(Change(kinds, old, new, fields.get(new, ()), before, after))
    return changes


def _reshaped(before: CostRow | None, after: CostRow | None) -> bool:
    if before is None or after is None or not before.numbers or not after.numbers:
        return False
    return (before.output, before.numbers) != (after.output, after.numbers)


def _in_order(found: Difference) -> Iterator[tuple[Node | None, Node | None]]:
    """Go through all layers of both nets, each pair once."""
    behind = _removed_behind(found)
    yield from ((old, None) for old in behind.get(None, ()))
    both: list[tuple[Node | None, Node]] = [*found.pairs, *((None, new) for new in found.added)]
    for old, new in sorted(both, key=lambda pair: pair[1].ordinal):
        yield old, new
        yield from ((gone, None) for gone in behind.get(old, ()) if old is not None)


def _removed_behind(found: Difference) -> dict[Node | None, Sequence[Node]]:
    """Return the removed layers by the layer that both nets have and they stood behind; None for the beginning."""
    behind: dict[Node | None, list[Node]] = {}
    last: Node | None = None
    gone = set(found.removed)
    every = [*(old for old, _new in found.pairs), *found.removed]
    for old in sorted(every, key=lambda node: node.ordinal):
        if old in gone:
            behind.setdefault(last, []).append(old)
        else:
            last = old
    return dict(behind)
