"""What ``debug_info`` prints, against Caffe's wording, and what observers see."""

from __future__ import annotations

import logging
import re

import numpy as np
import pytest

from engine.net import DebugInfo, Net, NetNode, NetObserver
from tests.engine.net.support import build, fill_inputs, input_layer, ip, layer

TEXT = (
    input_layer("x", 2, 3)
    + input_layer("t", 2, 3)
    + ip("a", "x", body='param { name: "w" } param { lr_mult: 0 }')
    + layer("r", "ReLU", "a", "a")
    + ip("b", "a", body='param { name: "w" }')
    + layer("loss", "EuclideanLoss", "b t", "")
)


def lines_of(net: Net, caplog: pytest.LogCaptureFixture) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.INFO, "engine.net.debug_info"):
        net.forward()
        net.backward()
    return [record.getMessage() for record in caplog.records]


def shaped(lines: list[str]) -> list[str]:
    """Return lines without their numbers."""
    return [re.sub(r"[-+.\de]*\d(e[-+]\d+)?(?=[,;)]|$)", "#", line) for line in lines]


@pytest.mark.parametrize("use_plan", [False, True])
def test_lines_are_those_of_caffe(use_plan: bool, caplog: pytest.LogCaptureFixture) -> None:
    net = build("debug_info: true " + TEXT, use_plan=use_plan)
    fill_inputs(net)
    assert shaped(lines_of(net, caplog)) == [
        "    [Forward] Layer x, top blob x data: #",
        "    [Forward] Layer t, top blob t data: #",
        "    [Forward] Layer a, top blob a data: #",
        "    [Forward] Layer a, param blob w data: #",
        "    [Forward] Layer a, param blob 1 data: #",
        "    [Forward] Layer r, top blob a data: #",
        "    [Forward] Layer b, top blob b data: #",
        "    [Forward] Layer b, param blob w data: #",
        "    [Forward] Layer b, param blob 1 data: #",
        "    [Forward] Layer loss, top blob (automatic) data: #",
        "    [Backward] Layer loss, bottom blob b diff: #",
        "    [Backward] Layer b, bottom blob a diff: #",
        "    [Backward] Layer b, param blob 0 diff: #",
        "    [Backward] Layer b, param blob 1 diff: #",
        "    [Backward] Layer r, bottom blob a diff: #",
        "    [Backward] Layer a, param blob 0 diff: #",
        "    [Backward] All net params (data, diff): L1 norm = (#, #); L2 norm = (#, #)",
    ]


def test_numbers_are_mean_magnitudes_with_six_digits(caplog: pytest.LogCaptureFixture) -> None:
    net = build("debug_info: true " + TEXT)
    fill_inputs(net)
    lines = lines_of(net, caplog)
    blobs = net.blobs
    assert lines[0] == f"    [Forward] Layer x, top blob x data: {np.abs(blobs['x'].data).mean():g}"
    assert lines[10] == f"    [Backward] Layer loss, bottom blob b diff: {np.abs(blobs['b'].diff).mean():g}"
    shared, bias, second = net.params["a"][0], net.params["a"][1], net.params["b"][1]
    sums = [sum(np.abs(getattr(blob, part)).sum() for blob in (shared, bias, second)) for part in ("data", "diff")]
    norms = [
        np.sqrt(sum((getattr(blob, part) ** 2).sum() for blob in (shared, bias, second))) for part in ("data", "diff")
    ]
    found = [float(number) for number in re.findall(r"[\d.]+(?:e-?\d+)?(?=[,)])", lines[-1].partition("=")[2])]
    assert found == pytest.approx([*sums, *norms], rel=1e-5)


def test_updates_name_owners(caplog: pytest.LogCaptureFixture) -> None:
    net = build(TEXT)
    before = DebugInfo.magnitudes(net.nodes)
    with caplog.at_level(logging.INFO, "engine.net.debug_info"):
        DebugInfo().updated(net.nodes, before)
    assert shaped([record.getMessage() for record in caplog.records]) == [
        "    [Update] Layer a, param w data: #; diff: #",
        "    [Update] Layer a, param 1 data: #; diff: #",
        "    [Update] Layer b, param blob w (owned by layer a, param w) diff: #",
        "    [Update] Layer b, param 1 data: #; diff: #",
    ]


def test_debug_info_is_switched_on_and_off(caplog: pytest.LogCaptureFixture) -> None:
    net = build(TEXT)
    fill_inputs(net)
    assert not net.debug_info and lines_of(net, caplog) == []
    net.debug_info = True
    net.debug_info = True
    assert len(lines_of(net, caplog)) == 17
    net.debug_info = False
    assert lines_of(net, caplog) == []


class Watching(NetObserver):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def forward_done(self, node: NetNode) -> None:
        self.seen.append(f"+{node.name}")

    def backward_done(self, node: NetNode) -> None:
        self.seen.append(f"-{node.name}")


def test_observers_see_the_layers_that_ran() -> None:
    net = build(TEXT)
    fill_inputs(net)
    watching = Watching()
    net.observers.append(watching)
    net.forward(end="b")
    net.backward(start="b", end="r")
    assert watching.seen == ["+x", "+t", "+a", "+r", "+b", "-b", "-r"]


def test_an_empty_blob_has_a_mean_of_0(caplog: pytest.LogCaptureFixture) -> None:
    net = build("debug_info: true " + input_layer("x", 0, 3))
    assert lines_of(net, caplog)[0] == "    [Forward] Layer x, top blob x data: 0"
