"""Data that are not here: what is assumed for them is offered, typed, shown, kept beside the net and taken back."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QPushButton

from app.document import Document
from app.properties.pages.net_page import net_facts
from app.window.fixmenu import problems_at
from app.window.mainwindow import MainWindow
from app.window.page import DocumentPage
from engine.errors import CheckError
from engine.sidecar import sidecar_path

PATIENCE = 20_000
DATA = """
layer { name: "d" type: "Data" top: "data" top: "label" data_param { source: "cifar_lmdb" batch_size: 5 } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 4 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.prototxt"
    path.write_text(DATA)
    return path


@pytest.fixture
def page(window: MainWindow, net: Path, qtbot) -> DocumentPage:
    assert window.files.open(net)
    qtbot.waitUntil(lambda: bool(the_page(window).document.live.shaping.guesses), timeout=PATIENCE)
    return the_page(window)


def the_page(window: MainWindow) -> DocumentPage:
    return window.tabs.current


def node_of(document: Document, name: str):
    return document.graph.named(name)[0].id


def state_of(document: Document) -> str:
    shapes = document.shapes.get(node_of(document, "ip"))
    return "" if shapes is None else shapes.state


def press(qtbot, page: DocumentPage, label: str) -> None:
    buttons = [each for bar in page.bars.bars() for each in bar.findChildren(QPushButton) if each.text() == label]
    qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)


def test_it_is_offered_made_shown_undone_and_kept(window: MainWindow, page: DocumentPage, net: Path, qtbot) -> None:
    document = page.document
    before = bytes(document.graph)
    press(qtbot, page, "Assume 3 \u00d7 32 \u00d7 32")
    qtbot.waitUntil(lambda: state_of(document) == "known", timeout=PATIENCE)
    qtbot.waitUntil(lambda: document.live.is_started and not document.live.busy, timeout=PATIENCE)
    assert page.bars.bars() == []
    assert document.live.costs.count.assumed == ("data",)
    page.canvas.canvas.faces.refresh()
    faces = {item.face.title: item.face for item in page.canvas.canvas.nodes.values()}
    assert faces["d"].size_text == "assumed" and faces["ip"].size_text != "assumed"
    assert faces["ip"].outputs[0].shape.endswith("5\u00d74") and faces["ip"].outputs[0].shape != "5\u00d74"
    (told,) = [each for each in problems_at(document, node_of(document, "d")) if each.code == "shape-assumed"]
    assert told.severity == "info"
    assert not [each for each in document.diagnostics if each.severity != "info"]
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: state_of(document) == "unknown", timeout=PATIENCE)
    document.undo_stack.redo()
    assert bytes(document.graph) == before
    document.save()
    assert net.read_bytes() == before
    assert json.loads(sidecar_path(net).read_text())["assumed_shapes"] == {"data": [0, 3, 32, 32]}
    again = Document.open(net)
    assert again.assumptions.shapes == {"data": (0, 3, 32, 32)}
    again.close()
    document.assumptions.mend(told.fixes[0])
    qtbot.waitUntil(lambda: state_of(document) == "unknown", timeout=PATIENCE)
    document.save()
    assert "assumed_shapes" not in json.loads(sidecar_path(net).read_text())


def test_any_shape_can_be_typed(page: DocumentPage, qtbot) -> None:
    document = page.document
    press(qtbot, page, "Other\u2026")
    sheet = page.assuming.sheet
    ok = sheet.buttons.button(QDialogButtonBox.StandardButton.Ok)
    sheet.fields["data"].setText("3 x")
    assert ok.isEnabled(), "a single size is a shape too"
    sheet.fields["data"].setText("three")
    assert not ok.isEnabled() and ok.toolTip()
    sheet.fields["data"].setText("1x6x7")
    sheet.fields["label"].setText("1")
    qtbot.mouseClick(ok, Qt.MouseButton.LeftButton)
    assert sheet.is_closed
    assert document.assumptions.shapes == {"data": (0, 1, 6, 7), "label": (0, 1)}
    qtbot.waitUntil(lambda: state_of(document) == "known", timeout=PATIENCE)
    assert document.shapes[node_of(document, "d")].tops == ((5, 1, 6, 7), (5, 1))
    page.assuming.ask(node_of(document, "d"))
    sheet = page.assuming.sheet
    assert sheet.fields["data"].text() == "1 \u00d7 6 \u00d7 7"
    sheet.fields["data"].setText("")
    sheet.fields["label"].setText("")
    sheet.accept()
    assert document.assumptions.shapes == {}
    assert document.undo_stack.count() == 2


def test_a_deploy_net_is_made_in_a_tab_of_its_own(window: MainWindow, page: DocumentPage, qtbot) -> None:
    source = page.document
    before = bytes(source.graph)
    window.actions_by_name["deploy"].trigger()
    qtbot.waitUntil(lambda: any("No deploy net was made" in bar.text for bar in page.bars.bars()), timeout=PATIENCE)
    press(qtbot, page, "Assume a shape\u2026")
    page.assuming.sheet.fields["data"].setText("3x8x8")
    page.assuming.sheet.accept()  # and the making goes on
    qtbot.waitUntil(lambda: the_page(window) is not page, timeout=PATIENCE)
    made = the_page(window).document
    assert [(node.name, node.type) for node in made.graph.nodes()] == [
        ("d", "Input"),
        ("ip", "InnerProduct"),
        ("prob", "Softmax"),
    ]
    assert b"dim: 5 dim: 3 dim: 8 dim: 8" in bytes(made.graph)
    assert (made.path, made.label, made.modified) == (None, "net (deploy)", True)
    (bar,) = the_page(window).bars.bars()
    assert "Softmax 'prob' of 'ip'" in bar.text and "the batch of the data, 5" in bar.text
    assert bytes(source.graph) == before
    kept = bytes(made.graph)
    press(qtbot, the_page(window), "Batch of 1")
    assert b"dim: 1 dim: 3 dim: 8 dim: 8" in bytes(made.graph)
    made.undo_stack.undo()
    assert bytes(made.graph) == kept


def test_a_shape_assumed_elsewhere_takes_the_warning_away(window: MainWindow, page: DocumentPage, qtbot) -> None:
    window.actions_by_name["deploy"].trigger()
    refused = lambda: [bar for bar in page.bars.bars() if "No deploy net was made" in bar.text]  # noqa: E731
    qtbot.waitUntil(lambda: bool(refused()), timeout=PATIENCE)
    page.document.assumptions.assume({"data": (0, 3, 8, 8)})
    assert not refused() and the_page(window) is page


def test_a_warning_that_the_net_is_empty_goes_when_layers_come(window: MainWindow, qtbot) -> None:
    window.show_document(Document.new())
    window.actions_by_name["deploy"].trigger()
    empty = lambda: [bar for bar in window.bars if "is empty" in bar.text]  # noqa: E731
    assert empty()
    window.document.apply("Add", lambda graph: graph.add_node("Input", bottoms=[], tops=1, fields=""))
    qtbot.waitUntil(lambda: not empty())


def test_numbers_that_rest_on_assumed_shapes_are_marked(window: MainWindow, page: DocumentPage, qtbot) -> None:
    document = page.document
    document.assumptions.assume({"data": (0, 3, 8, 8)})
    qtbot.waitUntil(lambda: "\u2248" in window.status.params.text(), timeout=PATIENCE)
    assert "'data'" in window.status.params.toolTip() and "\u2248" in window.status.memory.text()
    assert dict(net_facts(document))["Parameters"].startswith("\u2248")


def test_a_whole_shape_stays_one_in_the_sheet(page: DocumentPage, qtbot) -> None:
    """Boxes have no batch, and a shape that was written by hand may have its own."""
    assumptions = page.document.assumptions
    assumptions.assume({"data": (7, 3, 8, 8)})
    page.assuming.ask(node_of(page.document, "d"))
    sheet = page.assuming.sheet
    assert [label.text() for label in sheet.findChildren(QLabel)][1] == "data, with its batch"
    sheet.accept()
    assert assumptions.shapes == {"data": (7, 3, 8, 8)}
    page.assuming.ask(node_of(page.document, "d"))
    sheet = page.assuming.sheet
    sheet.fields["data"].setText("6 3 8 8")
    assert sheet.shapes() == {"data": (6, 3, 8, 8), "label": None}
    sheet.findChildren(QPushButton, "assume.guess")[0].click()
    assert sheet.shapes() == {"data": (0, 3, 32, 32), "label": None}
    sheet.fields["data"].setText("9" * 5000)
    assert not sheet.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled()
    sheet.reject()


def test_many_tops_and_odd_names_have_room_in_the_sheet(window: MainWindow, tmp_path: Path, qtbot) -> None:
    path = tmp_path / "many.prototxt"
    tops = " ".join(f'top: "<b>&t{number}</b>"' for number in range(200))
    path.write_text(f'layer {{ name: "h" type: "HDF5Data" {tops} hdf5_data_param {{ source: "none" batch_size: 2 }} }}')
    assert window.files.open(path)
    page = the_page(window)
    page.assuming.ask(node_of(page.document, "h"))
    sheet = page.assuming.sheet
    assert len(sheet.fields) == 200 and sheet.sizeHint().height() < 700
    assert "<b>&t0</b>" in [label.text() for label in sheet.findChildren(QLabel)]
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in sheet._names.values())
    sheet.reject()


def test_it_goes_along_with_the_name_of_its_blob(page: DocumentPage, qtbot) -> None:
    document = page.document
    before = bytes(document.graph)
    document.assumptions.assume({"data": (0, 3, 8, 8)})
    document.assumptions.rename_blob(node_of(document, "d"), 0, "images", "Rename")
    assert document.assumptions.shapes == {"images": (0, 3, 8, 8)}
    qtbot.waitUntil(lambda: state_of(document) == "known", timeout=PATIENCE)
    document.undo_stack.undo()
    assert document.assumptions.shapes == {"data": (0, 3, 8, 8)} and bytes(document.graph) == before
    document.undo_stack.redo()
    assert document.assumptions.shapes == {"images": (0, 3, 8, 8)}
    with pytest.raises(CheckError):
        document.assumptions.rename_blob(node_of(document, "d"), 0, "ip", "Rename")
    assert document.undo_stack.count() == 2


def test_it_ends_when_the_data_come(window: MainWindow, tmp_path: Path, qtbot) -> None:
    path = tmp_path / "net.prototxt"
    path.write_text(
        'layer { name: "d" type: "HDF5Data" top: "x" hdf5_data_param { source: "list.txt" batch_size: 2 } }\n'
        'layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 4 } }\n'
    )
    assert window.files.open(path)
    document = the_page(window).document
    document.assumptions.assume({"x": (0, 99)})
    qtbot.waitUntil(lambda: state_of(document) == "known", timeout=PATIENCE)
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"] = np.zeros((10, 7), np.float32)
    (tmp_path / "list.txt").write_text("data.h5\n")
    window.files.look_at_disk()  # as when the window is come back to
    qtbot.waitUntil(lambda: document.shapes[node_of(document, "d")].tops == ((2, 7),), timeout=PATIENCE)
    assert not document.shapes[node_of(document, "d")].assumed


def test_code_that_is_not_here_is_offered_the_shape_of_what_it_reads(window, tmp_path, qtbot) -> None:
    path = tmp_path / "code.prototxt"
    path.write_text(
        'layer { name: "in" type: "Input" top: "x" input_param { shape { dim: [4, 3, 9, 8] } } }\n'
        'layer { name: "p" type: "Python" bottom: "x" top: "y" python_param { module: "no_such" layer: "L" } }\n'
        'layer { name: "ip" type: "InnerProduct" bottom: "y" top: "ip" inner_product_param { num_output: 4 } }\n'
    )
    assert window.files.open(path)
    page = the_page(window)
    label = "Assume 3 \u00d7 9 \u00d7 8, as 'x', which it reads"
    buttons = lambda: [each.text() for bar in page.bars.bars() for each in bar.findChildren(QPushButton)]  # noqa: E731
    qtbot.waitUntil(lambda: label in buttons(), timeout=PATIENCE)
    node = node_of(page.document, "p")
    page.assuming.ask(node)
    words = page.assuming.sheet.findChildren(QLabel)
    assert any("Its code is not on this machine" in each.text() for each in words)
    assert [each.text() for each in page.assuming.sheet.findChildren(QPushButton, "assume.guess")] == [
        "3 \u00d7 9 \u00d7 8"
    ]
    page.assuming.sheet.close()
    press(qtbot, page, label)
    qtbot.waitUntil(lambda: state_of(page.document) == "known", timeout=PATIENCE)
    qtbot.waitUntil(lambda: page.document.live.is_started and not page.document.live.busy, timeout=PATIENCE)
    assert [each.code for each in problems_at(page.document, node) if each.code == "shape-assumed"]
    page.document.undo_stack.undo()
    qtbot.waitUntil(lambda: state_of(page.document) == "unknown", timeout=PATIENCE)
