"""Where the reading of a text stands, and what it has found to be wrong."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Set

from engine.prototxt import faults
from engine.prototxt.comments import note_end
from engine.prototxt.parts import Container, Field, Item, Message, Note
from engine.prototxt.problems import Fault
from engine.prototxt.tree import Tree

__all__ = ["MOST_FAULTS", "Progress", "Reading"]

#: No more mistakes than this are told of one text.
MOST_FAULTS = 100

#: Called with how many characters have been read, and of how many; what it raises ends the reading.
Progress = Callable[[int, int], None]

_PROGRESS_STEP = 1 << 18


class Reading:
    """One pass over a text; ``here`` is the innermost open message or list."""

    def __init__(
        self,
        text: str,
        tree: Tree,
        position: int = 0,
        stops: Set[int] = frozenset(),
        progress: Progress | None = None,
    ) -> None:
        self.progress = progress
        self.next_told = 0
        self.text = text
        self.tree = tree
        self.root = tree.root
        self.here: Container = tree.root
        self.position = position
        self.stops = stops
        self.stopped = False
        self.layers: list[Field] = []  # the layers that are open, the innermost last
        self.starts: list[int] = []
        self.found: list[tuple[int, str, str]] = []

    def _tell(self, position: int) -> None:
        """Say how far the text has been read, now and then."""
        if self.progress is not None and position >= self.next_told:
            self.next_told = position + _PROGRESS_STEP
            self.progress(position, len(self.text))

    def _lead(self, here: Message, start: int, position: int) -> str:
        lead = self.text[start:position]
        if "#" in lead:
            lead = self._part_note(here, lead, start)
        if here is self.root:
            self.starts.append(position - len(lead))
        return lead

    def _part_note(self, here: Message, lead: str, start: int) -> str:
        """Make the comments that a blank line parts from the field an item of their own; return what is left."""
        cut = note_end(lead)
        if cut:
            if here is self.root:
                self.starts.append(start)
            here.items.append(Note(lead[:cut], here))
        return lead[cut:]

    def _fault(self, position: int, message: str, hint: str, *, name_layer: bool = True) -> None:
        if len(self.found) >= MOST_FAULTS:
            return
        if name_layer:
            layer = next(
                (owner for owner in reversed(faults.chain(self.here)) if owner.name in faults.LAYER_NAMES), None
            )
            if layer is not None:
                message = f"{faults.title(layer)}: {message[:1].lower() + message[1:]}"
        self.found.append((position, message, hint))

    def _fault_unclosed(self, owner: Field, position: int, before: str) -> None:
        if len(self.found) >= MOST_FAULTS:
            return
        place = len(self.text[:position].rstrip())
        self._fault(max(place - 1, 0), *faults.unclosed(owner, before), name_layer=False)

    def _finish(self) -> None:
        """Close what is still open, and hang texts and faults on the items at the top."""
        text, items = self.text, self.root.items
        end = self.position
        if self.here is not self.root:
            chain = faults.chain(self.here)
            top = next((owner for owner in chain if owner.name in faults.LAYER_NAMES), chain[-1])
            self._fault_unclosed(top, len(text), "the end of the file")
            self.here.close_lead = text[end:]
            end = len(text)
        elif not self.stopped:
            self.root.close_lead = text[end:]
        stops = [*self.starts[1:], end]
        for item, start, stop in zip(items, self.starts, stops, strict=False):
            item._text = text[start:stop]
        by_item: dict[Item, list[Fault]] = {}
        for position, message, hint in sorted(self.found):
            place = max(bisect_right(self.starts, position) - 1, 0)
            by_item.setdefault(items[place], []).append(Fault(position - self.starts[place], message, hint))
        for item, found in by_item.items():
            item.faults = tuple(found)
