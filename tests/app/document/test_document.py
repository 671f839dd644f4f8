"""Documents: files, history, places, and what is kept when something goes wrong."""

from __future__ import annotations

import json
import os
import stat

import pytest

from app.document import ChangedOnDiskError, Document
from app.document.commands import SwapCommand
from app.document.placement import Placement, Point
from app.document.solverfile import find_solver, is_solver, net_of_solver
from engine.errors import CheckError, FileFormatError, GraphError
from engine.graph import OpGraph
from engine.sidecar import sidecar_path
from tests.support import shared_files

TEXT = b"""layer { name: "a" type: "ReLU" bottom: "x" top: "y" } # kept
layer { name: "b" type: "ReLU" bottom: "y" top: "z" }
"""


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def opened(net):
    document = Document.open(net)
    yield document
    document.close()


def rename(document: Document, old: str, new: str) -> None:
    node = document.graph.named(old)[0].id
    document.apply(f"Rename {old}", lambda graph: graph.rename_node(node, new))


def test_saving_what_was_not_touched_writes_the_same_bytes_and_no_sidecar(opened, net):
    opened.save()
    assert net.read_bytes() == TEXT
    assert not sidecar_path(net).exists()


@pytest.mark.parametrize("path", shared_files("corpus/prototxt/bvlc/*.prototxt"), ids=lambda path: path.stem)
def test_corpus_nets_save_as_identical_bytes(path, tmp_path, qapp):
    document = Document.open(path)
    document.save(tmp_path / path.name)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    document.close()


def test_an_edit_is_one_step_and_undo_is_exact(opened):
    rename(opened, "a", "first")
    assert opened.modified
    assert opened.undo_stack.undoText() == "Rename a"
    opened.undo_stack.undo()
    assert bytes(opened.graph) == TEXT
    assert not opened.modified


def test_a_refused_edit_changes_nothing_and_leaves_no_step(opened):
    def edit(graph: OpGraph) -> None:
        graph.set_field(graph.node_ids()[0], ("relu_param", "negative_slope"), "0.1")
        graph.rename_node(graph.node_ids()[0], "b")

    with pytest.raises(CheckError):
        opened.apply("Two things", edit)
    assert bytes(opened.graph) == TEXT
    assert opened.undo_stack.count() == 0


def test_an_edit_that_edits_nothing_leaves_no_step(opened):
    opened.apply("Nothing", lambda graph: None)
    assert opened.undo_stack.count() == 0


def test_a_command_that_fails_to_undo_is_dropped_and_told(opened, faults, qtbot):
    rename(opened, "a", "first")
    with opened.graph.change("behind the back"):
        opened.graph.rename_node(opened.graph.node_ids()[0], "other")
    with qtbot.waitSignal(opened.edit_failed):
        opened.undo_stack.undo()
    assert opened.undo_stack.count() == 0
    assert faults, "it is logged"
    faults.clear()


@pytest.mark.parametrize("macro", [False, True])
@pytest.mark.parametrize("step", ["undo", "redo"])
def test_nothing_is_pushed_while_a_step_is_shown(opened, faults, step, macro):
    """Qt would free the command that is at work."""
    stack = opened.undo_stack
    first, second = opened.graph.node_ids()[:2]
    for x in range(1, 4):
        opened.move_nodes({first: Point(x, 0)})
    if step == "redo":
        stack.setIndex(0)
    texts = [stack.text(number) for number in range(3)]

    def meddle(moved):
        if first in moved:
            if macro:
                stack.beginMacro("macro")
            opened.move_nodes({second: Point(opened.positions[first].x, 7)}, "meddle")
            if macro:
                stack.endMacro()

    opened.positions.moved.connect(meddle)
    getattr(stack, step)()
    opened.positions.moved.disconnect(meddle)
    assert [record.args for record in faults] == [("meddle",)]
    faults.clear()
    assert [stack.text(number) for number in range(stack.count())] == texts
    stack.setIndex(3)
    assert opened.positions[first] == Point(3, 0)


def test_a_file_changed_by_another_program_is_not_overwritten(opened, net):
    net.write_bytes(b"# theirs\n" + TEXT)
    rename(opened, "a", "first")
    with pytest.raises(ChangedOnDiskError):
        opened.save()
    assert net.read_bytes().startswith(b"# theirs")
    opened.save(force=True)
    assert b"first" in net.read_bytes()
    assert not opened.modified


def test_a_failed_write_leaves_the_old_file_and_the_document_modified(opened, net, monkeypatch):
    rename(opened, "a", "first")

    def fail(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(Exception, match="space"):
        opened.save()
    assert net.read_bytes() == TEXT
    assert opened.modified


def test_permissions_are_kept(opened, net):
    net.chmod(0o640)
    rename(opened, "a", "first")
    opened.save()
    assert stat.S_IMODE(net.stat().st_mode) == 0o640


def test_places_come_back_and_survive_edits_made_elsewhere(opened, net):
    ids = opened.graph.node_ids()
    opened.positions.move({ids[0]: Point(10, 20), ids[1]: Point(300, 40)}, by_user=False)
    opened.move_nodes({ids[0]: Point(50, 60)})
    opened.save()
    net.write_bytes(b'layer { name: "new" type: "Input" top: "x" }\n' + TEXT)
    again = Document.open(net)
    places = {node.name: again.positions.get(node.id) for node in again.graph.nodes()}
    assert places == {"new": None, "a": Point(50, 60), "b": Point(300, 40)}
    again.close()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"nodes": [{"x": 1}]}', '{"nodes": [{"x": "a", "y": NaN}]}'])
def test_a_damaged_sidecar_is_ignored(net, text):
    sidecar_path(net).write_text(text)
    document = Document.open(net)
    assert len(document.graph) == 2
    document.close()


def test_a_sidecar_is_plain_json(opened):
    opened.positions.place(opened.graph.node_ids()[0], 1.25, 2)
    data = json.loads(opened.positions.to_json(opened.graph.nodes(), TEXT))
    assert data["nodes"] == [{"name": "a", "type": "ReLU", "phases": ["TEST", "TRAIN"], "ordinal": 0, "x": 1.2, "y": 2}]


def test_two_layers_of_one_name_keep_their_own_places(qapp):
    text = b"\n".join(
        b'layer { name: "d" type: "Data" include { phase: %s } }' % phase for phase in (b"TRAIN", b"TEST")
    )
    graph = OpGraph.parse(text)
    first, second = graph.node_ids()
    placement = Placement()
    placement.place(first, 1, 1)
    placement.place(second, 2, 2)
    stored = placement.to_json(graph.nodes(), text)
    other = Placement()
    assert other.load_json(graph.nodes(), stored) == 2
    assert (other[first], other[second]) == (Point(1, 1), Point(2, 2))


@pytest.mark.parametrize("data", [b"\0\1\2", b"abc\0def"])
def test_binary_files_are_refused_in_words(tmp_path, data):
    path = tmp_path / "weights.caffemodel"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match="binary"):
        Document.open(path)


def test_the_solver_beside_a_net_is_found(tmp_path, net):
    (tmp_path / "a_solver.prototxt").write_text('net: "elsewhere/other.prototxt"\n')
    (tmp_path / "my_solver.prototxt").write_text(f'net: "{net}"\nbase_lr: 0.1\n')
    assert find_solver(net) == tmp_path / "my_solver.prototxt"
    assert is_solver(tmp_path / "my_solver.prototxt")
    assert net_of_solver(tmp_path / "my_solver.prototxt") == net
    assert not is_solver(net)


def test_a_solver_that_names_a_net_of_the_same_name_is_taken_when_no_better_is_there(tmp_path, net):
    (tmp_path / "x_solver.prototxt").write_text('net: "examples/mnist/net.prototxt"\n')
    assert find_solver(net) == tmp_path / "x_solver.prototxt"


def test_the_selection_is_told_once_for_a_burst(opened, qtbot):
    calls = []
    opened.selection.changed.connect(lambda: calls.append(opened.selection.node_ids))
    ids = opened.graph.node_ids()
    for node in ids:
        opened.selection.add([node])
    opened.selection.toggle([ids[0]])
    qtbot.waitUntil(lambda: bool(calls))
    qtbot.wait(5)
    assert calls == [(ids[1],)]


def test_removed_nodes_leave_the_selection(opened):
    node = opened.graph.node_ids()[0]
    opened.selection.set([node])
    opened.apply("Delete", lambda graph: graph.remove_nodes([node]))
    assert opened.selection.node_ids == ()


def test_shapes_are_computed_in_the_background_and_follow_edits(lenet, qtbot):
    document = Document.open(lenet)
    text = document.graph.text.replace(
        'type: "Data"', 'type: "Input" input_param { shape { dim: 8 dim: 1 dim: 28 dim: 28 } }'
    )
    document.apply("Make it an input", lambda graph: graph.replace_text(text))
    conv = document.graph.named("conv1")[0].id

    def settled() -> bool:  # parts of the answer may come before all of it
        return conv in document.shapes and not document.live.busy

    document.live.start()
    qtbot.waitUntil(settled, timeout=60_000)
    assert document.shapes[conv].tops[0] == (8, 20, 24, 24)
    document.apply("Set", lambda graph: graph.set_field(conv, ("convolution_param", "num_output"), "30"))
    qtbot.waitUntil(settled, timeout=60_000)
    assert document.shapes[conv].tops[0] == (8, 30, 24, 24)
    document.close()


@pytest.mark.parametrize("faulty", ["TRAIN", "TEST"])
def test_an_error_of_one_phase_is_shown_although_the_other_is_sound(qtbot, faulty):
    sizes = {"TRAIN": 8, "TEST": 8, faulty: 3}
    text = "".join(
        f'layer {{ name: "in" type: "Input" top: "x" include {{ phase: {phase} }} '
        f"input_param {{ shape {{ dim: 1 dim: 1 dim: {size} dim: {size} }} }} }}\n"
        for phase, size in sizes.items()
    )
    text += (
        'layer { name: "c" type: "Convolution" bottom: "x" top: "c" '
        "convolution_param { num_output: 2 kernel_size: 5 } }\n"
    )
    document = Document(OpGraph.parse(text))
    with qtbot.waitSignal(document.shapes_changed, timeout=10_000):
        document.live.start()
    error = document.shapes[document.graph.named("c")[0].id].error
    assert error is not None and "does not fit" in str(error)
    document.close()


@pytest.mark.parametrize(
    "declared",
    ["input_dim: 2 input_dim: 3 input_dim: 8 input_dim: 8", "input_shape { dim: 2 dim: 3 dim: 8 dim: 8 }"],
)
def test_inputs_that_the_net_declares_have_their_shapes(qtbot, declared):
    text = f'input: "x" {declared} layer {{ name: "f" type: "Flatten" bottom: "x" top: "y" }}'
    document = Document(OpGraph.parse(text))
    with qtbot.waitSignal(document.shapes_changed, timeout=10_000):
        document.live.start()
    tops = [document.shapes[node.id].tops[0] for node in document.graph.nodes()]
    assert tops == [(2, 3, 8, 8), (2, 192)]
    document.close()


def test_layers_of_the_oldest_format_have_shapes_that_follow_the_padding_above_them(qtbot):
    text = (
        'input: "x" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8\n'
        'layers { layer { name: "p" type: "padding" pad: 1 } bottom: "x" top: "p" }\n'
        'layers { layer { name: "c" type: "conv" num_output: 2 kernelsize: 3 } bottom: "p" top: "c" }\n'
    )
    document = Document(OpGraph.parse(text))
    padding, conv = (document.graph.named(name)[0].id for name in "pc")
    with qtbot.waitSignal(document.shapes_changed, timeout=10_000):
        document.live.start()
    assert document.shapes[conv].tops == ((1, 2, 8, 8),)
    with qtbot.waitSignal(document.shapes_changed, timeout=10_000):
        document.apply("Pad more", lambda graph: graph.set_field(padding, ("layer", "pad"), "2"))
    assert document.shapes[conv].tops == ((1, 2, 10, 10),)
    document.close()


def test_no_edit_is_made_while_a_step_is_shown(opened):
    """It could not be a step of the history, which is at work."""
    said: list[Exception] = []

    def edit_too(_values: object) -> None:
        try:
            rename(opened, "b", "c")
        except GraphError as error:
            said.append(error)

    opened.undo_stack.push(SwapCommand("Place", edit_too, {}, {}, print))
    opened.undo_stack.undo()
    assert "another step" in str(said[0])
    assert bytes(opened.graph) == TEXT
    assert opened.undo_stack.canRedo()
    rename(opened, "b", "c")
    assert opened.undo_stack.count() == 1
