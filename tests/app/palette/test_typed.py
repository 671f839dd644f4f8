"""Numbers typed behind the name of a layer type."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.document import Document
from app.palette.fuzzy import rank
from app.palette.starters import starter_fields
from app.palette.typed import fields_with, with_numbers

XAVIER = 'weight_filler { type: "xavier" }'


@pytest.mark.parametrize(
    ("pattern", "kind", "fields"),
    [
        ("conv 20 5", "Convolution", f"convolution_param {{ num_output: 20 kernel_size: 5 {XAVIER} }}"),
        ("conv 20", "Convolution", f"convolution_param {{ num_output: 20 kernel_size: 3 pad: 1 {XAVIER} }}"),
        ("conv 96 11 4", "Convolution", f"convolution_param {{ stride: 4 num_output: 96 kernel_size: 11 {XAVIER} }}"),
        ("conv 64 3 pad=1", "Convolution", f"convolution_param {{ num_output: 64 kernel_size: 3 pad: 1 {XAVIER} }}"),
        ("max pool 3", "Pooling", "pooling_param { pool: MAX kernel_size: 3 stride: 2 }"),
        ("ip 500", "InnerProduct", f"inner_product_param {{ num_output: 500 {XAVIER} }}"),
        ("drop 0.3", "Dropout", "dropout_param { dropout_ratio: 0.3 }"),
        ("input 1 1 28 28", "Input", "input_param { shape { dim: 1 dim: 1 dim: 28 dim: 28 } }"),
    ],
)
def test_numbers_are_fields(document, pattern, kind, fields):
    infos, name = with_numbers(document.registry.infos(), pattern)
    best = rank(infos, name)[0].info
    assert best.type == kind
    kind, *numbers = best.kind.split(" ")
    assert fields_with(kind, numbers) == fields


@pytest.mark.parametrize(
    "pattern", ["relu 3", "ip 500 5", "conv 0", "conv x=3", "drop 1.5", "conv 2.5", "conv pad=1 pad=2", "ip ="]
)
def test_what_takes_no_such_numbers_is_not_offered(document, pattern):
    infos, name = with_numbers(document.registry.infos(), pattern)
    called = rank(document.registry.infos(), name)[0].info.type
    assert called not in {info.type for info in infos}


def test_without_numbers_all_is_as_it_was(document):
    infos = document.registry.infos()
    assert with_numbers(infos, "conv2d") == (tuple(infos), "conv2d")
    for info in infos:
        assert fields_with(info.type, ()) == starter_fields(info.type)


#: LeNet for training and testing, layer by layer, as it is typed at the pointer.
LENET = (
    *("data 64", "conv 20 5", "pool", "conv 50 5", "pool", "ip 500", "relu", "ip 10", "softmaxwithloss", "accuracy"),
)


def test_lenet_from_an_empty_canvas_takes_an_action_a_layer(tmp_path, make_canvas, qtbot):
    path = tmp_path / "net.prototxt"
    path.write_text("")
    document = Document.open(path)
    view = make_canvas(document)
    for typed in LENET:
        qtbot.keyClick(view, Qt.Key.Key_Tab)
        qtbot.keyClicks(view.popup.search, typed)
        qtbot.keyClick(view.popup.search, Qt.Key.Key_Return)
    graph = document.graph
    types = [node.type for node in graph.nodes()]
    assert types == [
        *("Data", "Convolution", "Pooling", "Convolution", "Pooling", "InnerProduct", "ReLU", "InnerProduct"),
        *("SoftmaxWithLoss", "Accuracy"),
    ]
    by_type = {node.type: node for node in graph.nodes()}
    assert by_type["SoftmaxWithLoss"].bottoms == by_type["Accuracy"].bottoms
    assert by_type["Accuracy"].bottoms[1] == "label"
    values = [graph.value(node.id, ("convolution_param", "kernel_size", 0)) for node in graph.nodes()]
    assert values.count("5") == 2
    text = bytes(graph)
    for _ in LENET:
        document.undo_stack.undo()
    assert not graph.nodes()
    for _ in LENET:
        document.undo_stack.redo()
    assert bytes(graph) == text
    document.close()
