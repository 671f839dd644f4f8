"""Dragging and computing numbers: what is shown meanwhile, and that it is one step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from app.document import Document
from app.properties import PropertiesPanel
from app.properties.editors.scrub import scrubbed
from app.properties.pages.coststrip import change_text
from engine.graph import OpGraph
from engine.schema import load_schema
from tests.app.properties.nets import NET

Make = Callable[[str], Any]
LEFT = Qt.MouseButton.LeftButton
PLACE = QPoint(5, 10)
SCHEMA = load_schema()


def drag(net: Any, name: str, *distances: int) -> Any:
    """Press on the name of a field and drag it, without letting go."""
    label = net.row(name).label
    net.qtbot.mousePress(label, LEFT, pos=PLACE)
    for distance in distances:
        net.qtbot.mouseMove(label, PLACE + QPoint(distance, 0))
        QApplication.processEvents()
    return label


@pytest.mark.parametrize(
    ("message", "field", "texts", "steps", "fine", "expected"),
    [
        ("ConvolutionParameter", "num_output", ["20"], 3, False, ["23"]),
        ("ConvolutionParameter", "num_output", ["512"], 1, False, ["522"]),
        ("ConvolutionParameter", "num_output", ["512"], -1, True, ["511"]),
        ("ConvolutionParameter", "num_output", ["20"], -99, False, ["1"]),
        ("ConvolutionParameter", "num_output", [], 3, False, ["3"]),
        ("ConvolutionParameter", "kernel_size", ["3", "5"], 2, False, ["5", "7"]),
        ("ConvolutionParameter", "pad", ["1"], -5, False, ["0"]),
        ("ConvolutionParameter", "group", [], 1, False, ["2"]),
        ("ConvolutionParameter", "axis", ["-1"], -1, False, ["-2"]),
        ("SolverParameter", "base_lr", ["0.01"], 2, False, ["0.03"]),
        ("SolverParameter", "base_lr", ["0.01"], 2, True, ["0.012"]),
        ("SolverParameter", "base_lr", ["1e-3"], 1, True, ["1.1e-3"]),
        ("SolverParameter", "base_lr", ["0.01"], -9, False, ["0"]),
        ("SolverParameter", "clip_gradients", [], 1, False, ["0"]),
    ],
)
def test_how_far_a_drag_goes(
    message: str, field: str, texts: list[str], steps: int, fine: bool, expected: list[str]
) -> None:
    info = SCHEMA.describe(message).field(field)
    assert info is not None
    assert scrubbed(info, texts, steps, fine=fine) == expected


def test_a_drag_shows_in_the_text_and_is_one_step(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    label = drag(net, "convolution_param.num_output", 15, 40, 25)
    assert net.text == NET.replace("num_output: 20", "num_output: 25")
    assert net.find("convolution_param.num_output").text() == "25"
    assert net.document.undo_stack.count() == 0
    net.qtbot.mouseRelease(label, LEFT, pos=PLACE + QPoint(25, 0))
    net.check_undo_redo()


def test_escape_takes_a_drag_back(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    label = drag(net, "convolution_param.kernel_size", 30)
    assert "kernel_size: 11" in net.text
    net.qtbot.keyClick(label, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert "kernel_size: 11" in net.text
    net.qtbot.keyClick(label, Qt.Key.Key_Escape)
    net.qtbot.mouseMove(label, PLACE + QPoint(60, 0))
    net.qtbot.mouseRelease(label, LEFT, pos=PLACE)
    assert net.text == NET
    assert net.document.undo_stack.count() == 0


@pytest.mark.parametrize("distances", [(), (2,), (40, 0)])
def test_a_click_and_a_drag_to_and_fro_change_nothing(bench: Make, distances: tuple[int, ...]) -> None:
    net = bench(NET)
    net.select("conv1")
    label = drag(net, "convolution_param.num_output", *distances)
    net.qtbot.mouseRelease(label, LEFT, pos=PLACE)
    assert net.text == NET
    assert net.document.undo_stack.count() == 0


def test_a_drag_changes_several_layers_each_from_its_own_value(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1", "conv2")
    label = drag(net, "convolution_param.num_output", 10)
    net.qtbot.mouseRelease(label, LEFT, pos=PLACE + QPoint(10, 0))
    assert "num_output: 22 " in net.text
    assert "num_output: 52 " in net.text
    net.check_undo_redo()


def test_another_edit_keeps_what_is_being_tried_out(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    label = drag(net, "convolution_param.num_output", 25)
    node = net.ids("conv2")[0]
    net.document.apply("Rename", lambda graph: graph.rename_node(node, "other"))
    net.qtbot.mouseRelease(label, LEFT, pos=PLACE)
    assert net.document.undo_stack.count() == 2
    net.document.undo_stack.undo()
    net.document.undo_stack.undo()
    assert net.text == NET


@pytest.mark.parametrize(
    ("names", "typed", "expected"),
    [
        (("conv1",), "2*64", ["num_output: 128 ", "num_output: 50 "]),
        (("conv1",), "=64/2", ["num_output: 32 ", "num_output: 50 "]),
        (("conv1", "conv2"), "+8", ["num_output: 28 ", "num_output: 58 "]),
        (("conv1", "conv2"), "*2", ["num_output: 40 ", "num_output: 100 "]),
        (("conv1", "conv2"), "3*7", ["num_output: 21 ", "num_output: 21 "]),
    ],
)
def test_what_is_typed_is_computed(bench: Make, names: tuple[str, ...], typed: str, expected: list[str]) -> None:
    net = bench(NET)
    net.select(*names)
    editor = net.type("convolution_param.num_output", typed)
    for text in expected:
        assert text in net.text
    assert not editor.pending
    net.check_undo_redo()


def test_lists_are_computed_entry_by_entry(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.type("convolution_param.kernel_size", "2+1, 10/2")
    assert "kernel_size: 3" in net.text
    net.type("convolution_param.kernel_size", "*2")
    assert net.find("convolution_param.kernel_size").text() == "6, 10"
    assert net.document.undo_stack.count() == 2


def test_the_result_is_shown_while_it_is_typed(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    net.type("convolution_param.num_output", "2*64", end=None)
    message = net.row("convolution_param.num_output").message
    net.qtbot.waitUntil(lambda: message.text() == "= 128")
    net.type("convolution_param.num_output", "64/3", end=None)
    net.qtbot.waitUntil(lambda: "whole number" in message.text())
    net.qtbot.keyClick(net.find("convolution_param.num_output"), Qt.Key.Key_Escape)
    assert net.text == NET


def wheel(widget: Any, place: QPointF) -> None:
    event = QWheelEvent(
        place,
        widget.mapToGlobal(place),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


def test_the_wheel_edits_only_where_the_pointer_was_put(bench: Make) -> None:
    net = bench(NET)
    net.select("conv1")
    editor = net.find("convolution_param.num_output")
    editor.setFocus()
    wheel(editor, QPointF(9, 9))
    assert editor.text() == "20"  # the panel was scrolled until the field came under the pointer
    net.qtbot.mouseMove(editor, QPoint(8, 8))
    net.qtbot.mouseMove(editor, QPoint(9, 9))
    wheel(editor, QPointF(9, 9))
    assert editor.text() == "21"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(5, 5, ""), (0, 5, "new"), (100, 112, "+12 %"), (100, 95, "\u22125 %"), (100, 250, "\u00d72.5")],
)
def test_changes_in_words(before: int, after: int, expected: str) -> None:
    assert change_text(before, after) == expected


@pytest.fixture
def live(qtbot: Any) -> Iterator[Any]:
    """A panel on a net whose shapes are computed for real."""
    layers = [
        'layer { name: "d" type: "DummyData" top: "x0" dummy_data_param { shape { dim: 8 dim: 3 dim: 32 dim: 32 } } }'
    ]
    for i in range(60):
        layers.append(
            f'layer {{ name: "c{i}" type: "Convolution" bottom: "x{i}" top: "x{i + 1}" '
            f"convolution_param {{ num_output: 16 kernel_size: 3 pad: 1 }} }}"
        )
    document = Document(OpGraph.parse("\n".join(layers)))
    panel = PropertiesPanel(document)
    panel.resize(340, 700)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitExposed(panel)
    document.live.start()
    qtbot.waitUntil(lambda: not document.live.busy and bool(document.shapes), timeout=30_000)
    yield panel
    panel.set_document(None)
    document.close()


def test_costs_follow_a_drag(live: PropertiesPanel, qtbot: Any) -> None:
    document = live.document
    assert document is not None
    document.selection.set([document.graph.nodes()[1].id])
    document.selection.flush()
    costs = live.costs
    qtbot.waitUntil(lambda: bool(costs.count.rows) and not document.live.busy, timeout=10_000)
    before = costs.count.totals
    row = live.page.findChild(object, "properties.convolution_param.num_output").parentWidget()  # type: ignore[union-attr]
    label, slowest = row.label, []
    qtbot.mousePress(label, LEFT, pos=PLACE)
    for _look in range(2):
        steps = []
        for distance in range(0, 81, 5):
            begin = time.thread_time()
            qtbot.mouseMove(label, PLACE + QPoint(distance, 0))
            QApplication.processEvents()
            steps.append(time.thread_time() - begin)
        slowest.append(max(steps))
    assert "num_output: 32" in document.graph.text
    # conv 0: 3*32*9+32, conv 1: 32*16*9+16
    grown = before[0] + 16 * (3 * 9 + 1) + 16 * 16 * 9
    qtbot.waitUntil(lambda: costs.count.totals[0] == grown, timeout=10_000)
    assert costs.settled.totals == before
    assert costs.cells[0][1].text().startswith("+")
    assert min(slowest) < 0.05, f"a step of a drag took {min(slowest) * 1e3:.0f} ms"
    qtbot.mouseRelease(label, LEFT, pos=PLACE + QPoint(80, 0))
    qtbot.waitUntil(lambda: costs.settled.totals[0] == grown, timeout=10_000)
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: costs.count.totals == before, timeout=10_000)
