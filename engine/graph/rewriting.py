"""The verb behind the text pane: take a whole new text, and find out which layers stayed."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from engine.graph.binding import is_layer, layer_body
from engine.graph.foresight import Foresight
from engine.graph.layers import LayerVerbs
from engine.graph.verbs import verb
from engine.prototxt import Field, Item, Patch, reparse

__all__ = ["Reading", "TextVerbs"]

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text makes of a document, found out ahead of time.

    Attributes
    ----------
    text : str
        The text that was read.
    version : int
        What the document's tree was like.
    patch : Patch
        What changes in it; of layers that stay the items are those of the document.
    foresight : Foresight
        What the graph will find in it.
    """

    text: str
    version: int
    patch: Patch
    foresight: Foresight


class TextVerbs(LayerVerbs):
    """Replacing the text as a whole."""

    def read_ahead(self, text: str) -> Reading:
        """Find out what a text makes of the document; in any thread, and changing nothing.

        Where the document changes meanwhile, what is found, or raised, is of no use, and :meth:`replace_text` does
        without.
        """
        version, root = self._tree.version, self._tree.root
        patch = self._patch(text)
        foresight = self._foresight()
        layers = [item for item in patch.items if type(item) is Field and is_layer(item) and item.parent is not root]
        for layer in layers:
            foresight.read(layer)
        self._connect_ahead(layers, foresight)
        return Reading(text, version, patch, foresight)

    @verb
    def replace_text(self, data: bytes | str, reading: Reading | None = None) -> None:
        """Make the document's text ``data``; layers that are in both texts keep their ids.

        What is alike at the beginning and at the end is left alone. Between, layers of the same text are the same
        layer; of the others those of the same name and type, then of the same name, then the ones whose order tells.
        Broken text is taken too: :attr:`OpGraph.problems` says what is wrong with it.

        Parameters
        ----------
        data : bytes or str
            The new text.
        reading : Reading, optional
            What :meth:`read_ahead` found of it, to be used once; it saves the time that takes.
        """
        tree, log = self._tree, self._editing
        text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
        if reading is not None and (reading.text, reading.version) == (text, tree.version):
            patch = reading.patch
            self._expect(reading.foresight)
        else:
            patch = self._patch(text)
        log.assign(tree, "bom", BOM if text.startswith(BOM) else "")
        log.assign(tree.root, "close_lead", patch.close_lead)
        self._splice_all(log, patch.start, tree.root.items[patch.start : patch.stop], patch.items)
        self._style_cache = None

    def _patch(self, text: str) -> Patch:
        """Return what changes in the tree with a new text, with the old items where they stay."""
        patch = reparse(self._tree, text.removeprefix(BOM))
        items, after = self._tree.root.items, patch.items
        start, stop = patch.start, patch.stop
        head = 0
        while start < stop and head < len(after) and _same(items[start], after[head]):
            start += 1
            head += 1
        del after[:head]
        while start < stop and after and _same(items[stop - 1], after[-1]):
            stop -= 1
            del after[-1]
        _carry_over(items[start:stop], after)
        return Patch(start, stop, after, patch.close_lead)


def _same(old: Item, new: Item) -> bool:
    return old.text == new.text and type(old) is type(new) and old.faults == new.faults


def _carry_over(before: list[Item], after: list[Item]) -> None:
    """Put the old objects where texts are equal, and give the ids of changed layers to their successors."""
    by_text: defaultdict[str, deque[Item]] = defaultdict(deque)
    for item in before:
        by_text[item.text].append(item)
    used: set[Item] = set()
    for place, item in enumerate(after):
        waiting = by_text.get(item.text)
        if waiting and _same(waiting[0], item):
            after[place] = waiting.popleft()
            used.add(after[place])
    old = [item for item in before if isinstance(item, Field) and is_layer(item) and item not in used]
    new = [item for item in after if isinstance(item, Field) and is_layer(item) and item not in used]
    for key in (_name_and_type, _name, _type):
        old, new = _match(old, new, key)


def _match(
    old: list[Field], new: list[Field], key: Callable[[Field], Hashable | None]
) -> tuple[list[Field], list[Field]]:
    waiting: defaultdict[Hashable, deque[Field]] = defaultdict(deque)
    for field in old:
        sign = key(field)
        if sign is not None:
            waiting[sign].append(field)
    taken: set[Field] = set()
    left = []
    for field in new:
        candidates = waiting.get(key(field))
        if candidates:
            match = candidates.popleft()
            field.key = match.key
            taken.add(match)
        else:
            left.append(field)
    return [field for field in old if field not in taken], left


def _name_and_type(field: Field) -> Hashable | None:
    body = layer_body(field)
    name = body.text_of("name")
    return (name, body.text_of("type")) if name else None


def _name(field: Field) -> Hashable | None:
    return layer_body(field).text_of("name") or None


def _type(field: Field) -> Hashable | None:
    return layer_body(field).text_of("type") or ""
