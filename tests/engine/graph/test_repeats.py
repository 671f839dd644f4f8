"""Repeated parts of nets are found by how they are built, whatever their names."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from engine.graph import OpGraph
from engine.graph.repeats import Repeat, repeats_of
from engine.graph.tandem import Item, best_runs
from tests.support import shared


class Writer:
    """Writes nets layer by layer, each under a name of its own."""

    def __init__(self) -> None:
        self.parts = ['layer { name: "in" type: "Input" top: "in" top: "label" }']
        self.count = 0

    def layer(self, kind: str, *bottoms: str, fields: str = "", top: str = "") -> str:
        self.count += 1
        name = f"n{self.count}"
        ports = " ".join(f'bottom: "{bottom}"' for bottom in bottoms) + f' top: "{top or name}"'
        self.parts.append(f'layer {{ name: "{name}" type: "{kind}" {ports} {fields} }}')
        return top or name

    def conv(self, bottom: str, width: int = 8, size: int = 3, stride: int = 1) -> str:
        fields = f"convolution_param {{ num_output: {width} kernel_size: {size} stride: {stride} }}"
        top = self.layer("Convolution", bottom, fields=fields)
        return self.layer("ReLU", top, top=top)

    def residual(self, bottom: str, width: int = 8, stride: int = 1, *, widened: bool = False) -> str:
        way = self.conv(self.conv(bottom, width, 1, stride), width, 3)
        short = self.conv(bottom, width, 1, stride) if widened else bottom
        return self.layer("Eltwise", short, way)

    def inception(self, bottom: str, width: int) -> str:
        ways = [self.conv(bottom, width, 1), self.conv(self.conv(bottom, width + 1, 1), width + 2, 3)]
        return self.layer("Concat", *ways, self.layer("Pooling", bottom, fields="pooling_param { pool: MAX }"))

    def dense(self, bottom: str) -> str:
        return self.layer("Concat", bottom, self.conv(bottom))

    def pool(self, bottom: str) -> str:
        return self.layer("Pooling", bottom, fields="pooling_param { pool: MAX kernel_size: 2 stride: 2 }")

    def found(self, end: str) -> list[tuple[int, str, int]]:
        """Return count, kind and size of each repeat of the net, with a loss at its end."""
        self.parts.append(
            f'layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "{end}" bottom: "label" top: "loss" }}'
        )
        return summary(repeats_of(OpGraph.parse("\n".join(self.parts))))


def summary(repeats: tuple[Repeat, ...]) -> list[tuple[int, str, int]]:
    return [(len(each.units), each.kind, len(each.units[0])) for each in repeats]


def test_residual_blocks_fold_by_stage_and_the_widened_first_one_is_one_of_them():
    net = Writer()
    blob = net.conv("in")
    for stage in range(3):
        for block in range(4):
            blob = net.residual(blob, 8 << stage, 2 if stage and not block else 1, widened=not block)
    assert net.found(blob) == [(4, "residual block", 7)] * 3


def test_inception_modules_of_any_widths_are_alike_until_a_pooling_comes_between():
    net = Writer()
    blob = net.conv("in")
    for width in (4, 6):
        blob = net.inception(blob, width)
    blob = net.pool(blob)
    for width in (8, 9, 12):
        blob = net.inception(blob, width)
    assert net.found(blob) == [(2, "inception module", 8), (3, "inception module", 8)]


def test_a_side_branch_with_a_loss_of_its_own_does_not_part_the_modules():
    net = Writer()
    blob = net.conv("in")
    for width in (4, 5, 6, 7):
        blob = net.inception(blob, width)
        if width == 5:
            net.layer("SoftmaxWithLoss", net.layer("Pooling", blob), "label")
    assert net.found(blob) == [(4, "inception module", 8)]


def test_stages_of_a_chain_end_where_it_gets_smaller():
    net = Writer()
    blob = "in"
    for convolutions, width in ((2, 4), (2, 8), (3, 16), (3, 32), (3, 32)):
        for _each in range(convolutions):
            blob = net.conv(blob, width)
        blob = net.pool(blob)
    assert net.found(blob) == [(2, "stage", 5), (3, "stage", 7)]


def test_dense_layers_read_all_before_and_are_alike():
    net = Writer()
    blob = net.conv("in")
    for _each in range(6):
        blob = net.dense(blob)
    assert net.found(blob) == [(6, "dense layer", 3)]


def test_what_is_built_differently_is_not_alike():
    net = Writer()
    blob = net.conv("in", size=7)
    for size in (1, 3, 5, 7):
        blob = net.layer("Concat", net.conv(blob, size=size), net.conv(blob, size=size), net.pool(blob))
    assert net.found(blob) == []


@pytest.mark.parametrize("text", [b"", b'layer { name: "a" type: "Input" top: "a" }', b"layer {"])
def test_small_and_broken_nets_have_none(text):
    assert repeats_of(OpGraph.parse(text)) == ()


CORPUS = {
    "resnet/ResNet-152-deploy.prototxt": [3, 8, 36, 3],
    "resnet/ResNet-50-deploy.prototxt": [3, 4, 6, 3],
    "bvlc/models__bvlc_googlenet__train_val.prototxt": [2, 5, 2],
    "soeaver/deploy_inception-resnet-v2.prototxt": [10, 20, 9],
}


@pytest.mark.parametrize(("name", "counts"), CORPUS.items(), ids=[name.split("/")[1] for name in CORPUS])
def test_known_nets(name, counts):
    graph = OpGraph.parse(shared(f"corpus/prototxt/{name}").read_bytes())
    repeats = repeats_of(graph)
    assert [len(each.units) for each in repeats] == counts
    members = [node for each in repeats for node in each.nodes]
    assert len(members) == len(set(members)), "no layer is in two of them"
    assert 2 * len(members) > len(graph)
    for each in repeats:
        places = [graph.node(unit[0]).ordinal for unit in each.units]
        assert all(before < after for before, after in pairwise(places))
        for node in each.nodes:  # what works in place is in one part with what it works on
            if any(graph.node(node).in_place):
                host = next(edge.source for edge in graph.edges_in(node) if edge.bottom == 0)
                assert any({host, node} <= set(unit) for unit in each.units)


def test_names_do_not_matter():
    text = shared("corpus/prototxt/resnet/ResNet-50-deploy.prototxt").read_text()
    names: dict[str, str] = {}
    renamed = re.sub(
        r'(name|top|bottom)(: ")([^"]+)', lambda m: m[1] + m[2] + names.setdefault(m[3], f"x{len(names)}"), text
    )
    assert summary(repeats_of(OpGraph.parse(renamed))) == summary(repeats_of(OpGraph.parse(text)))


def items(text: str, strides: str = "") -> list[Item]:
    steps = strides or "1" * len(text)
    return [Item(letter, 2, 1, int(step), letter.isupper()) for letter, step in zip(text, steps, strict=True)]


@pytest.mark.parametrize(
    ("text", "strides", "expected"),
    [
        ("abcabcabcd", "", [(0, 3, 3)]),
        ("aaaaaaaa", "", [(0, 1, 8)]),
        ("xababababy", "", [(1, 2, 4)]),
        ("AAAA", "2111", [(0, 1, 4)]),  # a stage begins with a step
        ("AAAAAAAA", "11112111", [(0, 1, 4), (4, 1, 4)]),
        ("ApApApApApAp", "121212121212", [(0, 2, 6)]),  # each gets smaller, so they are alike
        ("abcd", "", []),
        ("aba", "", []),
    ],
)
def test_runs_of_a_sequence(text, strides, expected):
    assert [(run.start, run.period, run.count) for run in best_runs(items(text, strides))] == expected


def test_long_nets_are_looked_through_quickly():
    from time import thread_time

    from tests.benchmarks.nets import residual_net

    graph = OpGraph.parse(residual_net(5000))
    seconds = []
    for _look in range(3):
        start = thread_time()
        repeats = repeats_of(graph)
        seconds.append(thread_time() - start)
        if seconds[-1] < 1.0:
            break
    assert sum(len(each.nodes) for each in repeats) > 0.7 * len(graph)
    assert min(seconds) < 1.0, f"{min(seconds):.2f} s for 5,000 layers"
