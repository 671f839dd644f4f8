"""Stretches of layers that both nets have alike, each folded to a card at the same place on both sides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.document.blocks import Block

if TYPE_CHECKING:
    from app.compare.changes import Change
    from app.document import Document
    from engine.graph import Node, NodeId
    from engine.graph.comparing import Difference

__all__ = ["Stretch", "equal_stretches", "fold", "is_worth_folding"]

#: Fewer layers than these take no less room when they are folded.
_LEAST = 3
#: Nets of more layers are folded at first, where no more than this part of them differs.
_LONG, _FEW = 40, 0.3
#: So many have no room for all words on their card.
_WIDE = 100


@dataclass(frozen=True, slots=True)
class Stretch:
    """Layers that follow each other in both nets and are equal, in the order of the text; each of the two nets' own."""

    old: tuple[NodeId, ...]
    new: tuple[NodeId, ...]
    first: str
    last: str

    @property
    def title(self) -> str:
        """What the card says, as far as there is room for it."""
        count = len(self.new)
        return f"{count} equal layers" if count < _WIDE else f"{count} equal"


def written(changes: Iterable[Change]) -> list[Change]:
    """Return the changes that somebody made: what follows from them is folded with what is equal."""
    return [each for each in changes if each.kinds != ("reshaped",)]


def equal_stretches(
    difference: Difference, changes: Iterable[Change], unfolded: Collection[NodeId] = ()
) -> list[Stretch]:
    """Return what can be folded, in the order of the second net.

    A stretch has no layer of either net in between, so that no wire leads out of it and in again.

    Parameters
    ----------
    unfolded : collection of NodeId
        Layers of the second net; stretches that begin with one of them are left out.
    """
    differing = {each.new.id for each in written(changes) if each.new is not None}
    found: list[Stretch] = []
    run: list[tuple[Node, Node]] = []

    def end() -> None:
        if len(run) >= _LEAST and run[0][1].id not in unfolded:
            old, new = (tuple(pair[side].id for pair in run) for side in (0, 1))
            found.append(Stretch(old, new, run[0][1].name, run[-1][1].name))
        run.clear()

    for old, new in sorted(difference.pairs, key=lambda pair: pair[1].ordinal):
        if new.id in differing or new.virtual or old.virtual:
            end()
            continue
        if run and (run[-1][0].ordinal + 1, run[-1][1].ordinal + 1) != (old.ordinal, new.ordinal):
            end()
        run.append((old, new))
    end()
    return found


def is_worth_folding(difference: Difference, changes: Iterable[Change]) -> bool:
    """Whether two nets are so long, and differ in so little, that their difference is better seen folded."""
    made, count = len(written(changes)), len(difference.pairs)
    return count > _LONG and 0 < made <= _FEW * count and bool(equal_stretches(difference, changes))


def fold(document: Document, stretches: Sequence[tuple[NodeId, ...]], words: Sequence[Stretch]) -> list[NodeId]:
    """Fold these layers of one side, and nothing else; return the ids of the cards, in the same order.

    The places of the cards are still to be found.
    """
    blocks = document.positions.blocks
    before = {block.nodes: block for block in blocks}
    wanted = [
        Block(
            before[nodes].id if nodes in before else blocks.fresh_id(),
            each.title,
            nodes,
            kind=each.first if each.first == each.last else f"{each.first} \u2013 {each.last}",
        )
        for nodes, each in zip(stretches, words, strict=True)
    ]
    kept = {block.id for block in wanted if before.get(block.nodes) == block}
    gone = [block for block in before.values() if block.id not in kept]
    new = [block for block in wanted if block.id not in kept]
    if gone or new:
        blocks.replace(gone, new, moving=True)
    return [block.id for block in wanted]
