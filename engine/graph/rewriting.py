"""The verb behind the text pane: take a whole new text, and find out which layers stayed."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable

from engine.graph.binding import is_layer, layer_body
from engine.graph.layers import LayerVerbs
from engine.graph.verbs import verb
from engine.prototxt import Field, Item, Tree, parse

__all__ = ["TextVerbs"]


class TextVerbs(LayerVerbs):
    """Replacing the text as a whole."""

    @verb
    def replace_text(self, data: bytes | str) -> None:
        """Make the document's text ``data``; layers that are in both texts keep their ids.

        What is alike at the beginning and at the end is left alone. Between, layers of the same text are the same
        layer; of the others those of the same name and type, then of the same name, then the ones whose order tells.
        Broken text is taken too: :attr:`OpGraph.problems` says what is wrong with it.
        """
        tree, log = self._tree, self._editing
        text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        log.assign(tree, "bom", bom)
        old_items = tree.root.items
        start, end, new = _changed_part(tree, text[len(bom) :])
        after = new.root.items
        if not end:
            log.assign(tree.root, "close_lead", new.root.close_lead)
        stop = len(old_items) - end
        while start < stop and after and _same(old_items[start], after[0]):
            start += 1
            del after[0]
        while start < stop and after and _same(old_items[stop - 1], after[-1]):
            stop -= 1
            del after[-1]
        before = old_items[start:stop]
        _carry_over(before, after)
        log.splice(tree.root, start, len(before), after)
        self._style_cache = None


def _changed_part(tree: Tree, text: str) -> tuple[int, int, Tree]:
    """Return how many items stay at the beginning and at the end, and what stands between, read anew.

    Where that part cannot be read for itself, all is read, and counts as changed.
    """
    items = tree.root.items
    start, position = 0, 0
    while start < len(items) and text.startswith(items[start].text, position) and not items[start].faults:
        position += len(items[start].text)
        start += 1
    end, stop = 0, len(text) - len(tree.root.close_lead)
    if text.endswith(tree.root.close_lead):
        while end < len(items) - start and position <= stop - len(items[-1 - end].text):
            if not text.endswith(items[-1 - end].text, position, stop):
                break
            stop -= len(items[-1 - end].text)
            end += 1
    start = max(start - 1, 0)  # the last of them may have got more to its line
    position = sum(len(item.text) for item in items[:start])
    middle = text[position : stop if end else None]
    new = parse(middle)
    stands_alone = not new.problems and not new.bom and (not end or (middle.endswith("\n") and not new.root.close_lead))
    if stands_alone and (not start or items[start - 1].text.endswith("\n")):
        return start, end, new
    return 0, 0, parse(text)


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
