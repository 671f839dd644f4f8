"""Any sequence of edits: the graph is what its text says, undo gives the first bytes, redo the last."""

from __future__ import annotations

import random

import pytest

from engine.graph import OpGraph
from tests.engine.graph.editor import TYPED, Editor
from tests.engine.graph.nets import TEXTS, assert_consistent, state
from tests.support import SHARED, shared_files

BIG = ("bvlc/models__bvlc_googlenet__train_val", "fabrik/resnext", "squeezenet/SqueezeNet_v1.1__deploy")
#: Public nets of every project that are small enough to be read again after each edit.
SMALL = [path for path in shared_files("corpus/prototxt/*/*.prototxt") if 1_000 < path.stat().st_size < 12_000]


def check_undo_and_redo(text: str | bytes, seed: int, steps: int) -> None:
    data = text.encode() if isinstance(text, str) else text
    graph = OpGraph.parse(text)
    editor = Editor(graph, seed)
    states, changes = [state(graph)], []
    for _ in range(steps):
        change = editor.step()
        if change is None or change.is_empty:
            continue
        assert_consistent(graph)
        changes.append(change)
        states.append(state(graph))
    assert changes
    for change, before in zip(reversed(changes), reversed(states[:-1]), strict=True):
        change.undo()
        assert state(graph) == before
    assert bytes(graph) == data
    for change in changes:
        change.redo()
    assert state(graph) == states[-1]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", TEXTS)
def test_edits_are_taken_back_and_made_again(name, seed):
    check_undo_and_redo(TEXTS[name], seed, 25)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", TEXTS)
def test_typing_into_the_text_gives_what_opening_it_gives(name, seed):
    """Also where the text is broken in between; and every state comes back."""
    chance = random.Random(seed)
    graph = OpGraph.parse(TEXTS[name])
    states, changes = [state(graph)], []
    for _ in range(30):
        text = graph.text
        at = chance.randrange(len(text) + 1)
        upto = min(at + chance.choice([0, 0, 1, 1, 3, 40]), len(text))
        typed = chance.choice(TYPED)
        if chance.random() < 0.3:
            text, at, upto = TEXTS[name], 0, 0
        with graph.change() as change:
            graph.replace_text(text[:at] + typed + text[upto:])
        assert graph.text == text[:at] + typed + text[upto:]
        assert_consistent(graph)
        changes.append(change)
        states.append(state(graph))
    for change, before in zip(reversed(changes), reversed(states[:-1]), strict=True):
        change.undo()
        assert state(graph) == before


@pytest.mark.parametrize("name", BIG)
def test_edits_of_public_nets_are_taken_back_and_made_again(name):
    path = SHARED / f"corpus/prototxt/{name}.prototxt"
    if not path.exists():
        pytest.skip("reference files are not beside this checkout")
    check_undo_and_redo(path.read_text(), 7, 40)


@pytest.mark.parametrize("path", SMALL, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_edits_of_any_public_net_are_taken_back_and_made_again(path):
    check_undo_and_redo(path.read_bytes(), 11, 15)
