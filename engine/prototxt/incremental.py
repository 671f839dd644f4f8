"""Reading a text again after a change, as far as the change reaches.

The reader of a file remembers nothing from one item at the top to the next, once each is closed. So it can begin
above the change, at an item whose beginning the change cannot touch, and end below it, as soon as it stands between
two items where it stood the last time too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import accumulate

from engine.prototxt.lexer import BOM
from engine.prototxt.parser import MOST_FAULTS, parse_part
from engine.prototxt.parts import Field, Item, Junk, Note, TopItem, pieces
from engine.prototxt.problems import Fault
from engine.prototxt.tree import Tree

__all__ = ["Patch", "all_told", "misread", "reparse"]


@dataclass(frozen=True, slots=True)
class Patch:
    """What takes the place of some items of a tree when its text changes.

    Attributes
    ----------
    start, stop : int
        The items ``root.items[start:stop]`` of the old tree go.
    items : list of Item
        These come.
    close_lead : str
        What stands after the last item.
    """

    start: int
    stop: int
    items: list[Item]
    close_lead: str


def reparse(tree: Tree, text: str) -> Patch:
    """Find out what a new text makes of a tree; equal to what reading all of it gives.

    Parameters
    ----------
    tree : Tree
        The tree of the old text; stays as it is.
    text : str
        The new text, without a byte order mark.
    """
    items = tree.root.items
    old = tree.text[len(tree.bom) :]
    starts = list(accumulate([len(item.text) for item in items], initial=0))
    alike = _common_prefix(old, text)
    alike_after = _common_suffix(old, text, min(len(old), len(text)) - alike)
    start = _beginning(items, bisect_right(starts, alike) - 2)
    moved = len(text) - len(old)
    first = max(bisect_left(starts, len(old) - alike_after), start + 1)
    stops = {starts[place] + moved: place for place in range(first, len(items)) if _is_fixed(items, place)}
    part, end = parse_part(text, starts[start], stops.keys())
    stop = stops.get(end, len(items))
    kept = items[:start] + items[stop:]
    if not all_told(kept + part.root.items) and kept:
        whole, _ = parse_part(text, 0, frozenset())
        return Patch(0, len(items), whole.root.items, whole.root.close_lead)
    return Patch(start, stop, part.root.items, part.root.close_lead if stop == len(items) else tree.root.close_lead)


def all_told(items: Sequence[Item]) -> bool:
    """Whether the items hold all faults of their text, and not only as many as are counted at most."""
    return sum(len(item.faults) for item in items) < MOST_FAULTS


def misread(
    tree: Tree, doubtful: Set[TopItem], *, whole: bool = False
) -> tuple[Item | None, list[tuple[Item, tuple[Fault, ...]]]]:
    """Find out whether an edited tree is what reading its text gives; only broken text can make a difference.

    Parameters
    ----------
    tree : Tree
        A tree whose parts were edited.
    doubtful : set of Field, Junk and Note
        Items that had faults before they were edited.
    whole : bool
        Whether sound items, too, may have other faults than they have now: those that nobody counted.

    Returns
    -------
    item : Field, Junk, Note or None
        The broken item around which the text would be read in another way, or None.
    corrections : list of (item, faults)
        Items that would be read in the same way, with other faults than they have now.
    """
    corrections: list[tuple[Item, tuple[Fault, ...]]] = []
    items = tree.root.items
    suspects = [place for place, item in enumerate(items) if item.faults or type(item) is Junk]
    if doubtful:
        suspects = sorted({*suspects, *(place for place, item in enumerate(items) if item in doubtful)})
    if whole:
        suspects = [0]
    if not suspects:
        return None, corrections
    text = tree.text[len(tree.bom) :]
    if not tree.bom and text.startswith(BOM):
        return items[0], []
    starts = list(accumulate([len(item.text) for item in items], initial=0))
    stops = {starts[place]: place for place in range(1, len(items)) if not whole and _is_fixed(items, place)}
    done = past = 0
    for suspect in suspects:
        if suspect < done:
            continue
        start = max(_beginning(items, suspect - 1), done)
        for place in range(past, suspect + 1):
            stops.pop(starts[place], None)
        past = suspect + 1
        part, end = parse_part(text, starts[start], stops.keys())
        done = stops.get(end, len(items))
        if [pieces(item) for item in items[start:done]] != [pieces(item) for item in part.root.items]:
            return items[suspect], []
        both = zip(items[start:done], part.root.items, strict=True)
        corrections += [(item, fresh.faults) for item, fresh in both if item.faults != fresh.faults]
    return None, corrections


def _beginning(items: list[Item], place: int) -> int:
    """Return the last item, from ``place`` up, at which reading may begin.

    A sound field ends where it ends, as long as what comes next begins as before. What is not sound may have looked
    as far as the end of its line, and at the first word after.
    """
    while place > 0:
        low = place - 1
        if _is_sound(items[place]):
            while low > 0 and _is_sound(items[low]) and not items[low - 1].text.endswith("\n"):
                low -= 1
            if _is_sound(items[low]):
                return place
        place = low
    return 0


def _is_sound(item: Item) -> bool:
    return type(item) is Field and not item.faults


def _is_fixed(items: list[Item], place: int) -> bool:
    """Whether an item is read in the same way whatever stands before it."""
    if type(items[place]) is Note and place + 1 < len(items):
        place += 1
    return _is_sound(items[place])


def _common_prefix(first: str, second: str) -> int:
    """Return how many characters two texts have in common at the beginning."""
    low, high = 0, min(len(first), len(second))
    if first[:high] == second[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(first: str, second: str, most: int) -> int:
    """Return how many characters, up to ``most``, two texts have in common at the end."""
    low, high = 0, most
    ends = len(first), len(second)
    while low < high:
        middle = (low + high + 1) // 2
        if first[ends[0] - middle : ends[0] - low] == second[ends[1] - middle : ends[1] - low]:
            low = middle
        else:
            high = middle - 1
    return low
