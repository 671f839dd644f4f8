"""Random edits of a document, one after another."""

from __future__ import annotations

import random

from engine.errors import GraphError, NetcanvasError
from engine.graph import INPUTS, OpGraph
from tests.engine.graph.nets import layer, state

TYPED = ("", "", "}", "{", "\n", '"', ";", "#", "# x\n\n", "a: 1\n", " ", layer("new", "x", "y"), "layer {\n")
HARMLESS = ("\n", "# x\n\n", " ", "\t# y\n")


class Editor:
    """Makes one random edit after another."""

    def __init__(self, graph: OpGraph, seed: int) -> None:
        self.graph = graph
        self.random = random.Random(seed)

    def step(self):
        """Make one edit as a change; None where the graph refused it."""
        edits = [self.set_field, self.clear, self.append, self.add, self.remove, self.connect, self.disconnect]
        edits += [self.detach, self.rename_blob, self.rename, self.move, self.replace, self.param, self.paste]
        edits += [self.param_str, self.type_text]
        before = state(self.graph)
        try:
            with self.graph.change("edit") as change:
                self.random.choice(edits)()
        except NetcanvasError:
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

    def paste(self):
        text = self.graph.copy_fragment({self.node().id, self.node().id})
        after = self.random.choice([None, self.node(virtual=False).id])
        self.graph.paste_fragment(text, after=after, keep_inputs=self.random.random() < 0.5)

    def param_str(self):
        self.graph.set_param_str(self.node(virtual=False).id, "{\"a\": 'b'}")

    def param(self):
        """Add, change, move or remove an entry of a layer's ``param``."""
        node = self.node(virtual=False).id
        count = self.graph.count(node, ("param",))
        place = self.random.randrange(count + 1)
        action = self.random.randrange(4)
        if action == 0 or place == count:
            self.graph.insert_field(node, ("param", place), "{ lr_mult: 2 decay_mult: 0 }")
        elif action == 1:
            self.graph.set_field(node, ("param", place, "lr_mult"), "0.1")
        elif action == 2:
            self.graph.move_field(node, ("param", place), self.random.randrange(count))
        else:
            self.graph.clear_field(node, ("param", place))

    def type_text(self):
        """Type into the text, which may break it."""
        text = self.graph.text
        if self.random.random() < 0.5:  # something harmless, so that later edits find a sound text
            cut = text.find("\n", self.random.randrange(len(text) + 1)) + 1
            self.graph.replace_text(text[:cut] + self.random.choice(HARMLESS) + text[cut:])
            return
        at = self.random.randrange(len(text) + 1)
        upto = min(at + self.random.choice([0, 0, 1, 1, 3, 40]), len(text))
        self.graph.replace_text(text[:at] + self.random.choice(TYPED) + text[upto:])
