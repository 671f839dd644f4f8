"""The scene after any history of edits is the scene of a freshly opened net."""

from __future__ import annotations

import random

import pytest

from app.canvas.scene.scene import CanvasScene
from tests.app.canvas.typist import random_edit


def picture(scene: CanvasScene) -> tuple:
    """All that is visible, apart from ids."""
    graph = scene.document.graph
    nodes = [(scene.nodes[node.id].face, dict(scene.nodes[node.id].wired_inputs)) for node in graph.nodes()]
    ordinals = {node.id: node.ordinal for node in graph.nodes()}
    edges = sorted(
        (ordinals[e.source], e.top, ordinals[e.target], e.bottom, e.blob, sorted(e.phases), item.phase)
        for e, item in scene.edges.items()
    )
    return nodes, edges


@pytest.mark.parametrize("seed", range(3))
def test_random_edits_undo_and_redo_keep_scene_and_bytes(document, canvas, seed):
    rng = random.Random(seed)
    scene = canvas.canvas
    start = bytes(document.graph)
    for _step in range(60):
        random_edit(document, rng)
    end, shown = bytes(document.graph), picture(scene)
    fresh = CanvasScene(document)
    assert shown == picture(fresh)
    fresh.close()
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert bytes(document.graph) == start
    while document.undo_stack.canRedo():
        document.undo_stack.redo()
    assert bytes(document.graph) == end
    assert picture(scene) == shown


def test_every_edge_ends_at_the_ports_of_its_nodes(canvas):
    for edge, item in canvas.canvas.edges.items():
        if not item.docked:
            assert item.path.pointAtPercent(0.0) == item.source.output_point(edge.top)
            assert item.path.pointAtPercent(1.0) == item.target.input_point(edge.bottom)


def test_the_far_view_paints_the_same_net(canvas):
    canvas.frame()
    canvas.set_scale(0.1)
    assert canvas.is_far
    picture_far = canvas.grab().toImage()
    colors = {picture_far.pixel(x, y) for x in range(0, picture_far.width(), 3) for y in range(0, 900, 3)}
    assert len(colors) > 3


def test_a_node_typed_in_the_text_pane_gets_a_free_place(document, canvas):
    text = document.graph.text + 'layer { name: "prob" type: "Softmax" bottom: "ip2" top: "prob" }\n'
    document.apply("Edit text", lambda graph: graph.replace_text(text))
    scene = canvas.canvas
    new = scene.nodes[document.graph.named("prob")[0].id]
    others = [item.scene_body() for item in scene.nodes.values() if item is not new]
    assert not any(new.scene_body().intersects(body) for body in others)
    assert new.x() > scene.nodes[document.graph.named("ip2")[0].id].x()


def test_a_taller_node_pushes_what_hangs_under_it_and_undo_pulls_it_back(document, canvas):
    scene = canvas.canvas
    host, relu = (scene.nodes[document.graph.named(name)[0].id] for name in ("ip1", "relu1"))
    before = relu.pos()
    document.apply("Set", lambda graph: graph.set_field(host.node_id, ("inner_product_param", "axis"), "1"))
    assert relu.docked
    assert relu.y() > before.y()
    document.undo_stack.undo()
    assert relu.docked
    assert relu.pos() == before
