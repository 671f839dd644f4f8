"""Any sequence of edits: the graph is what its text says, undo gives the first bytes, redo the last."""

from __future__ import annotations

import random

import pytest

from engine.errors import GraphError
from engine.graph import INPUTS, OpGraph
from tests.engine.graph.nets import CHAIN, LENET, assert_consistent, layer, state
from tests.support import SHARED

ONE_LINE = 'name: "n" ' + CHAIN.replace("\n", " ").rstrip()
TABS = LENET.replace("  ", "\t").replace("\n", "\r\n")
OLD = 'input: "data"\ninput_dim: 1\n' + 'layers { name: "a" type: RELU bottom: "data" top: "x" }\n' * 3
NOTES = "# head\n\n" + layer("a", "", "x") + "\n# b\n" + layer("b", "x", "x", more="p { q: [1, 2] } # tail") + "# end"
TEXTS = {"lenet": LENET, "chain": CHAIN, "one line": ONE_LINE, "tabs": TABS, "old": OLD, "notes": NOTES}
PUBLIC = ("bvlc/models__bvlc_googlenet__train_val", "fabrik/resnext", "squeezenet/SqueezeNet_v1.1__deploy")


class Editor:
    """Makes one random edit after another."""

    def __init__(self, graph: OpGraph, seed: int) -> None:
        self.graph = graph
        self.random = random.Random(seed)

    def step(self):
        """Make one edit as a change; None where the graph refused it."""
        edits = [self.set_field, self.clear, self.append, self.add, self.remove, self.connect, self.disconnect]
        edits += [self.detach, self.rename_blob, self.rename, self.move, self.replace, self.param]
        before = state(self.graph)
        try:
            with self.graph.change("edit") as change:
                self.random.choice(edits)()
        except GraphError:
            assert state(self.graph) == before
            return None
        return change

    def node(self, **needs: bool):
        found = [n for n in self.graph.nodes() if all(bool(getattr(n, key)) == value for key, value in needs.items())]
        if not found:
            raise GraphError("nothing to edit")
        return self.random.choice(found)

    def set_field(self):
        path = self.random.choice([("p", "q", "r"), ("n",), ("param", 2, "lr_mult"), ("p", "d"), ("include",)])
        text = (
            self.random.choice(["{ phase: TEST }", "{ }"]) if path == ("include",) else self.random.choice(["1", "'s'"])
        )
        self.graph.set_field(self.node().id, path, text)

    def clear(self):
        self.graph.clear_field(
            self.node().id, self.random.choice([("p", "q", "r"), ("param", 0), ("include",), ("n",)])
        )

    def append(self):
        self.graph.append_field(self.node(virtual=False).id, ("p", "d"), "[7, 8]")
        self.graph.insert_field(self.node(virtual=False).id, ("p", "d", 0), "6")

    def add(self):
        after = self.random.choice([None, *self.graph.node_ids()])
        bottoms = self.random.choices(["?", *self.graph.blobs()], k=self.random.randrange(3))
        tops = self.random.choice([None, 2, bottoms[:1] if bottoms[:1] != ["?"] else None])
        kind = self.random.choice(["ReLU", "Data", "SoftmaxWithLoss"])
        self.graph.add_node(kind, bottoms=bottoms, tops=tops, after=after, fields="p { q { r: 1 } }")

    def remove(self):
        self.graph.remove_nodes({self.node().id, self.node().id})

    def connect(self):
        source, target = self.node(tops=True), self.node(virtual=False)
        top = self.random.randrange(len(source.tops))
        bottom = self.random.randrange(len(target.bottoms) + 2)
        self.graph.check_connect(source.id, top, target.id, bottom)
        self.graph.connect(source.id, top, target.id, bottom)

    def disconnect(self):
        target = self.node(bottoms=True)
        self.graph.disconnect(target.id, self.random.randrange(len(target.bottoms)))

    def detach(self):
        self.graph.detach(self.node(tops=True).id, 0)

    def rename_blob(self):
        everywhere = self.random.random() < 0.5
        self.graph.rename_blob(self.node(tops=True).id, 0, f"blob{self.random.randrange(20)}", everywhere=everywhere)

    def rename(self):
        self.graph.rename_node(self.node(virtual=False).id, f"layer{self.random.randrange(20)}")

    def move(self):
        node, after = self.node(virtual=False).id, self.random.choice([None, *self.graph.node_ids()])
        if after not in (node, INPUTS):
            self.graph.move_node(node, after=after)

    def replace(self):
        lines = self.graph.text.splitlines(keepends=True)
        cut = self.random.randrange(len(lines) + 1)
        self.graph.replace_text(
            "".join(lines[cut:] + lines[:cut]) if self.random.random() < 0.3 else "".join(lines) + "#\n"
        )

    def param(self):
        self.graph.set_param_str(self.node(virtual=False).id, "{\"a\": 'b'}")


def run(text: str, seed: int, steps: int) -> None:
    graph = OpGraph.parse(text)
    editor = Editor(graph, seed)
    states, changes = [state(graph)], []
    for _ in range(steps):
        change = editor.step()
        if change is None or change.is_empty:
            continue
        if not graph.problems:
            assert_consistent(graph)
        changes.append(change)
        states.append(state(graph))
    assert changes
    for change, before in zip(reversed(changes), reversed(states[:-1]), strict=True):
        change.undo()
        assert state(graph) == before
    assert bytes(graph) == text.encode()
    for change in changes:
        change.redo()
    assert state(graph) == states[-1]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", TEXTS)
def test_edits_are_taken_back_and_made_again(name, seed):
    run(TEXTS[name], seed, 25)


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
        typed = chance.choice(
            ["", "", "}", "{", "\n", '"', ";", "#", "# x\n\n", "a: 1\n", " ", layer("new", "x", "y"), "layer {\n"]
        )
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


@pytest.mark.parametrize("name", PUBLIC)
def test_edits_of_public_nets_are_taken_back_and_made_again(name):
    path = SHARED / f"corpus/prototxt/{name}.prototxt"
    if not path.exists():
        pytest.skip("reference files are not beside this checkout")
    run(path.read_text(), 7, 40)
