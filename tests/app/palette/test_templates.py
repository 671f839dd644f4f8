"""Blocks that the user keeps, and their way back into a net."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton

from app.document import Document
from app.palette import rows
from app.palette.entries import palette_entries
from app.palette.model import TypeModel
from app.palette.templates import CATEGORY, save_template, template_entries, template_of, templates_path
from engine.graph import OpGraph


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def keep(canvas, *names: str) -> str:
    graph = canvas.document.graph
    canvas.document.selection.set([graph.named(name)[0].id for name in names])
    canvas.keep_block()
    return template_entries()[-1].type


def test_the_selection_is_kept_and_offered_under_my_blocks(canvas, document):
    said: list[str] = []
    canvas.told.connect(lambda text, _kind: said.append(text))
    name = keep(canvas, "conv1", "pool1")
    assert name in said[0]
    entry = next(each for each in palette_entries(document) if each.category == CATEGORY)
    assert entry.type == name
    assert "Convolution" in entry.summary
    kept = OpGraph.parse((templates_path() / f"{name}.prototxt").read_bytes())
    assert [node.type for node in kept.nodes()] == ["Convolution", "Pooling"]


def test_a_kept_block_is_added_with_fresh_names_wired_to_the_selection_in_one_step(canvas, document):
    keep(canvas, "conv1", "pool1")
    document.selection.set([document.graph.named("pool2")[0].id])
    text, steps = bytes(document.graph), document.undo_stack.count()
    canvas.add_layer(template_entries()[0].kind)
    assert document.undo_stack.count() == steps + 1
    new = [document.graph.node(node) for node in document.selection.node_ids]
    assert [node.type for node in new] == ["Convolution", "Pooling"]
    assert all(len(document.graph.named(node.name)) == 1 for node in new)
    assert new[0].bottoms == ("pool2",)
    assert new[1].bottoms == new[0].tops
    bodies = [item.scene_body() for item in canvas.canvas.items_shown()]
    assert not any(a.intersects(b) for i, a in enumerate(bodies) for b in bodies[:i])
    after = bytes(document.graph)
    document.undo_stack.undo()
    assert bytes(document.graph) == text
    document.undo_stack.redo()
    assert bytes(document.graph) == after


BRANCHES = b"""
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "mask" type: "Input" top: "mask" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "left" type: "Pooling" bottom: "data" top: "left" }
layer { name: "right" type: "Pooling" bottom: "data" top: "right" }
layer { name: "sum" type: "Eltwise" bottom: "left" bottom: "right" bottom: "mask" top: "sum" }
layer { name: "end" type: "ReLU" bottom: "sum" top: "end" }
"""


def test_all_inputs_that_read_one_blob_are_wired_together_and_the_whole_block_is_shown(make_canvas):
    document = Document(OpGraph.parse(BRANCHES))
    canvas = make_canvas(document)
    keep(canvas, "left", "right", "sum")
    document.selection.set([document.graph.named("end")[0].id])
    canvas.set_scale(2.0)
    canvas.add_layer(template_entries()[0].kind)
    new = [document.graph.node(node) for node in document.selection.node_ids]
    assert [node.bottoms for node in new[:2]] == [("end",), ("end",)]
    assert new[2].bottoms == (*new[0].tops, *new[1].tops, "?")
    bodies = [canvas.canvas.nodes[node.id].scene_body() for node in new]
    assert all(canvas.visible_rect().contains(body) for body in bodies)
    document.close()


def test_what_is_kept_comes_first_in_the_palette(canvas, document):
    keep(canvas, "conv1", "pool1")
    model = TypeModel()
    model.fill(palette_entries(document), "", grouped=True)
    assert model.item(0).data(rows.HEADER) == CATEGORY


@pytest.mark.parametrize(
    ("name", "file"), [("My block", "My block"), ("a/b:c", "a_b_c"), ("..", "Block"), ("", "Block")]
)
def test_names_become_names_of_files(name, file):
    assert save_template(name, 'layer { name: "a" type: "ReLU" }') == file
    assert save_template(name, 'layer { name: "a" type: "ReLU" }') == f"{file} 2"
    assert [path.name for path in sorted(templates_path().iterdir())] == [f"{file} 2.prototxt", f"{file}.prototxt"]


def test_what_is_no_block_is_left_out_and_a_lost_one_is_told(canvas):
    templates_path().mkdir(parents=True)
    (templates_path() / "empty.prototxt").write_text("# nothing\n")
    assert template_entries() == ()
    assert template_of("Convolution") is None
    said: list[str] = []
    canvas.refused.connect(said.append)
    canvas.add_layer("template:gone")
    assert said


def test_nothing_selected_is_nothing_kept(canvas):
    said: list[str] = []
    canvas.refused.connect(said.append)
    canvas.keep_block()
    assert said
    assert template_entries() == ()


def test_the_search_at_the_end_of_a_wire_copes_with_kept_blocks(canvas, document):
    keep(canvas, "conv1", "pool1")
    node = document.graph.named("pool2")[0].id
    canvas.search_asked.emit(canvas.viewport().rect().center(), node, "output", 0)
    assert canvas.popup.isVisible()
    canvas.popup.hide()
    canvas.search_asked.emit(canvas.viewport().rect().center(), None, "", 0)
    names = [canvas.popup.model.item(row).text() for row in range(canvas.popup.model.rowCount())]
    assert template_entries()[0].type in names
    canvas.popup.hide()


@pytest.fixture
def kept(window):
    """A kept block, chosen in the palette of the window."""
    save_template("mine", 'layer { name: "p" type: "Pooling" bottom: "x" top: "p" }\n')
    window.canvas.templates_changed.emit()
    view = window.palette_panel.view
    row = next(row for row in range(view.model().rowCount()) if view.model().item(row).data(rows.TYPE) == "mine")
    view.setCurrentIndex(view.model().index(row, 0))
    return view


def test_a_kept_block_is_renamed_from_the_palette_and_writes_over_none(window, kept, qtbot):
    save_template("other", 'layer { name: "r" type: "ReLU" bottom: "x" top: "x" }\n')
    other = (templates_path() / "other.prototxt").read_bytes()
    for name, wanted, got in (("mine", "../yours", "_yours"), ("_yours", "other", "other 2")):
        if name == "mine":
            qtbot.keyClick(kept, Qt.Key.Key_F2)
        else:
            window.palette_panel.rename_asked.emit(name)
        (field,) = (found for bar in window.bars if (found := bar.findChild(QLineEdit)) is not None)
        assert field.text() == name
        field.setText(wanted)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert got in [entry.type for entry in template_entries()]
        assert got in [window.palette_panel.model.item(row).data(rows.TYPE) for row in range(4)]
    assert (templates_path() / "other.prototxt").read_bytes() == other
    assert sorted(entry.type for entry in template_entries()) == ["other", "other 2"]


def test_a_kept_block_is_deleted_from_the_palette_and_brought_back(window, kept, qtbot):
    path = templates_path() / "mine.prototxt"
    data = path.read_bytes()
    menu = window.palette_panel.kept_menu(kept.currentIndex())
    assert [action.text().partition("\t")[0] for action in menu.actions()] == ["Rename\u2026", "Delete"]
    qtbot.keyClick(kept, Qt.Key.Key_Delete)
    assert not path.exists() and not template_entries()
    button = next(found for bar in window.bars if (found := bar.findChild(QPushButton, "window.bar.action.Undo")))
    button.click()
    assert path.read_bytes() == data and len(template_entries()) == 1


def test_layer_types_have_no_menu_of_kept_blocks_and_their_keys_do_nothing(window, kept, qtbot):
    model = kept.model()
    row = next(row for row in range(model.rowCount()) if model.item(row).data(rows.TYPE) == "Convolution")
    kept.setCurrentIndex(model.index(row, 0))
    assert window.palette_panel.kept_menu(kept.currentIndex()) is None
    qtbot.keyClick(kept, Qt.Key.Key_Delete)
    assert len(template_entries()) == 1
