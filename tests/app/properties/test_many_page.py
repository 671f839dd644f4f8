"""The summary of a folded block, or of more layers than are edited at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from app.document.blocks import Block
from app.properties.facts import count_text
from app.properties.pages.many_page import ManyPage, port_facts, sum_facts
from tests.benchmarks.nets import residual_net

Make = Callable[[str], Any]
LAYERS = 400
#: Three times what anything may take on the window's thread, in seconds.
MOST = 3 * 0.05


@pytest.fixture
def net(bench: Make) -> Any:
    made = bench(residual_net(LAYERS))
    made.document.live.start()
    return made


def rows(net: Any) -> Any:
    count = net.document.live.costs.count
    return count.rows if count is not None else ()


def words(net: Any) -> list[str]:
    return [label.text() for label in net.panel.page.findChildren(QLabel) if not label.isHidden()]


def choose(net: Any, ids: Any) -> None:
    net.document.selection.set(ids)
    net.document.selection.flush()


def test_a_block_of_many_layers_is_summed_up(net: Any) -> None:
    net.qtbot.waitUntil(lambda: any(row.numbers for row in rows(net)), timeout=30_000)
    ids = net.document.graph.node_ids()[1:351]
    block = Block(net.document.positions.blocks.fresh_id(), "Trunk", ids, None, 50, 50, "residual block")
    net.document.positions.blocks.replace((), [block])
    choose(net, ids)
    assert isinstance(net.panel.page, ManyPage)
    said = words(net)
    assert "Trunk (50\u00d7)" in said and "350" in said
    numbers = [row.numbers for row in rows(net) if row.node in set(ids)]
    assert dict(sum_facts(net.document, ids))["Parameters"] == count_text(sum(each[0] for each in numbers))
    assert "1\u202f×\u202f16\u202f×\u202f32\u202f×\u202f32" in said  # what goes in


def test_ports_are_the_wires_that_cross_and_the_results(net: Any) -> None:
    graph = net.document.graph
    ids = graph.node_ids()
    assert port_facts(net.document, ids)[0] == []
    assert [blob for blob, _shape in port_facts(net.document, ids)[1]] == [graph.node(ids[-1]).tops[0]]
    going, coming = port_facts(net.document, ids[1:2])
    assert [blob for blob, _shape in going] == [graph.node(ids[0]).tops[0]]
    assert [blob for blob, _shape in coming] == [graph.node(ids[1]).tops[0]]


def test_the_inputs_of_the_net_are_no_layer(bench: Make) -> None:
    """The title counts what the table counts."""
    made = bench('input: "x" input_dim: 1 input_dim: 3\nlayer { name: "r" type: "ReLU" bottom: "x" top: "y" }\n')
    choose(made, made.document.graph.node_ids())
    said = words(made)
    assert (
        "1 layer and the net's inputs" in said
        and dict(sum_facts(made.document, made.document.graph.node_ids()))["Layers"] == "1"
    )
    assert any("inputs are edited in the text pane" in each for each in said)


def test_layers_of_one_type_are_offered_and_then_edited_together(net: Any) -> None:
    choose(net, net.document.graph.node_ids())
    offers = {button.objectName(): button for button in net.panel.page.findChildren(QPushButton)}
    offers["properties.select.Eltwise"].click()
    net.document.selection.flush()
    chosen = net.document.selection.node_ids
    assert len(chosen) > 1 and {net.document.graph.node(node).type for node in chosen} == {"Eltwise"}
    assert net.panel.page.header.name.text() == f"{len(chosen)} layers"


def test_it_follows_the_selection_and_the_net(net: Any) -> None:
    ids = net.document.graph.node_ids()
    choose(net, ids)
    page = net.panel.page
    choose(net, ids[:310])
    assert net.panel.page is page and "310 layers" in words(net)
    net.document.apply("Delete", lambda graph: graph.remove_nodes(ids[305:307]))
    net.qtbot.waitUntil(lambda: "308 layers" in words(net))


def test_it_is_there_before_anybody_waits_for_it(bench: Make) -> None:
    net = bench(residual_net(10_000))
    ids = net.document.graph.node_ids()
    looks = []
    for _look in range(3):
        choose(net, ())
        start = time.thread_time()
        choose(net, ids)
        looks.append(time.thread_time() - start)
    assert isinstance(net.panel.page, ManyPage) and min(looks) < MOST
