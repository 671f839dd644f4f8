"""A diagnosis that remembers the last one says what one from scratch says."""

from __future__ import annotations

import random

import pytest

from engine.diagnostics import Diagnosis, SchemaMemo, diagnose
from engine.graph import OpGraph
from tests.engine.diagnostics.support import Types
from tests.engine.graph.editor import Editor
from tests.engine.graph.nets import CHAIN, LENET, TEXTS, layer

WORDS = ['"label"', '"data"', '"c"', '"conv1"', "phase: TEST", "TRAIN", "bottom", "type", "\n", "}", "stage: 's'", "1"]


class Watch:
    """Compares what is told after each edit with what a look at everything tells."""

    def __init__(self, graph: OpGraph) -> None:
        self.graph = graph
        self.memo = SchemaMemo()
        self.check_same()

    def check_same(self) -> None:
        fresh = diagnose(self.graph, registry=Types())
        assert diagnose(self.graph, registry=Types(), memo=self.memo) == fresh


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", TEXTS)
def test_after_any_edits(name, seed):
    editor = Editor(OpGraph.parse(TEXTS[name]), seed)
    watch = Watch(editor.graph)
    changes = []
    for _ in range(25):
        change = editor.step()
        if change is not None:
            changes.append(change)
            watch.check_same()
    for change in reversed(changes):
        change.undo()
        watch.check_same()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("text", [LENET, CHAIN, layer("a", "", "x") * 3 + LENET], ids=["lenet", "chain", "twins"])
def test_after_any_typing(text, seed):
    chance = random.Random(seed)
    graph = OpGraph.parse(text)
    watch = Watch(graph)
    for _ in range(30):
        words = [word for word in WORDS if word in graph.text]
        old, new = chance.choice(words), chance.choice(WORDS)
        parts = graph.text.split(old)
        cut = chance.randrange(1, len(parts)) if len(parts) > 1 else 1
        graph.replace_text(text if chance.random() < 0.1 else old.join(parts[:cut]) + new + old.join(parts[cut:]))
        watch.check_same()


def test_another_document_and_other_types_are_looked_at_as_a_whole():
    memo = SchemaMemo()
    graph = OpGraph.parse(CHAIN)
    assert diagnose(graph, memo=memo) == diagnose(graph)
    assert diagnose(graph, memo=memo, registry=Types()) == diagnose(graph, registry=Types())
    other = OpGraph.parse(CHAIN.replace('"c"', '"d"', 1))
    assert diagnose(other, memo=memo, registry=Types()) == diagnose(other, registry=Types())


def test_only_what_an_edit_concerns_is_looked_at_again():
    text = "".join(layer(f"l{place}", f"b{place}", f"b{place + 1}") for place in range(100))
    graph = OpGraph.parse(text)
    memo = SchemaMemo()
    terms = (None, None, frozenset(), graph.states)
    diagnose(graph, memo=memo)
    graph.set_field(graph.node_ids()[50], ("power_param", "scale"), "2")
    assert len([*memo.take_in(graph, *terms)]) == 2  # the layer, and the end
    due = [graph.node(node).name for node in memo.due(graph)]
    assert due == ["l0", "l49", "l50", "l51", "l99"]  # with both ends, of which there is something to tell


@pytest.mark.parametrize("steps", [1, 30, 60, 150, 250])
def test_a_diagnosis_that_an_edit_cuts_short_leaves_nothing_out(steps: int):
    text = "".join(layer(f"l{place}", f"b{place}", f"b{place + 1}") for place in range(100))
    graph = OpGraph.parse(text)
    memo = SchemaMemo()
    begun = Diagnosis(graph, memo=memo)
    done = [begun.work(0) for _ in range(steps)]
    assert any(done) == (steps > 204)
    graph.remove_nodes([graph.node_ids()[40]])
    assert begun.is_stale
    with pytest.raises(RuntimeError, match="edited"):
        begun.work(1)
    assert diagnose(graph, memo=memo) == diagnose(graph)
