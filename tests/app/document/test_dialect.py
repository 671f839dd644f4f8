"""The dialect of a document: guessed, chosen, taken back, remembered, shown."""

from __future__ import annotations

import json
import threading

import pytest
from PySide6.QtWidgets import QMenu

from app.document import Document
from app.document.placement import Point
from engine.errors import SchemaError
from engine.sidecar import sidecar_path, stored_dialect

SSD = b'layer { name: "p" type: "Permute" bottom: "x" top: "y" permute_param { order: 0 } }\n'
POOL = b'layer { name: "p" type: "Pooling" bottom: "x" top: "y" pooling_param { torch_pooling: true } }\n'


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_bytes(SSD)
    return path


@pytest.fixture
def open_net(qtbot):
    """Opens nets and waits until everything is known of them."""
    opened = []

    def open_it(path):
        document = Document.open(path)
        opened.append(document)
        document.live.start()
        qtbot.waitUntil(lambda: not document.jobs.busy and bool(document.diagnostics), timeout=10_000)
        return document

    yield open_it
    for document in opened:
        document.close()


def codes(document):
    return {each.code for each in document.diagnostics if each.code.startswith(("field", "word"))}


def test_a_document_is_guessed_off_the_window_s_thread(open_net, net, qtbot, monkeypatch):
    from app.document import dialect

    threads = []
    guess = dialect.guess_dialect
    monkeypatch.setattr(
        dialect, "guess_dialect", lambda *given: (threads.append(threading.current_thread()), guess(*given))[1]
    )
    before = Document.open(net)
    assert before.dialect == "bvlc" and before.schema.dialect == "bvlc"
    before.close()
    document = open_net(net)
    qtbot.waitUntil(lambda: document.dialect == "ssd")
    assert document.schema.dialect == "ssd" and document.schema.find_field("LayerParameter", ("permute_param",))
    assert threads and threading.main_thread() not in threads
    qtbot.waitUntil(lambda: not codes(document))
    assert not document.modified and document.dialect_choice.words == "SSD's Caffe (guessed)"
    document.save()
    assert not sidecar_path(net).exists()


def test_a_choice_is_one_step_and_changes_what_is_told(open_net, net, qtbot):
    net.write_bytes(POOL)
    document = open_net(net)
    qtbot.waitUntil(lambda: codes(document) == {"field-not-offered"})
    with qtbot.waitSignal(document.dialect_changed):
        document.set_dialect("ssd")
    assert document.modified and document.undo_stack.undoText() == "Read as SSD's Caffe"
    qtbot.waitUntil(lambda: codes(document) == {"field-unknown"})
    document.set_dialect("ssd")
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.dialect == "nvidia" and not document.modified
    document.undo_stack.redo()
    assert document.dialect == "ssd"
    document.set_dialect(None)
    assert document.dialect == "nvidia" and document.undo_stack.undoText() == "Guess the dialect"
    with pytest.raises(SchemaError, match="sdd"):
        document.set_dialect("sdd")


def test_a_choice_lies_beside_the_net(net):
    def opened():
        document = Document.open(net)
        found = document.dialect_choice.chosen, document.positions.touched
        return document, found

    first, found = opened()
    assert found == (None, False)
    first.set_dialect("intel")
    first.save()
    stored = json.loads(sidecar_path(net).read_text())
    assert (stored["dialect"], stored["nodes"]) == ("intel", []) and net.read_bytes() == SSD
    first.save(net.with_name("other.prototxt"))
    assert stored_dialect(sidecar_path(net.with_name("other.prototxt")).read_text()) == "intel"
    first.close()
    second, found = opened()
    assert found == ("intel", False) and second.dialect == "intel"
    second.set_dialect(None)
    second.save()
    second.close()
    third, found = opened()
    assert found == (None, False) and "dialect" not in json.loads(sidecar_path(net).read_text())
    third.close()


@pytest.mark.parametrize("text", ['{"dialect": "klingon"}', '{"dialect": 3}', '{"dialect": ["ssd"]}', "[]", "{", "{}"])
def test_a_damaged_choice_is_none(text):
    assert stored_dialect(text) is None


def test_places_and_choice_are_kept_together(net):
    document = Document.open(net)
    node = document.graph.node_ids()[0]
    document.move_nodes({node: Point(3, 4)})
    document.set_dialect("nvidia")
    document.save()
    document.close()
    again = Document.open(net)
    assert again.positions[again.graph.node_ids()[0]] == (3, 4) and again.dialect == "nvidia"
    again.close()


def test_the_menu_shows_and_changes_the_dialect(window, net, qtbot):
    window.files.open(net)
    qtbot.waitUntil(lambda: window.document.dialect == "ssd", timeout=10_000)
    menu = window.findChild(QMenu, "window.menu.dialect")
    assert menu.menuAction() in window.findChild(QMenu, "window.menu.net").actions()
    actions = {action.objectName().rpartition(".")[2]: action for action in menu.actions() if not action.isSeparator()}

    def checked():
        menu.refresh()
        return [name for name, action in actions.items() if action.isChecked()]

    assert checked() == ["ssd"] and not actions["guess"].isEnabled()
    assert actions["rfcn"].text() == "Faster R-CNN's Caffe"
    actions["rfcn"].trigger()
    assert window.document.dialect == "rfcn" and checked() == ["rfcn"]
    assert actions["guess"].text() == "&As guessed: SSD's Caffe"
    actions["guess"].trigger()
    assert window.document.dialect == "ssd" and checked() == ["ssd"]
    # The dialect that is in force already is chosen too when the user picks it.
    actions["ssd"].trigger()
    assert window.document.dialect_choice.chosen == "ssd" and checked() == ["ssd"]
