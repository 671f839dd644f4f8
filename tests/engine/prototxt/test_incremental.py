"""Reading again what a change reaches gives what reading the whole text gives."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.prototxt import Element, Field, Junk, ListValue, Message, Note, Scalar, Tree, parse, reparse
from tests.benchmarks.documents import chain
from tests.engine.prototxt.texts import EXOTIC, FIVE, PIECES, PLAIN

OLD = (
    'layers {\n  layer {\n    name: "c"\n  }\n  bottom: "d"\n}\n'
    '\n# about e\n\nlayers { layer { name: "e" } top: "e" }\n'
)
NOTES = (
    "# licence\n\n# about a\na: 1 # one\n\n# two\n\n# about b\nb: MAX\nc: 'x'\n  'y';\nd { e: [1, 2] } f: 1\n# end\n\n"
)
ONE_LINE = FIVE.replace("\n", " ")
TEXTS = {"five": FIVE, "plain": PLAIN, "exotic": EXOTIC, "old": OLD, "notes": NOTES, "one line": ONE_LINE}
TYPED = st.lists(PIECES, max_size=3).map("".join)


def structure(part):
    """Everything that a tree holds, as plain values."""
    if isinstance(part, Tree):
        return part.bom, structure(part.root)
    if isinstance(part, Field):
        return "field", part.lead, part.name, part.gap, structure(part.value), part.tail, part.faults
    if isinstance(part, Element):
        return "element", part.lead, structure(part.value), part.tail
    if isinstance(part, Junk):
        return "junk", part.lead, part.junk, part.faults
    if isinstance(part, Note):
        return "note", part.lead, part.faults
    if isinstance(part, (Message, ListValue)):
        return part.open, [structure(item) for item in part.items], part.close_lead, part.close
    assert isinstance(part, Scalar)
    return part.text


def patched(tree: Tree, text: str) -> Tree:
    """The tree with what ``reparse`` says put into it."""
    patch = reparse(tree, text)
    tree.root.items[patch.start : patch.stop] = patch.items
    for item in patch.items:
        item.parent = tree.root
    tree.root.close_lead = patch.close_lead
    tree.touch()
    return tree


def check_same(tree: Tree, text: str) -> Tree:
    changed, whole = patched(tree, text), parse(text)
    assert str(changed) == text
    assert structure(changed) == structure(whole)
    assert changed.problems == whole.problems
    return changed


def edited(text: str, at: float, count: int, typed: str) -> str:
    place = round(at * len(text))
    return text[:place] + typed + text[place + count :]


@settings(max_examples=400)
@given(
    st.sampled_from(sorted(TEXTS.values())),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0, 0, 1, 2, 9, 60]), TYPED), min_size=1, max_size=6),
)
def test_edits_one_after_another_give_what_the_whole_text_gives(text, edits):
    tree = parse(text)
    for edit in edits:
        text = edited(text, *edit).lstrip("\ufeff")
        tree = check_same(tree, text)


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=30).map("".join), st.floats(0, 1), st.integers(0, 5), TYPED)
def test_edits_of_any_mixture_of_pieces_give_what_the_whole_text_gives(text, at, count, typed):
    text = text.replace("\ufeff", "")
    check_same(parse(text), edited(text, at, count, typed).lstrip("\ufeff"))


@pytest.mark.parametrize("name", TEXTS)
def test_taking_out_any_one_character_gives_what_the_whole_text_gives(name):
    text = TEXTS[name]
    for place in range(len(text)):
        without = text[:place] + text[place + 1 :]
        check_same(check_same(parse(text), without), text)


@pytest.mark.parametrize("typed", ["{", "}", '"', "'", "pad:", ";", "#", "=", "[", "\n\n", "]", "<"])
def test_damage_stays_where_it_is(typed):
    """Only a few items are read again, in sound text and in broken text."""
    text = chain(400)
    chance = random.Random(5)
    for place in [chance.randrange(len(text)) for _ in range(12)]:
        broken = text[:place] + typed + text[place:]
        patch = reparse(parse(text), broken)
        assert patch.stop - patch.start <= 6, broken[place - 40 : place + 40]
        patch = reparse(parse(broken), text)
        assert patch.stop - patch.start <= 6, broken[place - 40 : place + 40]


def test_mistakes_that_name_what_stands_before_them_still_do():
    check_same(parse("r{}[]1}"), "r{}[]1n}")


def test_unreadable_text_that_looked_past_its_comment_is_read_again():
    text = 'a: 1 l#yer {} name: "b" p: 1 q: 2 r: 3 t: 4\n'
    check_same(parse(text), text.replace("r: 3", "r: 3\n\n: 5"))


def test_more_mistakes_than_are_told_are_counted_as_in_the_whole_text():
    text = FIVE + "}\n" * 98 + FIVE
    tree = check_same(parse(text), text.replace('"l1"', "l/1"))
    check_same(tree, str(tree).replace('"l2"', "“l2”").replace('"l4"', "l/4"))
