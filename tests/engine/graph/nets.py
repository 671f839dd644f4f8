"""Small nets that the tests share."""

from __future__ import annotations

from engine.graph import OpGraph, View
from engine.prototxt.parser import MOST_FAULTS

LENET = """\
name: "LeNet"
# training data
layer {
  name: "mnist"
  type: "Data"
  top: "data"
  top: "label"
  include { phase: TRAIN }
  data_param { batch_size: 64 }
}
layer {
  name: "mnist"
  type: "Data"
  top: "data"
  top: "label"
  include { phase: TEST }
  data_param { batch_size: 100 }
}
layer {
  name: "conv1"
  type: "Convolution"
  bottom: "data"
  top: "conv1"
  convolution_param {
    num_output: 20 # maps
    kernel_size: 5
  }
}
layer {
  name: "relu1"
  type: "ReLU"
  bottom: "conv1"
  top: "conv1"
}
layer {
  name: "ip"
  type: "InnerProduct"
  bottom: "conv1"
  top: "ip"
}
# only when testing
layer {
  name: "accuracy"
  type: "Accuracy"
  bottom: "ip"
  bottom: "label"
  top: "accuracy"
  include { phase: TEST }
}
layer {
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "ip"
  bottom: "label"
  top: "loss"
}
"""
CHAIN = "".join(
    f'layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{top}" }}\n'
    for name, kind, bottom, top in [
        ("conv", "Convolution", "data", "c"),
        ("bn", "BatchNorm", "c", "c"),
        ("scale", "Scale", "c", "c"),
        ("relu", "ReLU", "c", "c"),
        ("pool", "Pooling", "c", "p"),
    ]
)


def layer(name: str, bottoms: str = "", tops: str = "", kind: str = "Power", more: str = "") -> str:
    """One layer on one line; blob names parted by blanks."""
    written = [f'bottom: "{blob}"' for blob in bottoms.split()] + [f'top: "{blob}"' for blob in tops.split()]
    return f'layer {{ name: "{name}" type: "{kind}" {" ".join([*written, more])} }}\n'


def node(graph: OpGraph, name: str, which: int = 0):
    """The id of a layer by name."""
    return graph.named(name)[which].id


def wires(graph: OpGraph) -> set[str]:
    """All edges as ``source.top>target.bottom@PHASES``."""
    found = set()
    for edge in graph.edges():
        source, target = graph.node(edge.source), graph.node(edge.target)
        phases = "" if len(edge.phases) == 2 else "@" + "".join(edge.phases)
        found.add(f"{source.name}.{edge.top}>{target.name}.{edge.bottom}{phases}")
    return found


def state(graph: OpGraph):
    """Everything that a reader of the graph sees."""
    return bytes(graph), graph.nodes(), frozenset(graph.edges())


def assert_consistent(graph: OpGraph) -> None:
    """A graph that followed its edits is the graph that its text gives."""
    fresh = OpGraph.parse(bytes(graph))
    places = {node: place for place, node in enumerate(graph.node_ids())}
    fresh_places = {node: place for place, node in enumerate(fresh.node_ids())}

    def facts(each: OpGraph, where):
        nodes = [(n.name, n.type, n.bottoms, n.tops, n.phases, n.in_place, n.line, n.ordinal) for n in each.nodes()]
        edges = {(where[e.source], e.top, where[e.target], e.bottom, e.blob, e.phases) for e in each.edges()}
        users = {blob: {where[user] for user in each.users(blob)} for blob in each.blobs()}
        named = {node.name: {where[same] for same in each.ids_named(node.name)} for node in each.nodes()}
        test = each.look(View("TEST"))
        seen = [where[node] for node in test.node_ids()], {(where[e.source], where[e.target]) for e in test.edges()}
        return nodes, edges, users, named, seen, min(len(each.problems), MOST_FAULTS)

    assert facts(graph, places) == facts(fresh, fresh_places)
    assert set(graph.view.nodes) == set(graph.node_ids())
    assert {key for *_, key in graph.view.edges(keys=True)} == set(graph.edges())


ONE_LINE = 'name: "n" ' + CHAIN.replace("\n", " ").rstrip()
TABS = LENET.replace("  ", "\t").replace("\n", "\r\n")
OLD = 'input: "data"\ninput_dim: 1\n' + 'layers { name: "a" type: RELU bottom: "data" top: "x" }\n' * 3
NOTES = "# head\n\n" + layer("a", "", "x") + "\n# b\n" + layer("b", "x", "x", more="p { q: [1, 2] } # tail") + "# end"
TEXTS = {"lenet": LENET, "chain": CHAIN, "one line": ONE_LINE, "tabs": TABS, "old": OLD, "notes": NOTES}
