"""What a net looks like when it is opened: no wire runs over a card, labels keep off cards and each other."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QRectF

from app.canvas.edits.arrange import layout_inputs, room_of
from app.canvas.layout.layout import lay_out
from app.document import Document
from engine.resources import resource_path
from tests.app.canvas.looks import crosses
from tests.support import shared

OURS = [
    "examples/lenet/lenet_train_test.prototxt",
    *(f"templates/{name}.prototxt" for name in ("alexnet", "googlenet", "resnet50", "siamese", "unet", "char_lstm")),
]
OTHERS = [
    "bvlc/models__bvlc_alexnet__train_val.prototxt",
    "bvlc/models__bvlc_googlenet__train_val.prototxt",
    "bvlc/examples__mnist__mnist_autoencoder.prototxt",
    "bvlc/examples__siamese__mnist_siamese_train_test.prototxt",
    "fcn/voc-fcn8s__train.prototxt",
    "fabrik/HED.prototxt",
    "fabrik/CoCo_Caption.prototxt",
    "intel/VOC0712__SSD_300x300__train.prototxt",
    "mycaffe/char_rnn_lstm_train_val.prototxt",
    "py-faster-rcnn/VGG16__faster_rcnn_end2end__train.prototxt",
    "resnet/ResNet-50-deploy.prototxt",
    "synopsys/unet__tmp-test.prototxt",
]


@pytest.fixture(params=[*OURS, *OTHERS])
def net(request):
    ours = request.param in OURS
    opened = Document.open(resource_path(request.param) if ours else shared(f"corpus/prototxt/{request.param}"))
    yield opened
    opened.close()


def test_no_wire_runs_over_a_card(net, make_canvas):
    scene = make_canvas(net).canvas
    scene.finish_leading()
    bodies = [(item, item.scene_body().adjusted(1.0, 1.0, -1.0, -1.0)) for item in scene.items_shown()]
    over = [
        (wire.tail.face.title, wire.head.face.title, item.face.title)
        for wire in scene.folding.edges()
        if not wire.docked
        for item, body in bodies
        if body.intersects(wire.box) and crosses(wire.course(), body)
    ]
    assert not over


def test_labels_keep_off_cards_and_each_other(net, make_canvas):
    scene = make_canvas(net).canvas
    first = {(wire.tail, wire.out_port): wire for wire in reversed(scene.folding.edges())}
    for number, wire in enumerate(first.values()):
        wire.set_label("64\u00d7256\u00d713\u00d713" if number % 2 else "32\u00d71000")
    scene.finish_leading()
    labels = [wire.label_box() for wire in scene.folding.edges() if wire.label]
    bodies = [item.scene_body() for item in scene.items_shown()]
    assert not [box for box in labels for body in bodies if box.intersects(body)]
    assert not [(a, b) for a, b in combinations(labels, 2) if a.intersects(b)]


def test_wires_meet_their_ports_and_ports_stand_on_rows(net, make_canvas):
    scene = make_canvas(net).canvas
    for wire in scene.folding.edges():
        if not wire.docked:
            course = wire.course()
            assert course[0] == wire.tail.output_point(wire.out_port)
            assert course[-1] == wire.head.input_point(wire.in_port)
    for item in scene.items_shown():
        assert (item.x() % 10.0, item.input_point(0).y() % 1.0) == (0.0, 0.0)


def test_the_layout_says_how_large_the_whole_is(net, make_canvas):
    view = make_canvas(net)
    result = lay_out(*layout_inputs(view.canvas), room_of(view))
    points = [point for points in result.routes.values() for point in points]
    content = view.canvas.content_rect()
    framed = view._framed()
    assert framed.contains(content)
    assert all(framed.contains(QRectF(x - 1.0, y - 1.0, 2.0, 2.0)) for x, y in points)
